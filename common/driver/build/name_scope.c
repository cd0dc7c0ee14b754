#include "driver/build/name_scope.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/similar_names.h"

static bool is_part(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The source with blanks for comments and texts; every place stays where it is.
static char *without_comments(const char *source) {
    char *plain = strdup(source);
    for (char *at = plain; plain && *at;) {
        char *end = at + 1;
        const bool is_line = at[0] == '/' && at[1] == '/', is_block = at[0] == '/' && at[1] == '*';
        if (is_line) {
            end = at + strcspn(at, "\n");
        } else if (is_block) {
            char *close = strstr(at + 2, "*/");
            end = close ? close + 2 : at + strlen(at);
        } else if (*at == '"') {
            while (*end && *end != '"' && *end != '\n') end += *end == '\\' && end[1] ? 2 : 1;
            end += *end == '"';
        }
        if (end > at + 1 || is_line)
            for (char *each = at; each < end; each++)
                if (*each != '\n') *each = ' ';
        at = end;
    }
    return plain;
}

static const char *line_start(const char *text, int line) {
    for (int i = 1; i < line && *text; i++) text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
    return text;
}

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

// Where the bracket at `at` is closed; NULL: nowhere.
static const char *closing(const char *at) {
    int depth = 0;
    for (; *at; at++) {
        if (*at == '(' || *at == '{') depth++;
        if ((*at == ')' || *at == '}') && --depth == 0) return at;
    }
    return NULL;
}

// Whether each bracket before `end` is closed by one of its kind; else nobody can tell what is within what.
static bool is_well_formed(const char *text, const char *end) {
    enum { DEEPEST = 256 };
    char open[DEEPEST];
    int depth = 0;
    for (; text < end && *text; text++) {
        static const char opening[] = "([{", closing_signs[] = ")]}";
        const char *closes = strchr(closing_signs, *text);
        if (strchr(opening, *text) && depth < DEEPEST) open[depth++] = *text;
        if (closes && (depth == 0 || open[--depth] != opening[closes - closing_signs])) return false;
    }
    return true;
}

// The bracket that is open at `at`; NULL: none.
static const char *enclosing(const char *text, const char *at) {
    int depth = 0;
    while (at-- > text) {
        if (*at == ')' || *at == '}') depth++;
        if ((*at == '(' || *at == '{') && depth-- == 0) return at;
    }
    return NULL;
}

// The beginning of the statement or header that `at` is in, whose own brackets may have semicolons.
static const char *statement_start(const char *text, const char *at) {
    int depth = 0;
    while (at > text) {
        const char before = at[-1];
        if (before == ')') depth++;
        if (before == '(') depth--;
        if (depth <= 0 && (before == ';' || before == '{' || before == '}')) break;
        at--;
    }
    return at + strspn(at, " \t\r\n");
}

static bool starts_with_word(const char *at, const char *word) {
    const size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && !is_part(at[length]);
}

// The name after struct in a header such as `struct Answer {`.
static void read_structure(const char *header, const char *end, char name[128]) {
    static const char *const words[] = {"struct", "class", "union"};
    for (const char *at = header; at < end; at++) {
        if (at > header && is_part(at[-1])) continue;
        for (int w = 0; w < 3; w++)
            if (starts_with_word(at, words[w])) sscanf(at + strlen(words[w]), " %127[A-Za-z_0-9]", name);
    }
}

// ---- Scopes ----------------------------------------------------------------------------------------------

typedef struct {
    const char *start, *end; // of what sees the name; end NULL: it cannot be told
    const char *statement;   // the header of a for, while, if or else without { }
} Extent;

static Extent extent_of(const char *text, const char *declared) {
    static const char *const headers[] = {"for", "while", "if", "else"};
    const char *open = enclosing(text, declared), *statement = statement_start(text, declared);
    if (!open) return (Extent){text, text + strlen(text), NULL};
    if (*open == '(') { // a parameter, or the variable of a for
        const char *close = closing(open);
        const char *body = close ? close + 1 + strspn(close + 1, " \t\r\n") : NULL;
        return (Extent){open, body && *body == '{' ? closing(body) : NULL, NULL};
    }
    for (int h = 0; h < 4; h++)
        if (starts_with_word(statement, headers[h]))
            return (Extent){statement, declared + strcspn(declared, ";"), statement};
    return (Extent){open, closing(open), NULL};
}

// A variable of the struct that is visible at `use`, the last one that is declared.
static void find_object(const char *text, const char *structure, const char *use, char object[128]) {
    const size_t length = strlen(structure);
    for (const char *at = strstr(text, structure); at && at < use; at = strstr(at + 1, structure)) {
        if ((at > text && is_part(at[-1])) || is_part(at[length])) continue;
        const char *name = at + length;
        bool is_pointer = false;
        for (; *name && strchr(" \t&*", *name); name++) is_pointer |= *name == '*';
        size_t letters = 0;
        while (is_part(name[letters])) letters++;
        const char *next = name + letters + strspn(name + letters, " \t");
        if (letters == 0 || letters > 100 || isdigit((unsigned char)*name) || !strchr("=;,){", *next))
            continue;
        const Extent extent = extent_of(text, name);
        if (!extent.end || extent.end < use) continue;
        char within[128] = "";
        const char *open = enclosing(text, name);
        if (open && *open == '{') read_structure(statement_start(text, open), open, within);
        if (!within[0]) snprintf(object, 128, "%.*s%s", (int)letters, name, is_pointer ? "->" : ".");
    }
}

NameScope name_scope(const char *source, const char *name, int line, int column) {
    NameScope scope = {0};
    char *text = without_comments(source);
    const long place = name_declared_at(source, name);
    if (!text || place < 0) {
        free(text);
        return scope;
    }
    const char *declared = text + place, *use = line_start(text, line) + (column > 0 ? column - 1 : 0);
    const Extent extent = extent_of(text, declared);
    const char *open = enclosing(text, declared);
    scope.line = line_of(text, declared);
    scope.is_below = declared > use && extent.start < use;
    scope.is_visible = declared <= use && (!extent.end || extent.end > use);
    if (open && *open == '{') read_structure(statement_start(text, open), open, scope.structure);
    if (scope.structure[0]) {
        scope.is_visible = open < use && (!extent.end || extent.end > use);
        find_object(text, scope.structure, use, scope.object);
    }
    scope.is_visible |= !is_well_formed(text, use);
    if (extent.statement) {
        scope.statement_line = line_of(text, extent.statement);
        sscanf(extent.statement, "%7[a-z]", scope.keyword);
    }
    free(text);
    return scope;
}
