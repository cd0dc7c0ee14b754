#include "driver/build/compiler_messages.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t line_length(const char *line) { return strcspn(line, "\n"); }

static const char *line_after(const char *line) {
    line += line_length(line);
    return line + (*line == '\n');
}

// "error: ", "fatal error: ", "warning #549-D: "; the words follow at the result, which is NULL for other
// text.
static const char *read_kind(const char *at, CompilerMessage *message) {
    static const struct {
        const char *word;
        CompilerMessageKind kind;
    } kinds[] = {{"error", COMPILER_ERROR},     {"fatal error", COMPILER_ERROR},
                 {"warning", COMPILER_WARNING}, {"catastrophic error", COMPILER_ERROR},
                 {"Warning", COMPILER_WARNING}, {"internal error", COMPILER_ERROR},
                 {"note", COMPILER_NOTE},       {"remark", COMPILER_NOTE}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const size_t length = strlen(kinds[k].word);
        if (strncmp(at, kinds[k].word, length) != 0) continue;
        const char *rest = at + length;
        message->number = 0;
        if (rest[0] == ' ' && rest[1] == '#') message->number = (int)strtol(rest + 2, NULL, 10);
        if (message->number) rest += strcspn(rest, ":\n");
        if (rest[0] != ':' || rest[1] != ' ') continue;
        message->kind = kinds[k].kind;
        return rest + 2;
    }
    return NULL;
}

// "(12): " of nvcc or ":12:5: " of the preprocessor, behind the name of the file.
static const char *read_place(const char *at, CompilerMessage *message) {
    char *end;
    const bool is_nvccs = at[0] == '(';
    if (!isdigit((unsigned char)at[1])) return NULL;
    message->line = (int)strtol(at + 1, &end, 10);
    message->column = 0;
    if (is_nvccs && *end == ')')
        end++;
    else if (is_nvccs)
        return NULL;
    else if (*end == ':' && isdigit((unsigned char)end[1]))
        message->column = (int)strtol(end + 1, &end, 10);
    return end[0] == ':' && end[1] == ' ' ? end + 2 : NULL;
}

// The first line of a message.
static bool read_head(const char *line, CompilerMessage *message) {
    static const char at_end[] = "At end of source: ", backends[] = "warning: "; // of the code generator
    const char *words = NULL;
    if (strncmp(line, backends, sizeof backends - 1) == 0) line += sizeof backends - 1;
    const size_t length = line_length(line);
    if (strncmp(line, at_end, sizeof at_end - 1) == 0) {
        message->file[0] = '\0';
        message->line = message->column = 0;
        words = read_kind(line + sizeof at_end - 1, message);
    }
    // A name may hold whatever looks like a place: the first one that a kind of message follows is the place.
    for (size_t i = 1; i < length && !words && line[0] != ' '; i++) {
        if (line[i] != '(' && line[i] != ':') continue;
        const char *after = read_place(line + i, message);
        words = after ? read_kind(after, message) : NULL;
        if (words) snprintf(message->file, sizeof message->file, "%.*s", (int)i, line);
    }
    if (!words) return false;
    // clang's warnings end with the option that turns them off: [-Wunused-variable].
    int used = (int)line_length(words);
    if (used > 0 && words[used - 1] == ']') {
        int option = used - 1;
        while (option > 0 && words[option] != '[') option--;
        if (option > 1 && words[option - 1] == ' ' && words[option + 1] == '-') used = option - 1;
    }
    snprintf(message->words, sizeof message->words, "%.*s", used, words);
    return true;
}

static bool is_caret(const char *line) {
    const size_t blanks = strspn(line, " ");
    return line[blanks] == '^' && (line[blanks + 1] == '\n' || !line[blanks + 1]);
}

// "    9 |     printf(" and "      |     ^~~~" of the preprocessor.
static bool is_picture(const char *line) {
    line += strspn(line, " 0123456789");
    return *line == '|';
}

bool compiler_next_message(const char **log, CompilerMessage *message) {
    const char *line = *log;
    *message = (CompilerMessage){.caret = -1};
    while (*line && !read_head(line, message)) line = line_after(line);
    if (!*line) return false;
    for (line = line_after(line); *line == ' '; line = line_after(line)) {
        const char *next = line_after(line);
        if (is_picture(line)) continue;
        if (!message->code[0] && is_caret(next)) {
            const size_t blanks = strspn(line, " ");
            snprintf(message->code, sizeof message->code, "%.*s", (int)(line_length(line) - blanks),
                     line + blanks);
            message->caret = (int)(strspn(next, " ") - blanks);
            line = next;
            continue;
        }
        const size_t blanks = strspn(line, " ");
        if (message->details.bytes > 0) text_add_char(&message->details, '\n');
        text_add_bytes(&message->details, line + blanks, line_length(line) - blanks);
    }
    *log = line;
    return true;
}
