// The compile step: check the source, reuse what is still true, run nvcc and ptxas, write the results.
#define _GNU_SOURCE // realpath, mkdtemp, strdup under -std=c17
#include "compile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "../support/file.h"
#include "../support/process.h"
#include "../support/sha256.h"
#include "compile_parts.h"

enum {
    SOURCE_LIMIT = 1 << 20, // bytes of a kernel.cu
    OUTPUT_LIMIT = 1 << 20, // bytes kept of what a compiler prints
    PTX_LIMIT = 64 << 20,   // bytes of PTX
    MESSAGE_LINES = 40,     // of compiler output shown to people: one page
    NOTE_LINES = 6,         // of what the compiler remarks on one error: the first is the one that helps
    LOG_BYTES = 64 * 1024,  // of the output of a failed compilation that are kept
    DEFAULT_SECONDS = 30,
};
static const size_t compiler_memory = (size_t)4 << 30; // address space; nvcc needs about 0.3 GiB
static const size_t compiler_file = (size_t)256 << 20; // the largest file that a compiler may write

// What one call of compile_kernel() works with.
typedef struct {
    const CompileRequest *request;
    CompileResult *result;
    CompileKey key;
    double began, deadline;
    Text source, header, ptx, cubin;
    char label[512]; // result->source as PTX can hold it
    char header_label[PATH_MAX];
    char folder[PATH_MAX + 32]; // private, absolute; "" before it is made
    int lock;
    Toolchain toolchain;
    const char *environment[8];
    char environment_text[4][8192];
} Build;

const char *compile_verdict(CompileStatus status) {
    static const char *const verdicts[] = {"PASS", "BUILD", "BUILD_TIMEOUT", "RESOURCE", "INFRA"};
    return verdicts[status];
}

const CompiledKernel *compile_find_kernel(const CompileResult *result, const char *name) {
    for (int i = 0; i < result->kernel_count; i++) {
        if (strcmp(result->kernels[i].name, name) == 0) return &result->kernels[i];
    }
    return NULL;
}

void compile_result_free(CompileResult *result) {
    free(result->message);
    free(result->log);
    free(result->kernels);
    *result = (CompileResult){0};
}

// ---- Ending with a message ------------------------------------------------------------------------------

// Takes over the text as the message. Always false.
static bool end_with(Build *build, CompileStatus status, Text *message) {
    CompileResult *result = build->result;
    free(result->message);
    result->status = status;
    result->message = text_take(message);
    return false;
}

static bool __attribute__((format(printf, 3, 4)))
end(Build *build, CompileStatus status, const char *format, ...) {
    Text written = {0}, message = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&written, format, arguments);
    va_end(arguments);
    text_add_printable(&message, text_chars(&written), written.bytes);
    text_free(&written);
    return end_with(build, status, &message);
}

static bool end_without_memory(Build *build) {
    return end(build, COMPILE_INFRA, "out of memory while compiling");
}

// ---- The source -----------------------------------------------------------------------------------------

// The path as people see it: relative to the working folder where the file is below it.
static void show_path(const char *path, char *shown, size_t bytes) {
    char *here = realpath(".", NULL);
    size_t length = here ? strlen(here) : 0;
    if (length > 1 && strncmp(path, here, length) == 0 && path[length] == '/') path += length + 1;
    while (strncmp(path, "./", 2) == 0) path += 2;
    Text safe = {0};
    text_add_printable(&safe, path, strlen(path));
    snprintf(shown, bytes, "%s", text_chars(&safe));
    text_free(&safe);
    free(here);
}

// Strings in PTX have no escapes.
static void make_label(char *path) {
    for (char *at = path; *at; at++) {
        if (*at == '"' || *at == '\\' || *at == '\n') *at = '?';
    }
}

static int line_of(const char *text, size_t offset) {
    int line = 1;
    for (size_t i = 0; i < offset; i++) line += text[i] == '\n';
    return line;
}

static bool read_source(Build *build) {
    const char *shown = build->result->source;
    FileError error;
    if (!read_regular_file(build->request->source, SOURCE_LIMIT, &build->source, &error)) {
        switch (error.status) {
        case FILE_MISSING:
            return end(build, COMPILE_BUILD,
                       "there is no %s; `git checkout %s` or `make reset-chNN` brings it back", shown, shown);
        case FILE_DIRECTORY:
            return end(build, COMPILE_BUILD, "%s is a folder; a CUDA source file is wanted", shown);
        case FILE_SPECIAL:
            return end(build, COMPILE_BUILD, "%s is a pipe, socket or device; an ordinary file is wanted",
                       shown);
        case FILE_TOO_LARGE:
            return end(build, COMPILE_BUILD, "%s is larger than 1 MiB; a kernel.cu has a few hundred lines",
                       shown);
        default: return end(build, COMPILE_INFRA, "%s", error.message);
        }
    }
    const char *text = text_chars(&build->source);
    size_t bytes = build->source.bytes, blank = 0;
    while (blank < bytes && isspace((unsigned char)text[blank])) blank++;
    if (blank == bytes) return end(build, COMPILE_BUILD, "%s is empty", shown);
    for (size_t i = 0; i < bytes;) {
        size_t length = utf8_character(text + i, bytes - i, NULL);
        if (text[i] == '\0') {
            return end(build, COMPILE_BUILD,
                       "%s:%d: there is a NUL byte in the file; is it UTF-16? Save it as UTF-8", shown,
                       line_of(text, i));
        }
        if (length == 0) {
            return end(build, COMPILE_BUILD, "%s:%d: the byte 0x%02x is no UTF-8; save the file as UTF-8",
                       shown, line_of(text, i), (unsigned)(unsigned char)text[i]);
        }
        i += length;
    }
    sha256_hex(text, bytes, build->result->source_sha256);
    return true;
}

static bool read_header(Build *build) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    FileError error;
    const char *include = build->request->include_directory;
    if (!include) {
        if (!compile_include_directory(folder, sizeof folder)) {
            return end(build, COMPILE_INFRA,
                       "common/include/warpbook.cuh is nowhere to be found; run this in the "
                       "workbook's folder, or set WARPBOOK_INCLUDE");
        }
        include = folder;
    }
    snprintf(path, sizeof path, "%s/warpbook.cuh", include);
    if (!read_regular_file(path, SOURCE_LIMIT, &build->header, &error)) {
        return end(build, COMPILE_INFRA, "%s", error.message);
    }
    show_path(path, build->header_label, sizeof build->header_label);
    make_label(build->header_label);
    sha256_hex(text_chars(&build->header), build->header.bytes, build->result->header_sha256);
    return true;
}

// True when the source is the only thing that can change what comes out, besides warpbook.cuh and the
// toolkit: every include names warpbook.cuh or a plain system header. Comments are not told from code,
// which can only make the answer false.
static bool is_self_contained(const char *text) {
    static const char *const words[] = {"include", "import", "embed"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        for (const char *at = strstr(text, words[w]); at; at = strstr(at, words[w])) {
            const char *before = at;
            at += strlen(words[w]);
            while (before > text && (before[-1] == ' ' || before[-1] == '\t')) before--;
            // As a word in a comment or in a name it does nothing: a directive's # stands before it.
            bool is_directive =
                before > text && (before[-1] == '#' || before[-1] == ':' || before[-1] == '/' ||
                                  before[-1] == '\n' || before[-1] == '_' || before[-1] == '=');
            if (!is_directive) continue;
            at += strspn(at, " \t");
            if (w == 0 &&
                (strncmp(at, "\"warpbook.cuh\"", 14) == 0 || strncmp(at, "<warpbook.cuh>", 14) == 0))
                continue;
            if (w != 0 || *at != '<' || !isalnum((unsigned char)at[1])) return false;
            size_t length =
                strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.+-");
            if (at[1 + length] != '>' || strstr(text, "..") != NULL) return false;
        }
    }
    // A directive may be written over two lines: "#incl\" and "ude".
    for (const char *at = strstr(text, "\\\n"); at; at = strstr(at + 1, "\\\n")) {
        if (at > text && islower((unsigned char)at[-1]) && islower((unsigned char)at[2])) return false;
    }
    return true;
}

// ---- Reuse ----------------------------------------------------------------------------------------------

static void describe_options(Build *build) {
    const CompileRequest *request = build->request;
    CompileResult *result = build->result;
    result->ptx_arch = request->ptx_arch ? request->ptx_arch : 80;
    result->sass_arch = request->sass_arch ? request->sass_arch : 90;
    // ptxas refuses PTX for a newer device than it assembles for: an older one gets the PTX's own.
    if (result->sass_arch > 0 && result->sass_arch < result->ptx_arch) result->sass_arch = result->ptx_arch;
    snprintf(build->key.options, sizeof build->key.options, "1: -std=c++17 -lineinfo compute_%d sm_%d%s",
             result->ptx_arch, result->sass_arch, request->want_cubin ? " cubin" : "");
}

// Takes the results of an earlier call where nothing has changed since. `has_compiler` false: the
// compiler is gone, and cannot have changed what it made.
static bool reuse(Build *build, bool has_compiler) {
    CompileResult *result = build->result, old;
    CompileKey key;
    if (build->request->always || !build->key.is_self_contained) return false;
    if (!read_record(build->request->output_directory, &old, &key)) return false;
    bool is_same =
        (old.status == COMPILE_OK || old.status == COMPILE_BUILD || old.status == COMPILE_RESOURCE) &&
        key.is_self_contained && strcmp(old.source, result->source) == 0 &&
        strcmp(old.source_sha256, result->source_sha256) == 0 &&
        strcmp(old.header_sha256, result->header_sha256) == 0 &&
        strcmp(key.options, build->key.options) == 0 &&
        (!has_compiler || strcmp(key.compiler, build->toolchain.identity) == 0);
    if (!is_same || !record_files_intact(&old, &key)) {
        compile_result_free(&old);
        return false;
    }
    old.was_reused = true;
    compile_result_free(result);
    *result = old;
    return true;
}

// ---- Folders --------------------------------------------------------------------------------------------

// Another compile into the same folder is waited for: what it makes may be just what is wanted.
static bool lock_output(Build *build) {
    const char *directory = build->request->output_directory;
    FileError error;
    char path[PATH_MAX];
    if (!make_directories(directory, &error)) {
        return end(build, COMPILE_INFRA, "%s; build products must go there", error.message);
    }
    int written = snprintf(path, sizeof path, "%s/.lock", directory);
    if (written < 0 || (size_t)written + 32 >= sizeof build->result->ptx_path) {
        return end(build, COMPILE_INFRA, "the path %s is too long", directory);
    }
    build->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (build->lock < 0) {
        bool is_full = errno == ENOSPC || errno == EDQUOT;
        return end(build, COMPILE_INFRA, "cannot write to the folder %s: %s", directory,
                   is_full ? "the disk is full" : strerror(errno));
    }
    while (flock(build->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (monotonic_seconds() > build->deadline || (build->request->cancel && *build->request->cancel)) {
            return end(build, COMPILE_INFRA, "another compile holds the folder %s", directory);
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return true;
}

static bool put(Build *build, const char *name, const Text *content) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", build->folder, name);
    FILE *file = fopen(path, "wxe");
    bool good = file && fwrite(text_chars(content), 1, content->bytes, file) == content->bytes;
    int number = errno;
    if (file && fclose(file) != 0) {
        good = false;
        number = errno;
    }
    if (good) return true;
    return end(build, COMPILE_INFRA, "cannot write to %s: %s", build->request->output_directory,
               number == ENOSPC ? "the disk is full" : strerror(number));
}

// The compiler sees copies of exactly the bytes that were checked and hashed, under names of ours: what a
// path is called, or what becomes of the file meanwhile, cannot reach its command lines.
static bool make_private_folder(Build *build) {
    char folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/.compile-XXXXXX", build->request->output_directory);
    if (!mkdtemp(folder)) {
        bool is_full = errno == ENOSPC || errno == EDQUOT;
        return end(build, COMPILE_INFRA, "cannot write to the folder %s: %s",
                   build->request->output_directory, is_full ? "the disk is full" : strerror(errno));
    }
    char *whole = realpath(folder, NULL);
    snprintf(build->folder, sizeof build->folder, "%s", whole ? whole : folder);
    free(whole);
    return put(build, "kernel.cu", &build->source) && put(build, "warpbook.cuh", &build->header);
}

// ---- Running the compilers ------------------------------------------------------------------------------

// Only what a compiler needs. NVCC_APPEND_FLAGS, NVCC_PREPEND_FLAGS, LD_PRELOAD, CUDA_INJECTION64_PATH, CPATH
// and whatever else would change what it does stay outside.
static void make_environment(Build *build) {
    static const char *const kept[] = {"PATH", "LD_LIBRARY_PATH", "NVCC_CCBIN"};
    int count = 0, texts = 0;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const char *value = getenv(kept[i]);
        if (!value) continue;
        int written = snprintf(build->environment_text[texts], sizeof build->environment_text[0], "%s=%s",
                               kept[i], value);
        if (written > 0 && (size_t)written < sizeof build->environment_text[0]) {
            build->environment[count++] = build->environment_text[texts++];
        }
    }
    build->environment[count++] = "LC_ALL=C";
    build->environment[count++] = "TMPDIR=.";
    build->environment[count] = NULL;
}

static bool run_tool(Build *build, const char *const *arguments, ProcessResult *result) {
    double left = build->deadline - monotonic_seconds();
    ProcessRequest request = {.arguments = arguments,
                              .environment = build->environment,
                              .directory = build->folder,
                              .seconds = left > 0.001 ? left : 0.001,
                              .output_limit = OUTPUT_LIMIT,
                              .memory_limit = compiler_memory,
                              .file_limit = compiler_file,
                              .cancel = build->request->cancel};
    return process_run(&request, result);
}

static bool run_nvcc(Build *build, const char *source, const char *output, ProcessResult *result) {
    char arch[32];
    snprintf(arch, sizeof arch, "-arch=compute_%d", build->result->ptx_arch);
    const char *arguments[20];
    int count = 0;
    arguments[count++] = build->toolchain.nvcc;
    arguments[count++] = "-ptx";
    arguments[count++] = "-lineinfo";
    arguments[count++] = "-std=c++17";
    arguments[count++] = arch;
    arguments[count++] = "-I.";
    // libstdc++'s special functions of C++17 (Bessel, zeta ...), which <cmath> brings in and only host code
    // could call: without them the front end has a fifth less to read, and the PTX is the same.
    arguments[count++] = "-D_GLIBCXX_BITS_SPECFUN_H=1";
    // The host compiler only preprocesses here, so one newer than nvcc knows does no harm.
    arguments[count++] = "-allow-unsupported-compiler";
    arguments[count++] = "-Wno-deprecated-gpu-targets";
    if (build->toolchain.host_compiler[0]) {
        arguments[count++] = "-ccbin";
        arguments[count++] = build->toolchain.host_compiler;
    }
    arguments[count++] = "-o";
    arguments[count++] = output;
    arguments[count++] = source;
    arguments[count] = NULL;
    return run_tool(build, arguments, result);
}

// True when a kernel without a fault compiles: what failed before was the learner's.
static bool compiler_works(Build *build, Text *output) {
    Text probe = {0};
    ProcessResult result = {0};
    text_add(&probe, "#include \"warpbook.cuh\"\n__global__ void probe() {}\n");
    bool good = put(build, "probe.cu", &probe) && run_nvcc(build, "probe.cu", "probe.ptx", &result);
    text_add_bytes(output, text_chars(&result.output), result.output.bytes);
    if (!result.was_started) text_add(output, result.message);
    text_free(&result.output);
    text_free(&probe);
    return good;
}

static const char no_space[] = "No space left on device";

static bool disk_is_full(Build *build) {
    char path[PATH_MAX + 64];
    FileError error = {0};
    static const char zeros[65536];
    snprintf(path, sizeof path, "%s/room", build->folder);
    return !write_file_atomically(path, zeros, sizeof zeros, &error) && error.status == FILE_DISK_FULL;
}

// What stopped a compiler other than the source: true when it has been dealt with.
static bool explain_stop(Build *build, const ProcessResult *run, const char *tool) {
    const char *shown = build->result->source;
    double limit = build->request->time_limit > 0 ? build->request->time_limit : DEFAULT_SECONDS;
    if (!run->was_started) return !end(build, COMPILE_INFRA, "%s", run->message);
    if (run->was_cancelled) return !end(build, COMPILE_INFRA, "interrupted");
    if (run->timed_out) {
        return !end(
            build, COMPILE_BUILD_TIMEOUT,
            "%s did not end within %.3g s on %s. Templates without end, or a loop unrolled too far, do that: "
            "try #pragma unroll 1",
            tool, limit, shown);
    }
    if (disk_is_full(build)) {
        return !end(build, COMPILE_INFRA, "the disk is full: %s could not write to %s", tool,
                    build->request->output_directory);
    }
    return false;
}

static bool explain_nvcc_failure(Build *build, const ProcessResult *run) {
    if (explain_stop(build, run, "the compiler")) return false;
    const char *output = text_chars(&run->output);
    Text probe = {0}, log = {0}, message = {0};
    // gcc names the learner's line even when it is its own output that does not fit.
    bool has_room = !strstr(output, no_space);
    bool is_machines = (!log_names_source(output) || !has_room) && !compiler_works(build, &probe);
    if (is_machines && strstr(text_chars(&probe), no_space)) {
        text_printf(&message, "the disk is full: the compiler could not write to %s\n",
                    build->request->output_directory);
    } else if (is_machines) {
        add_readable_log(&log, text_chars(&probe), probe.bytes, "an empty kernel");
        text_printf(&message, "%s fails on an empty kernel; `make doctor` looks for the cause. It says:\n\n",
                    build->toolchain.nvcc);
    } else {
        add_readable_log(&log, output, run->output.bytes, build->result->source);
        text_printf(&message, "%s does not compile:\n\n", build->result->source);
        if (run->signal)
            text_printf(&message, "the compiler was stopped by signal %d (%s)\n", run->signal,
                        strsignal(run->signal));
    }
    const char *record = build->result->json_path;
    if (is_machines)
        add_first_lines(&message, text_chars(&log), MESSAGE_LINES);
    else
        add_errors(&message, text_chars(&log), MESSAGE_LINES, NOTE_LINES,
                   record[0] && record[0] != '/' ? record : "build.json");
    if (run->output_was_cut) text_add(&message, "... (the compiler printed more than 1 MiB)\n");
    if (log.bytes > LOG_BYTES) text_cut(&log, LOG_BYTES);
    free(build->result->log);
    build->result->log = text_take(&log);
    text_free(&probe);
    return end_with(build, is_machines ? COMPILE_INFRA : COMPILE_BUILD, &message);
}

static bool make_ptx(Build *build) {
    ProcessResult run;
    Text raw = {0};
    char path[PATH_MAX + 64];
    FileError error;
    bool good = run_nvcc(build, "kernel.cu", "raw.ptx", &run);
    Text log = {0};
    if (!good) {
        explain_nvcc_failure(build, &run);
    } else {
        add_readable_log(&log, text_chars(&run.output), run.output.bytes, build->result->source);
        free(build->result->log);
        build->result->log = text_take(&log);
        snprintf(path, sizeof path, "%s/raw.ptx", build->folder);
        if (!read_regular_file(path, PTX_LIMIT, &raw, &error)) {
            good = end(build, error.status == FILE_TOO_LARGE ? COMPILE_BUILD : COMPILE_INFRA, "%s",
                       error.status == FILE_TOO_LARGE ? "the kernel compiles to more than 64 MiB of PTX"
                                                      : error.message);
        } else if (!relabel_ptx(text_chars(&raw), build->folder, build->label, build->header_label,
                                &build->ptx)) {
            good = end_without_memory(build);
        }
    }
    text_free(&raw);
    text_free(&run.output);
    return good;
}

// The line of the learner's file that the PTX line `number` belongs to: that of the last .loc before it.
static int source_line_of(const char *ptx, const char *shown, int number) {
    char file[600];
    const char *found = NULL;
    int line = 1, which = -1, last = 0;
    snprintf(file, sizeof file, " \"%s\"", shown);
    if ((found = strstr(ptx, file)) != NULL) {
        while (found > ptx && isdigit((unsigned char)found[-1])) found--;
        which = atoi(found);
    }
    for (const char *at = ptx; *at && line < number; line++) {
        int loc_file, loc_line;
        if (sscanf(at, "\t.loc\t%d %d", &loc_file, &loc_line) == 2 && loc_file == which && loc_line > 0)
            last = loc_line;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return last;
}

// nvcc hands inline asm on unread, so mistakes in it are ptxas's to find: "ptxas kernel.ptx, line 33; error :
// ..."
static void explain_assembly(Build *build, const char *output, Text *message) {
    text_printf(message, "%s does not assemble; inline asm is what the assembler reads as you wrote it:\n\n",
                build->result->source);
    int shown = 0;
    for (const char *line = output; *line && shown < MESSAGE_LINES; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        int number = 0, skip = 0;
        bool has_place = sscanf(line, "ptxas kernel.ptx, line %d; %n", &number, &skip) == 1 && skip > 0;
        if (strncmp(line, "ptxas info", 10) != 0 && length > 0) {
            if (has_place) {
                int source_line = source_line_of(text_chars(&build->ptx), build->label, number);
                if (source_line > 0) text_printf(message, "%s:%d: ", build->result->source, source_line);
            }
            text_add_printable(message, line + skip, length - (size_t)skip);
            text_add_char(message, '\n');
            shown++;
        }
        line += length;
    }
}

static bool assemble(Build *build) {
    CompileResult *result = build->result;
    char arch[32], path[PATH_MAX + 64];
    FileError error;
    if (result->sass_arch < 0) return true;
    if (!put(build, "kernel.ptx", &build->ptx)) return false;
    snprintf(arch, sizeof arch, "-arch=sm_%d", result->sass_arch);
    const char *arguments[] = {build->toolchain.ptxas, "-v", "-lineinfo",    arch,
                               "kernel.ptx",           "-o", "kernel.cubin", NULL};
    ProcessResult run;
    bool good = run_tool(build, arguments, &run);
    const char *output = text_chars(&run.output);
    if (!read_ptxas_log(output, result)) good = end_without_memory(build);
    for (int i = 0; i < result->kernel_count; i++) {
        CompiledKernel *kernel = &result->kernels[i];
        kernel->line = kernel_line_in_ptx(text_chars(&build->ptx), kernel->name, build->label);
    }
    Text message = {0};
    if (!good && !explain_stop(build, &run, "ptxas")) {
        if (strstr(output, no_space)) {
            end(build, COMPILE_INFRA, "the disk is full: ptxas could not write to %s",
                build->request->output_directory);
        } else if (strstr(output, "is not defined for option")) {
            end(build, COMPILE_INFRA, "%s does not know sm_%d: it is too old or too new for that GPU",
                build->toolchain.ptxas, result->sass_arch);
        } else if (explain_resources(output, result, &message)) {
            end_with(build, COMPILE_RESOURCE, &message);
        } else {
            explain_assembly(build, output, &message);
            end_with(build, COMPILE_BUILD, &message);
        }
    }
    text_free(&message);
    text_free(&run.output);
    if (!good || !build->request->want_cubin) return good;
    snprintf(path, sizeof path, "%s/kernel.cubin", build->folder);
    if (!read_regular_file(path, compiler_file, &build->cubin, &error))
        return end(build, COMPILE_INFRA, "%s", error.message);
    return true;
}

// ---- Results --------------------------------------------------------------------------------------------

// Writes one product or, where there is none, removes what an earlier call left: a stale image must not run.
static bool deliver(Build *build, const char *name, const Text *content, bool is_wanted, char path[1024],
                    char hash[65]) {
    FileError error;
    snprintf(path, 1024, "%s/%s", build->request->output_directory, name);
    if (!is_wanted) {
        unlink(path);
        path[0] = '\0';
        return true;
    }
    sha256_hex(text_chars(content), content->bytes, hash);
    if (write_file_atomically(path, text_chars(content), content->bytes, &error)) return true;
    path[0] = hash[0] = '\0';
    return end(build, COMPILE_INFRA, "%s", error.message);
}

// build.json is removed first and written last: it never speaks of files that are not there.
static void deliver_all(Build *build) {
    CompileResult *result = build->result;
    char why[700];
    unlink(result->json_path);
    bool has_image = result->status == COMPILE_OK || result->status == COMPILE_RESOURCE;
    bool good =
        deliver(build, "kernel.ptx", &build->ptx, has_image, result->ptx_path, build->key.ptx_sha256) &&
        deliver(build, "kernel.cubin", &build->cubin, has_image && build->cubin.bytes > 0, result->cubin_path,
                build->key.cubin_sha256);
    if (!good || result->status == COMPILE_INFRA) return;
    if (!result->message) result->message = strdup("");
    if (!result->log) result->log = strdup("");
    if (!write_record(result, &build->key, why, sizeof why)) end(build, COMPILE_INFRA, "%s", why);
}

static void compile_anew(Build *build) {
    CompileResult *result = build->result;
    char why[1200];
    bool has_compiler = find_toolchain(&build->toolchain, why, sizeof why);
    if (reuse(build, has_compiler)) return;
    if (!has_compiler) {
        end(build, COMPILE_INFRA, "%s", why);
    } else {
        double began = monotonic_seconds();
        make_environment(build);
        snprintf(build->key.compiler, sizeof build->key.compiler, "%s", build->toolchain.identity);
        read_nvcc_version(&build->toolchain, build->environment, result->nvcc_version);
        if (make_private_folder(build) && make_ptx(build)) assemble(build);
        result->build_seconds = monotonic_seconds() - began;
    }
    deliver_all(build);
    if (build->folder[0]) remove_tree(build->folder);
}

bool compile_kernel(const CompileRequest *request, CompileResult *result) {
    *result = (CompileResult){.status = COMPILE_OK};
    Build *build = calloc(1, sizeof *build);
    if (!build) {
        result->status = COMPILE_INFRA;
        result->message = strdup("out of memory while compiling");
        return false;
    }
    build->request = request;
    build->result = result;
    build->lock = -1;
    build->began = monotonic_seconds();
    build->deadline = build->began + (request->time_limit > 0 ? request->time_limit : DEFAULT_SECONDS);
    show_path(request->source, result->source, sizeof result->source);
    memcpy(build->label, result->source, sizeof build->label);
    make_label(build->label);
    describe_options(build);
    if (lock_output(build)) {
        snprintf(result->json_path, sizeof result->json_path, "%s/build.json", request->output_directory);
        if (read_source(build) && read_header(build)) {
            build->key.is_self_contained = is_self_contained(text_chars(&build->source));
            compile_anew(build);
        } else {
            deliver_all(build);
        }
    }
    if (build->lock >= 0) close(build->lock);
    result->seconds = monotonic_seconds() - build->began;
    if (!result->message) result->message = strdup("");
    if (!result->log) result->log = strdup("");
    text_free(&build->source);
    text_free(&build->header);
    text_free(&build->ptx);
    text_free(&build->cubin);
    free(build);
    return result->status == COMPILE_OK;
}

bool compile_load(const char *output_directory, CompileResult *result) {
    CompileKey key;
    if (read_record(output_directory, result, &key) && record_files_intact(result, &key)) {
        return result->status == COMPILE_OK;
    }
    compile_result_free(result);
    Text message = {0};
    text_printf(&message, "there is no build in %s, or it is damaged; run make again", output_directory);
    result->status = COMPILE_INFRA;
    result->message = text_take(&message);
    result->log = strdup("");
    return false;
}
