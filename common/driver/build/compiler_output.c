#define _GNU_SOURCE // memmem
#include "driver/build/compiler_output.h"

#include <ctype.h>
#include <string.h>

// The compiler runs in a private folder, where the learner's file is always called this.
static const char source_name[] = "kernel.cu";
static const char header_name[] = "warpbook.cuh";

static bool line_starts_with(const char *line, size_t length, const char *prefix) {
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
        if (line_starts_with(line, length, noise[i])) return true;
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
                         line_starts_with(line + i, length - i, "kernel.cu\"");
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

bool log_names_source(const char *output) {
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n"), skip;
        if (names_file(line, length, source_name, &skip) ||
            line_starts_with(line, length, "At end of source:") ||
            line_starts_with(line, length, "\"kernel.cu\"")) {
            return true;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}
