// Another part of a struct, another function of kernel.cu, and a factor that a float lacks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

enum { MOST_NAMES = 6 };

typedef struct {
    char *names[MOST_NAMES];
    int count;
} Names;

static void add_name(const Proposer *proposer, Names *names, int first, int last) {
    char *name = proposer_text(proposer, first, last, 0, 0, NULL);
    bool is_known = !name || names->count == MOST_NAMES;
    for (int n = 0; n < names->count && !is_known; n++) is_known = strcmp(names->names[n], name) == 0;
    if (is_known)
        free(name);
    else
        names->names[names->count++] = name;
}

static void propose_names(const Proposer *proposer, Names *names, int at, int last, int rank) {
    char *was = proposer_text(proposer, at, last, 0, 0, NULL);
    for (int n = 0; n < names->count; n++) {
        if (was && strcmp(names->names[n], was) != 0)
            proposer_replace(proposer, CHANGE_NAME, rank, at, last, names->names[n]);
        free(names->names[n]);
    }
    free(was);
}

// Another of the numbers of a float4, whose type says how many it has.
static void propose_letters(const Proposer *proposer, const Variable *variable, int at) {
    static const char *const letters[] = {"x", "y", "z", "w"};
    const size_t length = strlen(variable->type);
    const int size = length > 0 && variable->dimensions == 0 ? variable->type[length - 1] - '0' : 0;
    for (int l = 0; l < size && size <= 4; l++)
        if (!token_is(&proposer->code->tokens, at, letters[l]))
            proposer_replace(proposer, CHANGE_NAME, USUAL, at, at, letters[l]);
}

// The larger one of the same part of two arguments of a function.
static void propose_larger(const Proposer *proposer, const Variable *variable, const Function *function,
                           int at) {
    const Code *code = proposer->code;
    if (variable->name > function->first || variable_is_assigned(code, at)) return;
    char *one = proposer_text(proposer, at - 2, at, 0, 0, NULL),
         *part = proposer_text(proposer, at, at, 0, 0, NULL);
    for (int v = 0; one && part && v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        char name[64], both[256];
        if (other == variable || other->name > function->first || at < other->from || at >= other->to ||
            strcmp(other->type, variable->type) != 0)
            continue;
        variable_name_text(proposer, other, name, sizeof name);
        snprintf(both, sizeof both, "fmaxf(%.60s, %s.%.60s)", one, name, part);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, at - 2, at, both);
    }
    free(one);
    free(part);
}

// A part that other variables of this type have too: the function says it.
static void propose_members(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Variable *variable = code_variable(code, at - 2);
    Names names = {0};
    if (!token_is(&code->tokens, at - 1, ".") || !variable || token_is_one_of(&code->tokens, at + 1, "( ["))
        return;
    const Function *function = &code->functions[variable->function];
    propose_letters(proposer, variable, at);
    propose_larger(proposer, variable, function, at);
    for (int i = function->first; i < function->last; i++) {
        const Variable *other = token_is(&code->tokens, i - 1, ".") ? code_variable(code, i - 2) : NULL;
        if (other && strcmp(other->type, variable->type) == 0 &&
            !token_is_one_of(&code->tokens, i + 1, "( ["))
            add_name(proposer, &names, i, i);
    }
    propose_names(proposer, &names, at, at, USUAL);
}

// Whether two functions of kernel.cu take and return the same types, and neither is a template.
static bool are_called_alike(const Code *code, const Function *a, const Function *b) {
    const Tokens *tokens = &code->tokens;
    const int ends[] = {tokens->all[a->name + 1].partner, tokens->all[b->name + 1].partner};
    if (!token_is(tokens, a->name + 1, "(") || !token_is(tokens, b->name + 1, "(") ||
        !tokens_are_same(tokens, a->name - 1, b->name - 1))
        return false;
    int i = a->name + 2, j = b->name + 2;
    for (; i < ends[0] && j < ends[1]; i++, j++) {
        const bool are_names = token_is_one_of(tokens, i + 1, ", )") && token_is_one_of(tokens, j + 1, ", )");
        if (!are_names && !tokens_are_same(tokens, i, j)) return false;
    }
    return i == ends[0] && j == ends[1];
}

static void propose_functions(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Function *called = NULL;
    Names names = {0};
    for (int f = 0; f < code->function_count; f++)
        if (tokens_are_same(&code->tokens, code->functions[f].name, at)) called = &code->functions[f];
    if (!called || called->is_kernel || called->name == at || !token_is(&code->tokens, at + 1, "(") ||
        token_is_one_of(&code->tokens, at - 1, ". -> ::"))
        return;
    for (int f = 0; f < code->function_count; f++) {
        const Function *other = &code->functions[f];
        if (!other->is_kernel && other->last < at && are_called_alike(code, called, other))
            add_name(proposer, &names, other->name, other->name);
    }
    propose_names(proposer, &names, at, at, LAST);
}

// Whether what the token names is known in a function: its text has the name, or all of kernel.cu a constant
// or a type of that name.
static bool is_known_in(const Code *code, int token, const Function *function) {
    const Tokens *tokens = &code->tokens;
    for (int i = 0; i < tokens->count; i++) {
        if (!tokens_are_same(tokens, i, token)) continue;
        const bool is_of_all =
            token_is(tokens, i + 1, "=") || token_is_one_of(tokens, i - 1, "struct class enum");
        if ((i > function->first && i < function->last) || (is_of_all && !code->is_open[i])) return true;
    }
    return false;
}

// Other arguments of a template, that calls of the same function have.
static void propose_arguments(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (!token_is(tokens, at + 1, "<") || !tokens->all[at + 1].is_type) return;
    const Statement *statement = statement_at(code, at);
    if (!statement) return;
    const Function *function = &code->functions[statement->function];
    Names names = {0};
    int end = at + 1;
    while (tokens->all[end + 1].is_type) end++;
    if (!token_is(tokens, end + 1, "(")) return; // a type
    for (int i = 0; i < tokens->count; i++) {
        if (i == at || !tokens_are_same(tokens, i, at) || !token_is(tokens, i + 1, "<") ||
            !tokens->all[i + 1].is_type)
            continue;
        int last = i + 1;
        while (tokens->all[last + 1].is_type) last++;
        bool is_known = true;
        for (int k = i + 1; k <= last; k++)
            is_known &= tokens->all[k].kind != TOKEN_NAME || is_known_in(code, k, function);
        if (is_known) add_name(proposer, &names, i, last);
    }
    propose_names(proposer, &names, at, end, LIKELY);
}

static bool is_float(const Variable *variable) {
    char type[48];
    variable_element_type(variable, type);
    return strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

// What a float is multiplied with, or divided by, is a variable that is known there.
static void propose_float_factors(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    int first, last;
    if (!statement_value(code, statement, &first, &last) || token_is(&code->tokens, first, "{")) return;
    for (int i = first; i <= last; i++)
        if (code_variable(code, i) && !is_float(code_variable(code, i)) &&
            !type_is_whole(code_variable(code, i)->type) && !token_is(&code->tokens, i + 1, "."))
            return;
    char *was = proposer_text(proposer, first, last, 0, 0, NULL);
    const Variable *set = NULL;
    for (int at = first - 1; at >= statement->first && !set; at--) set = code_variable(code, at);
    for (int v = code->variable_count - 1; was && v >= 0; v--) {
        const Variable *variable = &code->variables[v];
        char name[64];
        if (first < variable->from || first >= variable->to || variable->dimensions > 0 ||
            (strcmp(variable->type, "float") != 0 && strcmp(variable->type, "double") != 0) ||
            variable == set)
            continue;
        variable_name_text(proposer, variable, name, sizeof name);
        for (int form = 0; form < 3; form++) {
            Text now = {0};
            text_printf(&now, "(%s) %c %s", was, "*/-"[form], name);
            proposer_replace(proposer, CHANGE_EXPRESSION, form == 0 ? USUAL : RARE, first, last,
                             text_chars(&now));
            text_free(&now);
        }
        for (int i = first; i <= last; i++) {
            int left, right;
            const bool is_other =
                token_is(&code->tokens, i, "[") ||
                (token_is(&code->tokens, i, "(") && code->tokens.all[i - 1].kind == TOKEN_NAME);
            if (is_other && code->tokens.all[i].partner > i) i = code->tokens.all[i].partner;
            if (!token_is_one_of(&code->tokens, i, "+ -") || operator_strength(code, i) == 0 ||
                !operator_operands(code, i, &left, &right))
                continue;
            for (int side = 0; side < 2; side++) {
                const int from = side ? i + 1 : left, to = side ? right : i - 1;
                char *operand = proposer_text(proposer, from, to, 0, 0, NULL);
                Text now = {0};
                if (operand) text_printf(&now, "%s * %s", operand, name);
                if (operand) proposer_replace(proposer, CHANGE_EXPRESSION, RARE, from, to, text_chars(&now));
                text_free(&now);
                free(operand);
            }
        }
    }
    free(was);
}

void propose_members_and_calls(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int at = code->functions[function].first; at < code->functions[function].last; at++) {
        if (!code->is_open[at] || code->tokens.all[at].kind != TOKEN_NAME) continue;
        propose_members(proposer, at);
        propose_functions(proposer, at);
        propose_arguments(proposer, at);
    }
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        int first, last;
        if (statement->function != function || !statement_value(code, statement, &first, &last)) continue;
        const Variable *set = NULL;
        for (int at = statement->first; at < first && !set; at++) set = code_variable(code, at);
        for (int v = 0; v < code->variable_count && !set; v++)
            if (code->variables[v].name > statement->first && code->variables[v].name < first)
                set = &code->variables[v];
        const bool is_pointer = set && strchr(set->type, '*') && statement->kind == STATEMENT_DECLARATION;
        if (set && is_float(set) && !is_pointer) propose_float_factors(proposer, statement);
    }
}
