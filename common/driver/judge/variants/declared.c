// Other values of the constants that kernel.cu declares outside of its functions: `const Cost DOT = {2, 8}`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// By token: the declaration up to its `;`, the name, and what it starts from.
typedef struct {
    int first, last;
    int name, value;
} Constant;

// Whether `head` begins the declaration of one constant that has a value, and nothing else.
static bool read_constant(const Code *code, int head, int end, Constant *constant) {
    const Tokens *tokens = &code->tokens;
    bool is_constant = false;
    int sign = head;
    while (sign < end && !token_is(tokens, sign, "=")) {
        is_constant |= token_is_one_of(tokens, sign, "const constexpr __constant__");
        if (token_is_one_of(tokens, sign, "( {") || token_is_one_of(tokens, sign, "template using typedef"))
            return false;
        sign = tokens->all[sign].partner > sign ? tokens->all[sign].partner + 1 : sign + 1;
    }
    int name = sign - 1;
    while (name > head && token_is(tokens, name, "]")) name = tokens->all[name].partner - 1;
    if (!is_constant || sign + 1 >= end || name <= head || tokens->all[name].kind != TOKEN_NAME) return false;
    for (int i = sign + 1; i < end; i++) {
        if (token_is(tokens, i, ",")) return false; // it declares several
        if (tokens->all[i].partner > i) i = tokens->all[i].partner;
    }
    *constant = (Constant){.first = head, .last = end, .name = name, .value = sign + 1};
    return true;
}

enum { USES = MOST_EDITS - 1 };

// The tokens that use a constant. 0: there are none, too many, or some that the compiler has to know.
static int find_uses(const Code *code, const Constant *constant, const bool functions[], int uses[USES]) {
    const Tokens *tokens = &code->tokens;
    int count = 0;
    for (int at = 0; at < tokens->count; at++) {
        if (!tokens_are_same(tokens, at, constant->name) || at == constant->name ||
            token_is_one_of(tokens, at - 1, ". ->"))
            continue;
        bool is_in_chosen = false;
        for (int f = 0; f < code->function_count; f++)
            is_in_chosen |= functions[f] && code->functions[f].first < at && at < code->functions[f].last;
        if (code_variable(code, at)) continue; // another one of this name
        if (!is_in_chosen || !code->is_open[at] || count == USES) return 0;
        uses[count++] = at;
    }
    return count;
}

// What follows the name is kept: the sizes of an array.
static void declare(const Proposer *proposer, const Constant *constant, const Variant *value,
                    const int uses[], int count) {
    const Code *code = proposer->code;
    const SourceEdit *edit = &value->edits[0];
    char name[96];
    const Token *was = &code->tokens.all[constant->name];
    snprintf(name, sizeof name, "%.*s_%d", was->to - was->from > 64 ? 64 : was->to - was->from,
             code->tokens.source + was->from, proposer->variants->count);
    const int begin = proposer_begin(proposer, constant->first), end = proposer_end(proposer, constant->last);
    Text text = {0};
    text_add_bytes(&text, code->tokens.source + begin, (size_t)(was->from - begin));
    text_add(&text, name);
    text_add_bytes(&text, code->tokens.source + was->to, (size_t)(edit->from - was->to));
    text_add(&text, edit->text);
    text_add_bytes(&text, code->tokens.source + edit->to, (size_t)(end - edit->to));
    Variant *variant = proposer_add(proposer, value->kind, uses[0], value->rank);
    if (variant) {
        variant->line = value->line;
        memcpy(variant->words, value->words, sizeof variant->words);
    }
    for (int u = 0; u < count; u++) {
        Text use = {0};
        text_add(&use, name);
        proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, uses[u]),
                      proposer_end(proposer, uses[u]), text_take(&use));
    }
    proposer_edit(proposer, variant, EDIT_DECLARATION, begin, begin, text_take(&text));
}

static void propose_values(const Proposer *proposer, const Constant *constant, const int uses[], int count) {
    Variants values = {0};
    Proposer of_value = *proposer;
    of_value.variants = &values;
    for (int at = constant->value; at < constant->last; at++) propose_literals(&of_value, at);
    proposer->variants->failed |= values.failed;
    for (int v = 0; v < values.count; v++) declare(proposer, constant, &values.all[v], uses, count);
    variants_free(&values);
}

void propose_declared_values(const Proposer *proposer, const bool functions[]) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    for (int at = 0, head = 0; at < tokens->count; at++) {
        Constant constant;
        int uses[USES];
        if (tokens->all[at].partner > at) at = tokens->all[at].partner;
        if (!token_is_one_of(tokens, at, "; }")) continue;
        if (token_is(tokens, at, ";") && read_constant(code, head, at, &constant)) {
            const int count = find_uses(code, &constant, functions, uses);
            if (count > 0) propose_values(proposer, &constant, uses, count);
        }
        // A bracket may be the end of what a constant starts from.
        if (token_is(tokens, at, ";") || !token_is(tokens, at + 1, ";")) head = at + 1;
    }
}
