// Two operands that are alike, of which one lacks a part of the other: `a.sum * f(a.top) + b.sum`. Or the two
// indices of an element: `tile[y + k][x ^ y]`.
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// Whether the tokens from `first` to `last` begin those at `other`, with `*renamed` in place of `*was`:
// tokens of two variables of one type.
static bool begins(const Code *code, int first, int last, int other, int *was, int *renamed) {
    *was = *renamed = -1;
    for (int i = first, k = other; i <= last; i++, k++) {
        if (tokens_are_same(&code->tokens, i, k)) continue;
        const Variable *a = code_variable(code, k), *b = code_variable(code, i);
        if (!a || !b || a == b || strcmp(a->type, b->type) != 0 || a->dimensions != b->dimensions)
            return false;
        if (*was >= 0 &&
            (!tokens_are_same(&code->tokens, *was, k) || !tokens_are_same(&code->tokens, *renamed, i)))
            return false;
        *was = k;
        *renamed = i;
    }
    return *was >= 0;
}

// The tokens from `first` to `last` with the variable at `renamed` in place of that at `was`.
static char *renamed_text(const Proposer *proposer, int first, int last, int was, int renamed) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    char name[64];
    Text text = {0};
    variable_name_text(proposer, code_variable(code, renamed), name, sizeof name);
    for (int i = first; i <= last; i++) {
        const Token *token = &tokens->all[i];
        if (i > first && token->from > tokens->all[i - 1].to) text_add_char(&text, ' ');
        if (tokens_are_same(tokens, i, was) && code_variable(code, i))
            text_add(&text, name);
        else
            text_add_bytes(&text, tokens->source + token->from, (size_t)(token->to - token->from));
    }
    return text_take(&text);
}

// The sum of one index from `first` to `last`, for the variable that it begins with in the other one from
// `other` to `end`.
static void propose_index_for_its_begin(const Proposer *proposer, int first, int last, int other, int end) {
    const Code *code = proposer->code;
    if (!code_variable(code, first) || !token_is_one_of(&code->tokens, first + 1, "+ -")) return;
    for (int i = other; i <= end; i++) {
        const bool is_alone = !token_is_one_of(&code->tokens, i + 1, "+ - [ . ->");
        if (!is_alone || code_variable(code, i) != code_variable(code, first)) continue;
        char *sum = proposer_text(proposer, first, last, 0, 0, NULL);
        Text now = {0};
        text_printf(&now, "(%s)", sum ? sum : "");
        if (sum) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, i, i, text_chars(&now));
        text_free(&now);
        free(sum);
    }
}

static void propose_alike_indices(const Proposer *proposer, int at) {
    const Tokens *tokens = &proposer->code->tokens;
    const int next = tokens->all[at].partner + 1;
    if (!token_is(tokens, at, "[") || next <= at + 1 || !token_is(tokens, next, "[")) return;
    const int end = tokens->all[next].partner - 1;
    propose_index_for_its_begin(proposer, at + 1, next - 2, next + 1, end);
    propose_index_for_its_begin(proposer, next + 1, end, at + 1, next - 2);
}

void propose_alike_at(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    int left, right;
    propose_alike_indices(proposer, at);
    if (!token_is_one_of(&code->tokens, at, "+ - * && || & |") || !operator_operands(code, at, &left, &right))
        return;
    const int firsts[] = {left, at + 1}, lasts[] = {at - 1, right};
    for (int side = 0; side < 2; side++) {
        const int first = firsts[side], last = lasts[side], longer = firsts[!side], end = lasts[!side];
        int was, renamed;
        if (last - first >= end - longer || operator_strength(code, longer + last - first + 1) == 0 ||
            !begins(code, first, last, longer, &was, &renamed))
            continue;
        char *now = renamed_text(proposer, longer, end, was, renamed);
        if (now) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, first, last, now);
        free(now);
    }
}
