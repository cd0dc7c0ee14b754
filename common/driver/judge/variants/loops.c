// Conditions that are to be loops, loops whose rounds are others, and what a round begins with.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// ---- A loop in place of a condition -----------------------------------------------------------------------

// The name of a whole number that is known at `at` and starts from a product, as `threads`; the product
// itself if there is none.
static void name_product(const Proposer *proposer, const char *one, const char *other, int at, char *out,
                         size_t bytes) {
    const Code *code = proposer->code;
    char products[2][64];
    snprintf(products[0], sizeof products[0], "%s * %s", one, other);
    snprintf(products[1], sizeof products[1], "%s * %s", other, one);
    snprintf(out, bytes, "%s", products[0]);
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *variable = &code->variables[v];
        const int start = variable->name + 2;
        if (at < variable->from || at >= variable->to || !type_is_whole(variable->type) ||
            !token_is(&code->tokens, start - 1, "=") || !token_is(&code->tokens, start + 7, ";"))
            continue;
        char *text = proposer_text(proposer, start, start + 6, 0, 0, NULL);
        if (text && (strcmp(text, products[0]) == 0 || strcmp(text, products[1]) == 0))
            variable_name_text(proposer, variable, out, bytes);
        free(text);
    }
}

// A name that the function does not have.
static const char *free_name(const Code *code, int function) {
    static const char *const names[] = {"k", "i", "j", "e", "at", "each", "further"};
    for (size_t n = 0; n + 1 < sizeof names / sizeof names[0]; n++) {
        bool is_taken = false;
        for (int v = 0; v < code->variable_count; v++)
            is_taken |= code->variables[v].function == function &&
                        token_is(&code->tokens, code->variables[v].name, names[n]);
        if (!is_taken) return names[n];
    }
    return "further";
}

// The tokens from `from` to `to` with `name` in place of each that says the same as those from `first` to
// `last`. If `adds`, an assignment to a variable that is declared before them adds.
static char *text_with(const Proposer *proposer, int from, int to, int first, int last, const char *name,
                       bool adds) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    Text text = {0};
    for (int i = from; i <= to; i++) {
        const Token *token = &tokens->all[i];
        if (i > from && token->from > tokens->all[i - 1].to) text_add_char(&text, ' ');
        if (i + last - first <= to && code_says(code, first, last, i, i + last - first) &&
            !token_is_one_of(tokens, i - 1, ". ->")) {
            text_add(&text, name);
            i += last - first;
            continue;
        }
        const Variable *set = code_variable(code, i - 1);
        if (adds && token_is(tokens, i, "=") && set && set->name < from) text_add_char(&text, '+');
        text_add_bytes(&text, tokens->source + token->from, (size_t)(token->to - token->from));
    }
    return text_take(&text);
}

static bool assigns_in(const Code *code, int from, int to) {
    for (int i = from; i <= to; i++) {
        const Variable *set = code_variable(code, i - 1);
        if (token_is(&code->tokens, i, "=") && set && set->name < from) return true;
    }
    return false;
}

// Whether it calculates the number of a thread, a warp or a block, or one from them.
static bool is_place(const Code *code, int first, int last) {
    if (last - first > 8) return false;
    for (int i = first; i <= last; i++) {
        const Variable *variable = code_variable(code, i);
        if (token_is_one_of(&code->tokens, i, "threadIdx blockIdx") ||
            (variable && type_is_whole(variable->type) && variable->dimensions == 0))
            return true;
    }
    return false;
}

// A thread takes further elements.
static void propose_loop_for(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const int open = statement->first + 1, close = code->tokens.all[open].partner;
    if (!token_is(&code->tokens, open, "(") || close < open + 4 ||
        statement + 1 >= code->statements + code->statement_count || statement[1].last != statement->last ||
        !code->is_open[open + 1])
        return;
    int compared = open + 1;
    while (compared < close && !token_is_one_of(&code->tokens, compared, "< <= && || ? == != > >="))
        compared++;
    const int first = open + 1, last = compared - 1;
    if (!token_is_one_of(&code->tokens, compared, "< <=") || last < first || !is_place(code, first, last))
        return;
    const Variable *variable = first == last ? code_variable(code, first) : NULL;
    const bool is_own = variable && !variable->is_const;
    char grid[64], block[64] = "blockDim.x", name[64], words[256];
    name_product(proposer, "gridDim.x", "blockDim.x", statement->first, grid, sizeof grid);
    const char *const steps[] = {grid, block, "32"};
    snprintf(name, sizeof name, "%s", free_name(code, statement->function));
    if (is_own) variable_name_text(proposer, variable, name, sizeof name);
    char *start = proposer_text(proposer, first, last, 0, 0, NULL),
         *condition = text_with(proposer, open + 1, close - 1, first, last, name, false),
         *was = proposer_text(proposer, open + 1, close - 1, 0, 0, NULL);
    const bool sets = assigns_in(code, close + 1, statement->last);
    for (int adds = 0; adds <= (int)sets; adds++) {
        char *body = text_with(proposer, close + 1, statement->last, first, last, name, adds);
        for (size_t k = 0; start && condition && was && body && k < sizeof steps / sizeof steps[0]; k++) {
            Text loop = {0}, text = {0};
            if (is_own)
                text_printf(&loop, "for (; %s; %s += %s)", condition, name, steps[k]);
            else
                text_printf(&loop, "for (int %s = %s; %s; %s += %s)", name, start, condition, name, steps[k]);
            text_printf(&text, "%s %s", text_chars(&loop), body);
            snprintf(words, sizeof words, "%.120s%s instead of if (%.60s) in", text_chars(&loop),
                     adds ? " and +=" : "", was);
            proposer_instead_of(proposer, CHANGE_CONDITION, k == 2 || adds != (int)sets ? USUAL : LIKELY,
                                statement, text_chars(&text), words);
            text_free(&loop);
            text_free(&text);
        }
        free(body);
    }
    free(start);
    free(condition);
    free(was);
}

// ---- The rounds of a loop ---------------------------------------------------------------------------------

// The places of the two ; of a for. False: there are others.
static bool find_parts(const Code *code, const Statement *loop, int parts[2]) {
    const int open = loop->first + 1, close = code->tokens.all[open].partner;
    int count = 0;
    if (!token_is(&code->tokens, loop->first, "for")) return false;
    for (int i = open + 1; i < close; i++) {
        if (!token_is(&code->tokens, i, ";")) continue;
        if (count == 2) return false;
        parts[count++] = i;
    }
    return count == 2;
}

static const Exchange assignments[] = {
    {"+=", "*=", CHANGE_OPERATOR, LIKELY},  {"-=", "/=", CHANGE_OPERATOR, LIKELY},
    {"/=", "-=", CHANGE_OPERATOR, USUAL},   {"*=", "+=", CHANGE_OPERATOR, LIKELY},
    {"+=", "-=", CHANGE_OPERATOR, USUAL},   {"-=", "+=", CHANGE_OPERATOR, USUAL},
    {"*=", "/=", CHANGE_OPERATOR, USUAL},   {"/=", "*=", CHANGE_OPERATOR, USUAL},
    {">>=", "<<=", CHANGE_OPERATOR, USUAL}, {"<<=", ">>=", CHANGE_OPERATOR, USUAL},
    {">>=", "-=", CHANGE_OPERATOR, RARE},   {"=", "+=", CHANGE_OPERATOR, LIKELY},
};

// A round takes several elements: the step has a constant of the loop's body as a factor.
static void propose_longer_steps(const Proposer *proposer, const Statement *loop, int first, int last) {
    const Code *code = proposer->code;
    const int body = code->tokens.all[loop->first + 1].partner;
    char *step = proposer_text(proposer, first, last, 0, 0, NULL), name[64], words[160];
    for (int v = 0; step && v < code->variable_count; v++) {
        const Variable *each = &code->variables[v];
        bool is_said = false;
        if (!each->is_const || !type_is_whole(each->type) || each->dimensions > 0 || first < each->from ||
            first >= each->to)
            continue;
        for (int i = body; i < loop->last && !is_said; i++)
            is_said = tokens_are_same(&code->tokens, i, each->name);
        for (int i = first; i <= last; i++) is_said &= !tokens_are_same(&code->tokens, i, each->name);
        if (!is_said) continue;
        variable_name_text(proposer, each, name, sizeof name);
        snprintf(words, sizeof words, first == last ? "%s * %.60s" : "%s * (%.60s)", name, step);
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, first, last, words);
    }
    free(step);
}

// A constant of the condition, in place of another one in the step: a round takes what the condition asks
// for.
static void propose_constant_of_condition(const Proposer *proposer, const Statement *loop,
                                          const int parts[2]) {
    const Code *code = proposer->code;
    const int close = code->tokens.all[loop->first + 1].partner;
    for (int i = parts[0] + 1; i < parts[1]; i++) {
        const Variable *asked = code_variable(code, i);
        char name[64];
        if (!asked || !asked->is_const || !type_is_whole(asked->type) || asked->dimensions > 0) continue;
        variable_name_text(proposer, asked, name, sizeof name);
        for (int k = parts[1] + 3; k < close; k++) {
            const Variable *other = code_variable(code, k);
            if (other && other != asked && other->is_const && type_is_whole(other->type))
                proposer_replace(proposer, CHANGE_NAME, LIKELY, k, k, name);
        }
    }
}

// The size of an array, in place of the end of a loop that counts its elements.
static void propose_size_as_end(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int parts[2];
    if (!find_parts(code, loop, parts) || !token_is(tokens, parts[0] + 2, "<")) return;
    const int counter = parts[0] + 1, first = parts[0] + 3, last = parts[1] - 1;
    char *end = proposer_text(proposer, first, last, 0, 0, NULL);
    for (int at = parts[1]; end && at < loop->last; at++) {
        const Variable *array = code_variable(code, at);
        if (!array || array->dimensions == 0) continue;
        int index = at + 1, size = array->name + 1;
        for (; token_is(tokens, index, "[") && token_is(tokens, size, "[");
             index = tokens->all[index].partner + 1, size = tokens->all[size].partner + 1) {
            if (tokens->all[index].partner != index + 2 || !tokens_are_same(tokens, index + 1, counter))
                continue;
            char *now = proposer_text(proposer, size + 1, tokens->all[size].partner - 1, 0, 0, NULL);
            if (now && strcmp(now, end) != 0)
                proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, first, last, now);
            free(now);
        }
    }
    free(end);
}

static const char *const usual_steps[] = {"32", "blockDim.x", "blockDim.y"};

// How far a loop moves in a round.
static void propose_steps(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int parts[2];
    if (!find_parts(code, loop, parts)) return;
    const int at = parts[1], close = tokens->all[loop->first + 1].partner;
    for (size_t a = 0; a < sizeof assignments / sizeof assignments[0]; a++) {
        if (!token_is(tokens, at + 2, assignments[a].was) || at + 3 >= close || !code_variable(code, at + 1))
            continue;
        char *now = proposer_text(proposer, at + 1, close - 1, at + 2, at + 2, assignments[a].now);
        if (now) proposer_replace(proposer, assignments[a].kind, assignments[a].rank, at + 1, close - 1, now);
        free(now);
    }
    propose_constant_of_condition(proposer, loop, parts);
    int factor = at + 3, left, right;
    while (factor < close && !token_is(tokens, factor, "*")) factor++;
    for (int side = 0; side < 2 && factor < close && operator_operands(code, factor, &left, &right); side++) {
        char *one = side ? proposer_text(proposer, left, factor - 1, 0, 0, NULL)
                         : proposer_text(proposer, factor + 1, right, 0, 0, NULL);
        if (one) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, left, right, one);
        free(one);
    }
    if (token_is_one_of(tokens, at + 2, "+= -=") && close == at + 4 &&
        tokens->all[at + 3].kind == TOKEN_INTEGER)
        for (size_t s = 0; s < sizeof usual_steps / sizeof usual_steps[0]; s++)
            proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, at + 3, at + 3, usual_steps[s]);
    if (token_is(tokens, at + 2, "+=")) propose_longer_steps(proposer, loop, at + 3, close - 1);
    const bool is_one = close - at == 3 && token_is_one_of(tokens, close - 1, "++ --");
    const bool is_before = close - at == 3 && token_is_one_of(tokens, at + 1, "++ --");
    char name[64], grid[64], words[160];
    if (!is_one && !is_before) return;
    const Variable *variable = code_variable(code, is_one ? at + 1 : at + 2);
    if (!variable) return;
    variable_name_text(proposer, variable, name, sizeof name);
    name_product(proposer, "gridDim.x", "blockDim.x", loop->first, grid, sizeof grid);
    const char *const steps[] = {"blockDim.x", grid, "gridDim.x", "32", "2"};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        snprintf(words, sizeof words, "%s += %s", name, steps[s]);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, at + 1, close - 1, words);
    }
    snprintf(words, sizeof words, "%s%s", name,
             token_is_one_of(tokens, is_one ? close - 1 : at + 1, "++") ? "--" : "++");
    proposer_replace(proposer, CHANGE_EXPRESSION, RARE, at + 1, close - 1, words);
}

// Whether a round uses what another one sets: `a[k] = a[k - 1] + 1`.
static bool carries(const Code *code, const Variable *counter, int from, int to) {
    const Tokens *tokens = &code->tokens;
    for (int i = from; i < to; i++) {
        if (!token_is(tokens, i + 1, "[") || tokens->all[i + 1].partner != i + 3 ||
            !tokens_are_same(tokens, i + 2, counter->name) || !variable_is_assigned(code, i))
            continue;
        for (int k = from; k < to; k++)
            if (tokens_are_same(tokens, k, i) && token_is(tokens, k + 1, "[") &&
                tokens_are_same(tokens, k + 2, counter->name) && token_is_one_of(tokens, k + 3, "+ -"))
                return true;
    }
    return false;
}

// The rounds of a loop that counts up by 1, from the last one to the first: the body with the other end's
// number.
static void propose_reversed(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int parts[2];
    if (!find_parts(code, loop, parts)) return;
    const int open = loop->first + 1, close = tokens->all[open].partner;
    if (!token_is(tokens, parts[0] + 2, "<") ||
        !(token_is(tokens, parts[1] + 1, "++") || token_is(tokens, parts[1] + 2, "++")))
        return;
    const Variable *variable = code_variable(code, parts[0] + 1);
    int start = parts[0] - 1;
    while (start > open && !token_is(tokens, start, "=")) start--;
    if (!variable || start <= open || start + 1 > parts[0] - 1) return;
    char *from = proposer_text(proposer, start + 1, parts[0] - 1, 0, 0, NULL),
         *to = proposer_text(proposer, parts[0] + 3, parts[1] - 1, 0, 0, NULL), name[64];
    if (from && to) {
        Text other = {0};
        variable_name_text(proposer, variable, name, sizeof name);
        text_printf(&other, "((%s) + (%s) - 1 - %s)", from, to, name);
        const int rank = carries(code, variable, close + 1, loop->last) ? LIKELY : USUAL;
        Variant *variant = proposer_add(proposer, CHANGE_MOVED, loop->first, rank);
        if (variant)
            snprintf(variant->words, sizeof variant->words,
                     "the rounds of the loop in line %d in the other order", variant->line);
        proposer_edit(proposer, variant, EDIT_STATEMENT, proposer_begin(proposer, close + 1),
                      proposer_end(proposer, loop->last),
                      text_with(proposer, close + 1, loop->last, variable->name, variable->name,
                                text_chars(&other), false));
        text_free(&other);
    }
    free(from);
    free(to);
}

// The whole number that a for declares and starts from an expression; NULL: it declares none.
static const Variable *declared_counter(const Code *code, const Statement *loop, int parts[2]) {
    if (!find_parts(code, loop, parts)) return NULL;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *variable = &code->variables[v];
        const int start = variable->name + 2;
        if (variable->name > loop->first && start < parts[0] && type_is_whole(variable->type) &&
            token_is(&code->tokens, start - 1, "=") && code->is_open[start] && variable->from == parts[0])
            return variable;
    }
    return NULL;
}

// Whether the rounds of a loop change what its head says.
static bool changes_its_head(const Code *code, const Statement *loop) {
    const int close = code->tokens.all[loop->first + 1].partner;
    for (int head = loop->first + 2; head < close; head++) {
        const Variable *variable = code_variable(code, head);
        for (int i = close + 1; variable && i <= loop->last; i++)
            if (code_variable(code, i) == variable && variable_is_assigned(code, i)) return true;
    }
    return false;
}

// The loop before it in the same block; NULL: none.
static const Statement *loop_before(const Code *code, const Statement *loop) {
    const Statement *before = NULL;
    for (int s = 0; s < code->statement_count && &code->statements[s] < loop; s++)
        if (code->statements[s].kind == STATEMENT_LOOP && code->statements[s].parent == loop->parent &&
            code->statements[s].function == loop->function)
            before = &code->statements[s];
    return before;
}

// A loop for what an earlier one has left begins where that one ended.
static void propose_continued(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    const Statement *before = loop_before(code, loop);
    int parts[2], parts_before[2];
    const Variable *counter = declared_counter(code, loop, parts);
    const Variable *ended = before ? declared_counter(code, before, parts_before) : NULL;
    if (!counter || !ended || changes_its_head(code, before)) return;
    const int first = counter->name + 2;
    const int close = code->tokens.all[before->first + 1].partner;
    char *was = proposer_text(proposer, first, parts[0] - 1, 0, 0, NULL),
         *start = proposer_text(proposer, before->first + 2, parts_before[0] - 1, 0, 0, NULL),
         *condition = proposer_text(proposer, parts_before[0] + 1, parts_before[1] - 1, 0, 0, NULL),
         *step = proposer_text(proposer, parts_before[1] + 1, close - 1, 0, 0, NULL), name[64];
    Variant *variant =
        was && start && condition && step ? proposer_add(proposer, CHANGE_EXPRESSION, first, FIRST) : NULL;
    if (variant) {
        Text now = {0};
        variable_name_text(proposer, ended, name, sizeof name);
        snprintf(variant->words, sizeof variant->words,
                 "the %s that the loop in line %d ends with instead of %.80s in line %d", name,
                 token_line(code, before->first), was, variant->line);
        text_printf(&now, "[&] { %s; while (%s) { %s; } return %s; }()", start, condition, step, name);
        proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                      proposer_end(proposer, parts[0] - 1), text_take(&now));
    }
    free(was);
    free(start);
    free(condition);
    free(step);
}

// A single round, and a test that comes before the first one.
static void propose_ends(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    if (token_is(&code->tokens, loop->first, "do")) {
        const Statement *body = loop + 1;
        char *condition = proposer_text(proposer, body->last + 2, loop->last - 1, 0, 0, NULL),
             *text = statement_text(proposer, body);
        Text now = {0};
        if (condition && text && token_is(&code->tokens, loop->last, ";")) {
            text_printf(&now, "while %s %s", condition, text);
            proposer_instead_of(proposer, CHANGE_CONDITION, LIKELY, loop, text_chars(&now),
                                "the test before the first round of the loop in");
        }
        text_free(&now);
        free(condition);
        free(text);
        return;
    }
    const Statement *body = statement_block(code, loop);
    if (!body) return;
    Variant *variant = proposer_add(proposer, CHANGE_CONDITION, loop->first, RARE);
    Text text = {0};
    text_add(&text, "break;");
    if (variant)
        snprintf(variant->words, sizeof variant->words, "at most one round of the loop in line %d",
                 variant->line);
    proposer_edit(proposer, variant, EDIT_BEFORE, proposer_begin(proposer, body->last),
                  proposer_begin(proposer, body->last), text_take(&text));
}

// ---- What is set back -------------------------------------------------------------------------------------

static bool is_number(const char *type) {
    return type_is_whole(type) || strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

// Whether the token is a variable that what it holds takes part in the next value of, and not as a loop
// counts its rounds: `sum += x`, `most = fmaxf(most, x)`.
static bool is_carried(const Code *code, int at) {
    int next = at + 1, first, last;
    while (token_is(&code->tokens, next, "[")) next = code->tokens.all[next].partner + 1;
    const Statement *statement = statement_at(code, at);
    if (!statement || statement->kind == STATEMENT_LOOP) return false;
    if (token_is_one_of(&code->tokens, next, "+= -= *= |= ++")) return true;
    return token_is(&code->tokens, next, "=") && statement->kind == STATEMENT_EXPRESSION &&
           statement->first == at && statement_value(code, statement, &first, &last) &&
           code_says(code, at, at, first, last);
}

// Whether that is so of a variable in these tokens.
static bool is_gathered(const Code *code, const Variable *variable, int from, int to) {
    for (int i = from; i < to; i++)
        if (tokens_are_same(&code->tokens, i, variable->name) && code_variable(code, i) == variable &&
            is_carried(code, i))
            return true;
    return false;
}

// What a loop from 1 on carries over starts with element 0: `float v = 0; for (int k = 1; ...) v += in[k];`
static void propose_first_element(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int parts[2], first, last;
    if (!find_parts(code, loop, parts) || !token_is(tokens, parts[0] - 1, "1") ||
        !token_is(tokens, parts[0] - 2, "="))
        return;
    const int counter = parts[0] - 3;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *before = &code->statements[s];
        if (statement_after(code, before) != loop || !statement_value(code, before, &first, &last) ||
            first != last)
            continue;
        for (int i = parts[1]; i < loop->last; i++) {
            if (!token_is(tokens, i, "[") || !tokens_are_same(tokens, i + 1, counter) ||
                tokens->all[i].partner != i + 2 || tokens->all[i - 1].kind != TOKEN_NAME)
                continue;
            char *array = proposer_text(proposer, i - 1, i - 1, 0, 0, NULL), words[96];
            if (array) {
                snprintf(words, sizeof words, "%.80s[0]", array);
                proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, first, last, words);
            }
            free(array);
        }
    }
}

// Whether a variable gets a new value in these tokens, without the one that it had.
static bool is_set(const Code *code, const Variable *variable, int from, int to) {
    for (int i = from; i < to; i++)
        if (code_variable(code, i) == variable && token_is(&code->tokens, i + 1, "=") && !is_carried(code, i))
            return true;
    return false;
}

// Whether a loop in the body gathers the variable, and a part of the body after that loop reads it: then each
// round has a result, to which the earlier rounds do not belong.
static bool has_result_of_round(const Code *code, const Variable *variable, const Statement *body) {
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *inner = &code->statements[s];
        if (inner->kind != STATEMENT_LOOP ||
            &code->statements[inner->parent < 0 ? 0 : inner->parent] != body ||
            !is_gathered(code, variable, inner->first, inner->last))
            continue;
        for (int i = inner->last + 1; i < body->last; i++)
            if (code_variable(code, i) == variable && !variable_is_assigned(code, i)) return true;
    }
    return false;
}

// What a variable is declared with, if that is one number: "0.0f", "-INFINITY"; otherwise "0".
static void start_text(const Proposer *proposer, const Variable *variable, char *text, size_t bytes) {
    const Tokens *tokens = &proposer->code->tokens;
    const int first = variable->name + 2, last = first + token_is(tokens, first, "-");
    char *start = token_is(tokens, first - 1, "=") && token_is_one_of(tokens, last + 1, ", ;")
                      ? proposer_text(proposer, first, last, 0, 0, NULL)
                      : NULL;
    snprintf(text, bytes, "%s", start && !code_variable(proposer->code, last) ? start : "0");
    free(start);
}

// What is gathered in the rounds of a loop starts again in each of them: at its begin.
static void propose_starts(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    const Statement *body = statement_block(code, loop);
    for (int v = 0; body && v < code->variable_count; v++) {
        const Variable *variable = &code->variables[v];
        char name[64], start[32], words[128];
        if (variable->dimensions > 0 || variable->is_const || !is_number(variable->type) ||
            loop->first < variable->from || loop->last > variable->to ||
            !is_gathered(code, variable, body->first, body->last))
            continue;
        variable_name_text(proposer, variable, name, sizeof name);
        start_text(proposer, variable, start, sizeof start);
        snprintf(words, sizeof words, "%s = %s", name, start);
        const bool is_of_round =
            has_result_of_round(code, variable, body) && !is_set(code, variable, body->first, body->last);
        proposer_insert(proposer, CHANGE_ADDED, is_of_round ? FIRST : USUAL, body->first + 1, words);
    }
}

// What is stored, and added to elsewhere, starts again after the store.
static void propose_start_behind(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    int first, last;
    if (!statement->in_block || !token_is(&code->tokens, statement->last, ";") ||
        !statement_value(code, statement, &first, &last) || !token_is(&code->tokens, first - 1, "="))
        return;
    for (int i = first; i <= last; i++) {
        const Variable *variable = code_variable(code, i);
        const Function *function = &code->functions[statement->function];
        char type[48], words[160];
        if (!variable || variable->is_const || variable_is_assigned(code, i)) continue;
        variable_element_type(variable, type);
        if (!is_number(type) || strchr(variable->type, '*') ||
            !is_gathered(code, variable, function->first, function->last))
            continue;
        int end = i;
        for (int d = 0; d < variable->dimensions && token_is(&code->tokens, end + 1, "["); d++)
            end = code->tokens.all[end + 1].partner;
        if (variable->dimensions > 0 && end == i) continue;
        char *place = proposer_text(proposer, i, end, 0, 0, NULL);
        if (place) {
            snprintf(words, sizeof words, "%.140s = 0", place);
            proposer_insert(proposer, CHANGE_ADDED, USUAL, statement->last + 1, words);
        }
        free(place);
        return;
    }
}

void propose_loops(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function != function) continue;
        if (statement->kind == STATEMENT_IF) propose_loop_for(proposer, statement);
        if (statement->kind == STATEMENT_EXPRESSION) propose_start_behind(proposer, statement);
        if (statement->kind != STATEMENT_LOOP) continue;
        propose_steps(proposer, statement);
        propose_size_as_end(proposer, statement);
        propose_reversed(proposer, statement);
        propose_continued(proposer, statement);
        propose_ends(proposer, statement);
        propose_starts(proposer, statement);
        propose_first_element(proposer, statement);
    }
}
