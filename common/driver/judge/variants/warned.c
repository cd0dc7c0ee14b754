// What a compiler warns of: a condition that assigns, a statement without effect, a variable without a start.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// `if (i = 0)`
static void propose_equality(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const int open = statement->first + 1, close = code->tokens.all[open].partner;
    if (!token_is(&code->tokens, open, "(") || close < open + 4) return;
    for (int at = open + 1; at < close; at++) {
        if (!token_is(&code->tokens, at, "=")) continue;
        char *was = proposer_text(proposer, open + 1, close - 1, 0, 0, NULL),
             *now = proposer_text(proposer, open + 1, close - 1, at, at, "==");
        Variant *variant = was && now ? proposer_add(proposer, CHANGE_COMPARISON, at, FIRST) : NULL;
        if (variant)
            snprintf(variant->words, sizeof variant->words, "%.100s instead of %.100s in line %d", now, was,
                     variant->line);
        proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, open + 1),
                      proposer_end(proposer, close - 1), now);
        free(was);
        return;
    }
}

// `sum + in[i];` and `sum == in[i];`
static void propose_effect(const Proposer *proposer, const Statement *statement) {
    static const Exchange effects[] = {{"+", "+=", CHANGE_OPERATOR, FIRST},
                                       {"-", "-=", CHANGE_OPERATOR, FIRST},
                                       {"*", "*=", CHANGE_OPERATOR, FIRST},
                                       {"==", "=", CHANGE_OPERATOR, FIRST}};
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int sign = -1;
    for (int at = statement->first; at < statement->last; at++) {
        if (token_is_one_of(tokens, at, "= += -= *= /= %= &= |= ^= <<= >>= ++ --") ||
            (token_is(tokens, at, "(") && at > statement->first && tokens->all[at - 1].kind == TOKEN_NAME))
            return;
        if (tokens->all[at].partner > at)
            at = tokens->all[at].partner;
        else if (sign < 0 && operator_strength(code, at) > 0)
            sign = at;
    }
    for (size_t e = 0; sign >= 0 && e < sizeof effects / sizeof effects[0]; e++) {
        if (!token_is(tokens, sign, effects[e].was) || !code_variable(code, statement->first)) continue;
        char words[64],
            *now = proposer_text(proposer, statement->first, statement->last, sign, sign, effects[e].now);
        snprintf(words, sizeof words, "%s instead of %s in", effects[e].now, effects[e].was);
        if (now) proposer_instead_of(proposer, effects[e].kind, effects[e].rank, statement, now, words);
        free(now);
    }
}

// `float sum;`
static void propose_start(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    for (int i = statement->first; i < statement->last; i++)
        if (token_is_one_of(&code->tokens, i, "__shared__ extern static")) return;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *variable = &code->variables[v];
        char name[64], words[96];
        if (variable->name <= statement->first || variable->name >= statement->last ||
            variable->dimensions > 0 || !token_is_one_of(&code->tokens, variable->name + 1, "; ,") ||
            (!type_is_whole(variable->type) && strcmp(variable->type, "float") != 0 &&
             strcmp(variable->type, "double") != 0))
            continue;
        variable_name_text(proposer, variable, name, sizeof name);
        snprintf(words, sizeof words, "%s = 0", name);
        proposer_insert(proposer, CHANGE_ADDED, LIKELY, statement->last + 1, words);
    }
}

void propose_warned(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function != function) continue;
        if (statement->kind == STATEMENT_IF) propose_equality(proposer, statement);
        if (statement->kind == STATEMENT_EXPRESSION) propose_effect(proposer, statement);
        if (statement->kind == STATEMENT_DECLARATION && statement->in_block)
            propose_start(proposer, statement);
    }
}
