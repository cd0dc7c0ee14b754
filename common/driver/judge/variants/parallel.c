// One slip in all of several statements that are alike, as in the steps of a loop that is written out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// Whether two statements differ in names and numbers only.
static bool are_alike(const Code *code, const Statement *a, const Statement *b) {
    const Tokens *tokens = &code->tokens;
    if (a->kind != b->kind || a->last - a->first != b->last - b->first) return false;
    for (int i = a->first, j = b->first; i <= a->last; i++, j++) {
        if (tokens->all[i].kind != tokens->all[j].kind) return false;
        if (tokens->all[i].kind == TOKEN_SIGN && !tokens_are_same(tokens, i, j)) return false;
    }
    return true;
}

static const Exchange exchanges[] = {
    {"__shfl_down_sync", "__shfl_up_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_down_sync", "__shfl_xor_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_up_sync", "__shfl_down_sync", CHANGE_OPERATOR, LIKELY},
    {"__shfl_up_sync", "__shfl_xor_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_xor_sync", "__shfl_down_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_xor_sync", "__shfl_up_sync", CHANGE_OPERATOR, USUAL},
    {"=", "+=", CHANGE_OPERATOR, LIKELY},
    {"+=", "=", CHANGE_OPERATOR, USUAL},
    {"-=", "+=", CHANGE_OPERATOR, USUAL},
    {"+", "-", CHANGE_OPERATOR, USUAL},
    {"-", "+", CHANGE_OPERATOR, USUAL},
    {"+", "*", CHANGE_OPERATOR, USUAL},
    {"*", "+", CHANGE_OPERATOR, USUAL},
    {"fmaxf", "fminf", CHANGE_OPERATOR, USUAL},
    {"fminf", "fmaxf", CHANGE_OPERATOR, USUAL},
};

// In each of the statements, the token at the same place is `now`.
static void change_all(const Proposer *proposer, const Statement *const group[], int count, int offset,
                       ChangeKind kind, int rank, const char *now) {
    const Tokens *tokens = &proposer->code->tokens;
    const int token = group[0]->first + offset;
    Variant *variant = proposer_add(proposer, kind, token, rank);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "%.100s instead of %.*s in each of lines %d to %d",
                 now, tokens->all[token].to - tokens->all[token].from,
                 tokens->source + tokens->all[token].from, variant->line,
                 token_line(proposer->code, group[count - 1]->first));
    for (int g = 0; g < count; g++)
        proposer_edit(proposer, variant, EDIT_STATEMENT, proposer_begin(proposer, group[g]->first),
                      proposer_end(proposer, group[g]->last),
                      proposer_text(proposer, group[g]->first, group[g]->last, group[g]->first + offset,
                                    group[g]->first + offset, now));
}

// Whole numbers and names of them that all statements have at the same place.
static void change_same(const Proposer *proposer, const Statement *const group[], int count, int offset) {
    const Code *code = proposer->code;
    const Token *token = &code->tokens.all[group[0]->first + offset];
    const Variable *variable = code_variable(code, group[0]->first + offset);
    char now[64];
    if (token->kind == TOKEN_INTEGER && token->to - token->from < 9 &&
        code->tokens.source[token->to - 1] <= '9' && code->tokens.source[token->from] != '0') {
        const long number = strtol(code->tokens.source + token->from, NULL, 10);
        for (int by = -1; by <= 1; by += 2) {
            snprintf(now, sizeof now, "%ld", number + by);
            change_all(proposer, group, count, offset, CHANGE_CONSTANT, USUAL, now);
        }
    }
    if (!variable || variable_is_assigned(code, group[0]->first + offset)) return;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        if (other == variable || group[0]->first < other->from || group[0]->first >= other->to ||
            !variable_may_stand_for(variable, other) ||
            tokens_are_same(&code->tokens, other->name, variable->name))
            continue;
        if (other->is_const && !variable->is_const &&
            !token_is(&code->tokens, group[0]->first + offset + 1, "["))
            continue;
        variable_name_text(proposer, other, now, sizeof now);
        change_all(proposer, group, count, offset, CHANGE_NAME, RARE, now);
    }
}

static bool is_number(const Variable *variable) {
    char type[48];
    variable_element_type(variable, type);
    return type_is_whole(type) || strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

static void propose_for(const Proposer *proposer, const Statement *const group[], int count) {
    const Tokens *tokens = &proposer->code->tokens;
    for (int offset = 0; offset < group[0]->last - group[0]->first; offset++) {
        const int token = group[0]->first + offset;
        bool is_same = proposer->code->is_open[token];
        for (int g = 1; g < count; g++) is_same &= tokens_are_same(tokens, token, group[g]->first + offset);
        if (!is_same) continue;
        const bool is_sign = token_is_one_of(tokens, token, "+ - *");
        const Variable *set = code_variable(proposer->code, group[0]->first);
        if (token_is_one_of(tokens, token, "= += -=") && (!set || !is_number(set))) continue;
        for (size_t e = 0; e < sizeof exchanges / sizeof exchanges[0]; e++)
            if (token_is(tokens, token, exchanges[e].was) &&
                (!is_sign || operator_strength(proposer->code, token) > 0))
                change_all(proposer, group, count, offset, exchanges[e].kind, exchanges[e].rank,
                           exchanges[e].now);
        change_same(proposer, group, count, offset);
    }
}

void propose_parallel(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *group[MOST_EDITS] = {&code->statements[s]};
        int count = 1;
        if (group[0]->function != function || group[0]->kind != STATEMENT_EXPRESSION || !group[0]->in_block)
            continue;
        for (const Statement *next = group[0];
             count < MOST_EDITS && (next = statement_after(code, next)) && are_alike(code, group[0], next);)
            group[count++] = next;
        if (count > 1) propose_for(proposer, group, count);
        s = (int)(group[count - 1] - code->statements);
    }
}
