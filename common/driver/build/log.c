// Making the compilers' output readable, and reading out of it what ptxas measured.
#define _GNU_SOURCE // memmem
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/compile_parts.h"
#include "driver/build/mangle.h"

// The compiler runs in a private folder, where the learner's file is always called this.
static const char source_name[] = "kernel.cu";
static const char header_name[] = "warpbook.cuh";

static bool starts_with(const char *line, size_t length, const char *prefix) {
    size_t count = strlen(prefix);
    return length >= count && memcmp(line, prefix, count) == 0;
}

// True for "kernel.cu(12)", "kernel.cu:12" and "./kernel.cu:12"; `skip` receives the length of the name.
static bool names_file(const char *at, size_t length, const char *file, size_t *skip) {
    size_t dot = length > 2 && at[0] == '.' && at[1] == '/' ? 2 : 0, count = strlen(file);
    if (length < dot + count + 2 || memcmp(at + dot, file, count) != 0) return false;
    char next = at[dot + count];
    if ((next != '(' && next != ':') || !isdigit((unsigned char)at[dot + count + 1])) return false;
    *skip = dot + count;
    return true;
}

static bool is_noise(const char *line, size_t length) {
    static const char *const noise[] = {"Remark: The warnings can be suppressed",
                                        "ptxas info    :", "compilation terminated."};
    for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++) {
        if (starts_with(line, length, noise[i])) return true;
    }
    return false;
}

static void add_readable_line(Text *into, const char *line, size_t length, const char *shown) {
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        size_t skip = 0;
        bool starts_word = i == 0 || line[i - 1] == ' ' || line[i - 1] == '"';
        if (!starts_word) continue;
        bool is_source = names_file(line + i, length - i, source_name, &skip);
        bool is_header = !is_source && names_file(line + i, length - i, header_name, &skip);
        // "2 errors detected in the compilation of "kernel.cu"."
        bool is_quoted = !is_source && !is_header && i > 0 && line[i - 1] == '"' &&
                         starts_with(line + i, length - i, "kernel.cu\"");
        if (is_quoted) skip = sizeof source_name - 1;
        if (!is_source && !is_header && !is_quoted) continue;
        text_add_printable(into, line + plain, i - plain);
        text_add_printable(into, is_header ? header_name : shown, strlen(is_header ? header_name : shown));
        plain = i + skip;
        i = plain - 1;
    }
    text_add_printable(into, line + plain, length - plain);
    text_add_char(into, '\n');
}

void add_readable_log(Text *into, const char *output, size_t bytes, const char *shown) {
    bool was_blank = true; // no blank line first, and never two
    for (size_t i = 0; i < bytes;) {
        const char *end = memchr(output + i, '\n', bytes - i);
        size_t length = end ? (size_t)(end - (output + i)) : bytes - i;
        bool is_blank = length == 0;
        if (!is_noise(output + i, length) && !(is_blank && was_blank)) {
            add_readable_line(into, output + i, length, shown);
            was_blank = is_blank;
        }
        i += length + 1;
    }
    while (into->bytes >= 2 && into->data[into->bytes - 1] == '\n' && into->data[into->bytes - 2] == '\n') {
        text_cut(into, into->bytes - 1);
    }
}

void add_first_lines(Text *into, const char *text, int lines) {
    const char *at = text;
    for (int i = 0; i < lines && *at; i++) at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    text_add_bytes(into, text, (size_t)(at - text));
    int more = 0;
    for (; *at; at++) more += *at == '\n';
    if (more > 0) text_printf(into, "... and %d more lines\n", more);
}

static bool is_note(const char *line, size_t length) {
    return memmem(line, length, "): note", 7) || memmem(line, length, ": note:", 7);
}

static bool is_message(const char *line, size_t length) {
    return memmem(line, length, "error", 5) || memmem(line, length, ": warning", 9);
}

void add_errors(Text *into, const char *log, int lines, int notes, const char *whole) {
    int shown = 0, noted = 0, left_out = 0;
    bool in_note = false;
    for (const char *line = log; *line;) {
        const size_t length = strcspn(line, "\n");
        const bool has_end = line[length] == '\n';
        if (is_note(line, length)) {
            in_note = true;
        } else if (is_message(line, length)) {
            in_note = false;
            noted = 0;
        }
        const bool is_too_much = shown >= lines || (in_note && noted++ >= notes);
        if (is_too_much) {
            left_out++;
        } else {
            text_add_bytes(into, line, length + has_end);
            shown++;
        }
        line += length + has_end;
    }
    if (left_out == 0) return;
    text_printf(into, "... and %d more line%s: \"log\" in %s\n", left_out, left_out > 1 ? "s" : "", whole);
}

bool log_names_source(const char *output) {
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n"), skip;
        if (names_file(line, length, source_name, &skip) || starts_with(line, length, "At end of source:") ||
            starts_with(line, length, "\"kernel.cu\"")) {
            return true;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

// ---- ptxas ----------------------------------------------------------------------------------------------

static CompiledKernel *add_kernel(CompileResult *result, const char *name, size_t length) {
    if (length >= sizeof result->kernels->name) length = sizeof result->kernels->name - 1;
    for (int i = 0; i < result->kernel_count; i++) {
        CompiledKernel *kernel = &result->kernels[i];
        if (strlen(kernel->name) == length && memcmp(kernel->name, name, length) == 0) return kernel;
    }
    CompiledKernel *kernels = realloc(result->kernels, ((size_t)result->kernel_count + 1) * sizeof *kernels);
    if (!kernels) return NULL;
    result->kernels = kernels;
    CompiledKernel *kernel = &kernels[result->kernel_count++];
    *kernel = (CompiledKernel){0};
    memcpy(kernel->name, name, length);
    return kernel;
}

// A count of ptxas's, as far as an int goes: it takes sizes of up to 64 bits in inline asm.
static int count_of(const char *digits) {
    const unsigned long long count = strtoull(digits, NULL, 10);
    return count > INT_MAX ? INT_MAX : (int)count;
}

// The number that stands right before `words` in the line, or 0.
static int number_before(const char *line, size_t length, const char *words) {
    const char *found = memmem(line, length, words, strlen(words));
    if (!found) return 0;
    const char *at = found;
    while (at > line && isdigit((unsigned char)at[-1])) at--;
    return at == found ? 0 : count_of(at);
}

// The lines that ptxas -v prints for each kernel (CUDA compiler driver documentation, section "Printing code
// generation statistics"):
//   ptxas info    : Compiling entry function 'NAME' for 'sm_90'
//   ptxas info    : Function properties for NAME
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 12 registers, used 1 barriers, 400 bytes smem, 380 bytes cmem[0]
bool read_ptxas_log(const char *output, CompileResult *result) {
    static const char entry[] = "ptxas info    : Compiling entry function '";
    static const char properties[] = "ptxas info    : Function properties for ";
    CompiledKernel *kernel = NULL;
    bool is_own = false; // the next line of properties is the kernel's, not that of a function it calls
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n");
        if (starts_with(line, length, entry)) {
            const char *name = line + sizeof entry - 1;
            kernel = add_kernel(result, name, strcspn(name, "'\n"));
            if (!kernel) return false;
        } else if (kernel && starts_with(line, length, properties)) {
            const char *name = line + sizeof properties - 1;
            size_t name_length = length - (sizeof properties - 1);
            is_own = strlen(kernel->name) == name_length && memcmp(kernel->name, name, name_length) == 0;
        } else if (kernel && is_own && memmem(line, length, " bytes stack frame", 18)) {
            kernel->stack_bytes = number_before(line, length, " bytes stack frame");
            kernel->spill_store_bytes = number_before(line, length, " bytes spill stores");
            kernel->spill_load_bytes = number_before(line, length, " bytes spill loads");
        } else if (kernel && starts_with(line, length, "ptxas info    : Used ")) {
            kernel->registers = number_before(line, length, " registers");
            kernel->barriers = number_before(line, length, " barriers");
            kernel->shared_bytes = number_before(line, length, " bytes smem");
            kernel->constant_bytes = 0;
            for (const char *at = line; (at = memmem(at, length - (size_t)(at - line), " bytes cmem", 11));
                 at += 11) {
                const char *digits = at;
                while (digits > line && isdigit((unsigned char)digits[-1])) digits--;
                const int count = count_of(digits);
                kernel->constant_bytes += count > INT_MAX - kernel->constant_bytes ? 0 : count;
            }
        }
        line += length + (line[length] == '\n');
    }
    return true;
}

// "ptxas error   : Entry function '_Z3bigPi' uses too much shared data (0x61a80 bytes, 0xc000 max)"
bool explain_resources(const char *output, const CompileResult *result, Text *into) {
    static const char prefix[] = "ptxas error   : Entry function '";
    bool found = false;
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n");
        const char *too_much = memmem(line, length, "uses too much ", 14);
        if (too_much && too_much > line + sizeof prefix && starts_with(line, length, prefix)) {
            char symbol[256], name[256], what[64];
            const char *start = line + sizeof prefix - 1;
            const char *symbol_end = memchr(start, '\'', (size_t)(too_much - start));
            if (!symbol_end) symbol_end = start;
            snprintf(symbol, sizeof symbol, "%.*s", (int)(symbol_end - start), start);
            symbol_source_name(symbol, name, sizeof name);
            const char *figures = memchr(line, '(', length);
            size_t what_length = strcspn(too_much + 14, "(\n");
            while (what_length > 0 && too_much[13 + what_length] == ' ') what_length--;
            snprintf(what, sizeof what, "%.*s", (int)what_length, too_much + 14);
            bool is_shared = strstr(what, "shared") != NULL;
            unsigned long long used = 0, most = 0;
            const CompiledKernel *kernel = compile_find_kernel(result, symbol);
            if (kernel && kernel->line > 0) text_printf(into, "%s:%d: ", result->source, kernel->line);
            if (figures && sscanf(figures, "(%llx bytes, %llx max)", &used, &most) == 2) {
                text_printf(into, "the kernel %s %s %llu bytes of %s; a block %s at most %llu\n", name,
                            is_shared ? "declares" : "uses", used, is_shared ? "shared memory" : what,
                            is_shared ? "may declare" : "has", most);
            } else {
                text_printf(into, "the kernel %s uses too much %s for sm_%d\n", name, what,
                            result->sass_arch);
            }
            found = true;
        }
        line += length + (line[length] == '\n');
    }
    return found;
}
