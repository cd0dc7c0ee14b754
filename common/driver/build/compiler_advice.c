#include "driver/build/compiler_advice.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "driver/build/name_scope.h"
#include "driver/build/similar_names.h"

enum { GROUPS = 8 };

static const struct {
    const char *says, *code, *help;
} advices[] = {
#include "driver/build/compiler_advice.def"
#include "driver/build/compiler_advice_clang.def"
};

// `place` >= 0: only a match that includes or touches it.
static bool match(const char *expression, const char *text, int place, regmatch_t groups[GROUPS]) {
    regex_t compiled;
    bool found = false;
    if (regcomp(&compiled, expression, REG_EXTENDED) != 0) return false;
    for (int start = 0;
         !found && regexec(&compiled, text + start, GROUPS, groups, start ? REG_NOTBOL : 0) == 0; start++) {
        for (int g = 0; g < GROUPS; g++) {
            if (groups[g].rm_so < 0) continue;
            groups[g].rm_so += start;
            groups[g].rm_eo += start;
        }
        found = place < 0 || (groups[0].rm_so <= place && place <= groups[0].rm_eo);
        start = (int)groups[0].rm_so;
        if (!text[start]) break;
    }
    regfree(&compiled);
    return found;
}

static bool fits(const char *code, const CompilerMessage *message, const char *line,
                 regmatch_t groups[GROUPS]) {
    const bool is_pointed_at = code && code[0] == '@';
    if (!code) return true;
    if (is_pointed_at && message->column == 0) return false;
    return match(code + is_pointed_at, line, is_pointed_at ? message->column - 1 : -1, groups);
}

// `help` with {s1} and {c1} replaced by groups.
static void fill_in(Text *into, const char *help, const char *says, const regmatch_t *said, const char *code,
                    const regmatch_t *coded) {
    for (; *help; help++) {
        const bool is_blank = help[0] == '{' && (help[1] == 's' || help[1] == 'c') && help[3] == '}';
        if (!is_blank) {
            text_add_char(into, *help);
            continue;
        }
        const bool is_said = help[1] == 's';
        const regmatch_t group = is_said ? said[help[2] - '0'] : coded[help[2] - '0'];
        const char *text = is_said ? says : code;
        if (group.rm_so >= 0)
            text_add_printable(into, text + group.rm_so, (size_t)(group.rm_eo - group.rm_so));
        help += 3;
    }
}

// Of the names in quotation marks and parentheses: identifier "threadidx" is undefined.
static bool read_name(const char *words, const char *before, char name[128]) {
    const char *at = strstr(words, before);
    return at && sscanf(at + strlen(before), "%127[A-Za-z_0-9:]", name) == 1;
}

// ---- Lines ------------------------------------------------------------------------------------------------

static bool is_word_at(const char *line, const char *at, const char *word) {
    const char *sign = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && !(at[length] && strchr(sign, at[length])) &&
           (at == line || !strchr(sign, at[-1]));
}

// A line without its comment and the blanks at its end.
static void code_of_line(const char *source, int line, char *text, size_t bytes) {
    for (int number = 1; number < line && *source; number++) source += strcspn(source, "\n") + 1;
    snprintf(text, bytes, "%.*s", (int)strcspn(source, "\r\n"), source);
    char *comment = strstr(text, "//");
    if (comment) *comment = '\0';
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1])) length--;
    text[length] = '\0';
}

// Whether a statement could end in this line without a semicolon: not after a sign that continues or ends it.
static bool lacks_semicolon(const char *source, int line) {
    char text[1200];
    code_of_line(source, line, text, sizeof text);
    const size_t length = strlen(text);
    const char *start = text + strspn(text, " \t");
    static const char *const headers[] = {"for", "if", "while", "else", "do", "switch", "template"};
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++)
        if (is_word_at(text, start, headers[h]) && (length == 0 || text[length - 1] != '+')) return false;
    regmatch_t groups[GROUPS];
    return *start != '#' && match("[])A-Za-z_0-9\"'.]$|\\+\\+$|--$|= *\\{[^{}]*\\}$", text, -1, groups);
}

// ---- Names ------------------------------------------------------------------------------------------------

static bool gets_value(const char *line, const char *variable) {
    const char *at = strstr(line, variable);
    if (!at) return false;
    at += strlen(variable);
    at += strspn(at, " \t");
    return at[0] == '=' && at[1] != '=';
}

// Nothing where the declaration is in order: an error above it hides it.
static bool add_advice_on_scope(Text *into, const char *name, const NameScope *scope, const char *line) {
    char part[260];
    snprintf(part, sizeof part, "%s%s", scope->object, name);
    if (scope->is_visible) return false;
    if (scope->object[0] && gets_value(line, part)) // it does not follow from itself
        text_printf(into, "declare %s above this line, or correct its spelling", name);
    else if (scope->object[0])
        text_printf(into, "write %s%s: %s is a part of %s", scope->object, name, name, scope->structure);
    else if (scope->structure[0])
        text_printf(into, "the %s of line %d is a part of %s: write it after a variable of that type", name,
                    scope->line, scope->structure);
    else if (scope->is_below)
        text_printf(into, "%s is declared below, in line %d; a name must be declared above its use", name,
                    scope->line);
    else if (scope->statement_line > 0)
        text_printf(into,
                    "the %s of line %d exists only in that statement: write { } around the statements that "
                    "belong to the %s of line %d",
                    name, scope->line, scope->keyword, scope->statement_line);
    else
        text_printf(into, "the %s of line %d exists only in the function or { } of that line", name,
                    scope->line);
    return true;
}

// The header that declares `name`, an intrinsic or type of half or bfloat16; NULL: none, or it is there.
static const char *missing_header(const char *name, const char *source) {
    regmatch_t groups[GROUPS];
    const bool is_of_both =
        match("^__h(add|sub|mul|div|fma|neg|abs|max|min|eq|ne|gt|ge|lt|le)2?(_[a-z]+)?$", name, -1, groups);
    const bool is_bfloat = strstr(name, "bfloat16") || (is_of_both && strstr(source, "bfloat16"));
    const bool is_half = match("^(__)?half2?$|^__[a-z0-9]*half", name, -1, groups) ||
                         (is_of_both && !is_bfloat && strstr(source, "half"));
    if (is_bfloat && !match("\n *# *include *<cuda_bf16", source, -1, groups)) return "cuda_bf16.h";
    if (is_half && !match("\n *# *include *<cuda_fp16", source, -1, groups)) return "cuda_fp16.h";
    return NULL;
}

static bool read_undefined(const CompilerMessage *message, char name[128]) {
    return (strstr(message->words, "is undefined") && read_name(message->words, "identifier \"", name)) ||
           read_name(message->words, "use of undeclared identifier '", name) ||
           read_name(message->words, "unknown type name '", name);
}

static bool add_advice_on_header(Text *into, const CompilerMessage *message, const char *source) {
    char name[128];
    const char *header = read_undefined(message, name) ? missing_header(name, source) : NULL;
    if (header) text_printf(into, "write #include <%s> at the top", header);
    return header != NULL;
}

// A statement that gives a value to a name that nothing declares.
static bool is_first_value(const char *line, const CompilerMessage *message, const char *name) {
    const char *start = line + strspn(line, " \t");
    return message->column - 1 <= (int)(start - line) && is_word_at(start, start, name) &&
           gets_value(start, name);
}

static bool add_advice_on_name(Text *into, const CompilerMessage *message, const char *line,
                               const char *source) {
    char name[128];
    const bool is_of_host = read_name(message->words, "calling a __host__ function(\"", name) ||
                            read_name(message->words, "reference to __host__ function '", name);
    const bool is_undefined = !is_of_host && read_undefined(message, name);
    if (!is_of_host && !is_undefined) return false;
    const int declared = name_declaration(source, name);
    if (is_of_host && declared > 0)
        text_printf(into, "write __device__ before the definition of %s in line %d: kernels call no others",
                    name, declared);
    else if (is_of_host)
        text_printf(into, "%s exists on the host only: a kernel has no files, processes or C++ library",
                    name);
    else if (declared > 0) {
        const NameScope scope = name_scope(source, name, message->line, message->column);
        // Without its semicolon, the line before it would be a part of the statement.
        const int before = scope.line > 0 ? name_last_line_with_code(source, scope.line) : 0;
        if (scope.statement_line > 0 && before > 0 && lacks_semicolon(source, before)) return false;
        return add_advice_on_scope(into, name, &scope, line);
    } else if (strcmp(name, "block") == 0 || strcmp(name, "grid") == 0)
        text_printf(into, "in LAUNCH, write launch->%s", name);
    else if (strcmp(name, "launch") == 0)
        text_add(into, "launch exists in LAUNCH(...) { } only");
    else {
        char similar[128];
        if (name_similar(source, name, similar))
            text_printf(into, "write %s if you mean that: there is no %s", similar, name);
        else if (is_first_value(line, message, name))
            text_printf(
                into, "write a type before %s to declare it, such as float %s = ..., or correct its spelling",
                name, name);
        else
            text_printf(into, "declare %s above this line, or correct its spelling", name);
    }
    return true;
}

static int count(const char *text, char sign) {
    int found = 0;
    for (; *text; text++) found += *text == sign;
    return found;
}

// ---- Punctuation ------------------------------------------------------------------------------------------

static bool wants(const CompilerMessage *message, char sign) {
    char nvcc[16], clang[16];
    snprintf(nvcc, sizeof nvcc, "expected a \"%c\"", sign);
    snprintf(clang, sizeof clang, "expected '%c'", sign);
    return strstr(message->words, nvcc) || strncmp(message->words, clang, strlen(clang)) == 0;
}

// A missing semicolon is noticed at the first sign after it.
static bool add_advice_on_end(Text *into, const CompilerMessage *message, const char *line,
                              const char *source) {
    const int opened = count(line, '('), closed = count(line, ')');
    // clang points at the end of the line that lacks it.
    const bool is_at_end = strncmp(message->words, "expected ';' after", 18) == 0 &&
                           message->column > (int)strspn(line, " \t") + 1;
    if (is_at_end &&
        message->column - 1 + (int)strspn(line + message->column - 1, " \t") == (int)strlen(line)) {
        text_printf(into, "line %d has no ; at its end", message->line);
        return true;
    }
    if (wants(message, ')') && opened > closed) {
        text_printf(into, "this line has %d ( and %d )", opened, closed);
        return true;
    }
    if (is_at_end || !wants(message, ';') || message->column - 1 > (int)strspn(line, " \t")) return false;
    const int before = name_last_line_with_code(source, message->line);
    if (before <= 0 || !lacks_semicolon(source, before)) return false;
    text_printf(into, "line %d has no ; at its end", before);
    return true;
}

// The parts of a for (...) in the line; 0: there is none, it goes over more lines, or it is that of a range.
static int parts_of_for(const char *line, const char *at) {
    int depth = 0, semicolons = 0;
    for (; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at == ';' && depth == 1) semicolons++;
        if (*at == ')' && depth == 0) break;
    }
    return *at && (semicolons > 0 || !strchr(line, ':')) ? semicolons + 1 : 0;
}

static bool add_advice_on_condition(Text *into, const CompilerMessage *message, const char *line) {
    regmatch_t groups[GROUPS];
    if (!wants(message, '(') || !match("(^|[^A-Za-z_0-9])(if|while|switch) +[^ (]", line, -1, groups))
        return false;
    text_printf(into, "write %.*s (...): what it tests is in parentheses",
                (int)(groups[2].rm_eo - groups[2].rm_so), line + groups[2].rm_so);
    return true;
}

// A comma where a declaration ends is noticed at the next statement.
static bool add_advice_on_comma(Text *into, const CompilerMessage *message, const char *line,
                                const char *source) {
    const bool is_start = message->column - 1 <= (int)strspn(line, " \t");
    const int before = name_last_line_with_code(source, message->line);
    if (!is_start || before <= 0 || !strstr(message->words, "expected an identifier")) return false;
    char text[1200];
    code_of_line(source, before, text, sizeof text);
    const size_t length = strlen(text);
    if (length == 0 || text[length - 1] != ',') return false;
    text_printf(into, "line %d ends with a comma; a statement ends with ;", before);
    return true;
}

// Other advice on a line with such a for would follow from how the compiler read it.
static bool is_about_for(Text *into, const CompilerMessage *message, const char *line) {
    const char *at = line;
    while ((at = strstr(at, "for")) && !is_word_at(line, at, "for")) at++;
    if (!at) return false;
    at += 3 + strspn(at + 3, " \t");
    if (*at != '(') {
        if (wants(message, '('))
            text_add(into, "write for (...; ...; ...): its three parts are in parentheses");
        return true;
    }
    const int parts = parts_of_for(line, at);
    if (parts == 0 || parts == 3) return false;
    if (parts > 3 && (wants(message, ')') || wants(message, ';')))
        text_printf(into, "for (...; ...; ...) has three parts; here are %d", parts);
    else if (wants(message, ';'))
        text_add(into, "the three parts of for (...; ...; ...) are separated by ;");
    return true;
}

// A #define of a name in the line that ends with a semicolon, which gets into the line.
static bool has_semicolon_in_macro(const char *line, const char *source, char name[128]) {
    for (const char *at = source; (at = strstr(at, "#define")); at++) {
        const size_t length = strcspn(at, "\n");
        char rest[256];
        snprintf(rest, sizeof rest, "%.*s", (int)length, at);
        char *comment = strstr(rest, "//");
        if (comment) *comment = '\0';
        if (!strchr(rest, ';') || sscanf(rest, "#define %127[A-Za-z_0-9]", name) != 1) continue;
        for (const char *used = line; (used = strstr(used, name)); used++)
            if (is_word_at(line, used, name)) return true;
    }
    return false;
}

static bool add_advice_on_bracket(Text *into, const CompilerMessage *message, const char *line,
                                  const char *source) {
    regmatch_t groups[GROUPS];
    char name[128];
    if (!wants(message, ']')) return false;
    if (has_semicolon_in_macro(line, source, name))
        text_printf(into, "remove the ; at the end of the #define of %s: it gets between [ and ]", name);
    else if (match("\\[[^]]*;[^]]*\\]", line, -1, groups))
        text_add(into, "there is a ; between [ and ]");
    else if (count(line, '[') > count(line, ']'))
        text_printf(into, "this line has %d [ and %d ]", count(line, '['), count(line, ']'));
    else if (match("\\[ *([^][,]*[^][, ]) *, *([^][,]*[^][, ]) *\\]", line, -1, groups))
        text_printf(into, "write [%.*s][%.*s]: each dimension has its [ ]",
                    (int)(groups[1].rm_eo - groups[1].rm_so), line + groups[1].rm_so,
                    (int)(groups[2].rm_eo - groups[2].rm_so), line + groups[2].rm_so);
    else
        return false;
    return true;
}

// ---- Pointers ---------------------------------------------------------------------------------------------

enum { TYPE = 160 };

// The type in `quotes` after `before`, without what clang adds after its name.
static bool read_type(const char *words, const char *before, char quote, char type[TYPE]) {
    const char *at = strstr(words, before);
    if (!at) return false;
    at += strlen(before);
    const size_t length = strcspn(at, quote == '"' ? "\"" : "'");
    snprintf(type, TYPE, "%.*s", (int)(length < TYPE ? length : 0), at);
    return type[0] != '\0';
}

// What a pointer type leads to, and that without const and volatile; false: it does not point to a value.
static bool split_pointer(const char *type, char to[TYPE], char plain[TYPE]) {
    const size_t length = strlen(type);
    if (length < 3 || strcmp(type + length - 2, " *") != 0 || strchr(type, '*') != type + length - 1)
        return false;
    snprintf(to, TYPE, "%.*s", (int)length - 2, type);
    const char *at = to;
    while (strncmp(at, "const ", 6) == 0 || strncmp(at, "volatile ", 9) == 0) at += strcspn(at, " ") + 1;
    snprintf(plain, TYPE, "%s", at);
    return true;
}

// The declaration of a variable that takes a pointer, and lacks only the *.
static bool add_advice_on_missing_star(Text *into, const char *source, const char *to, const char *line) {
    regmatch_t groups[GROUPS];
    if (strcmp(source, to) != 0) return false;
    for (const char *at = strstr(line, to); at; at = strstr(at + 1, to)) {
        if (!match("^ +([A-Za-z_][A-Za-z_0-9]*) *=", at + strlen(to), -1, groups)) continue;
        const char *name = at + strlen(to) + groups[1].rm_so;
        text_printf(into, "write %s *%.*s: the value on the right is a pointer", source,
                    (int)(groups[1].rm_eo - groups[1].rm_so), name);
        return true;
    }
    return false;
}

// A pointer that takes the value of one to something else.
static bool add_advice_on_pointer(Text *into, const CompilerMessage *message, const char *line) {
    char from[TYPE], to[TYPE], source[TYPE], target[TYPE], plain_source[TYPE], plain_target[TYPE];
    const char *words = message->words;
    const bool is_nvcc = read_type(words, "value of type \"", '"', from) &&
                         (read_type(words, "initialize an entity of type \"", '"', to) ||
                          read_type(words, "assigned to an entity of type \"", '"', to));
    const bool is_clang =
        !is_nvcc &&
        ((read_type(words, "initialize a variable of type '", '\'', to) &&
          (read_type(words, "lvalue of type '", '\'', from) ||
           read_type(words, "rvalue of type '", '\'', from))) ||
         (read_type(words, "assigning to '", '\'', to) && read_type(words, " from '", '\'', from)) ||
         (read_type(words, "assigning to '", '\'', to) &&
          read_type(words, "incompatible type '", '\'', from)));
    if (!(is_nvcc || is_clang) || !split_pointer(from, source, plain_source)) return false;
    if (add_advice_on_missing_star(into, source, to, line)) return true;
    if (!split_pointer(to, target, plain_target)) return false;
    if (strcmp(plain_source, plain_target) == 0) {
        text_printf(into, "write %s *: what the pointer leads to is %s, and stays so", source,
                    starts_with(source, "volatile ") ? "volatile" : "const");
        return true;
    }
    const size_t last = strlen(plain_target) - 1;
    const bool is_vector = last > 3 && (plain_target[last] == '2' || plain_target[last] == '4');
    regmatch_t groups[GROUPS];
    if (is_vector && match("[^=!<>]= *([^=;]*[^=; ]) *;", line, -1, groups)) {
        const char *value = line + groups[1].rm_so;
        const int length = (int)(groups[1].rm_eo - groups[1].rm_so);
        const bool is_name = (int)strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                                "0123456789") >= length ||
                             (value[0] == '(' && (int)strcspn(value, ")") == length - 1);
        const bool loses_const = starts_with(source, "const ") && !starts_with(target, "const ");
        if (loses_const) text_printf(into, "write const %s * and ", target);
        text_printf(into, "%s(%s%s *)%s%.*s%s", loses_const ? "" : "write ", loses_const ? "const " : "",
                    target, is_name ? "" : "(", length, value, is_name ? "" : ")");
        if (loses_const) text_printf(into, ": what the pointer leads to is const, and stays so");
        return true;
    }
    if (is_vector || strcmp(plain_source, "void") == 0 || starts_with(target, "volatile ")) return false;
    text_printf(into, "write %s *: the pointer on the right leads to %s, not to %s", source, plain_source,
                plain_target);
    return true;
}

bool compiler_add_advice(Text *into, const CompilerMessage *message, const char *line, const char *source) {
    if (is_about_for(into, message, line)) return into->bytes > 0;
    if (add_advice_on_end(into, message, line, source)) return true;
    if (add_advice_on_condition(into, message, line)) return true;
    if (add_advice_on_comma(into, message, line, source)) return true;
    if (add_advice_on_bracket(into, message, line, source)) return true;
    if (add_advice_on_header(into, message, source)) return true;
    if (add_advice_on_pointer(into, message, line)) return true;
    char says[2400];
    snprintf(says, sizeof says, "%s\n%s", message->words, text_chars(&message->details));
    for (size_t a = 0; a < sizeof advices / sizeof advices[0]; a++) {
        regmatch_t said[GROUPS] = {{0}}, coded[GROUPS] = {{0}};
        if (!match(advices[a].says, says, -1, said) || !fits(advices[a].code, message, line, coded)) continue;
        fill_in(into, advices[a].help, says, said, line, coded);
        return true;
    }
    return add_advice_on_name(into, message, line, source);
}
