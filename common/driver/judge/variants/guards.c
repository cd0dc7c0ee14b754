// What guards an access: the part of a similar condition that it lacks, and a bound that comes from its
// index.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// ---- Conditions -------------------------------------------------------------------------------------------

enum { CONDITIONS = 24, PARTS = 48, NEAREST = 6 };

// The tokens of the conditions of a function, and of the comparisons that they are made of.
typedef struct {
    int first[CONDITIONS], last[CONDITIONS], count;
    int part_first[PARTS], part_last[PARTS], part_count;
    int condition_of[PARTS]; // by part
} Guards;

static void add_condition(const Code *code, Guards *guards, int first, int last) {
    if (guards->count == CONDITIONS || last < first || !code->is_open[first]) return;
    guards->first[guards->count] = first;
    guards->last[guards->count] = last;
    for (int at = first; at <= last && guards->part_count < PARTS; at++) {
        int begin, end;
        if (!token_is_one_of(&code->tokens, at, "< <= > >= == !=") || operator_strength(code, at) == 0)
            continue;
        proposer_find_unit(code, at, at, &begin, &end);
        if (begin < first || end > last) continue;
        guards->part_first[guards->part_count] = begin;
        guards->part_last[guards->part_count] = end;
        guards->condition_of[guards->part_count++] = guards->count;
    }
    guards->count++;
}

// Of `if (...)`, of `... ? :`, and of a declaration that starts a bool.
static void find_guards(const Code *code, const Function *function, Guards *guards) {
    const Tokens *tokens = &code->tokens;
    *guards = (Guards){0};
    for (int at = function->first; at < function->last; at++) {
        int first, last;
        if (token_is(tokens, at, "if") && token_is(tokens, at + 1, "(")) {
            add_condition(code, guards, at + 2, tokens->all[at + 1].partner - 1);
        } else if (token_is(tokens, at, "?")) {
            proposer_find_unit(code, at - 1, at - 1, &first, &last);
            while (token_is_one_of(tokens, first - 1, "&& ||")) {
                const int sign = first - 1;
                proposer_find_unit(code, sign, sign, &first, &last);
                if (first >= sign) break;
            }
            add_condition(code, guards, first, at - 1);
        } else if (token_is(tokens, at, "bool") && token_is(tokens, at + 2, "=")) {
            int end = at + 3;
            while (end + 1 < function->last && !token_is_one_of(tokens, end + 1, "; , ?")) {
                end++;
                if (tokens->all[end].partner > end) end = tokens->all[end].partner;
            }
            if (!token_is(tokens, end + 1, "?")) add_condition(code, guards, at + 3, end);
        }
    }
}

// ---- The part that a condition lacks ----------------------------------------------------------------------

// The parts of other conditions that a place may lack, the nearest first.
static int find_parts(const Code *code, const Guards *guards, int first, int last, int parts[NEAREST]) {
    int count = 0;
    for (int p = 0; p < guards->part_count; p++) {
        const int begin = guards->part_first[p], end = guards->part_last[p];
        if ((begin >= first && end <= last) || code_says(code, begin, end, first, last) ||
            !code_knows(code, begin, end, first))
            continue;
        bool is_known = false;
        for (int k = 0; k < count && !is_known; k++)
            is_known = code_says(code, begin, end, guards->part_first[parts[k]], guards->part_last[parts[k]]);
        if (is_known) continue;
        int at = count < NEAREST ? count++ : NEAREST;
        for (; at > 0 && abs(guards->part_first[parts[at - 1]] - first) > abs(begin - first); at--)
            if (at < NEAREST) parts[at] = parts[at - 1];
        if (at < NEAREST) parts[at] = p;
    }
    return count;
}

// Asks `part` besides what the tokens of a condition ask.
static void ask_besides(const Proposer *proposer, int rank, int first, int last, const char *part) {
    char *was = proposer_text(proposer, first, last, 0, 0, NULL);
    Variant *variant = was ? proposer_add(proposer, CHANGE_EXPRESSION, first, rank) : NULL;
    Text now = {0};
    if (was) text_printf(&now, strstr(was, "||") ? "(%s) && %s" : "%s && %s", was, part);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "%.110s instead of %.100s in line %d",
                 text_chars(&now), was, variant->line);
    proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                  proposer_end(proposer, last), text_take(&now));
    free(was);
}

// What it asks of one number, of another number that the function is given: `n % 4 == 0` of k as well.
static void propose_same_of_another(const Proposer *proposer, int first, int last) {
    const Code *code = proposer->code;
    const Variable *of = NULL;
    int place = -1;
    for (int i = first; i <= last; i++) {
        const Variable *one = code_variable(code, i);
        if (!one) continue;
        if (of) return; // it is about several
        of = one;
        place = i;
    }
    if (!of || !type_is_whole(of->type) || of->dimensions > 0 ||
        of->name > code->functions[of->function].first)
        return;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        char name[64];
        if (other == of || first < other->from || first >= other->to || strcmp(other->type, of->type) != 0 ||
            other->dimensions > 0 || other->is_fixed || other->name > code->functions[other->function].first)
            continue;
        variable_name_text(proposer, other, name, sizeof name);
        char *part = proposer_text(proposer, first, last, place, place, name);
        if (part) ask_besides(proposer, LIKELY, first, last, part);
        free(part);
    }
}

// The part of another condition, with one number of `all` that it is not about in place of one that it is
// about.
static void propose_renamed_part(const Proposer *proposer, int first, int last, int begin, int end,
                                 int all_first, int all_last) {
    enum { MOST = 4 };
    const Code *code = proposer->code;
    int tried = 0;
    for (int i = begin; i <= end; i++) {
        const Variable *was = code_variable(code, i);
        if (!was || !type_is_whole(was->type) || was->dimensions > 0) continue;
        for (int k = all_first; k <= all_last && tried < MOST; k++) {
            const Variable *now = code_variable(code, k);
            if (!now || now == was || strcmp(now->type, was->type) != 0 || now->dimensions > 0 ||
                code_says(code, k, k, begin, end) || code_says(code, k, k, all_first, k - 1) ||
                first < now->from || first >= now->to)
                continue;
            char name[64];
            variable_name_text(proposer, now, name, sizeof name);
            char *part = proposer_text(proposer, begin, end, i, i, name);
            if (part) ask_besides(proposer, USUAL, first, last, part);
            free(part);
            tried++;
        }
    }
}

// The end of what a condition decides between: of `... ? a[i] : 0`, or of the statement.
static int decided_end(const Code *code, int last) {
    int end = last;
    while (end + 1 < code->tokens.count && !token_is_one_of(&code->tokens, end + 1, "; : {")) {
        end++;
        if (code->tokens.all[end].partner > end) end = code->tokens.all[end].partner;
    }
    return end;
}

static void propose_missing_parts(const Proposer *proposer, const Guards *guards, int which) {
    const Code *code = proposer->code;
    const int first = guards->first[which], last = guards->last[which];
    int parts[NEAREST];
    const int count = find_parts(code, guards, first, last, parts);
    static const char *const usual[] = {"threadIdx.x == 0", "blockIdx.x == 0"};
    const bool is_branch = token_is(&code->tokens, first - 2, "if"); // propose_conditions() has these
    bool is_of_thread = false;                                       // of the block, and not of the grid
    for (int i = first; i <= last; i++) is_of_thread |= token_is(&code->tokens, i, "threadIdx");
    for (int p = 0; p < count; p++) {
        const int begin = guards->part_first[parts[p]], end = guards->part_last[parts[p]];
        char *part = proposer_text(proposer, begin, end, 0, 0, NULL);
        if (part) ask_besides(proposer, LIKELY, first, last, part);
        free(part);
    }
    for (int p = 0; p < guards->part_count; p++)
        if (guards->condition_of[p] != which && abs(guards->condition_of[p] - which) <= 1 &&
            code_knows(code, guards->part_first[p], guards->part_last[p], first))
            propose_renamed_part(proposer, first, last, guards->part_first[p], guards->part_last[p], last + 1,
                                 decided_end(code, last));
    for (size_t u = 0; u < sizeof usual / sizeof usual[0] && !is_branch; u++)
        ask_besides(proposer, u > 0 && is_of_thread ? LIKELY : USUAL, first, last, usual[u]);
    propose_same_of_another(proposer, first, last);
}

// ---- One thread's value -----------------------------------------------------------------------------------

// A sum that one thread of the block has, or one lane of the warp: 0 for the others.
static void propose_value_of_one(const Proposer *proposer, const Statement *statement) {
    static const char *const ones[] = {"threadIdx.x == 0", "threadIdx.x % 32 == 0"};
    const Code *code = proposer->code;
    int first, last;
    if (!statement_value(code, statement, &first, &last) || first != last) return;
    const Variable *value = code_variable(code, first);
    if (!value || value->dimensions > 0 ||
        (strcmp(value->type, "float") != 0 && strcmp(value->type, "double") != 0 &&
         !type_is_whole(value->type)))
        return;
    char name[64], words[160];
    variable_name_text(proposer, value, name, sizeof name);
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *array = &code->variables[v];
        char type[48];
        variable_element_type(array, type);
        if (first < array->from || first >= array->to || strcmp(type, value->type) != 0 ||
            (array->dimensions != 1 &&
             !(array->dimensions == 0 && strchr(array->type, '*') && !array->is_const)))
            continue;
        variable_name_text(proposer, array, name, sizeof name);
        snprintf(words, sizeof words, "%s[0]", name);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, words);
    }
    variable_name_text(proposer, value, name, sizeof name);
    for (size_t o = 0; o < sizeof ones / sizeof ones[0]; o++) {
        snprintf(words, sizeof words, "%s ? %s : 0", ones[o], name);
        proposer_replace(proposer, CHANGE_EXPRESSION, type_is_whole(value->type) ? RARE : USUAL, first, last,
                         words);
    }
}

// ---- An access without a condition ------------------------------------------------------------------------

// There are as many slots as warps, or as a number that the function has.
static void propose_slots(const Proposer *proposer, int index, int first, int last, const char *was) {
    enum { MOST = 4 };
    const Code *code = proposer->code;
    const Variable *place = code_variable(code, index);
    if (!place || !type_is_whole(place->type)) return;
    char name[64], most[64], words[256];
    variable_name_text(proposer, place, name, sizeof name);
    snprintf(words, sizeof words, "%s < blockDim.x / 32 ? %.100s : 0", name, was);
    proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, words);
    for (int v = code->variable_count - 1, tried = 0; v >= 0 && tried < MOST; v--) {
        const Variable *slots = &code->variables[v];
        if (slots == place || first < slots->from || first >= slots->to || !type_is_whole(slots->type) ||
            slots->dimensions > 0)
            continue;
        variable_name_text(proposer, slots, most, sizeof most);
        snprintf(words, sizeof words, "%s < %s ? %.100s : 0", name, most, was);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, words);
        tried++;
    }
}

// A number that a statement takes from an array, and 0 in its place where there is none.
static void propose_guarded_value(const Proposer *proposer, const Guards *guards,
                                  const Statement *statement) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int first, last, parts[NEAREST];
    if (!statement_value(code, statement, &first, &last) || !token_is(tokens, last, "]")) return;
    const int open = tokens->all[last].partner;
    const Variable *array = open == first + 1 ? code_variable(code, first) : NULL;
    char type[48];
    if (!array || (!strchr(array->type, '*') && array->dimensions != 1)) return;
    variable_element_type(array, type);
    if (!type_is_whole(type) && strcmp(type, "float") != 0 && strcmp(type, "double") != 0) return;
    char *was = proposer_text(proposer, first, last, 0, 0, NULL);
    if (was && last == open + 2 && array->dimensions == 1)
        propose_slots(proposer, open + 1, first, last, was);
    const int count = find_parts(code, guards, first, last, parts);
    for (int p = 0; was && p < count; p++) {
        char *part =
            proposer_text(proposer, guards->part_first[parts[p]], guards->part_last[parts[p]], 0, 0, NULL);
        Text now = {0};
        if (part) text_printf(&now, "%s ? %s : 0", part, was);
        if (part) proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, text_chars(&now));
        text_free(&now);
        free(part);
    }
    free(was);
}

// ---- A bound from the index that it guards ----------------------------------------------------------------

// The variable that a quotient is computed from: `left` of `half = (left + 1) / 2` and of `half = left / 2`.
// `by`: the token that it is divided by.
static const Variable *divided(const Code *code, const Variable *quotient, int *by) {
    const Tokens *tokens = &code->tokens;
    int at = quotient->name + 2;
    if (!token_is(tokens, at - 1, "=")) return NULL;
    const bool has_brackets = token_is(tokens, at, "(");
    const int sign = has_brackets ? tokens->all[at].partner + 1 : at + 1;
    const Variable *of = code_variable(code, at + has_brackets);
    *by = sign + 1;
    const bool is_whole = token_is(tokens, sign, "/") && token_is_one_of(tokens, sign + 2, "; ,") && of;
    return is_whole && (!has_brackets || token_is_one_of(tokens, at + 2, "+ )")) ? of : NULL;
}

static void ask(const Proposer *proposer, int rank, int first, int last, const char *now) {
    proposer_replace(proposer, CHANGE_EXPRESSION, rank, first, last, now);
}

// `me < half` before `tree[me + half]`: all elements below `left` are there.
static void propose_bound_of(const Proposer *proposer, int sign, int open) {
    const Code *code = proposer->code;
    int left, right;
    if (!operator_operands(code, sign, &left, &right)) return;
    const int index = open + 1, end = code->tokens.all[open].partner - 1;
    if (end <= index || !code_says(code, left, sign - 1, index, end) ||
        end - index == sign - 1 - left) // the index is what is compared
        return;
    char *whole = proposer_text(proposer, index, end, 0, 0, NULL),
         *compared = proposer_text(proposer, left, sign - 1, 0, 0, NULL),
         *bound = proposer_text(proposer, sign + 1, right, 0, 0, NULL);
    const Variable *is = right == sign + 1 ? code_variable(code, right) : NULL;
    int by = 0;
    const Variable *of = is ? divided(code, is, &by) : NULL;
    char name[64], now[256];
    for (int v = 0; whole && compared && bound && v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        if (sign < other->from || sign >= other->to || !type_is_whole(other->type) || other->dimensions > 0 ||
            other == is || code_says(code, other->name, other->name, index, end))
            continue;
        variable_name_text(proposer, other, name, sizeof name);
        snprintf(now, sizeof now, "%.100s < %s", whole, name);
        ask(proposer, other == of ? LIKELY : RARE, left, right, now);
    }
    if (of && whole && compared) {
        char *number = proposer_text(proposer, by, by, 0, 0, NULL);
        variable_name_text(proposer, of, name, sizeof name);
        snprintf(now, sizeof now, "%.100s < %s / %s", compared, name, number ? number : "2");
        ask(proposer, LIKELY, left, right, now);
        free(number);
    }
    free(whole);
    free(compared);
    free(bound);
}

static void propose_bounds(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    const int open = statement->first + 1, close = tokens->all[open].partner;
    if (!token_is(tokens, open, "(") || !code->is_open[open + 1]) return;
    for (int sign = open + 1; sign < close; sign++) {
        if (!token_is_one_of(tokens, sign, "< <=") || operator_strength(code, sign) == 0) continue;
        for (int at = close; at < statement->last; at++)
            if (token_is(tokens, at, "[") && code->is_open[at]) propose_bound_of(proposer, sign, at);
    }
}

void propose_guards(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    Guards guards;
    find_guards(code, &code->functions[function], &guards);
    for (int g = 0; g < guards.count; g++) propose_missing_parts(proposer, &guards, g);
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function != function) continue;
        if (statement->kind == STATEMENT_IF) propose_bounds(proposer, statement);
        if (statement->kind == STATEMENT_EXPRESSION || statement->kind == STATEMENT_DECLARATION)
            propose_guarded_value(proposer, &guards, statement);
        if (statement->kind == STATEMENT_EXPRESSION || statement->kind == STATEMENT_DECLARATION)
            propose_value_of_one(proposer, statement);
    }
}
