// Indices that are kept inside of an array by min(), as `b[min(row, k - 1)]`: what is read for those beyond
// is the last element again. 0 in place of it.
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// `min(index, bound - 1)` in either order, by the tokens of `index` and `bound`.
typedef struct {
    int index, index_end, bound, bound_end;
} Clamp;

// Whether the tokens from `first` to `last` are `bound - 1`.
static bool is_last_place(const Code *code, int first, int last) {
    return last >= first + 2 && token_is(&code->tokens, last, "1") && token_is(&code->tokens, last - 1, "-");
}

// Whether `min(` is at a token, and keeps an index inside.
static bool read_clamp(const Code *code, int at, Clamp *clamp) {
    const Tokens *tokens = &code->tokens;
    if (!token_is(tokens, at, "min") || !token_is(tokens, at + 1, "(")) return false;
    const int close = tokens->all[at + 1].partner;
    int comma = at + 2;
    while (comma < close && !token_is(tokens, comma, ","))
        comma = tokens->all[comma].partner > comma ? tokens->all[comma].partner + 1 : comma + 1;
    if (comma >= close) return false;
    if (is_last_place(code, comma + 1, close - 1))
        *clamp = (Clamp){at + 2, comma - 1, comma + 1, close - 3};
    else if (is_last_place(code, at + 2, comma - 1))
        *clamp = (Clamp){comma + 1, close - 1, at + 2, comma - 3};
    else
        return false;
    return true;
}

// What the token at `at`, of an index, is kept inside by: a call there, or that of the variable's
// declaration.
static bool find_clamp(const Code *code, int at, Clamp *clamp) {
    const Variable *variable = code_variable(code, at);
    if (!variable) return read_clamp(code, at, clamp);
    return token_is(&code->tokens, variable->name + 1, "=") && read_clamp(code, variable->name + 2, clamp) &&
           code_knows(code, clamp->index, clamp->index_end, at) &&
           code_knows(code, clamp->bound, clamp->bound_end, at);
}

static bool holds_numbers(const Variable *array) {
    char type[48];
    if (!array || (array->dimensions == 0 && !strchr(array->type, '*'))) return false;
    variable_element_type(array, type);
    return strcmp(type, "float") == 0 || strcmp(type, "double") == 0 || type_is_whole(type);
}

// An access from `name` on, and 0 for it where one of `count` clamps is needed.
static void propose_zero_for(const Proposer *proposer, int name, const Clamp clamps[], int count) {
    const int last = proposer->code->tokens.all[name + 1].partner;
    char *access = proposer_text(proposer, name, last, 0, 0, NULL);
    Text now = {0};
    text_add(&now, "(");
    for (int c = 0; c < count; c++) {
        char *index = proposer_text(proposer, clamps[c].index, clamps[c].index_end, 0, 0, NULL),
             *bound = proposer_text(proposer, clamps[c].bound, clamps[c].bound_end, 0, 0, NULL);
        text_printf(&now, "%s%s < %s", c ? " && " : "", index ? index : "", bound ? bound : "");
        now.failed |= !index || !bound;
        free(index);
        free(bound);
    }
    text_printf(&now, " ? %s : 0)", access ? access : "");
    if (access && !now.failed)
        proposer_replace(proposer, CHANGE_EXPRESSION, FIRST, name, last, text_chars(&now));
    text_free(&now);
    free(access);
}

void propose_clamps_at(const Proposer *proposer, int at) {
    enum { CLAMPS = 3 };
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    Clamp clamps[CLAMPS];
    int count = 0;
    if (!token_is(tokens, at + 1, "[") || token_is(tokens, tokens->all[at + 1].partner + 1, "[") ||
        variable_is_assigned(code, at) || !holds_numbers(code_variable(code, at)))
        return;
    for (int i = at + 2; i < tokens->all[at + 1].partner && count < CLAMPS; i++)
        count += find_clamp(code, i, &clamps[count]);
    for (int c = 0; c < count; c++) propose_zero_for(proposer, at, &clamps[c], 1);
    if (count > 1) propose_zero_for(proposer, at, clamps, count);
}
