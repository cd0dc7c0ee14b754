#define _GNU_SOURCE // strnlen
#include "support/mangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A length-prefixed name at `at`; returns what follows it, or NULL when there is none.
static const char *read_name(const char *at, const char **name, size_t *length) {
    if (!isdigit((unsigned char)*at)) return NULL;
    size_t count = 0;
    while (isdigit((unsigned char)*at)) {
        count = 10 * count + (size_t)(*at++ - '0');
        if (count > 4096) return NULL;
    }
    if (strnlen(at, count) < count) return NULL;
    *name = at;
    *length = count;
    return at + count;
}

// Past template arguments, `at` standing on their I. Names inside are stepped over, so that an E or I in
// one of them does not count.
static const char *skip_template_arguments(const char *at) {
    int depth = 0;
    do {
        const char *name;
        size_t length;
        // In a literal (L i 3 E) the digits are a value, not a length.
        bool is_literal = *at == 'L' && at[1] != '_' && at[1] != '\0';
        if (is_literal) {
            at = strchr(at, 'E');
            if (!at) return NULL;
            at++;
            continue;
        }
        const char *after = read_name(at, &name, &length);
        if (after) {
            at = after;
            continue;
        }
        if (*at == '\0') return NULL;
        if (*at == 'I' || *at == 'N') depth++;
        if (*at == 'E') depth--;
        at++;
    } while (depth > 0);
    return at;
}

// Reads the name of a function or variable after _Z; the innermost part of a nested one. Returns what
// follows it.
static const char *read_entity(const char *at, const char **name, size_t *length, bool *is_template) {
    *is_template = false;
    if (*at == 'L') at++; // internal linkage, as GCC writes it
    if (*at != 'N') {
        at = read_name(at, name, length);
        if (at && *at == 'I') {
            *is_template = true;
            at = skip_template_arguments(at);
        }
        return at;
    }
    at++;
    bool found = false;
    while (at && *at != 'E') {
        if (isdigit((unsigned char)*at)) {
            at = read_name(at, name, length);
            found = true;
        } else if (*at == 'I') {
            *is_template = true;
            at = skip_template_arguments(at);
        } else if (*at == 'S' && at[1] == 't') {
            at += 2;
        } else if (*at == 'K' || *at == 'V' || *at == 'L') {
            at++;
        } else {
            return NULL;
        }
    }
    return at && found ? at + 1 : NULL;
}

bool symbol_is(const char *symbol, const char *name) {
    if (strcmp(symbol, name) == 0) return true;
    const char *found;
    size_t length;
    if (strncmp(symbol, "_Z", 2) != 0) return false;
    const char *after = read_name(symbol + 2, &found, &length);
    // A function has at least one parameter type after its name; a bare name would be a variable's.
    return after && *after != '\0' && length == strlen(name) && memcmp(found, name, length) == 0;
}

void symbol_source_name(const char *symbol, char *name, size_t name_bytes) {
    const char *found = symbol, *after = NULL;
    size_t length = strlen(symbol);
    bool is_template;
    if (strncmp(symbol, "_ZZ", 3) == 0) {
        // A variable of a function: _ZZ <function> E <name> [_ <number>]. The last name that ends it all.
        for (const char *at = symbol + 3; *at; at++) {
            const char *part;
            size_t part_length;
            if (at[0] != 'E') continue;
            after = read_name(at + 1, &part, &part_length);
            if (after && (*after == '\0' || *after == '_')) {
                found = part;
                length = part_length;
            }
        }
    } else if (strncmp(symbol, "_Z", 2) == 0) {
        after = read_entity(symbol + 2, &found, &length, &is_template);
        if (!after) {
            found = symbol;
            length = strlen(symbol);
        }
    }
    snprintf(name, name_bytes, "%.*s", (int)length, found);
}

// ---- Parameter types ------------------------------------------------------------------------------------

enum { MAX_SUBSTITUTIONS = 32, MAX_TYPE = 128 };

typedef struct {
    const char *at;
    char substitutions[MAX_SUBSTITUTIONS][MAX_TYPE]; // S_, S0_, S1_ ...: types met before, in order
    int substitution_count;
} TypeReader;

static const char *builtin_type(char code) {
    switch (code) {
    case 'v': return "void";
    case 'b': return "bool";
    case 'c': return "char";
    case 'a': return "signed char";
    case 'h': return "unsigned char";
    case 's': return "short";
    case 't': return "unsigned short";
    case 'i': return "int";
    case 'j': return "unsigned";
    case 'l': return "long";
    case 'm': return "unsigned long";
    case 'x': return "long long";
    case 'y': return "unsigned long long";
    case 'f': return "float";
    case 'd': return "double";
    default: return NULL;
    }
}

static bool remember(TypeReader *reader, const char *type) {
    if (reader->substitution_count == MAX_SUBSTITUTIONS) return false;
    snprintf(reader->substitutions[reader->substitution_count++], MAX_TYPE, "%s", type);
    return true;
}

static bool read_type(TypeReader *reader, char type[MAX_TYPE], int depth) {
    char code = *reader->at, inner[MAX_TYPE];
    int written;
    if (depth == 8) return false;
    if (code == 'P' || code == 'R') {
        reader->at++;
        if (!read_type(reader, inner, depth + 1)) return false;
        const char *space = inner[strlen(inner) - 1] == '*' ? "" : " ";
        written = snprintf(type, MAX_TYPE, "%s%s%c", inner, space, code == 'P' ? '*' : '&');
    } else if (code == 'K' || code == 'V') {
        reader->at++;
        if (!read_type(reader, inner, depth + 1)) return false;
        const char *word = code == 'K' ? "const" : "volatile";
        bool is_pointer = inner[strlen(inner) - 1] == '*';
        written = is_pointer ? snprintf(type, MAX_TYPE, "%s%s", inner, word)
                             : snprintf(type, MAX_TYPE, "%s %s", word, inner);
    } else if (code == 'S') {
        reader->at++;
        long index = 0;
        if (*reader->at != '_') {
            char *end;
            index = strtol(reader->at, &end, 36) + 1; // digits and capital letters
            reader->at = end;
        }
        if (*reader->at != '_' || index < 0 || index >= reader->substitution_count) return false;
        reader->at++;
        snprintf(type, MAX_TYPE, "%s", reader->substitutions[index]);
        return true;
    } else if (isdigit((unsigned char)code)) {
        const char *name;
        size_t length;
        reader->at = read_name(reader->at, &name, &length);
        if (!reader->at || *reader->at == 'I') return false;
        written = snprintf(type, MAX_TYPE, "%.*s", (int)length, name);
    } else {
        const char *word = builtin_type(code);
        if (!word) return false;
        reader->at++;
        snprintf(type, MAX_TYPE, "%s", word);
        return true;
    }
    return written > 0 && written < MAX_TYPE && remember(reader, type);
}

bool symbol_parameters(const char *symbol, char *words, size_t words_bytes) {
    const char *name;
    size_t length, used = 0;
    bool is_template;
    if (words_bytes == 0 || strncmp(symbol, "_Z", 2) != 0 || symbol[2] == 'N' || symbol[2] == 'Z')
        return false;
    TypeReader reader = {.at = read_entity(symbol + 2, &name, &length, &is_template)};
    if (!reader.at || is_template || *reader.at == '\0') return false;
    words[0] = '\0';
    if (strcmp(reader.at, "v") == 0) return true;
    while (*reader.at) {
        char type[MAX_TYPE];
        if (!read_type(&reader, type, 0)) return false;
        int written = snprintf(words + used, words_bytes - used, "%s%s", used ? ", " : "", type);
        if (written < 0 || (size_t)written >= words_bytes - used) return false;
        used += (size_t)written;
    }
    return true;
}
