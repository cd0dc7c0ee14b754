// Other assignments, statements that are left out, and what two of them have of each other.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

static const Exchange assignments[] = {
    {"=", "+=", CHANGE_OPERATOR, LIKELY},   {"+=", "=", CHANGE_OPERATOR, LIKELY},
    {"-=", "+=", CHANGE_OPERATOR, LIKELY},  {"+=", "-=", CHANGE_OPERATOR, USUAL},
    {"*=", "+=", CHANGE_OPERATOR, USUAL},   {"+=", "*=", CHANGE_OPERATOR, USUAL},
    {"/=", "*=", CHANGE_OPERATOR, USUAL},   {"*=", "/=", CHANGE_OPERATOR, USUAL},
    {"/=", "-=", CHANGE_OPERATOR, RARE},    {"-=", "/=", CHANGE_OPERATOR, USUAL},
    {">>=", "<<=", CHANGE_OPERATOR, USUAL}, {"<<=", ">>=", CHANGE_OPERATOR, USUAL},
};

static bool is_number(const char *type) {
    return type_is_whole(type) || strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

static void propose_assignments(const Proposer *proposer, const Statement *statement) {
    const Tokens *tokens = &proposer->code->tokens;
    const Variable *variable = code_variable(proposer->code, statement->first);
    char type[48];
    if (!variable) return;
    variable_element_type(variable, type);
    if (!is_number(type) && !(type[0] && isupper((unsigned char)type[0]) && !type[1]) &&
        strcmp(type, "Number") != 0)
        return;
    for (int at = statement->first; at < statement->last; at++) {
        if (token_is_one_of(tokens, at, "( [") && tokens->all[at].partner > at) at = tokens->all[at].partner;
        for (size_t a = 0; a < sizeof assignments / sizeof assignments[0]; a++) {
            if (!token_is(tokens, at, assignments[a].was)) continue;
            char words[64],
                *now = proposer_text(proposer, statement->first, statement->last, at, at, assignments[a].now);
            snprintf(words, sizeof words, "%s instead of %s in", assignments[a].now, assignments[a].was);
            if (now)
                proposer_instead_of(proposer, assignments[a].kind, assignments[a].rank, statement, now,
                                    words);
            free(now);
        }
    }
}

static void propose_left_out(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    if (statement->kind == STATEMENT_LEAVE) {
        const bool is_break = token_is(&code->tokens, statement->first, "break");
        proposer_instead_of(proposer, CHANGE_EXPRESSION, LIKELY, statement, is_break ? "continue;" : "break;",
                            is_break ? "continue instead of break in" : "break instead of continue in");
    }
    if (statement->kind == STATEMENT_RETURN && statement->last == statement->first + 1)
        proposer_instead_of(proposer, CHANGE_STAY, USUAL, statement, " ", "nothing instead of return in");
    if (statement->kind == STATEMENT_EXPRESSION || statement->kind == STATEMENT_LEAVE)
        proposer_instead_of(proposer, CHANGE_LEFT_OUT, USUAL, statement, " ", "no statement in");
}

// ---- Exchanged --------------------------------------------------------------------------------------------

// The tokens from `first` to `last`, with that at `one` and that at `other` exchanged.
static char *text_of_exchanged(const Proposer *proposer, int first, int last, int one, int other) {
    char *first_name = proposer_text(proposer, one, one, 0, 0, NULL),
         *second_name = proposer_text(proposer, other, other, 0, 0, NULL), *text = NULL, *before = NULL,
         *behind = NULL;
    if (first_name && second_name) {
        before = proposer_text(proposer, first, other - 1, one, one, second_name);
        behind = proposer_text(proposer, other, last, other, other, first_name);
    }
    if (before && behind) {
        Text whole = {0};
        const bool is_apart =
            proposer->code->tokens.all[other].from > proposer->code->tokens.all[other - 1].to;
        text_printf(&whole, "%s%s%s", before, is_apart ? " " : "", behind);
        text = text_take(&whole);
    }
    free(first_name);
    free(second_name);
    free(before);
    free(behind);
    return text;
}

// Whether the two are the operands of one sum or product, whose order does not matter.
static bool are_beside(const Code *code, int one, int other) {
    return other == one + 2 && token_is_one_of(&code->tokens, one + 1, "+ * & | ^ == != && ||");
}

// Whether the variables at two tokens may be exchanged: both are read, and what is not const is neither for
// the other, except where an element of it is read.
static bool may_be_exchanged(const Code *code, const Variable *a, int one, const Variable *b, int other) {
    if (a == b || !variable_may_stand_for(a, b) || one < b->from || variable_is_assigned(code, one) ||
        variable_is_assigned(code, other))
        return false;
    return a->is_const == b->is_const || !strchr(a->type, '*') ||
           (token_is(&code->tokens, one + 1, "[") && token_is(&code->tokens, other + 1, "["));
}

static void exchange(const Proposer *proposer, int rank, int one, int other) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    char first_name[64], second_name[64];
    int first, last, second_first, second_last;
    snprintf(first_name, sizeof first_name, "%.*s", tokens->all[one].to - tokens->all[one].from,
             tokens->source + tokens->all[one].from);
    snprintf(second_name, sizeof second_name, "%.*s", tokens->all[other].to - tokens->all[other].from,
             tokens->source + tokens->all[other].from);
    proposer_find_unit(code, one, one, &first, &last);
    proposer_find_unit(code, other, other, &second_first, &second_last);
    const bool is_one = last >= second_first; // unit, or one in the other
    if (is_one && are_beside(code, one, other)) return;
    Variant *variant = proposer_add(proposer, CHANGE_EXCHANGED, one, rank);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "%s and %s exchanged in line %d", first_name,
                 second_name, variant->line);
    if (is_one) {
        if (second_first < first) first = second_first;
        if (second_last > last) last = second_last;
        proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                      proposer_end(proposer, last), text_of_exchanged(proposer, first, last, one, other));
        return;
    }
    proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                  proposer_end(proposer, last), proposer_text(proposer, first, last, one, one, second_name));
    proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, second_first),
                  proposer_end(proposer, second_last),
                  proposer_text(proposer, second_first, second_last, other, other, first_name));
}

// Two variables of a statement; of a condition, only in what is between its brackets. Not of a loop: it may
// have no rounds then, which a loop for the rest makes up for.
static void propose_exchanged_names(const Proposer *proposer, const Statement *statement) {
    enum { PAIRS = 12 };
    const Code *code = proposer->code;
    const bool is_branch = statement->kind == STATEMENT_IF;
    const int last = is_branch ? code->tokens.all[statement->first + 1].partner : statement->last;
    int pairs = 0;
    for (int i = statement->first; i < last; i++) {
        const Variable *one = code->is_open[i] ? code_variable(code, i) : NULL;
        for (int j = i + 1; one && j < last && pairs < PAIRS; j++) {
            const Variable *other = code->is_open[j] ? code_variable(code, j) : NULL;
            if (!other || !may_be_exchanged(code, one, i, other, j)) continue;
            exchange(proposer, is_branch ? LIKELY : USUAL, i, j);
            pairs++;
        }
    }
}

// The same token of two statements that follow each other and have as many.
static void propose_exchanged_between(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const Statement *next = statement_after(code, statement);
    if (!next || next->kind != statement->kind ||
        next->last - next->first != statement->last - statement->first)
        return;
    for (int i = statement->first, j = next->first; i < statement->last; i++, j++) {
        const Variable *one = code->is_open[i] ? code_variable(code, i) : NULL,
                       *other = code->is_open[j] ? code_variable(code, j) : NULL;
        if (one && other && may_be_exchanged(code, one, i, other, j)) exchange(proposer, USUAL, i, j);
    }
}

// The tokens of what each variable of a declaration starts from; how many there are.
static int find_values(const Code *code, const Statement *statement, int names[], int firsts[], int lasts[],
                       int most) {
    const Tokens *tokens = &code->tokens;
    int count = 0;
    for (int at = statement->first; at < statement->last && count < most; at++) {
        if (tokens->all[at].partner > at) {
            at = tokens->all[at].partner;
        } else if (token_is(tokens, at, "=") && code->is_open[at + 1]) {
            names[count] = at - 1;
            firsts[count] = at + 1;
            lasts[count] = at + 1;
            while (lasts[count] + 1 < statement->last && !token_is(tokens, lasts[count] + 1, ",")) {
                lasts[count]++;
                if (tokens->all[lasts[count]].partner > lasts[count])
                    lasts[count] = tokens->all[lasts[count]].partner;
            }
            at = lasts[count++];
        }
    }
    return count;
}

// What two whole numbers start from, which are declared one after the other.
static void propose_exchanged_values(const Proposer *proposer, const Statement *statement) {
    enum { VALUES = 8 };
    const Code *code = proposer->code;
    int names[VALUES], firsts[VALUES], lasts[VALUES];
    int count = find_values(code, statement, names, firsts, lasts, VALUES);
    const Statement *next = statement_after(code, statement);
    if (next && next->kind == STATEMENT_DECLARATION)
        count += find_values(code, next, names + count, firsts + count, lasts + count, count < VALUES);
    for (int v = 0; v + 1 < count; v++) {
        if (code_says(code, names[v], names[v], firsts[v + 1], lasts[v + 1])) continue;
        const Variable *one = NULL, *other = NULL;
        for (int k = 0; k < code->variable_count; k++) {
            if (code->variables[k].name == names[v]) one = &code->variables[k];
            if (code->variables[k].name == names[v + 1]) other = &code->variables[k];
        }
        if (!one || !other || one->is_const != other->is_const || !variable_may_stand_for(one, other))
            continue;
        char first_name[64], second_name[64];
        variable_name_text(proposer, one, first_name, sizeof first_name);
        variable_name_text(proposer, other, second_name, sizeof second_name);
        Variant *variant = proposer_add(proposer, CHANGE_EXCHANGED, names[v], FIRST);
        if (variant)
            snprintf(variant->words, sizeof variant->words, "the values of %s and %s exchanged in line %d",
                     first_name, second_name, variant->line);
        proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, firsts[v]),
                      proposer_end(proposer, lasts[v]),
                      proposer_text(proposer, firsts[v + 1], lasts[v + 1], 0, 0, NULL));
        proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, firsts[v + 1]),
                      proposer_end(proposer, lasts[v + 1]),
                      proposer_text(proposer, firsts[v], lasts[v], 0, 0, NULL));
    }
}

void propose_statements(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function != function) continue;
        propose_left_out(proposer, statement);
        if (statement->kind == STATEMENT_EXPRESSION) propose_assignments(proposer, statement);
        if (statement->kind == STATEMENT_DECLARATION) propose_exchanged_values(proposer, statement);
        if (statement->kind == STATEMENT_IF) propose_exchanged_names(proposer, statement);
        if (statement->kind == STATEMENT_EXPRESSION || statement->kind == STATEMENT_RETURN ||
            statement->kind == STATEMENT_DECLARATION) {
            propose_exchanged_names(proposer, statement);
            propose_exchanged_between(proposer, statement);
        }
    }
}
