#include "driver/judge/repair/called_numbers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "driver/judge/repair/words.h"

// What follows the parameters that `open` begins; NULL: they do not end.
static const char *behind_parameters(const char *open) {
    int depth = 0;
    for (const char *at = open; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) return at + 1;
    }
    return NULL;
}

// The body of the function that is defined, and not called, where its parameters begin; NULL: it is called.
static const char *body_behind(const char *open) {
    const char *body = behind_parameters(open);
    if (!body) return NULL;
    body += strspn(body, " \n");
    if (strncmp(body, "const", 5) == 0) body += 5 + strspn(body + 5, " \n");
    return *body == '{' ? body : NULL;
}

// Whether it says that once: of two, nobody knows which one is meant.
static bool body_says(const char *body, const char *said) {
    const size_t length = strlen(said);
    int depth = 0, times = 0;
    for (const char *at = body; *at; at++) {
        depth += (*at == '{') - (*at == '}');
        if (depth == 0) return times == 1;
        times += strncmp(at, said, length) == 0 && !is_word(at[-1]) && !is_word(at[length]);
    }
    return false;
}

// Whether a function with that name is defined in `source`, and its body says `said`.
static bool function_says(const char *source, const char *name, size_t length, const char *said) {
    for (const char *at = source; *at; at++) {
        if (strncmp(at, name, length) != 0 || at[length] != '(' || (at > source && is_word(at[-1]))) continue;
        const char *body = body_behind(at + length);
        if (body && body_says(body, said)) return true;
    }
    return false;
}

// The first name in a line that is called and says it.
static bool find_call(const char *source, const char *line, const char *said, char *name, size_t bytes) {
    const char *end = line + strcspn(line, "\n");
    for (const char *at = line; at < end; at++) {
        if (at[0] == '/' && at[1] == '/') return false;
        size_t length = 0;
        while (is_word(at[length])) length++;
        if (length > 0 && at[length] == '(' && !body_behind(at + length) &&
            function_says(source, at, length, said)) {
            snprintf(name, bytes, "%.*s", (int)length, at);
            return true;
        }
        if (length > 1) at += length - 1;
    }
    return false;
}

int line_that_calls(const char *source, int first, int last, const char *said, char *name, size_t bytes) {
    int found = 0, number = 1;
    for (const char *line = source; line && number <= last; number++) {
        char here[64];
        if (number >= first && find_call(source, line, said, here, sizeof here)) {
            if (found) return 0;
            found = number;
            snprintf(name, bytes, "%s", here);
        }
        line = strchr(line, '\n');
        if (line) line++;
    }
    return found;
}
