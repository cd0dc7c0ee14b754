#include "driver/judge/repair/linked_lines.h"
#include "driver/judge/repair/words.h"

#include <stddef.h>
#include <string.h>

static const char *line_of(const char *source, int number) {
    for (int i = 1; source && i < number; i++) {
        source = strchr(source, '\n');
        source += source != NULL;
    }
    return source;
}

static bool says(const char *line, const char *name, size_t length) {
    const char *end = line + strcspn(line, "\n");
    for (const char *at = line; at + length <= end; at++)
        if (strncmp(at, name, length) == 0 && !is_word(at[length]) &&
            (at == line || (!is_word(at[-1]) && at[-1] != '.')))
            return true;
    return false;
}

// Whether `to` says a variable that `from` assigns to.
static bool leads_to(const char *from, const char *to) {
    const char *end = from + strcspn(from, "\n");
    for (const char *at = from; at < end; at++) {
        if (*at != '=' || at[1] == '=' || at == from || strchr("=!<>", at[-1])) continue;
        const char *name_end = at;
        while (name_end > from && strchr(" +-*/%&|^", name_end[-1])) name_end--;
        const char *name = name_end;
        while (name > from && is_word(name[-1])) name--;
        if (name < name_end && says(to, name, (size_t)(name_end - name))) return true;
    }
    return false;
}

bool text_leads_to(const char *text, const char *source, int line) {
    const char *to = line_of(source, line);
    return to && leads_to(text, to);
}

bool lines_are_linked(const char *source, int a, int b) {
    const char *first = line_of(source, a), *second = line_of(source, b);
    return first && second && (leads_to(first, second) || leads_to(second, first));
}
