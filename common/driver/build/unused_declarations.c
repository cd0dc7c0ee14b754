// A declaration at namespace scope is left out if it is of a form that is known here and its name occurs
// nowhere else: then no lookup finds it. Everything else is kept, and what is kept names more. All
// declarations of one name are kept or left out together, so overloads stay as they are. What is not called
// by a name, such as operators and conversions, is kept.
#include "driver/build/unused_declarations.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { WORD, STRING, DIRECTIVE, MARK } TokenKind; // MARK: a character, or a number

typedef struct {
    TokenKind kind;
    int name; // of a WORD; else -1
    size_t at, bytes;
} Token;

typedef struct {
    const char *word;
    size_t bytes;
    int first_item; // that declares it, or -1
    bool is_used;
} Name;

typedef struct {
    int from, to; // tokens
    int name, next_of_name;
    bool is_kept;
} Item;

typedef struct {
    const char *text;
    Token *tokens;
    int token_count, token_room;
    Item *items;
    int item_count, item_room;
    Name *names;
    int name_count, name_room;
    int *table; // of names, by hash; -1: free
    size_t table_size;
    int *found; // names that are used and whose declarations were not kept yet
    int found_count;
    bool has_memory;
} Reader;

// Makes room for one more. False when memory ran out.
static bool grow(Reader *reader, void *array, size_t size, int count, int *room) {
    if (count < *room) return true;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    const int wanted = *room ? 2 * *room : 4096;
    grown = realloc(old, (size_t)wanted * size);
    reader->has_memory = reader->has_memory && grown;
    if (!grown) return false;
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return true;
}

// ---- Names ------------------------------------------------------------------------------------------------

static bool starts_word(char c) { return isalpha((unsigned char)c) || c == '_' || c == '$' || (c & 0x80); }
static bool is_in_word(char c) { return starts_word(c) || isdigit((unsigned char)c); }

static size_t slot_of(const Reader *reader, const char *word, size_t bytes) {
    size_t hash = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ (unsigned char)word[i]) * 1099511628211u;
    size_t slot = hash % reader->table_size;
    while (reader->table[slot] >= 0) {
        const Name *name = &reader->names[reader->table[slot]];
        if (name->bytes == bytes && memcmp(name->word, word, bytes) == 0) break;
        slot = (slot + 1) % reader->table_size;
    }
    return slot;
}

static int intern(Reader *reader, const char *word, size_t bytes) {
    const size_t slot = slot_of(reader, word, bytes);
    if (reader->table[slot] >= 0) return reader->table[slot];
    if (!grow(reader, &reader->names, sizeof *reader->names, reader->name_count, &reader->name_room))
        return -1;
    reader->names[reader->name_count] = (Name){.word = word, .bytes = bytes, .first_item = -1};
    return reader->table[slot] = reader->name_count++;
}

static void use(Reader *reader, const char *word, size_t bytes) {
    const int name = reader->table[slot_of(reader, word, bytes)];
    if (name < 0 || !reader->names || reader->names[name].is_used) return;
    reader->names[name].is_used = true;
    reader->found[reader->found_count++] = name;
}

// Whatever looks like a word, also in strings: inline asm may name a function.
static void use_all_words(Reader *reader, const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        const size_t from = i;
        while (i < bytes && is_in_word(text[i])) i++;
        if (i > from) use(reader, text + from, i - from);
        i += i == from;
    }
}

// ---- Tokens -----------------------------------------------------------------------------------------------

static size_t end_of_quoted(const char *text, size_t at, size_t bytes) {
    const char quote = text[at++];
    while (at < bytes && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
    return at < bytes ? at + 1 : bytes;
}

// R"end(...)end"; `at` is that of the quotation mark.
static size_t end_of_raw(const char *text, size_t at, size_t bytes) {
    const char *open = memchr(text + at, '(', bytes - at);
    if (!open) return bytes;
    const size_t length = (size_t)(open - (text + at)) - 1;
    for (const char *close = open; (close = memchr(close, ')', bytes - (size_t)(close - text))); close++) {
        const size_t end = (size_t)(close - text) + length + 2;
        if (end <= bytes && memcmp(close + 1, text + at + 1, length) == 0 && text[end - 1] == '"') return end;
    }
    return bytes;
}

static bool is_one_of(char c, const char *set) { return c != '\0' && strchr(set, c) != NULL; }

static bool is_raw_prefix(const char *word, size_t bytes) {
    return word[bytes - 1] == 'R' && (bytes == 1 || (bytes <= 3 && is_one_of(word[0], "uUL")));
}

static size_t end_of_number(const char *text, size_t at, size_t bytes) {
    while (at < bytes) {
        const bool is_exponent = is_one_of(text[at], "eEpP");
        const bool has_sign = is_exponent && at + 1 < bytes && (text[at + 1] == '+' || text[at + 1] == '-');
        const bool separates = text[at] == '\'' && at + 1 < bytes && is_in_word(text[at + 1]);
        if (!is_in_word(text[at]) && text[at] != '.' && !separates) break;
        at += has_sign ? 2 : 1;
    }
    return at;
}

static void read_tokens(Reader *reader, const char *text, size_t bytes) {
    bool at_line_start = true;
    for (size_t at = 0; at < bytes;) {
        if (isspace((unsigned char)text[at])) {
            at_line_start = at_line_start || text[at] == '\n';
            at++;
            continue;
        }
        Token token = {.kind = MARK, .name = -1, .at = at};
        size_t end = at + 1;
        if (at_line_start && text[at] == '#') {
            const char *line_end = memchr(text + at, '\n', bytes - at);
            end = line_end ? (size_t)(line_end - text) : bytes;
            token.kind = DIRECTIVE;
        } else if (starts_word(text[at])) {
            while (end < bytes && is_in_word(text[end])) end++;
            token.kind = WORD;
            if (end < bytes && text[end] == '"' && is_raw_prefix(text + at, end - at)) {
                end = end_of_raw(text, end, bytes);
                token.kind = STRING;
            } else {
                token.name = intern(reader, text + at, end - at);
            }
        } else if (text[at] == '"' || text[at] == '\'') {
            end = end_of_quoted(text, at, bytes);
            token.kind = STRING;
        } else if (isdigit((unsigned char)text[at])) {
            end = end_of_number(text, at, bytes);
        }
        at_line_start = false;
        token.bytes = end - at;
        at = end;
        if (!grow(reader, &reader->tokens, sizeof token, reader->token_count, &reader->token_room)) return;
        reader->tokens[reader->token_count++] = token;
    }
}

static bool is_word(const Reader *reader, int at, const char *word) {
    const Token *token = &reader->tokens[at];
    return at < reader->token_count && token->kind == WORD && token->bytes == strlen(word) &&
           memcmp(reader->text + token->at, word, token->bytes) == 0;
}

static bool is_any_word(const Reader *reader, int at, const char *const *words) {
    for (; *words; words++)
        if (is_word(reader, at, *words)) return true;
    return false;
}

// The character of a mark, or 0.
static char mark(const Reader *reader, int at) {
    if (at >= reader->token_count || reader->tokens[at].kind != MARK) return 0;
    return reader->text[reader->tokens[at].at];
}

static int skip_directives(const Reader *reader, int at) {
    while (at < reader->token_count && reader->tokens[at].kind == DIRECTIVE) at++;
    return at;
}

static int next_token(const Reader *reader, int at) { return skip_directives(reader, at + 1); }

// The token after the bracket that closes the one at `at`.
static int after_brackets(const Reader *reader, int at) {
    const char open = mark(reader, at), close = open == '(' ? ')' : open == '[' ? ']' : '}';
    int depth = 0;
    for (; at < reader->token_count; at++) {
        const char here = mark(reader, at);
        depth += here == open;
        depth -= here == close;
        if (depth == 0) return at + 1;
    }
    return at;
}

// ---- Declarations -----------------------------------------------------------------------------------------

// What has an argument in brackets that is none of the declaration's own.
static const char *const with_argument[] = {
    "__attribute__", "__attribute", "__declspec", "alignas", "decltype",   "noexcept", "throw",
    "asm",           "__asm__",     "__asm",      "typeof",  "__typeof__", "__typeof", NULL};

static const char *const class_words[] = {"struct", "class", "union", NULL};

// After `template <...>`; the same token if there is none.
static int after_template(const Reader *reader, int at) {
    int open = next_token(reader, at), depth = 0;
    if (!is_word(reader, at, "template") || mark(reader, open) != '<') return at;
    for (; open < reader->token_count; open++) {
        const char here = mark(reader, open);
        if (here == '(' || here == '[' || here == '{') open = after_brackets(reader, open) - 1;
        depth += here == '<';
        depth -= here == '>' && mark(reader, open - 1) != '-';
        if (depth == 0) return skip_directives(reader, open + 1);
    }
    return open;
}

// What a declaration shows until its end.
typedef struct {
    int end;           // the token after it
    int function;      // the name before its first brackets, or -1
    int variable;      // the name before the first =, or -1
    int last_word;     // before its end, or -1
    bool has_brackets; // (...), before any =
    bool has_body;     // {...}
    bool ends_in_body; // also before ;
    bool is_operator, is_constant;
} Shape;

// From `at` to the ; or the end of a function's body.
static Shape shape_of(const Reader *reader, int at, bool is_type) {
    Shape shape = {.function = -1, .variable = -1, .last_word = -1};
    int last = -1, angles = 0;
    bool has_equals = false;
    while (at < reader->token_count) {
        const char here = mark(reader, at);
        const bool is_name = reader->tokens[at].kind == WORD;
        if (here == ';') {
            at++;
            break;
        }
        if (is_word(reader, at, "operator")) {
            // operator(), operator= and the like: their marks are a part of the name.
            shape.is_operator = true;
            at = next_token(reader, at);
            if (mark(reader, at) == '(') at = skip_directives(reader, after_brackets(reader, at));
            while (at < reader->token_count && mark(reader, at) != '(' && mark(reader, at) != ';') at++;
            last = -1;
            continue;
        }
        if (is_any_word(reader, at, with_argument) && mark(reader, next_token(reader, at)) == '(') {
            at = after_brackets(reader, next_token(reader, at));
            last = -1;
            continue;
        }
        shape.is_constant = shape.is_constant || is_word(reader, at, "constexpr");
        if (here != '}' && reader->tokens[at].kind != DIRECTIVE) shape.ends_in_body = false;
        if (here == '(') {
            if (!shape.has_brackets && !has_equals && angles == 0) {
                shape.has_brackets = true;
                shape.function = last;
            }
            at = after_brackets(reader, at);
        } else if (here == '[') {
            at = after_brackets(reader, at);
        } else if (here == '{') {
            at = after_brackets(reader, at);
            shape.has_body = shape.ends_in_body = true;
            if (shape.has_brackets && !has_equals && !is_type) break;
        } else {
            if (here == '=' && !has_equals) {
                has_equals = true;
                shape.variable = last;
            }
            angles += here == '<' && !has_equals;
            angles -= here == '>' && !has_equals && angles > 0 && mark(reader, at - 1) != '-';
            at++;
        }
        if (is_name) shape.last_word = reader->tokens[at - 1].name;
        if (reader->tokens[at - 1].kind != DIRECTIVE) last = is_name ? reader->tokens[at - 1].name : -1;
    }
    shape.end = at;
    return shape;
}

// The name of a class that is declared or defined by `struct NAME ... ;` from `at` on, or -1.
static int class_name(const Reader *reader, int at, const Shape *shape) {
    at = next_token(reader, at);
    while (is_any_word(reader, at, with_argument) && mark(reader, next_token(reader, at)) == '(')
        at = skip_directives(reader, after_brackets(reader, next_token(reader, at)));
    if (at >= shape->end || reader->tokens[at].kind != WORD) return -1;
    const bool is_plain = mark(reader, next_token(reader, at)) == ';' || shape->ends_in_body;
    return is_plain ? reader->tokens[at].name : -1;
}

// The one name by which all that is declared from `at` on is found, or -1.
static int declared_name(const Reader *reader, int at, bool is_template, const Shape *shape) {
    if (shape->is_operator) return -1;
    if (is_any_word(reader, at, class_words)) return class_name(reader, at, shape);
    if (is_word(reader, at, "using")) {
        const int name = next_token(reader, at);
        if (is_word(reader, name, "namespace") || reader->tokens[name].kind != WORD) return -1;
        return shape->variable >= 0 ? reader->tokens[name].name : shape->last_word;
    }
    if (is_word(reader, at, "typedef"))
        return shape->has_body || shape->has_brackets || is_template ? -1 : shape->last_word;
    if (is_word(reader, at, "enum") || is_word(reader, at, "static_assert")) return -1;
    if (shape->has_brackets) return shape->function;
    return shape->is_constant ? shape->variable : -1;
}

static bool add_item(Reader *reader, Item item) {
    if (!grow(reader, &reader->items, sizeof item, reader->item_count, &reader->item_room)) return false;
    if (item.name >= 0 && reader->names) {
        Name *name = &reader->names[item.name];
        item.next_of_name = name->first_item;
        name->first_item = reader->item_count;
    }
    reader->items[reader->item_count++] = item;
    return true;
}

// The token after `namespace NAME {`, `extern "C" {` and the like; `at` if there is none.
static int after_opening(const Reader *reader, int at) {
    int open = at;
    if (is_word(reader, open, "extern")) {
        open = next_token(reader, open);
        if (open >= reader->token_count || reader->tokens[open].kind != STRING) return at;
        open = next_token(reader, open);
        return mark(reader, open) == '{' ? open + 1 : at;
    }
    if (is_word(reader, open, "inline")) open = next_token(reader, open);
    if (!is_word(reader, open, "namespace")) return at;
    while (open < reader->token_count && !is_one_of(mark(reader, open), "{=;")) open++;
    return mark(reader, open) == '{' ? open + 1 : at;
}

// Whether the directive before `at` is about what follows it, which then has to stay: #pragma, except those
// that hold until another one ends them.
static bool has_pragma(const Reader *reader, int at) {
    static const char *const lasting[] = {"push", "pop", "diagnostic", "visibility", "pack", "system_header"};
    if (at == 0 || reader->tokens[at - 1].kind != DIRECTIVE) return false;
    const Token *token = &reader->tokens[at - 1];
    const char *text = reader->text + token->at;
    char line[128];
    snprintf(line, sizeof line, "%.*s", (int)(token->bytes < sizeof line ? token->bytes : sizeof line - 1),
             text);
    if (!strstr(line, "pragma")) return false;
    for (size_t i = 0; i < sizeof lasting / sizeof lasting[0]; i++)
        if (strstr(line, lasting[i])) return false;
    return true;
}

// nvcc writes kernels and variables of the device into the PTX whether or not anything uses them.
static bool is_of_device(const Reader *reader, int from, int to) {
    static const char *const always[] = {"__global__", "__constant__", "__managed__",
                                         "global",     "constant",     "managed"};
    for (int i = from; i < to && mark(reader, i) != '{'; i++)
        for (size_t w = 0; w < sizeof always / sizeof always[0]; w++)
            if (is_word(reader, i, always[w])) return true;
    return false;
}

static void find_items(Reader *reader) {
    for (int at = 0; at < reader->token_count && reader->has_memory;) {
        const int inside = after_opening(reader, at);
        if (reader->tokens[at].kind == DIRECTIVE || mark(reader, at) == '}' || mark(reader, at) == ';') {
            at++;
        } else if (inside > at) {
            at = inside;
        } else {
            const int first = after_template(reader, at);
            const bool is_nested = is_word(reader, first, "template");
            const bool is_type = is_any_word(reader, first, class_words) || is_word(reader, first, "enum") ||
                                 is_word(reader, first, "typedef") || is_word(reader, first, "using");
            const Shape shape = shape_of(reader, first, is_type);
            const bool stays = is_nested || has_pragma(reader, at) || is_of_device(reader, at, shape.end);
            const int name = stays ? -1 : declared_name(reader, first, first > at, &shape);
            add_item(reader, (Item){.from = at, .to = shape.end, .name = name, .next_of_name = -1});
            at = shape.end;
        }
    }
}

// ---- Use --------------------------------------------------------------------------------------------------

static void use_tokens(Reader *reader, int from, int to) {
    for (int i = from; i < to; i++) {
        const Token *token = &reader->tokens[i];
        if (token->kind == WORD || token->kind == STRING)
            use_all_words(reader, reader->text + token->at, token->bytes);
    }
}

// What the language itself calls by name: loops over a range, structured bindings, printf and the heap in
// device code, launches, and types of expressions.
static const char *const used_by_the_language[] = {
    "begin",   "end",         "get",          "tuple_size", "tuple_element", "initializer_list", "type_info",
    "nothrow", "align_val_t", "bad_alloc",    "nullptr_t",  "size_t",        "printf",           "vprintf",
    "malloc",  "free",        "__assertfail", "dim3",       "cudaStream_t",  "cudaError_t"};

static void keep_what_is_used(Reader *reader, const Text *source) {
    use_all_words(reader, text_chars(source), source->bytes);
    for (size_t i = 0; i < sizeof used_by_the_language / sizeof used_by_the_language[0]; i++)
        use(reader, used_by_the_language[i], strlen(used_by_the_language[i]));
    for (int i = 0; i < reader->item_count; i++) {
        Item *item = &reader->items[i];
        if (item->name >= 0) continue;
        item->is_kept = true;
        use_tokens(reader, item->from, item->to);
    }
    while (reader->found_count > 0) {
        const Name *name = &reader->names[reader->found[--reader->found_count]];
        for (int i = name->first_item; i >= 0; i = reader->items[i].next_of_name) {
            reader->items[i].is_kept = true;
            use_tokens(reader, reader->items[i].from, reader->items[i].to);
        }
    }
}

// Ends of lines, and the directives that number lines, stay.
static void add_emptied(const Reader *reader, const Item *item, size_t from, Text *out) {
    for (int i = item->from; i < item->to; i++) {
        const Token *token = &reader->tokens[i];
        for (; from < token->at; from++)
            if (reader->text[from] == '\n') text_add_char(out, '\n');
        if (token->kind == DIRECTIVE) text_add_bytes(out, reader->text + token->at, token->bytes);
        from = token->at + token->bytes;
    }
}

static void add_kept(const Reader *reader, const Text *headers, Text *out) {
    size_t done = 0;
    for (int i = 0; i < reader->item_count; i++) {
        const Item *item = &reader->items[i];
        if (item->is_kept || item->to <= item->from) continue;
        const size_t from = reader->tokens[item->from].at;
        const Token *last = &reader->tokens[item->to - 1];
        const size_t to = last->at + last->bytes;
        text_add_bytes(out, reader->text + done, from - done);
        add_emptied(reader, item, from, out);
        done = to;
    }
    text_add_bytes(out, reader->text + done, headers->bytes - done);
}

bool add_used_declarations(const Text *headers, const Text *source, Text *out) {
    Reader reader = {.text = text_chars(headers), .has_memory = true};
    reader.table_size = headers->bytes / 2 + 1024; // no text has more names
    reader.table = malloc(reader.table_size * sizeof *reader.table);
    if (!reader.table) return false;
    memset(reader.table, 0xff, reader.table_size * sizeof *reader.table);
    read_tokens(&reader, reader.text, headers->bytes);
    find_items(&reader);
    reader.found = malloc(((size_t)reader.name_count + 1) * sizeof *reader.found);
    reader.has_memory = reader.has_memory && reader.found;
    if (reader.has_memory) {
        keep_what_is_used(&reader, source);
        add_kept(&reader, headers, out);
    }
    free(reader.tokens);
    free(reader.items);
    free(reader.names);
    free(reader.table);
    free(reader.found);
    return reader.has_memory;
}
