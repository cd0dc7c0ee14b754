// Barriers and fences, and statements at another place.
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/variants/proposer.h"

static void propose_barriers_before(const Proposer *proposer, int token) {
    static const char *const barriers[] = {"__syncthreads()", "__syncwarp()", "__threadfence()"};
    static const ChangeKind kinds[] = {CHANGE_BARRIER, CHANGE_WARP_BARRIER, CHANGE_FENCE};
    for (int b = 0; b < 3; b++) proposer_insert(proposer, kinds[b], USUAL, token, barriers[b]);
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

static bool is_branch(const Statement *statement) {
    return statement->kind == STATEMENT_LOOP || statement->kind == STATEMENT_IF;
}

// Whether the statement changes a variable, or a part of one, that the other reads.
static bool changes_for(const Code *code, const Statement *statement, const Statement *other) {
    const Variable *changed = code_variable(code, statement->first);
    int at = statement->first + 1;
    while (token_is(&code->tokens, at, ".")) at += 2;
    if (!changed || !(token_is_one_of(&code->tokens, at, "= += -= *= /=") || token_is(&code->tokens, at, "[")))
        return false;
    for (int i = other->first; i <= other->last; i++)
        if (code_variable(code, i) == changed) return true;
    return false;
}

// Behind declarations that follow: what they start from is computed with the value of before.
static void propose_behind_declarations(const Proposer *proposer, const Statement *statement) {
    enum { MOST = 3 };
    const Code *code = proposer->code;
    const Statement *next = statement_after(code, statement);
    for (int d = 0; d < MOST && next && next->kind == STATEMENT_DECLARATION; d++) {
        if (changes_for(code, statement, next))
            move(proposer, statement, next->last + 1, "behind", token_line(code, next->last));
        next = statement_after(code, next);
    }
}

// Out of the block that it begins or ends, or into the one beside it, or behind the next statement.
static void propose_moves(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    if (!statement->in_block || statement->parent < 0) return;
    const Statement *block = &code->statements[statement->parent], *next = statement_after(code, statement);
    const Statement *around = block->parent >= 0 ? &code->statements[block->parent] : NULL;
    if (next && next->kind == STATEMENT_EXPRESSION)
        move(proposer, next, statement->first, "before", token_line(code, statement->first));
    if (statement->kind != STATEMENT_EXPRESSION) return;
    propose_behind_declarations(proposer, statement);
    if (around && around->in_block) {
        if (statement->last + 1 == block->last)
            move(proposer, statement, around->last + 1, "behind", token_line(code, around->last));
        if (statement->first == block->first + 1)
            move(proposer, statement, around->first, "before", token_line(code, around->first));
    }
    if (!next || !is_branch(next)) return;
    const Statement *body = statement_block(code, next), *after = statement_after(code, next);
    move(proposer, statement, next->last + 1, "behind", token_line(code, next->last));
    if (body)
        move(proposer, statement, body->first + 1, "into the block that begins in",
             token_line(code, next->first));
    if (body && after && after->kind == STATEMENT_EXPRESSION)
        move(proposer, after, body->last, "into the block that ends in", token_line(code, body->last));
}

void propose_places(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function != function) continue;
        const Statement *body = statement->kind == STATEMENT_LOOP ? statement_block(code, statement) : NULL;
        if (statement->in_block && statement->kind != STATEMENT_LEAVE)
            propose_barriers_before(proposer, statement->first);
        if (body) propose_barriers_before(proposer, body->last);
        if (statement->kind == STATEMENT_EXPRESSION || is_branch(statement))
            propose_moves(proposer, statement);
    }
}
