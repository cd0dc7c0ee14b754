#include "driver/build/compiler_report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/compiler_advice.h"

enum {
    MOST_ERRORS = 8, // later ones are often consequences of the first
    COLUMNS = 80,
    CODE_INDENT = 6,
    HELP_INDENT = 8,
    DETAIL_LINES = 4, // of one error
};

typedef struct {
    const char *shown, *source; // kernel.cu: its name and text
} Kernel;

// ---- Lines of kernel.cu
// ------------------------------------------------------------------------------------

static void read_line(const char *source, int line, char *text, size_t bytes) {
    const char *at = source;
    for (int i = 1; i < line && *at; i++) at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    snprintf(text, bytes, "%.*s", line > 0 ? (int)strcspn(at, "\r\n") : 0, at);
}

static void cut_comment(char *line) {
    bool in_text = false;
    for (char *at = line; *at; at++) {
        if (*at == '"' && (at == line || at[-1] != '\\')) in_text = !in_text;
        if (in_text || at[0] != '/' || at[1] != '/') continue;
        *at = '\0';
        return;
    }
}

static int last_line(const char *source) {
    int lines = 0;
    for (const char *at = source; *at; at++) lines += at[0] == '\n' || !at[1];
    return lines;
}

static size_t skip_blanks(const char *text, size_t at) { return at + strspn(text + at, " \t"); }

// How many characters of `wanted` are at text[at], blanks aside.
static int agreement(const char *text, size_t at, const char *wanted) {
    int count = 0;
    for (size_t w = skip_blanks(wanted, 0); wanted[w]; w = skip_blanks(wanted, w + 1)) {
        at = skip_blanks(text, at);
        if (text[at] != wanted[w]) break;
        at++;
        count++;
    }
    return count;
}

// The column of `line` for the caret's place in `code`, which is the line without comments and with its
// macros replaced: where most of what follows the caret is. 0: it comes from a macro.
static int column_of(const char *line, const char *code, int caret) {
    if (caret < 0 || caret >= (int)strlen(code)) return 0;
    const int expected = caret + (int)skip_blanks(line, 0);
    int best = 0, nearest = 0;
    for (size_t at = skip_blanks(line, 0); line[at]; at = skip_blanks(line, at + 1)) {
        const int found = agreement(line, at, code + caret);
        const bool is_nearer = abs((int)at - expected) < abs(nearest - expected);
        if (found > best || (found > 0 && found == best && is_nearer)) {
            best = found;
            nearest = (int)at;
        }
    }
    // What the compiler made of a macro agrees in a letter or two only by chance.
    const int rest = (int)strlen(code + caret), wanted = rest < 3 ? rest : 3;
    return best >= wanted ? nearest + 1 : 0;
}

static void add_code(Text *into, const char *line, int column) {
    const size_t indent = strspn(line, " \t");
    const int room = COLUMNS - CODE_INDENT, caret = column - 1 - (int)indent;
    size_t bytes = 0;
    int columns = 0, caret_columns = 0;
    for (const char *at = line + indent; at[bytes]; bytes++) {
        const bool starts = ((unsigned char)at[bytes] & 0xc0) != 0x80;
        if (starts && columns == room) break;
        columns += starts;
        caret_columns += starts && (int)bytes < caret;
    }
    if (bytes == 0) return;
    text_printf(into, "%*s", CODE_INDENT, "");
    Text code = {0};
    for (size_t i = 0; i < bytes; i++)
        text_add_char(&code, line[indent + i] == '\t' ? ' ' : line[indent + i]);
    text_add_printable(into, text_chars(&code), code.bytes);
    text_add_char(into, '\n');
    text_free(&code);
    if (column > 0 && caret >= 0 && caret < (int)bytes)
        text_printf(into, "%*s^\n", CODE_INDENT + caret_columns, "");
}

// ---- Where a header or a template was used ---------------------------------------------------------------

// The first "... at line 9 of kernel.cu" of the details: the line of kernel.cu that used what the message is
// about. A template of kernel.cu itself is used "at line 9". 0: none.
static int calling_line(const char *details, bool is_in_kernel) {
    for (const char *at = details; (at = strstr(at, " at line ")); at++) {
        char *end;
        const int line = (int)strtol(at + 9, &end, 10);
        const bool is_same_file = *end == '\n' || !*end;
        const size_t length = strcspn(end, "\n");
        const bool is_kernel =
            is_same_file ? is_in_kernel : length > 9 && strncmp(end + length - 9, "kernel.cu", 9) == 0;
        if (is_kernel) return line;
    }
    return 0;
}

// The column of a name in the line; 0: it is not there.
static int column_of_name(const char *line, const char *name, size_t length) {
    for (const char *at = line; length > 0 && (at = strstr(at, name)); at++) {
        const bool starts = at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (starts && !(isalnum((unsigned char)at[length]) || at[length] == '_')) return (int)(at - line) + 1;
    }
    return 0;
}

// That of the function in 'instantiation of "long long ceil_div(Total, Size) [...]"', or in 'calling a
// __host__ function("rand")'.
static int column_of_call(const char *words, const char *before, const char *line) {
    const char *start = strstr(words, before);
    if (!start) return 0;
    start += strlen(before);
    const char *end = start + strcspn(start, "(<\"\n"), *from = end;
    while (from > start && (isalnum((unsigned char)from[-1]) || from[-1] == '_')) from--;
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
    return column_of_name(line, name, strlen(name));
}

// ---- Writing
// -----------------------------------------------------------------------------------------------

// The lines that help: not the candidates of a header, of which there are often twenty.
static void add_details(Text *into, const CompilerMessage *message) {
    int shown = 0;
    for (const char *at = text_chars(&message->details); *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const int length = (int)strcspn(at, "\n");
        const bool is_types = strncmp(at, "argument types", 14) == 0 || strncmp(at, "operand types", 13) == 0;
        const bool is_candidate = strncmp(at, "function \"", 10) == 0 || strncmp(at, "built-in ", 9) == 0;
        const bool is_context = strncmp(at, "detected during", 15) == 0 ||
                                strncmp(at, "instantiation of", 16) == 0 || at[0] == '[';
        if (is_candidate || (!is_types && shown >= DETAIL_LINES) || is_context) continue;
        text_printf(into, "  %.*s\n", length, at);
        shown++;
    }
}

static void add_help(Text *into, const char *help) {
    int column = HELP_INDENT;
    text_add(into, "  help: ");
    for (const char *at = help; *at;) {
        const size_t length = strcspn(at, " ");
        if (column > HELP_INDENT && column + 1 + (int)length > COLUMNS) {
            text_printf(into, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            text_add_char(into, ' ');
            column++;
        }
        text_add_bytes(into, at, length);
        column += (int)length;
        at += length;
        at += strspn(at, " ");
    }
    text_add_char(into, '\n');
}

// A file that is not kernel.cu without the folders in front of its name, which differ between machines.
static const char *name_of(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static bool is_toolkits(const char *file) {
    return strstr(file, "/include/") || strcmp(name_of(file), "warpbook.cuh") == 0;
}

// `context`: the lines about templates, which the compiler may print only after the notes.
static void add_message(Text *into, const Kernel *kernel, CompilerMessage *message, const char *context) {
    static const char *const kinds[] = {"error", "warning", "note"};
    static const char instantiation[] = "nstantiation of \"", host[] = "calling a __host__ function(\"";
    const char *kind = kinds[message->kind];
    const bool is_at_end = !message->file[0];
    const bool is_in_kernel = is_at_end || strcmp(message->file, kernel->shown) == 0;
    const int call = calling_line(context, is_in_kernel);
    char line[1200] = "";
    if (is_at_end) message->line = last_line(kernel->source);
    if (!is_in_kernel && call > 0) {
        read_line(kernel->source, call, line, sizeof line);
        const int column = column_of_call(context, instantiation, line);
        text_printf(into, "%s:%d:%d: %s: %s\n", kernel->shown, call, column > 0 ? column : 1, kind,
                    message->words);
        add_code(into, line, column);
        text_printf(into, "  in line %d of %s, which this line calls:\n", message->line,
                    name_of(message->file));
        add_code(into, message->code, message->caret + 1);
    } else if (is_in_kernel) {
        read_line(kernel->source, message->line, line, sizeof line);
        if (message->column == 0) message->column = column_of(line, message->code, message->caret);
        if (message->column == 0) message->column = column_of_call(message->words, host, line);
        const int column = message->column > 0 ? message->column : 1;
        text_printf(into, "%s:%d:%d: %s: %s\n", kernel->shown, message->line, column, kind, message->words);
        if (!is_at_end) add_code(into, line, message->column);
    } else {
        text_printf(into, "%s:%d:%d: %s: %s\n", message->file, message->line,
                    message->column > 0 ? message->column : 1, kind, message->words);
        add_code(into, message->code, message->caret + 1);
        if (!is_toolkits(message->file)) text_add(into, "  in a file that kernel.cu includes\n");
    }
    add_details(into, message);
    if (is_in_kernel && call > 0 && call != message->line) {
        char caller[1200];
        read_line(kernel->source, call, caller, sizeof caller);
        text_printf(into, "  called from line %d:\n", call);
        add_code(into, caller, column_of_call(context, instantiation, caller));
    }
    Text help = {0};
    cut_comment(line);
    if (message->kind != COMPILER_NOTE && (line[0] || is_at_end) &&
        compiler_add_advice(&help, message, line, kernel->source))
        add_help(into, text_chars(&help));
    text_free(&help);
}

// The context of a template instantiation follows the notes.
static void add_context(Text *context, const char *log) {
    CompilerMessage note;
    while (compiler_next_message(&log, &note) && note.kind == COMPILER_NOTE) {
        text_printf(context, "\n%s", text_chars(&note.details));
        text_free(&note.details);
    }
    text_free(&note.details);
}

// "identifier "rand" is undefined in device code" only repeats the call of a host function.
static bool is_repetition(const CompilerMessage *message) {
    return strstr(message->words, "is undefined in device code") != NULL;
}

// Notes on the line of the error repeat it, and candidates in headers are many.
static bool is_useful_note(const CompilerMessage *note, const Kernel *kernel, int line) {
    return strcmp(note->file, kernel->shown) == 0 && note->line != line;
}

bool compiler_add_errors(Text *into, const char *log, const char *shown, const char *source,
                         const char *whole) {
    const Kernel kernel = {shown, source};
    CompilerMessage message;
    int errors = 0, line = 0;
    bool is_shown = false;
    while (compiler_next_message(&log, &message)) {
        if (message.kind == COMPILER_ERROR) {
            is_shown = !is_repetition(&message) && errors++ < MOST_ERRORS;
            Text context = {0};
            text_add(&context, text_chars(&message.details));
            add_context(&context, log);
            if (is_shown) add_message(into, &kernel, &message, text_chars(&context));
            line = message.line;
            text_free(&context);
        } else if (message.kind == COMPILER_NOTE && is_shown && is_useful_note(&message, &kernel, line)) {
            add_message(into, &kernel, &message, "");
        } else if (message.kind == COMPILER_WARNING) {
            is_shown = false;
        }
        text_free(&message.details);
    }
    const int more = errors - MOST_ERRORS;
    if (more > 0)
        text_printf(into, "... and %d more error%s: \"log\" in %s\n", more, more > 1 ? "s" : "", whole);
    return errors > 0;
}

void compiler_add_warnings(Text *into, const char *log, const char *shown, const char *source) {
    const Kernel kernel = {shown, source};
    CompilerMessage message;
    while (compiler_next_message(&log, &message)) {
        char *reason = strstr(message.words, " was declared deprecated (\"");
        if (reason) strcpy(reason, " is deprecated");
        if (message.kind == COMPILER_WARNING && strcmp(message.file, shown) == 0)
            add_message(into, &kernel, &message, "");
        text_free(&message.details);
    }
}

// ---- Reading
// -----------------------------------------------------------------------------------------------

static bool read_head(const char *line, ReportedMessage *message) {
    for (const char *at = strchr(line, ':'); at && at < line + strcspn(line, "\n");
         at = strchr(at + 1, ':')) {
        int number, column, used = 0;
        if (sscanf(at, ":%d:%d: %15[a-z]: %n", &number, &column, message->kind, &used) != 3 || used == 0)
            continue;
        message->line = number;
        message->column = column;
        snprintf(message->file, sizeof message->file, "%.*s", (int)(at - line), line);
        snprintf(message->words, sizeof message->words, "%.*s", (int)strcspn(at + used, "\n"), at + used);
        return true;
    }
    return false;
}

bool compiler_next_reported(const char **at, ReportedMessage *message) {
    static const char help[] = "  help: ";
    *message = (ReportedMessage){0};
    bool is_found = false, in_help = false;
    for (const char *line = *at; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        ReportedMessage next;
        if (is_found && line[0] != ' ') break;
        const size_t length = strcspn(line, "\n");
        if (!is_found && line[0] != ' ' && read_head(line, &next)) {
            *message = next;
            message->help[0] = '\0';
            is_found = true;
        } else if (is_found && (in_help || strncmp(line, help, sizeof help - 1) == 0)) {
            const size_t used = strlen(message->help);
            if (length > HELP_INDENT)
                snprintf(message->help + used, sizeof message->help - used, "%s%.*s", in_help ? " " : "",
                         (int)(length - HELP_INDENT), line + HELP_INDENT);
            in_help = true;
        }
        *at = line + length + (line[length] == '\n');
    }
    return is_found;
}
