// nvcc has two steps on the way to PTX: the host compiler preprocesses, and cicc compiles. `nvcc --dryrun`
// shows their commands. Here the first step runs on the head of the source, which has its includes, and
// separately on the rest, which gets the macros of the head. What came of the head is kept with the commands
// until the head, a header or the compiler changes.
#define _GNU_SOURCE // memmem
#include "driver/build/kept_headers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/file.h"
#include "support/sha256.h"
#include "support/system.h"
#include "support/text.h"
#include "driver/build/command_line.h"
#include "driver/build/run_tool.h"
#include "driver/build/unused_declarations.h"

enum { KEPT_LIMIT = 64 << 20 };         // bytes
static const char folder_mark = '\001'; // in commands: the private folder, which is another one each time

typedef struct {
    Text key;        // what the rest depends on, besides the headers
    Text headers;    // a line for each: size, time and path
    Text settings;   // of the shell that runs the commands
    Text preprocess; // the commands
    Text compile;
    Text macros;
    Text text; // preprocessed
} Kept;

enum { PARTS = 7 };

static void parts_of(Kept *kept, Text *parts[PARTS]) {
    Text *const all[PARTS] = {&kept->key,     &kept->headers, &kept->settings, &kept->preprocess,
                              &kept->compile, &kept->macros,  &kept->text};
    memcpy(parts, all, sizeof all);
}

static void kept_free(Kept *kept) {
    Text *parts[PARTS];
    parts_of(kept, parts);
    for (int i = 0; i < PARTS; i++) text_free(parts[i]);
}

// ---- The source -------------------------------------------------------------------------------------------

static size_t line_bytes(const char *line) {
    const size_t bytes = strcspn(line, "\n");
    return bytes + (line[bytes] == '\n');
}

size_t source_head_bytes(const char *text) {
    size_t end = 0;
    for (const char *line = text; *line; line += line_bytes(line)) {
        const size_t bytes = line_bytes(line);
        const bool is_blank = strspn(line, " \t\r\n") >= bytes;
        const bool is_comment = starts_with(line, "//") && !memmem(line, bytes, "\\", 1);
        const bool is_include =
            starts_with(line, "#include ") && !memmem(line, bytes, "/*", 2) && !memmem(line, bytes, "\\", 1);
        if (is_include) end = (size_t)(line - text) + bytes;
        if (!is_blank && !is_comment && !is_include) break;
    }
    return end;
}

// Whether the rest of the source can be preprocessed without the head: it includes nothing, and has no words
// whose meaning depends on the file or on what came before, other than macros.
static bool stands_alone(const char *rest) {
    static const char *const words[] = {"include",           "import",          "embed",
                                        "__COUNTER__",       "__BASE_FILE__",   "_Pragma",
                                        "pragma push_macro", "pragma pop_macro"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(rest, words[i])) return false;
    return true;
}

// ---- Keeping ----------------------------------------------------------------------------------------------

static void describe_key(const Build *build, size_t head, Text *key) {
    text_printf(key, "2\ncompute_%d\n%s\n%s\n%s\n", build->result->ptx_arch, build->toolchain.identity,
                build->toolchain.host_compiler, build->result->header_sha256);
    for (int i = 0; build->environment[i]; i++) text_printf(key, "%s\n", build->environment[i]);
    text_add_bytes(key, text_chars(&build->source), head);
}

static void kept_path(const Build *build, char path[PATH_MAX + 16]) {
    const CompileRequest *request = build->request;
    snprintf(path, PATH_MAX + 16, "%s/headers",
             request->headers_directory ? request->headers_directory : request->output_directory);
}

static void write_kept(const Build *build, Kept *kept) {
    char path[PATH_MAX + 16];
    FileError ignored; // without it the next edit takes longer
    Text *parts[PARTS], all = {0};
    parts_of(kept, parts);
    for (int i = 0; i < PARTS; i++) {
        text_printf(&all, "%zu\n", parts[i]->bytes);
        text_add_bytes(&all, text_chars(parts[i]), parts[i]->bytes);
    }
    kept_path(build, path);
    if (!all.failed) (void)write_file_atomically(path, text_chars(&all), all.bytes, &ignored);
    text_free(&all);
}

static void describe_header(const char *path, Text *into) {
    struct stat status = {0};
    if (stat(path, &status) != 0) return; // its line is missing, and so is never the same again
    const struct timespec changed = system_modified(&status);
    text_printf(into, "%lld %lld %ld %s\n", (long long)status.st_size, (long long)changed.tv_sec,
                changed.tv_nsec, path);
}

static bool headers_are_same(const Text *headers) {
    Text now = {0};
    for (const char *line = text_chars(headers); *line; line += line_bytes(line)) {
        char path[PATH_MAX];
        int skip = 0;
        if (sscanf(line, "%*d %*d %*d %n", &skip) == EOF || skip == 0) break;
        snprintf(path, sizeof path, "%.*s", (int)strcspn(line + skip, "\n"), line + skip);
        describe_header(path, &now);
    }
    const bool is_same =
        now.bytes == headers->bytes && memcmp(text_chars(&now), text_chars(headers), now.bytes) == 0;
    text_free(&now);
    return is_same;
}

static bool read_kept(const Build *build, const Text *key, Kept *kept) {
    char path[PATH_MAX + 16];
    FileError ignored;
    Text *parts[PARTS], all = {0};
    parts_of(kept, parts);
    kept_path(build, path);
    bool good = read_regular_file(path, KEPT_LIMIT, &all, &ignored);
    const char *at = text_chars(&all), *const end = at + all.bytes;
    for (int i = 0; i < PARTS && good; i++) {
        char *digits_end;
        const size_t bytes = strtoul(at, &digits_end, 10);
        good = digits_end > at && *digits_end == '\n' && bytes <= (size_t)(end - digits_end - 1);
        if (!good) break;
        text_add_bytes(parts[i], digits_end + 1, bytes);
        at = digits_end + 1 + bytes;
    }
    good = good && at == end && kept->key.bytes == key->bytes &&
           memcmp(text_chars(&kept->key), text_chars(key), key->bytes) == 0 &&
           headers_are_same(&kept->headers);
    text_free(&all);
    if (!good) kept_free(kept);
    return good;
}

// ---- Commands ---------------------------------------------------------------------------------------------

// Adds `text` with `to` for each `from`.
static void add_replaced(Text *into, const char *text, const char *from, const char *to) {
    for (const char *found; (found = strstr(text, from)); text = found + strlen(from)) {
        text_add_bytes(into, text, (size_t)(found - text));
        text_add(into, to);
    }
    text_add(into, text);
}

static void add_for_any_folder(const Build *build, const char *line, Text *into) {
    const char mark[] = {folder_mark, '\0'};
    char copy[16384];
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    add_replaced(into, copy, build->folder, mark);
}

// "#$ NAME=value" of the variables that the commands need. Not what a shell would take for more than a text.
static bool add_setting(const char *line, Text *settings) {
    static const char *const names[] = {"PATH=", "LD_LIBRARY_PATH=", "CICC_PATH="};
    const int bytes = (int)strcspn(line, "\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!starts_with(line, names[i])) continue;
        if (memchr(line, '\'', (size_t)bytes)) return false;
        const int name = (int)strlen(names[i]);
        text_printf(settings, "export %.*s'%.*s'\n", name, line, bytes - name, line + name);
    }
    return true;
}

static bool ask_for_commands(Build *build, Kept *kept) {
    CommandLine line;
    ProcessResult run;
    compile_command(build, "kernel.cu", "raw.ptx", &line);
    if (line.count + 1 > COMMAND_WORDS) return false;
    line.words[line.count++] = "--dryrun";
    line.words[line.count] = NULL;
    bool good = run_tool(build, line.words, &run);
    for (const char *at = text_chars(&run.output); good && *at; at += line_bytes(at)) {
        if (!starts_with(at, "#$ ")) {
            good = false; // a warning of nvcc
        } else if (memmem(at, line_bytes(at), " -E -x c++ ", 11)) {
            good = kept->preprocess.bytes == 0;
            add_for_any_folder(build, at + 3, &kept->preprocess);
        } else if (starts_with(at, "#$ \"$CICC_PATH/cicc\" ")) {
            good = kept->compile.bytes == 0;
            add_for_any_folder(build, at + 3, &kept->compile);
        } else {
            good = add_setting(at + 3, &kept->settings);
        }
    }
    text_free(&run.output);
    return good && kept->preprocess.bytes > 0 && kept->compile.bytes > 0;
}

// The file that the command writes: its last `-o "..."`.
static bool output_of(const Text *command, char name[256]) {
    const char *found = NULL;
    for (const char *at = text_chars(command); (at = strstr(at, " -o \"")); at += 5) found = at + 5;
    if (!found) return false;
    const size_t bytes = strcspn(found, "\"");
    if (found[bytes] != '"' || bytes >= 256 || found[0] == '/' || memmem(found, bytes, "..", 2)) return false;
    snprintf(name, 256, "%.*s", (int)bytes, found);
    return true;
}

// Runs a command of `kept`, with `to` for `from` in it.
static bool run_command(Build *build, const Kept *kept, const Text *command, const char *from, const char *to,
                        const char *inner, ProcessResult *run) {
    const char mark[] = {folder_mark, '\0'};
    Text replaced = {0}, script = {0};
    bool good = !from || strstr(text_chars(command), from);
    add_replaced(&replaced, text_chars(command), from ? from : mark, from ? to : build->folder);
    text_add(&script, text_chars(&kept->settings));
    text_add(&script, "exec ");
    add_replaced(&script, text_chars(&replaced), mark, build->folder);
    const char *const arguments[] = {"/bin/sh", "-c", text_chars(&script), NULL};
    good = good && !replaced.failed && !script.failed &&
           run_tool_in(build, inner, arguments, build->environment, run);
    text_free(&replaced);
    text_free(&script);
    return good;
}

// ---- Preprocessing ----------------------------------------------------------------------------------------

// Preprocesses `source` as kernel.cu of an inner folder. The compiler must have nothing to say.
static bool preprocess(Build *build, const Kept *kept, const char *inner, const Text *source,
                       const Text *macros, const char *from, const char *to, Text *out) {
    char path[sizeof build->folder + 320], name[64], output[256];
    snprintf(path, sizeof path, "%s/%s", build->folder, inner);
    if (mkdir(path, 0777) != 0 || !output_of(&kept->preprocess, output)) return false;
    snprintf(name, sizeof name, "%s/kernel.cu", inner);
    bool good = compile_put(build, name, source);
    snprintf(name, sizeof name, "%s/%s", inner, macros ? "macros.h" : "warpbook.cuh");
    good = good && compile_put(build, name, macros ? macros : &build->header);
    snprintf(name, sizeof name, "%s/program.cuh", inner);
    if (!macros && build->program_header.bytes > 0)
        good = good && compile_put(build, name, &build->program_header);
    ProcessResult run = {0};
    FileError ignored;
    good =
        good && run_command(build, kept, &kept->preprocess, from, to, inner, &run) && run.output.bytes == 0;
    snprintf(path, sizeof path, "%s/%s/%s", build->folder, inner, output);
    good = good && read_regular_file(path, KEPT_LIMIT, out, &ignored);
    text_free(&run.output);
    return good;
}

// A line that numbers lines: # 12 "path" 1 3
static bool read_place(const char *line, char path[PATH_MAX]) {
    // sscanf() would look for the end of the whole text first.
    if (line[0] != '#' || line[1] != ' ' || !isdigit((unsigned char)line[2])) return false;
    size_t skip = 2 + strspn(line + 2, "0123456789");
    if (line[skip] != ' ' || line[skip + 1] != '"') return false;
    skip += 2;
    snprintf(path, PATH_MAX, "%.*s", (int)strcspn(line + skip, "\"\n"), line + skip);
    return true;
}

// Splits what -dD shows into the macros, in their order, and the text. Each macro is still of its header:
// what a macro of a system header comes to is numbered in another way.
static void split(const Text *both, Kept *kept) {
    char path[PATH_MAX] = "", place[PATH_MAX + 64] = "";
    bool has_moved = false;
    for (const char *line = text_chars(both); *line; line += line_bytes(line)) {
        const size_t bytes = line_bytes(line);
        const bool is_place = read_place(line, path);
        const bool is_given = path[0] == '<'; // by the compiler or its command line, which do so again
        const bool is_macro = starts_with(line, "#define ") || starts_with(line, "#undef ");
        const bool saves_macro =
            starts_with(line, "#pragma push_macro") || starts_with(line, "#pragma pop_macro");
        if (is_place) {
            const bool is_c = bytes > 5 && memcmp(line + bytes - 5, " 3 4\n", 5) == 0;
            const bool is_system = is_c || (bytes > 3 && memcmp(line + bytes - 3, " 3\n", 3) == 0);
            snprintf(place, sizeof place, "# 1 \"%s\"%s\n", path, is_c ? " 3 4" : is_system ? " 3" : "");
            has_moved = true;
        }
        if ((is_macro || saves_macro) && !is_given) {
            if (has_moved) text_add(&kept->macros, place);
            has_moved = false;
            text_add_bytes(&kept->macros, line, bytes);
        }
        if (is_place && path[0] == '/' && memmem(line, bytes, "\" 1", 3))
            describe_header(path, &kept->headers);
        if (is_macro)
            text_add_char(&kept->text, '\n');
        else if (!is_place || !is_given)
            text_add_bytes(&kept->text, line, bytes);
    }
}

static bool make_kept(Build *build, size_t head, const Text *key, Kept *kept) {
    Text source = {0}, both = {0};
    text_add_bytes(&source, text_chars(&build->source), head);
    text_add_bytes(&kept->key, text_chars(key), key->bytes);
    const bool good = ask_for_commands(build, kept) &&
                      preprocess(build, kept, "head", &source, NULL, " -E -x c++ ", " -E -dD -x c++ ", &both);
    if (good) split(&both, kept);
    text_free(&source);
    text_free(&both);
    if (good) write_kept(build, kept);
    return good;
}

// The rest of the source, in its lines.
static bool preprocess_rest(Build *build, const Kept *kept, size_t head, Text *out) {
    const char *text = text_chars(&build->source);
    Text source = {0};
    for (size_t i = 0; i < head; i++)
        if (text[i] == '\n') text_add_char(&source, '\n');
    text_add(&source, text + head);
    const bool good = preprocess(build, kept, "rest", &source, &kept->macros, "-include \"cuda_runtime.h\"",
                                 "-imacros \"macros.h\"", out);
    text_free(&source);
    return good;
}

// ---- Compiling --------------------------------------------------------------------------------------------

static bool compile(Build *build, const Kept *kept, const Text *rest, ProcessResult *result) {
    char name[256];
    Text all = {0};
    bool good = output_of(&kept->preprocess, name) && add_used_declarations(&kept->text, rest, &all);
    text_add_bytes(&all, text_chars(rest), rest->bytes);
    static const char before[] = " --gen_module_id_file", quick[] = " -O1 --gen_module_id_file";
    const bool is_quick = build->request->is_quick;
    good = good && !all.failed && compile_put(build, name, &all) &&
           run_command(build, kept, &kept->compile, is_quick ? before : NULL, quick, "", result);
    text_free(&all);
    return good;
}

KeptEnd compile_with_kept_headers(Build *build, ProcessResult *result) {
    const char *text = text_chars(&build->source);
    const size_t head = source_head_bytes(text);
    *result = (ProcessResult){0};
    if (!build->key.is_self_contained || build->toolchain.kind != COMPILER_NVCC ||
        strlen(text) != build->source.bytes || !stands_alone(text + head) || strchr(build->folder, '"') ||
        strpbrk(build->folder, "$\\'"))
        return KEPT_NO_WAY;
    Kept kept = {0};
    Text key = {0}, rest = {0};
    describe_key(build, head, &key);
    // What is compiled once, as submissions are, would only wait for what is to be kept.
    const bool is_edit = access(build->result->json_path, F_OK) == 0 || build->request->headers_directory;
    bool good = read_kept(build, &key, &kept) || (is_edit && make_kept(build, head, &key, &kept));
    good = good && preprocess_rest(build, &kept, head, &rest) && compile(build, &kept, &rest, result);
    const bool refuses =
        !good && build->request->headers_directory && strstr(text_chars(&result->output), ": error");
    if (!good && !refuses) { // nvcc itself is to say why, if it finds that too
        text_free(&result->output);
        free(build->result->message);
        build->result->message = NULL;
        build->result->status = COMPILE_OK;
    }
    kept_free(&kept);
    text_free(&key);
    text_free(&rest);
    return good ? KEPT_COMPILES : refuses ? KEPT_REFUSES : KEPT_NO_WAY;
}
