// The size that an array has, in place of the number that it is computed from.
#include <stdlib.h>

#include "driver/judge/variants/proposer.h"

void propose_sizes_at(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (tokens->all[at].kind != TOKEN_NAME || token_is_one_of(tokens, at - 1, ". -> ::")) return;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *array = &code->variables[v];
        if (array->dimensions == 0 || at < array->from || at >= array->to) continue;
        for (int open = array->name + 1; token_is(tokens, open, "["); open = tokens->all[open].partner + 1) {
            const int first = open + 1, last = tokens->all[open].partner - 1;
            if (last <= first || !code_says(code, at, at, first, last)) continue;
            char *size = proposer_text(proposer, first, last, 0, 0, NULL);
            Text now = {0};
            if (size) text_printf(&now, "(%s)", size);
            if (size) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, at, at, text_chars(&now));
            text_free(&now);
            free(size);
        }
    }
}
