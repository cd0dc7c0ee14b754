#include "driver/build/compiler_advice.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

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

static bool add_advice_on_name(Text *into, const CompilerMessage *message, const char *source) {
    char name[128];
    const bool is_of_host = read_name(message->words, "calling a __host__ function(\"", name) ||
                            read_name(message->words, "reference to __host__ function '", name);
    const bool is_undefined =
        (strstr(message->words, "is undefined") && read_name(message->words, "identifier \"", name)) ||
        read_name(message->words, "use of undeclared identifier '", name);
    if (!is_of_host && !is_undefined) return false;
    const int declared = name_declaration(source, name);
    if (is_of_host && declared > 0)
        text_printf(into, "write __device__ before the definition of %s in line %d: kernels call no others",
                    name, declared);
    else if (is_of_host)
        text_printf(into, "%s exists on the host only: a kernel has no files, processes or C++ library",
                    name);
    else if (declared > message->line)
        text_printf(into, "%s is declared below, in line %d; a name must be declared above its use", name,
                    declared);
    else if (declared > 0)
        text_printf(into, "the %s of line %d exists only in the function or { } of that line", name,
                    declared);
    else if (strcmp(name, "block") == 0 || strcmp(name, "grid") == 0)
        text_printf(into, "in LAUNCH, write launch->%s", name);
    else if (strcmp(name, "launch") == 0)
        text_add(into, "launch exists in LAUNCH(...) { } only");
    else {
        char similar[128];
        if (name_similar(source, name, similar))
            text_printf(into, "write %s if you mean that: there is no %s", similar, name);
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

// A missing semicolon is noticed at the first sign after it.
static bool add_advice_on_end(Text *into, const CompilerMessage *message, const char *line,
                              const char *source) {
    const int opened = count(line, '('), closed = count(line, ')');
    const bool wants_semicolon =
        strstr(message->words, "expected a \";\"") || strncmp(message->words, "expected ';'", 12) == 0;
    const bool wants_parenthesis =
        strstr(message->words, "expected a \")\"") || strcmp(message->words, "expected ')'") == 0;
    // clang points at the end of the line that lacks it.
    if (strncmp(message->words, "expected ';' after", 18) == 0 &&
        message->column > (int)strspn(line, " \t") + 1) {
        text_printf(into, "line %d has no ; at its end", message->line);
        return true;
    }
    if (wants_parenthesis && opened > closed) {
        text_printf(into, "this line has %d ( and %d )", opened, closed);
        return true;
    }
    if (!wants_semicolon || message->column - 1 > (int)strspn(line, " \t")) return false;
    const int before = name_last_line_with_code(source, message->line);
    if (before <= 0) return false;
    text_printf(into, "line %d has no ; at its end", before);
    return true;
}

bool compiler_add_advice(Text *into, const CompilerMessage *message, const char *line, const char *source) {
    if (add_advice_on_end(into, message, line, source)) return true;
    char says[2400];
    snprintf(says, sizeof says, "%s\n%s", message->words, text_chars(&message->details));
    for (size_t a = 0; a < sizeof advices / sizeof advices[0]; a++) {
        regmatch_t said[GROUPS] = {{0}}, coded[GROUPS] = {{0}};
        if (!match(advices[a].says, says, -1, said) || !fits(advices[a].code, message, line, coded)) continue;
        fill_in(into, advices[a].help, says, said, line, coded);
        return true;
    }
    return add_advice_on_name(into, message, source);
}
