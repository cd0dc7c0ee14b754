// Other statements, conditions and loops: the slips that learners make.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// Comparisons of a function, as texts that other conditions of it may lack.
enum { COMPARISONS = 8 };
typedef struct {
    char *texts[COMPARISONS];
    int first[COMPARISONS], last[COMPARISONS];
    int count;
} Comparisons;

static void find_comparisons(const Proposer *proposer, const Function *function, Comparisons *found) {
    static const char *const usual[] = {"threadIdx.x == 0", "threadIdx.x % 32 == 0", "blockIdx.x == 0",
                                        "threadIdx.x < 32"};
    *found = (Comparisons){0};
    for (size_t u = 0; u < sizeof usual / sizeof usual[0]; u++) {
        Text text = {0};
        text_add(&text, usual[u]);
        found->first[found->count] = -1;
        found->texts[found->count++] = text_take(&text);
    }
    for (int at = function->first; at < function->last && found->count < COMPARISONS; at++) {
        int first, last;
        if (!proposer->code->is_open[at] || !token_is_one_of(&proposer->code->tokens, at, "< <= > >= == !="))
            continue;
        proposer_find_unit(proposer->code, at, at, &first, &last);
        char *text = proposer_text(proposer, first, last, 0, 0, NULL);
        bool is_known = !text;
        for (int k = 0; k < found->count && text; k++)
            is_known |= !found->texts[k] || strcmp(found->texts[k], text) == 0;
        if (is_known) {
            free(text);
            continue;
        }
        found->first[found->count] = first;
        found->last[found->count] = last;
        found->texts[found->count++] = text;
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
static void ask_instead(const Proposer *proposer, int first, int last, const char *was, const char *now) {
    Variant *variant = proposer_add(proposer, CHANGE_EXPRESSION, first, USUAL);
    Text text = {0};
    text_add(&text, now);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "%.100s instead of %.100s in line %d", now, was,
                 variant->line);
    proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                  proposer_end(proposer, last), text_take(&text));
}

static void propose_conditions(const Proposer *proposer, const Statement *statement,
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
        ask_instead(proposer, first, last, was, text_chars(&now));
        text_free(&now);
    }
    if (was) {
        ask_instead(proposer, first, last, was, "true");
        ask_instead(proposer, first, last, was, "false");
    }
    free(was);
}

// ---- Statements ------------------------------------------------------------------------------------------

static char *statement_text(const Proposer *proposer, const Statement *statement) {
    return proposer_text(proposer, statement->first, statement->last, 0, 0, NULL);
}

static void instead_of(const Proposer *proposer, ChangeKind kind, int rank, const Statement *statement,
                       const char *now, const char *words) {
    Text text = {0};
    text_add(&text, now);
    Variant *variant = proposer_add(proposer, kind, statement->first, rank);
    if (variant) snprintf(variant->words, sizeof variant->words, "%s line %d", words, variant->line);
    proposer_edit(proposer, variant, EDIT_STATEMENT, proposer_begin(proposer, statement->first),
                  proposer_end(proposer, statement->last), text_take(&text));
}

static const Statement *next_in_block(const Code *code, const Statement *statement) {
    for (const Statement *next = statement + 1; next < code->statements + code->statement_count; next++)
        if (next->parent == statement->parent && next->first > statement->last)
            return next->first == statement->last + 1 ? next : NULL;
    return NULL;
}

// Whether the statement knows no variable that is forgotten at `at`, or declared only behind it.
static bool is_sound_at(const Code *code, const Statement *statement, int at) {
    for (int i = statement->first; i <= statement->last; i++) {
        const Variable *variable = code_variable(code, i);
        if (variable && (at < variable->from || at > variable->to)) return false;
    }
    return true;
}

// The statement before the token at `before` instead, which is `where` beside `line`.
static void move(const Proposer *proposer, const Statement *statement, int before, const char *where,
                 int line) {
    if (!is_sound_at(proposer->code, statement, before)) return;
    Variant *variant = proposer_add(proposer, CHANGE_MOVED, statement->first, USUAL);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "line %d moved %s line %d", variant->line, where,
                 line);
    Text empty = {0};
    text_add(&empty, " ");
    proposer_edit(proposer, variant, EDIT_STATEMENT, proposer_begin(proposer, statement->first),
                  proposer_end(proposer, statement->last), text_take(&empty));
    proposer_edit(proposer, variant, EDIT_BEFORE, proposer_begin(proposer, before),
                  proposer_begin(proposer, before), statement_text(proposer, statement));
}

static int line_of(const Proposer *proposer, int token) { return proposer->code->tokens.all[token].line; }

// Out of the block that it begins or ends, or into the one beside it, or behind the next statement.
static void propose_moves(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    if (!statement->in_block || statement->parent < 0) return;
    const Statement *block = &code->statements[statement->parent], *next = next_in_block(code, statement);
    const Statement *around = block->parent >= 0 ? &code->statements[block->parent] : NULL;
    if (next && next->kind == STATEMENT_EXPRESSION)
        move(proposer, next, statement->first, "before", line_of(proposer, statement->first));
    if (around && around->in_block) {
        if (statement->last + 1 == block->last)
            move(proposer, statement, around->last + 1, "behind", line_of(proposer, around->last));
        if (statement->first == block->first + 1)
            move(proposer, statement, around->first, "before", line_of(proposer, around->first));
    }
    if (next && (next->kind == STATEMENT_LOOP || next->kind == STATEMENT_IF)) {
        const Statement *body = next + 1;
        if (body < code->statements + code->statement_count && body->kind == STATEMENT_BLOCK)
            move(proposer, statement, body->first + 1, "into the block that begins in",
                 line_of(proposer, next->first));
        const Statement *after = next_in_block(code, next);
        if (after && after->kind == STATEMENT_EXPRESSION && body->kind == STATEMENT_BLOCK)
            move(proposer, after, body->last, "into the block that ends in", line_of(proposer, body->last));
    }
}

static const Exchange assignments[] = {
    {"=", "+=", CHANGE_OPERATOR, LIKELY},  {"+=", "=", CHANGE_OPERATOR, LIKELY},
    {"-=", "+=", CHANGE_OPERATOR, LIKELY}, {"+=", "-=", CHANGE_OPERATOR, USUAL},
    {"*=", "+=", CHANGE_OPERATOR, USUAL},  {"+=", "*=", CHANGE_OPERATOR, USUAL},
    {"/=", "*=", CHANGE_OPERATOR, USUAL},  {"*=", "/=", CHANGE_OPERATOR, USUAL},
    {"/=", "-=", CHANGE_OPERATOR, RARE},   {">>=", "<<=", CHANGE_OPERATOR, USUAL},
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
            if (now) instead_of(proposer, assignments[a].kind, assignments[a].rank, statement, now, words);
            free(now);
        }
    }
}

static void propose_barriers_at(const Proposer *proposer, const Statement *statement) {
    if (!statement->in_block || statement->kind == STATEMENT_LEAVE) return;
    static const char *const barriers[] = {"__syncthreads();", "__syncwarp();", "__threadfence();"};
    static const char *const words[] = {"__syncthreads() before", "__syncwarp() before",
                                        "__threadfence() before"};
    static const ChangeKind kinds[] = {CHANGE_BARRIER, CHANGE_WARP_BARRIER, CHANGE_FENCE};
    for (int b = 0; b < 3; b++) {
        Variant *variant = proposer_add(proposer, kinds[b], statement->first, USUAL);
        Text text = {0};
        text_add(&text, barriers[b]);
        if (variant) snprintf(variant->words, sizeof variant->words, "%s line %d", words[b], variant->line);
        proposer_edit(proposer, variant, EDIT_BEFORE, proposer_begin(proposer, statement->first),
                      proposer_begin(proposer, statement->first), text_take(&text));
    }
}

static void propose_of_statement(const Proposer *proposer, const Statement *statement,
                                 const Comparisons *comparisons) {
    const Code *code = proposer->code;
    propose_barriers_at(proposer, statement);
    if (statement->kind == STATEMENT_LEAVE)
        instead_of(proposer, CHANGE_EXPRESSION, LIKELY, statement,
                   token_is(&code->tokens, statement->first, "break") ? "continue;" : "break;",
                   token_is(&code->tokens, statement->first, "break") ? "continue instead of break in"
                                                                      : "break instead of continue in");
    if (statement->kind == STATEMENT_RETURN && statement->last == statement->first + 1)
        instead_of(proposer, CHANGE_STAY, USUAL, statement, " ", "nothing instead of return in");
    if (statement->kind != STATEMENT_EXPRESSION) return;
    instead_of(proposer, CHANGE_LEFT_OUT, USUAL, statement, " ", "no statement in");
    propose_assignments(proposer, statement);
    propose_moves(proposer, statement);
    char *was = statement_text(proposer, statement);
    for (int c = 0; was && c < comparisons->count; c++) {
        if (!comparisons->texts[c] || !is_known_at(code, comparisons, c, statement->first)) continue;
        Text now = {0};
        char words[128];
        text_printf(&now, "if (%s) %s", comparisons->texts[c], was);
        snprintf(words, sizeof words, "the condition %.80s for", comparisons->texts[c]);
        instead_of(proposer, CHANGE_CONDITION, RARE, statement, text_chars(&now), words);
        text_free(&now);
    }
    free(was);
}

// A loop in place of a condition: a thread takes further elements.
static void propose_loops(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const int open = statement->first + 1, close = code->tokens.all[open].partner;
    const Variable *variable = code_variable(code, open + 1);
    if (!token_is(&code->tokens, open, "(") || close < open || !variable || variable->is_const ||
        !type_is_whole(variable->type) || !token_is_one_of(&code->tokens, open + 2, "< <="))
        return;
    static const char *const steps[] = {"gridDim.x * blockDim.x", "blockDim.x", "32"};
    char *condition = proposer_text(proposer, open + 1, close - 1, 0, 0, NULL),
         *body = proposer_text(proposer, close + 1, statement->last, 0, 0, NULL), name[64], words[256];
    variable_name_text(proposer, variable, name, sizeof name);
    for (size_t k = 0; condition && body && k < sizeof steps / sizeof steps[0]; k++) {
        Text text = {0};
        text_printf(&text, "for (; %s; %s += %s) %s", condition, name, steps[k], body);
        snprintf(words, sizeof words, "for (; %.60s; %s += %s) instead of if (%.60s) in", condition, name,
                 steps[k], condition);
        instead_of(proposer, CHANGE_CONDITION, USUAL, statement, text_chars(&text), words);
        text_free(&text);
    }
    free(condition);
    free(body);
}

// Two variables of a statement, exchanged.
static void propose_exchanged_names(const Proposer *proposer, const Statement *statement) {
    enum { PAIRS = 12 };
    const Code *code = proposer->code;
    int pairs = 0;
    for (int i = statement->first; i < statement->last; i++) {
        const Variable *one = code->is_open[i] ? code_variable(code, i) : NULL;
        for (int j = i + 1; one && j < statement->last && pairs < PAIRS; j++) {
            const Variable *other = code->is_open[j] ? code_variable(code, j) : NULL;
            char first_name[64], second_name[64];
            int first, last, second_first, second_last;
            if (!other || other == one || variable_is_assigned(code, i) || variable_is_assigned(code, j) ||
                !variable_may_stand_for(one, other) || i < other->from)
                continue;
            variable_name_text(proposer, one, first_name, sizeof first_name);
            variable_name_text(proposer, other, second_name, sizeof second_name);
            proposer_find_unit(code, i, i, &first, &last);
            proposer_find_unit(code, j, j, &second_first, &second_last);
            if (last >= second_first) continue; // in one expression: the order of its operands
            Variant *variant = proposer_add(proposer, CHANGE_EXCHANGED, i, USUAL);
            if (variant)
                snprintf(variant->words, sizeof variant->words, "%s and %s exchanged in line %d", first_name,
                         second_name, variant->line);
            proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, first),
                          proposer_end(proposer, last),
                          proposer_text(proposer, first, last, i, i, second_name));
            proposer_edit(proposer, variant, EDIT_EXPRESSION, proposer_begin(proposer, second_first),
                          proposer_end(proposer, second_last),
                          proposer_text(proposer, second_first, second_last, j, j, first_name));
            pairs++;
        }
    }
}

// How far a loop moves in a round.
static void propose_steps(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    if (!token_is(&code->tokens, loop->first, "for")) return;
    const int close = code->tokens.all[loop->first + 1].partner;
    int at = close - 1;
    while (at > loop->first && !token_is(&code->tokens, at, ";")) at--;
    const bool is_one = close - at == 3 && token_is_one_of(&code->tokens, close - 1, "++ --");
    const bool is_before = close - at == 3 && token_is_one_of(&code->tokens, at + 1, "++ --");
    char name[64], words[128];
    if (!is_one && !is_before) return;
    const Variable *variable = code_variable(code, is_one ? at + 1 : at + 2);
    if (!variable) return;
    variable_name_text(proposer, variable, name, sizeof name);
    static const char *const steps[] = {"blockDim.x", "gridDim.x * blockDim.x", "gridDim.x", "32", "2"};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        snprintf(words, sizeof words, "%s += %s", name, steps[s]);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, at + 1, close - 1, words);
    }
}

// The rounds of a loop that counts up by 1, from the last one to the first: the body with the other end's
// number.
static void propose_reversed(const Proposer *proposer, const Statement *loop) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (!token_is(tokens, loop->first, "for")) return;
    const int open = loop->first + 1, close = tokens->all[open].partner;
    int parts[2], count = 0;
    for (int i = open + 1; i < close; i++)
        if (token_is(tokens, i, ";") && count < 2) parts[count++] = i;
    if (count != 2 || !token_is(tokens, parts[0] + 2, "<") ||
        !(token_is(tokens, parts[1] + 1, "++") || token_is(tokens, parts[1] + 2, "++")))
        return;
    const Variable *variable = code_variable(code, parts[0] + 1);
    int start = parts[0] - 1;
    while (start > open && !token_is(tokens, start, "=")) start--;
    char *from = proposer_text(proposer, start + 1, parts[0] - 1, 0, 0, NULL),
         *to = proposer_text(proposer, parts[0] + 3, parts[1] - 1, 0, 0, NULL);
    if (variable && start > open && from && to && start + 1 <= parts[0] - 1) {
        Text body = {0};
        for (int i = close + 1; i <= loop->last; i++) {
            const Token *token = &tokens->all[i];
            if (token->from > tokens->all[i - 1].to) text_add_char(&body, ' ');
            if (code_variable(code, i) == variable && tokens_are_same(tokens, i, variable->name))
                text_printf(&body, "((%s) + (%s) - 1 - %.*s)", from, to, token->to - token->from,
                            tokens->source + token->from);
            else
                text_add_bytes(&body, tokens->source + token->from, (size_t)(token->to - token->from));
        }
        Variant *variant = proposer_add(proposer, CHANGE_MOVED, loop->first, USUAL);
        if (variant)
            snprintf(variant->words, sizeof variant->words,
                     "the rounds of the loop in line %d in the other order", variant->line);
        proposer_edit(proposer, variant, EDIT_STATEMENT, proposer_begin(proposer, close + 1),
                      proposer_end(proposer, loop->last), text_take(&body));
    }
    free(from);
    free(to);
}

void propose_statements(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    Comparisons comparisons;
    find_comparisons(proposer, &code->functions[function], &comparisons);
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function != function) continue;
        propose_of_statement(proposer, statement, &comparisons);
        if (statement->kind == STATEMENT_IF) {
            propose_conditions(proposer, statement, &comparisons);
            propose_loops(proposer, statement);
        }
        if (statement->kind == STATEMENT_EXPRESSION || statement->kind == STATEMENT_RETURN ||
            statement->kind == STATEMENT_DECLARATION)
            propose_exchanged_names(proposer, statement);
        if (statement->kind == STATEMENT_LOOP) {
            propose_steps(proposer, statement);
            propose_reversed(proposer, statement);
        }
    }
    free_comparisons(&comparisons);
}
