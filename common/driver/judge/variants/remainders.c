// Tests of a product or a sum for a multiple, as `n * k % 16 == 0`: each of the two numbers has to be one.
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/variants/proposer.h"

// The tokens of `a * b % by`, with the first one of it all, a conversion included.
typedef struct {
    int first, left, right, by;
} Tested;

static bool is_whole_name(const Code *code, int at) {
    const Variable *variable = code_variable(code, at);
    return variable && variable->dimensions == 0 && type_is_whole(variable->type);
}

// A conversion, as `(long long)`, that ends at a token: where it begins; else the token behind it.
static int before_conversion(const Code *code, int end) {
    const Tokens *tokens = &code->tokens;
    if (!token_is(tokens, end, ")")) return end + 1;
    const int open = tokens->all[end].partner;
    for (int i = open + 1; i < end; i++)
        if (!token_is_one_of(tokens, i, "long int unsigned size_t")) return end + 1;
    return open;
}

// Whether `%` is at a token, in such a test.
static bool read_test(const Code *code, int at, Tested *tested) {
    const Tokens *tokens = &code->tokens;
    if (!token_is(tokens, at, "%") || tokens->all[at + 1].kind != TOKEN_INTEGER ||
        !token_is(tokens, at + 2, "==") || !token_is(tokens, at + 3, "0"))
        return false;
    const bool in_brackets = token_is(tokens, at - 1, ")") && tokens->all[at - 1].partner == at - 5;
    const int right = in_brackets ? at - 2 : at - 1, sign = right - 1, left = right - 2;
    if (!(token_is(tokens, sign, "*") || (in_brackets && token_is(tokens, sign, "+"))) ||
        !is_whole_name(code, left) || !is_whole_name(code, right))
        return false;
    *tested = (Tested){.first = in_brackets ? left - 1 : left, .left = left, .right = right, .by = at + 1};
    tested->first = before_conversion(code, tested->first - 1);
    return true;
}

void propose_remainders_at(const Proposer *proposer, int at) {
    enum { MOST = 1024 };
    const Code *code = proposer->code;
    Tested tested;
    if (!read_test(code, at, &tested)) return;
    const long by = strtol(code->tokens.source + code->tokens.all[tested.by].from, NULL, 10);
    char left[64], right[64], now[256];
    variable_name_text(proposer, code_variable(code, tested.left), left, sizeof left);
    variable_name_text(proposer, code_variable(code, tested.right), right, sizeof right);
    for (long each = 2; each <= by && by <= MOST; each++) {
        if (each != by && each * each != by) continue; // of a product, each factor may be tested for a root
        snprintf(now, sizeof now, "(%s %% %ld == 0 && %s %% %ld == 0)", left, each, right, each);
        proposer_replace(proposer, CHANGE_EXPRESSION, FIRST, tested.first, at + 3, now); // hardly ever meant
    }
}
