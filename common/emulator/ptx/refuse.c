// What is not supported is refused where a lane reaches it, since a file may hold much that never runs. Here
// the parser steps over such a statement, and over those that use what it would have declared.
#include <stdio.h>
#include <string.h>

#include "emulator/ptx/parser.h"

StatementStart statement_start(const Parser *p) {
    return (StatementStart){p->lexer, p->token, p->depth, p->variables.count, p->functions.count};
}

// To behind the ';' that ends a statement, or behind the '}' of a body; false when there is none.
static bool step_over(Parser *p) {
    int depth = 0;
    while (p->token.kind != TOKEN_END && p->token.kind != TOKEN_ERROR) {
        bool opens = parser_at(p, '{'), closes = parser_at(p, '}'), ends = parser_at(p, ';');
        if (closes && !depth) return false; // of the block around it
        depth += opens - closes;
        parser_advance(p);
        if (depth) continue;
        if (ends) return true;
        if (closes && !parser_at(p, ';') && !parser_at(p, ',')) return true;
    }
    return false;
}

const char *refuse_statement(Parser *p, const StatementStart *start) {
    const bool unsupported = p->error->status == EMULATOR_UNSUPPORTED;
    if (!p->refuses_late || p->lexer.no_memory ||
        !(unsupported || (p->refused && p->error->status == EMULATOR_BAD_PTX)))
        return NULL;
    char reason[sizeof p->message + 1024];
    if (unsupported)
        snprintf(reason, sizeof reason, "%s", p->message);
    else // most likely of what the refused statement would have declared
        snprintf(reason, sizeof reason, "%s; line %d could not be read: %.800s", p->message, p->refused_line,
                 p->refused);
    const EmulatorError error = *p->error;
    while (p->depth > start->depth) {
        p->scopes[p->depth].first_pending = p->scopes[p->depth].last_pending = NULL;
        scope_close(p, true);
    }
    p->lexer = start->lexer;
    p->token = start->token;
    p->failed = false;
    const char *kept = arena_string(p->arena, reason, strlen(reason));
    if (kept && step_over(p)) {
        if (!p->refused) {
            p->refused = kept;
            p->refused_line = start->token.line;
        }
        *p->error = (EmulatorError){0};
        return kept;
    }
    *p->error = error;
    p->failed = true;
    p->token.kind = TOKEN_ERROR;
    return NULL;
}
