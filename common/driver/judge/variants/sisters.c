// What other expressions of a function say: factors and addends that one of its numbers may lack.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

static bool is_simple(const Code *code, int at) {
    const Token *token = &code->tokens.all[at];
    return (token->kind == TOKEN_NAME || token->kind == TOKEN_INTEGER) &&
           !token_is_one_of(&code->tokens, at - 1, ". -> ::") &&
           !token_is_one_of(&code->tokens, at + 1, ". -> :: [ (");
}

// `k * STEP`, of two names or numbers.
static bool is_product(const Code *code, int times) {
    return token_is(&code->tokens, times, "*") && operator_strength(code, times) > 0 &&
           is_simple(code, times - 1) && is_simple(code, times + 1);
}

static bool is_whole(const Code *code, int at) {
    const Variable *variable = code_variable(code, at);
    return variable && type_is_whole(variable->type) && variable->dimensions == 0;
}

// ---- Factors ----------------------------------------------------------------------------------------------

// `k * STEP` for k.
static void propose_factors_of(const Proposer *proposer, const Function *function, int at) {
    enum { MOST = 3 };
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (!is_whole(code, at) || !is_simple(code, at) || variable_is_assigned(code, at) ||
        token_is_one_of(tokens, at - 1, "/ %"))
        return;
    int factors[MOST], count = 0;
    for (int times = function->first; times < function->last && count < MOST; times++) {
        if (!is_product(code, times)) continue;
        const bool is_left = tokens_are_same(tokens, times - 1, at);
        const int factor = is_left ? times + 1 : times - 1;
        bool is_known = !(is_left || tokens_are_same(tokens, times + 1, at)) || abs(times - at) == 1 ||
                        !code_knows(code, factor, factor, at);
        for (int f = 0; f < count; f++) is_known |= tokens_are_same(tokens, factors[f], factor);
        if (is_known) continue;
        factors[count++] = factor;
        char *name = proposer_text(proposer, at, at, 0, 0, NULL),
             *by = proposer_text(proposer, factor, factor, 0, 0, NULL);
        Text now = {0};
        if (name && by) text_printf(&now, "%s * %s", name, by);
        if (name && by) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, at, at, text_chars(&now));
        text_free(&now);
        free(name);
        free(by);
    }
}

// `2 * threads` for 2, which is added to an index.
static void propose_factors_of_number(const Proposer *proposer, const Function *function, int at) {
    enum { MOST = 2 };
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (tokens->all[at].kind != TOKEN_INTEGER || !token_is(tokens, at - 1, "+") ||
        token_is_one_of(tokens, at + 1, "* / %"))
        return;
    int factors[MOST], count = 0;
    for (int times = function->first; times < function->last && count < MOST; times++) {
        const int factor = times + 1;
        if (!is_product(code, times) || tokens->all[times - 1].kind != TOKEN_INTEGER ||
            !is_whole(code, factor) || !code_knows(code, factor, factor, at))
            continue;
        bool is_known = false;
        for (int f = 0; f < count; f++) is_known |= tokens_are_same(tokens, factors[f], factor);
        if (is_known) continue;
        factors[count++] = factor;
        char *number = proposer_text(proposer, at, at, 0, 0, NULL),
             *by = proposer_text(proposer, factor, factor, 0, 0, NULL);
        Text now = {0};
        if (number && by) text_printf(&now, "%s * %s", number, by);
        if (number && by) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, at, at, text_chars(&now));
        text_free(&now);
        free(number);
        free(by);
    }
}

static bool is_in_index(const Code *code, const Function *function, int at) {
    const Tokens *tokens = &code->tokens;
    while (at > function->first && !token_is_one_of(tokens, at, "[ ; { }")) {
        const int partner = tokens->all[at].partner;
        at = partner >= 0 && partner < at ? partner - 1 : at - 1;
    }
    return token_is(tokens, at, "[");
}

// `(step + y)` for y in an index, as a condition has it.
static void propose_sums_of(const Proposer *proposer, const Function *function, int at) {
    enum { MOST = 2 };
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int sums[MOST], count = 0;
    if (!is_whole(code, at) || !is_simple(code, at) || variable_is_assigned(code, at) ||
        !is_in_index(code, function, at))
        return;
    for (int plus = function->first; plus < function->last && count < MOST; plus++) {
        if (!token_is(tokens, plus, "+") || !tokens_are_same(tokens, plus + 1, at) || plus + 1 == at ||
            !is_simple(code, plus - 1) || !is_simple(code, plus + 1) || !is_whole(code, plus - 1) ||
            !token_is_one_of(tokens, plus + 2, "< <=") || !code_knows(code, plus - 1, plus - 1, at) ||
            tokens_are_same(tokens, plus - 1, at - 2))
            continue;
        bool is_known = false;
        for (int s = 0; s < count; s++) is_known |= tokens_are_same(tokens, sums[s], plus - 1);
        if (is_known) continue;
        sums[count++] = plus - 1;
        char *sum = proposer_text(proposer, plus - 1, plus + 1, 0, 0, NULL);
        Text now = {0};
        if (sum) text_printf(&now, "(%s)", sum);
        if (sum) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, at, at, text_chars(&now));
        text_free(&now);
        free(sum);
    }
}

// ---- Addends ----------------------------------------------------------------------------------------------

enum { ADDENDS = 6 };

// The tokens of different addends of a function that are names of variables or simple products.
typedef struct {
    int first[ADDENDS], last[ADDENDS], count;
} Addends;

static void find_addends(const Code *code, const Function *function, Addends *addends) {
    *addends = (Addends){0};
    for (int at = function->first; at < function->last; at++) {
        int left, right;
        if (!code->is_open[at] || !token_is(&code->tokens, at, "+") ||
            !operator_operands(code, at, &left, &right))
            continue;
        for (int side = 0; side < 2; side++) {
            const int first = side ? at + 1 : left, last = side ? right : at - 1;
            const bool is_name = first == last && is_whole(code, first) && is_simple(code, first);
            const bool is_of_two = last == first + 2 && is_product(code, first + 1) &&
                                   (is_whole(code, first) || is_whole(code, last));
            bool is_known = addends->count == ADDENDS || !(is_name || is_of_two);
            for (int a = 0; a < addends->count && !is_known; a++)
                is_known = addends->last[a] - addends->first[a] == last - first &&
                           code_says(code, first, last, addends->first[a], addends->last[a]);
            if (is_known) continue;
            addends->first[addends->count] = first;
            addends->last[addends->count++] = last;
        }
    }
}

static void propose_addends(const Proposer *proposer, const Addends *addends, int rank, int first, int last) {
    const Code *code = proposer->code;
    char *was = proposer_text(proposer, first, last, 0, 0, NULL);
    for (int a = 0; was && a < addends->count; a++) {
        const int from = addends->first[a], to = addends->last[a];
        if (code_says(code, from, to, first, last) || !code_knows(code, from, to, first)) continue;
        char *term = proposer_text(proposer, from, to, 0, 0, NULL);
        Text now = {0};
        if (term) text_printf(&now, "%s + %s", was, term);
        if (term) proposer_replace(proposer, CHANGE_EXPRESSION, rank, first, last, text_chars(&now));
        text_free(&now);
        free(term);
    }
    free(was);
}

void propose_sisters(const Proposer *proposer, int which) {
    const Code *code = proposer->code;
    const Function *function = &code->functions[which];
    Addends addends;
    find_addends(code, function, &addends);
    for (int at = function->first; at < function->last; at++) {
        int left, right;
        if (!code->is_open[at]) continue;
        propose_factors_of(proposer, function, at);
        propose_factors_of_number(proposer, function, at);
        propose_sums_of(proposer, function, at);
        if (token_is_one_of(&code->tokens, at, "< >=") && operator_operands(code, at, &left, &right) &&
            left == at - 1 && is_whole(code, left))
            propose_addends(proposer, &addends, LIKELY, left, left);
        if (token_is(&code->tokens, at, "[") && code->tokens.all[at].partner == at + 2 &&
            is_whole(code, at + 1))
            propose_addends(proposer, &addends, USUAL, at + 1, at + 1);
    }
}
