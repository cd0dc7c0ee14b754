// Other conditions, statements that are under one, and rounds that end where one holds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// Comparisons of a function, as texts that other conditions of it may lack.
enum { COMPARISONS = 10 };
typedef struct {
    char *texts[COMPARISONS];
    int first[COMPARISONS], last[COMPARISONS]; // its tokens; -1: it is none of the function's
    int count;
} Comparisons;

// Takes over `text`.
static void add_comparison(Comparisons *found, char *text, int first, int last) {
    bool is_known = !text || found->count == COMPARISONS;
    for (int k = 0; k < found->count && !is_known; k++)
        is_known |= !found->texts[k] || strcmp(found->texts[k], text) == 0;
    if (is_known) {
        free(text);
        return;
    }
    found->first[found->count] = first;
    found->last[found->count] = last;
    found->texts[found->count++] = text;
}

// With the next of the names that kernel.cu numbers in place of the last token, as in `flag == SUM`.
static void add_named(const Proposer *proposer, Comparisons *found, int first, int last) {
    const Token *token = &proposer->code->tokens.all[last];
    const char *name = proposer->code->tokens.source + token->from;
    long value;
    if (token->kind != TOKEN_NAME || first >= last ||
        !named_number(&proposer->named, name, token->to - token->from, &value))
        return;
    for (int n = 0; n < proposer->named.count; n++) {
        const NamedNumber *other = &proposer->named.all[n];
        if (labs(other->value - value) > 2 || other->value == value ||
            !named_is_known(proposer, other, first))
            continue;
        add_comparison(found, proposer_text(proposer, first, last, last, last, other->name), first, last);
    }
}

static void find_comparisons(const Proposer *proposer, const Function *function, Comparisons *found) {
    static const char *const usual[] = {"threadIdx.x == 0", "threadIdx.x % 32 == 0", "blockIdx.x == 0"};
    *found = (Comparisons){0};
    for (size_t u = 0; u < sizeof usual / sizeof usual[0]; u++) {
        Text text = {0};
        text_add(&text, usual[u]);
        add_comparison(found, text_take(&text), -1, -1);
    }
    for (int at = function->first; at < function->last && found->count < COMPARISONS; at++) {
        int first, last;
        if (!proposer->code->is_open[at] || !token_is_one_of(&proposer->code->tokens, at, "< <= > >= == !="))
            continue;
        proposer_find_unit(proposer->code, at, at, &first, &last);
        add_comparison(found, proposer_text(proposer, first, last, 0, 0, NULL), first, last);
        if (token_is_one_of(&proposer->code->tokens, at, "== !=")) add_named(proposer, found, first, last);
    }
}

static void free_comparisons(Comparisons *comparisons) {
    for (int c = 0; c < comparisons->count; c++) free(comparisons->texts[c]);
}

// Whether the names of a comparison are known at `at`.
static bool is_known_at(const Code *code, const Comparisons *comparisons, int which, int at) {
    for (int i = comparisons->first[which]; i >= 0 && i <= comparisons->last[which]; i++) {
        const Variable *variable = code_variable(code, i);
        if (variable && (at < variable->from || at >= variable->to)) return false;
    }
    return true;
}

// A condition from `first` to `last`, whose text is `was`, in place of which `now` is asked.
static void ask_instead(const Proposer *proposer, int rank, int first, int last, const char *was,
                        const char *now) {
    Variant *variant = proposer_add(proposer, CHANGE_EXPRESSION, first, rank);
    Text text = {0};
    text_add(&text, now);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "%.100s instead of %.100s in line %d", now, was,
                 variant->line);
    proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                  proposer_end(proposer, last), text_take(&text));
}

// One more condition, or none.
static void propose_of_condition(const Proposer *proposer, const Statement *statement,
                                 const Comparisons *comparisons) {
    const Code *code = proposer->code;
    const int open = statement->first + 1, last = code->tokens.all[open].partner - 1, first = open + 1;
    if (!token_is(&code->tokens, open, "(") || last < first || !code->is_open[first]) return;
    char *was = proposer_text(proposer, first, last, 0, 0, NULL);
    for (int c = 0; was && c < comparisons->count; c++) {
        const char *other = comparisons->texts[c];
        if (!other || !is_known_at(code, comparisons, c, first) || strcmp(was, other) == 0) continue;
        Text now = {0};
        text_printf(&now, strstr(was, "||") ? "(%s) && %s" : "%s && %s", was, other);
        ask_instead(proposer, USUAL, first, last, was, text_chars(&now));
        text_free(&now);
    }
    if (was) {
        ask_instead(proposer, USUAL, first, last, was, "true");
        ask_instead(proposer, USUAL, first, last, was, "false");
    }
    free(was);
}

static void propose_under_one(const Proposer *proposer, const Statement *statement,
                              const Comparisons *comparisons) {
    char *was = statement_text(proposer, statement);
    for (int c = 0; was && c < comparisons->count; c++) {
        if (!comparisons->texts[c] || !is_known_at(proposer->code, comparisons, c, statement->first))
            continue;
        Text now = {0};
        char words[128];
        text_printf(&now, "if (%s) %s", comparisons->texts[c], was);
        snprintf(words, sizeof words, "the condition %.80s for", comparisons->texts[c]);
        proposer_instead_of(proposer, CHANGE_CONDITION, RARE, statement, text_chars(&now), words);
        text_free(&now);
    }
    free(was);
}

// Whether a loop's rounds change what a comparison is about: a variable that its body declares or sets.
static bool is_of_rounds(const Code *code, const Statement *body, int first, int last) {
    for (int i = first; i >= 0 && i <= last; i++) {
        const Variable *variable = code_variable(code, i);
        if (!variable) continue;
        if (variable->name > body->first && variable->name < body->last) return true;
        for (int k = body->first; k < body->last; k++)
            if (tokens_are_same(&code->tokens, k, variable->name) && variable_is_assigned(code, k))
                return true;
    }
    return false;
}

// A loop that lacks its end.
static void propose_breaks(const Proposer *proposer, const Statement *loop, const Comparisons *comparisons) {
    const Code *code = proposer->code;
    const Statement *body = statement_block(code, loop);
    for (int c = 0; body && c < comparisons->count; c++) {
        char words[160];
        if (!comparisons->texts[c] || !is_known_at(code, comparisons, c, body->last) ||
            !is_of_rounds(code, body, comparisons->first[c], comparisons->last[c]))
            continue;
        snprintf(words, sizeof words, "if (%.120s) break", comparisons->texts[c]);
        proposer_insert(proposer, CHANGE_ADDED, USUAL, body->last, words);
    }
}

// ---- Pairs ------------------------------------------------------------------------------------------------

// Whether two whole numbers of a function are declared one directly after the other, with a start.
static bool is_pair(const Code *code, const Variable *one, const Variable *other) {
    return one->function == other->function && type_is_whole(one->type) && type_is_whole(other->type) &&
           one->dimensions == 0 && other->dimensions == 0 && token_is(&code->tokens, one->name + 1, "=") &&
           token_is(&code->tokens, other->name + 1, "=");
}

static char *text_with_pair(const Proposer *proposer, int first, int last, const Variable *const was[2],
                            const Variable *const now[2]) {
    const Code *code = proposer->code;
    Text text = {0};
    for (int i = first; i <= last; i++) {
        const Token *token = &code->tokens.all[i];
        const Variable *variable = code_variable(code, i);
        char name[64];
        if (i > first && token->from > code->tokens.all[i - 1].to) text_add_char(&text, ' ');
        if (variable && (variable == was[0] || variable == was[1])) {
            variable_name_text(proposer, now[variable == was[1]], name, sizeof name);
            text_add(&text, name);
        } else {
            text_add_bytes(&text, code->tokens.source + token->from, (size_t)(token->to - token->from));
        }
    }
    return text_take(&text);
}

// Two numbers that belong together, as a row and a column, in place of two others.
static void propose_pairs(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const int open = statement->first + 1, first = open + 1, last = code->tokens.all[open].partner - 1;
    if (!token_is(&code->tokens, open, "(") || last < first || !code->is_open[first]) return;
    char *was = proposer_text(proposer, first, last, 0, 0, NULL);
    for (int v = 0; was && v + 1 < code->variable_count; v++) {
        const Variable *const of[2] = {&code->variables[v], &code->variables[v + 1]};
        bool has[2] = {false, false};
        for (int i = first; i <= last; i++)
            for (int k = 0; k < 2; k++)
                has[k] |= code_variable(code, i) == of[k] && !variable_is_assigned(code, i);
        if (!has[0] || !has[1] || !is_pair(code, of[0], of[1])) continue;
        for (int w = 0; w + 1 < code->variable_count; w++) {
            const Variable *const to[2] = {&code->variables[w], &code->variables[w + 1]}, *const crossed[2] =
                                                                                              {to[1], to[0]};
            if (w == v || w == v + 1 || w + 1 == v || !is_pair(code, to[0], to[1]) || first < to[0]->from ||
                first >= to[0]->to || first < to[1]->from || first >= to[1]->to)
                continue;
            for (int way = 0; way < 2; way++) {
                char *now = text_with_pair(proposer, first, last, of, way ? crossed : to);
                if (now) ask_instead(proposer, LIKELY, first, last, was, now);
                free(now);
            }
        }
    }
    free(was);
}

void propose_conditions(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    Comparisons comparisons;
    find_comparisons(proposer, &code->functions[function], &comparisons);
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function != function) continue;
        if (statement->kind == STATEMENT_IF) propose_of_condition(proposer, statement, &comparisons);
        if (statement->kind == STATEMENT_IF) propose_pairs(proposer, statement);
        if (statement->kind == STATEMENT_LOOP) propose_breaks(proposer, statement, &comparisons);
        if (statement->kind == STATEMENT_EXPRESSION) propose_under_one(proposer, statement, &comparisons);
    }
    free_comparisons(&comparisons);
}
