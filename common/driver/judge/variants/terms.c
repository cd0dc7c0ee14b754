// Terms and factors that whole numbers lack: of an index, of the number of a thread or block, of a share.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// ---- What may be added -----------------------------------------------------------------------------------

enum { TERMS = 24 };
typedef struct {
    char texts[TERMS][64];
    bool are_of_address[TERMS]; // Proposer
    int count;
} Terms;

static void add_term(Terms *terms, const char *text) {
    if (!text || terms->count == TERMS || strlen(text) >= sizeof terms->texts[0]) return;
    snprintf(terms->texts[terms->count++], sizeof terms->texts[0], "%s", text);
}

// The / or % of a variable that starts from a quotient or a remainder and nothing else; -1: it does not.
static int quotient_of(const Code *code, const Variable *variable) {
    const Tokens *tokens = &code->tokens;
    int first = variable->name + 2, at = first;
    if (!token_is(tokens, first - 1, "=")) return -1;
    if (tokens->all[at].partner > at) at = tokens->all[at].partner;
    at++;
    while (token_is(tokens, at, ".")) at += 2;
    return token_is_one_of(tokens, at, "/ %") && token_is_one_of(tokens, at + 2, "; ,") ? at : -1;
}

// The whole numbers that are known at a token, and what a quotient or a remainder leaves of its number:
// after `whole = n / 8` that is 8 * whole, and after `rest = n % 8` it is n - rest.
static void find_terms(const Proposer *proposer, int at, Terms *terms) {
    const Code *code = proposer->code;
    *terms = (Terms){0};
    for (int v = code->variable_count - 1; v >= 0; v--) {
        const Variable *variable = &code->variables[v];
        char name[64];
        if (at < variable->from || at >= variable->to || !type_is_whole(variable->type) ||
            variable->dimensions > 0 || tokens_are_same(&code->tokens, variable->name, at))
            continue;
        variable_name_text(proposer, variable, name, sizeof name);
        if (terms->count < TERMS) terms->are_of_address[terms->count] = proposer->is_of_address[v];
        add_term(terms, name);
        const int sign = quotient_of(code, variable);
        if (sign < 0) continue;
        const bool is_quotient = token_is(&code->tokens, sign, "/");
        char *number = is_quotient ? proposer_text(proposer, sign + 1, sign + 1, 0, 0, NULL)
                                   : proposer_text(proposer, variable->name + 2, sign - 1, 0, 0, NULL);
        Text text = {0};
        if (number) text_printf(&text, is_quotient ? "%s * %s" : "(%s - %s)", number, name);
        if (number) add_term(terms, text_chars(&text));
        text_free(&text);
        free(number);
    }
}

// ---- A whole number ---------------------------------------------------------------------------------------

static const struct {
    const char *text;
    int rank;
} usual_terms[] = {
    {"+ threadIdx.x", USUAL},
    {"+ blockIdx.x * blockDim.x", USUAL},
    {"+ 1", USUAL},
    {"- 1", USUAL},
    {"* blockDim.x", USUAL},
    {"% 32", RARE},
    {"* 32", RARE},
    {"/ 32", RARE},
    {"* 2", RARE},
    {"* gridDim.x", RARE},
    {"* 4", USUAL},
    {"/ 4", USUAL},
    {"* 8", RARE},
    {"/ 8", RARE},
    {"/ 2", RARE},
    {"* (blockDim.x / 32)", RARE},
};

// The sum that the tokens from `first` to `last` are a part of, which the caller frees.
static char *sum_around(const Proposer *proposer, int first, int last) {
    static const char ends[] = "= ( ) [ ] { } , ; ? : < > <= >= == != && || return";
    const Tokens *tokens = &proposer->code->tokens;
    while (first > 0 && !token_is_one_of(tokens, first - 1, ends)) first--;
    while (last + 1 < tokens->count && !token_is_one_of(tokens, last + 1, ends)) last++;
    return proposer_text(proposer, first, last, 0, 0, NULL);
}

// A whole number from `first` to `last`, as an index, with a term that it may lack. `adds`: a variable too.
static void propose_for_number(const Proposer *proposer, int first, int last, bool adds) {
    char *was = proposer_text(proposer, first, last, 0, 0, NULL);
    const bool is_one =
        first == last || (last == first + 2 && token_is(&proposer->code->tokens, first + 1, "."));
    for (size_t t = 0; was && t < sizeof usual_terms / sizeof usual_terms[0]; t++) {
        Text now = {0};
        text_printf(&now, is_one || strchr("+-", usual_terms[t].text[0]) ? "%s %s" : "(%s) %s", was,
                    usual_terms[t].text);
        proposer_replace(proposer, CHANGE_EXPRESSION, usual_terms[t].rank, first, last, text_chars(&now));
        text_free(&now);
    }
    Terms terms = {0};
    char *sum = sum_around(proposer, first, last);
    if (adds) find_terms(proposer, first, &terms);
    for (int t = 0; was && sum && t < terms.count; t++) {
        for (int sign = 0; sign < 2; sign++) {
            Text now = {0};
            if (sum_cancels(sum, terms.texts[t], sign ? '-' : '+')) continue;
            text_printf(&now, "%s %c %s", was, sign ? '-' : '+', terms.texts[t]);
            const int rank = terms.are_of_address[t] ? LIKELY : sign ? LAST : RARE;
            proposer_replace(proposer, CHANGE_EXPRESSION, rank, first, last, text_chars(&now));
            text_free(&now);
        }
    }
    free(sum);
    free(was);
}

// What the whole numbers of a function start from.
static void propose_for_starts(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *variable = &code->variables[v];
        const int start = variable->name + 2;
        if (variable->function != function || !type_is_whole(variable->type) || variable->dimensions > 0 ||
            !token_is(&code->tokens, start - 1, "=") || !code->is_open[start])
            continue;
        int last = start;
        while (code->is_open[last + 1] && !token_is(&code->tokens, last + 1, ",")) {
            last++;
            if (token_is(&code->tokens, last, "(") && code->tokens.all[last].partner > last)
                last = code->tokens.all[last].partner;
        }
        if (token_is_one_of(&code->tokens, last + 1, "; , )"))
            propose_for_number(proposer, start, last, false);
    }
}

// ---- Factors ---------------------------------------------------------------------------------------------

// The elements that a number of groups stands for: `16 * groups` of `groups = n / 16`.
static void propose_whole_of(const Proposer *proposer, const Variable *variable, int at) {
    const Code *code = proposer->code;
    const int sign = quotient_of(code, variable);
    if (sign < 0 || !token_is(&code->tokens, sign, "/")) return;
    char *by = proposer_text(proposer, sign + 1, sign + 1, 0, 0, NULL), name[64], words[160];
    variable_name_text(proposer, variable, name, sizeof name);
    if (by) {
        snprintf(words, sizeof words, "%.60s * %s", by, name);
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, at, at, words);
    }
    free(by);
}

// The number of a thread or a block, or a whole variable, with a factor that it may lack.
static void propose_factors(const Proposer *proposer, int at) {
    static const char *const of_blocks[] = {"blockIdx.x * blockDim.x", "blockIdx.x * (blockDim.x / 32)",
                                            "blockIdx.x * gridDim.x"},
                             *const of_threads[] = {"4 * threadIdx.x", "threadIdx.x * blockDim.x"};
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (token_is_one_of(tokens, at - 1, "* / %")) return;
    if (token_is_one_of(tokens, at, "blockIdx threadIdx") && token_is(tokens, at + 2, "x")) {
        if (token_is_one_of(tokens, at + 3, "* / %")) return;
        const bool is_block = token_is(tokens, at, "blockIdx");
        for (int f = 0; f < (is_block ? 3 : 2); f++)
            proposer_replace(proposer, CHANGE_EXPRESSION, f == 0 ? LIKELY : USUAL, at, at + 2,
                             is_block ? of_blocks[f] : of_threads[f]);
        for (int n = 0; n < proposer->named.count && n < 4; n++) {
            char words[96];
            if (!named_is_known(proposer, &proposer->named.all[n], at) || proposer->named.all[n].value < 2)
                continue;
            snprintf(words, sizeof words, "%s * %s.x", proposer->named.all[n].name,
                     is_block ? "blockIdx" : "threadIdx");
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, at, at + 2, words);
            snprintf(words, sizeof words, "%s.x %% %s", is_block ? "blockIdx" : "threadIdx",
                     proposer->named.all[n].name);
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, at, at + 2, words);
        }
        return;
    }
    const Variable *variable = code_variable(code, at);
    if (!variable || !type_is_whole(variable->type) || variable->dimensions > 0 ||
        variable_is_assigned(code, at) || token_is_one_of(tokens, at + 1, "* / %"))
        return;
    propose_whole_of(proposer, variable, at);
    static const char *const forms[] = {"%s * blockDim.x", "(%s / 4)", "%s * 4", "%s * 32", "(%s / 32)"};
    char name[64], words[96];
    variable_name_text(proposer, variable, name, sizeof name);
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        snprintf(words, sizeof words, forms[f], name);
        proposer_replace(proposer, CHANGE_EXPRESSION, f < 2 ? RARE : LAST, at, at, words);
    }
}

// Whether the token is a number that stays the same in the kernel, and may be the distance of two elements.
static bool is_distance(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    long value;
    if (token->kind == TOKEN_INTEGER) return true;
    return token->kind == TOKEN_NAME &&
           named_number(&proposer->named, proposer->code->tokens.source + token->from,
                        token->to - token->from, &value);
}

// Elements side by side where they are to be apart, and the reverse: `EACH * x + i` and `x + 16 * i`.
static void propose_distances(const Proposer *proposer, int plus) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int left, right;
    if (!token_is(tokens, plus, "+") || !operator_operands(code, plus, &left, &right)) return;
    for (int side = 0; side < 2; side++) {
        const int from = side ? plus + 1 : left, to = side ? right : plus - 1,
                  other_from = side ? left : plus + 1, other_to = side ? plus - 1 : right;
        int times = from;
        while (times < to && operator_strength(code, times) == 0)
            times = tokens->all[times].partner > times ? tokens->all[times].partner + 1 : times + 1;
        if (!token_is(tokens, times, "*")) continue;
        const bool is_first = times == from + 1 && is_distance(proposer, from);
        if (!is_first && !(times == to - 1 && is_distance(proposer, to))) continue;
        char *distance = is_first ? proposer_text(proposer, from, from, 0, 0, NULL)
                                  : proposer_text(proposer, to, to, 0, 0, NULL),
             *each = is_first ? proposer_text(proposer, times + 1, to, 0, 0, NULL)
                              : proposer_text(proposer, from, times - 1, 0, 0, NULL),
             *other = proposer_text(proposer, other_from, other_to, 0, 0, NULL);
        const Function *function = &code->functions[statement_at(code, plus)->function];
        Terms distances = {0};
        if (distance) add_term(&distances, distance);
        add_term(&distances, "blockDim.x");
        for (int i = function->first; i < function->last && distances.count < 6; i++) {
            if (!token_is(tokens, i, "*") || operator_strength(code, i) == 0) continue;
            for (int by = -1; by <= 1; by += 2) {
                char *text = is_distance(proposer, i + by)
                                 ? proposer_text(proposer, i + by, i + by, 0, 0, NULL)
                                 : NULL;
                bool is_known = !text;
                for (int d = 0; d < distances.count && !is_known; d++)
                    is_known = strcmp(distances.texts[d], text) == 0;
                if (!is_known) add_term(&distances, text);
                free(text);
            }
        }
        const bool is_simple = other_from == other_to || token_is(tokens, other_from + 1, ".");
        for (int d = 0; each && other && d < distances.count; d++) {
            Text now = {0};
            text_printf(&now, is_simple ? "%s + %s * %s" : "%s + %s * (%s)", each, distances.texts[d], other);
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, text_chars(&now));
            text_free(&now);
        }
        free(distance);
        free(each);
        free(other);
    }
}

// The last place of an array of a fixed size, and of two places the other one.
static void propose_other_places(const Proposer *proposer, int open) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    const Variable *index = code_variable(code, open + 1);
    if (!index || !type_is_whole(index->type)) return;
    char name[64], words[96];
    variable_name_text(proposer, index, name, sizeof name);
    for (int i = 0; i < tokens->count; i++) {
        if (!tokens_are_same(tokens, i, open - 1) || !token_is(tokens, i + 1, "[") ||
            tokens->all[i + 1].partner != i + 3 || tokens->all[i + 2].kind != TOKEN_INTEGER)
            continue;
        const long size = strtol(tokens->source + tokens->all[i + 2].from, NULL, 0);
        if (code->is_open[i + 2]) continue; // an access
        snprintf(words, sizeof words, "%ld", size - 1);
        if (size > 1) proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, open + 1, open + 1, words);
        snprintf(words, sizeof words, "1 - %s", name);
        if (size == 2) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, open + 1, open + 1, words);
        return;
    }
}

void propose_terms_at(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    if (token_is(&proposer->code->tokens, at, "[") && token->partner > at + 1)
        propose_for_number(proposer, at + 1, token->partner - 1, true);
    if (token_is(&proposer->code->tokens, at, "[") && token->partner == at + 2)
        propose_other_places(proposer, at);
    if (token->kind == TOKEN_NAME) propose_factors(proposer, at);
    propose_distances(proposer, at);
}

// ---- One index in all accesses of a statement -------------------------------------------------------------

static bool is_index(const Code *code, int open, const int same[2]) {
    const int from = open + 1, to = code->tokens.all[open].partner - 1;
    if (!token_is(&code->tokens, open, "[") || to - from != same[1] - same[0]) return false;
    for (int i = 0; i <= to - from; i++)
        if (!tokens_are_same(&code->tokens, from + i, same[0] + i)) return false;
    return true;
}

// The tokens from `first` to `last` with `now` as each index that is the same as those of `same`.
static char *text_with_index(const Proposer *proposer, int first, int last, const int same[2],
                             const char *now) {
    const Tokens *tokens = &proposer->code->tokens;
    Text text = {0};
    for (int i = first; i <= last; i++) {
        const Token *token = &tokens->all[i];
        if (i > first && token->from > tokens->all[i - 1].to) text_add_char(&text, ' ');
        text_add_bytes(&text, tokens->source + token->from, (size_t)(token->to - token->from));
        if (!is_index(proposer->code, i, same)) continue;
        text_add(&text, now);
        i = token->partner - 1;
    }
    return text_take(&text);
}

static void propose_index(const Proposer *proposer, int first, int last, EditForm form, const int same[2]) {
    static const char *const terms[] = {
        "%s / 4", "%s * 4", "%s / 2",           "%s * 2",
        "%s + 1", "%s - 1", "%s + threadIdx.x", "%s + blockIdx.x * blockDim.x",
        "%s / 8", "%s / 32"};
    char *was = proposer_text(proposer, same[0], same[1], 0, 0, NULL);
    Terms known, all = {0};
    find_terms(proposer, same[0], &known);
    for (int t = 0; was && t < known.count; t++) {
        Text text = {0};
        text_printf(&text, "%s + %s", was, known.texts[t]);
        add_term(&all, text_chars(&text));
        text_free(&text);
    }
    for (size_t t = 0; was && t < sizeof terms / sizeof terms[0]; t++) {
        Text text = {0}, part = {0};
        text_printf(&part, same[0] == same[1] || t > 3 ? "%s" : "(%s)", was);
        text_printf(&text, terms[t], text_chars(&part));
        add_term(&all, text_chars(&text));
        text_free(&text);
        text_free(&part);
    }
    for (int t = 0; was && t < all.count; t++) {
        Variant *variant = proposer_add(proposer, CHANGE_EXPRESSION, same[0], USUAL);
        if (variant)
            snprintf(variant->words, sizeof variant->words, "[%.60s] instead of each [%.60s] in line %d",
                     all.texts[t], was, variant->line);
        proposer_edit(proposer, variant, form, proposer_begin(proposer, first), proposer_end(proposer, last),
                      text_with_index(proposer, first, last, same, all.texts[t]));
    }
    free(was);
}

static void propose_indices_of(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int first = statement->first, last = statement->last, value, end;
    if (statement->kind == STATEMENT_DECLARATION) {
        if (!statement_value(code, statement, &value, &end)) return;
        first = value, last = end;
    }
    for (int i = first; i < last; i++) {
        const int same[2] = {i + 1, tokens->all[i].partner - 1};
        int others = 0;
        bool was_before = false;
        if (!token_is(tokens, i, "[") || same[1] < same[0]) continue;
        for (int j = first; j < last; j++) {
            others += j != i && is_index(code, j, same);
            was_before |= j < i && is_index(code, j, same);
        }
        if (others > 0 && !was_before)
            propose_index(proposer, first, last,
                          statement->kind == STATEMENT_DECLARATION ? EDIT_EXPRESSION : EDIT_STATEMENT, same);
    }
}

// ---- Shares -----------------------------------------------------------------------------------------------

// `share = n / blocks` is rounded up, and every loop that ends with a share ends with n as well.
static void propose_shares(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *share = &code->variables[v];
        const int start = share->name + 2;
        int last = start, sign = -1;
        if (share->function != function || !type_is_whole(share->type) || share->dimensions > 0 ||
            !token_is(tokens, start - 1, "=") || !code->is_open[start])
            continue;
        while (code->is_open[last + 1] && !token_is(tokens, last + 1, ",")) last++;
        for (int i = start; i <= last; i++)
            if (token_is(tokens, i, "/") && sign < 0) sign = i;
        const Variable *whole = sign == start + 1 ? code_variable(code, start) : NULL;
        if (!whole || last <= sign) continue;
        char *by = proposer_text(proposer, sign + 1, last, 0, 0, NULL), name[64], of[64];
        variable_name_text(proposer, share, name, sizeof name);
        variable_name_text(proposer, whole, of, sizeof of);
        Variant *variant = by ? proposer_add(proposer, CHANGE_EXPRESSION, start, USUAL) : NULL;
        Text up = {0};
        if (by) text_printf(&up, "(%s + (%s) - 1) / (%s)", of, by, by);
        if (variant)
            snprintf(variant->words, sizeof variant->words,
                     "%s rounded up in line %d, and no element from %s on", name, variant->line, of);
        proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, start),
                      proposer_end(proposer, last), text_take(&up));
        for (int i = last; i < code->functions[function].last; i++) {
            int first, end;
            if (!token_is(tokens, i, "<") || !code->is_open[i] || i < share->from || i >= share->to ||
                operator_strength(code, i) == 0)
                continue;
            proposer_find_unit(code, i, i, &first, &end);
            bool has_share = false;
            for (int k = i; k <= end; k++)
                has_share |= !token_is_one_of(tokens, k, "< <=") && tokens_are_same(tokens, k, share->name);
            const Statement *loop = statement_at(code, i);
            if (!has_share || !loop || loop->kind != STATEMENT_LOOP) continue;
            char *was = proposer_text(proposer, first, end, 0, 0, NULL),
                 *counted = proposer_text(proposer, first, i - 1, 0, 0, NULL);
            Text now = {0};
            if (was && counted) text_printf(&now, "%s && %s < %s", was, counted, of);
            proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                          proposer_end(proposer, end), text_take(&now));
            free(was);
            free(counted);
        }
        free(by);
    }
}

void propose_terms(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    propose_for_starts(proposer, function);
    propose_shares(proposer, function);
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function == function &&
            (statement->kind == STATEMENT_EXPRESSION || statement->kind == STATEMENT_DECLARATION))
            propose_indices_of(proposer, statement);
    }
}
