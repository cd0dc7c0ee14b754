// What is computed from an address: the distance to a boundary, and numbers that lack it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// ---- Which variables are ----------------------------------------------------------------------------------

// Whether the cast before `at` is that of a pointer.
static bool is_pointer(const Code *code, int at) {
    const int last = token_is(&code->tokens, at, "(") ? code->tokens.all[at].partner : at;
    for (int i = at; i <= last; i++) {
        const Variable *variable = code_variable(code, i);
        if (variable && strchr(variable->type, '*') && !token_is(&code->tokens, i + 1, "[")) return true;
    }
    return false;
}

static bool is_of_address(const Code *code, const bool variables[], const bool functions[], int first,
                          int last) {
    const Tokens *tokens = &code->tokens;
    bool is_any = false;
    for (int i = first; i <= last; i++) {
        if (token_is_one_of(tokens, i, "* /") && is_any) return false; // groups, and what they hold
        const Variable *variable = code_variable(code, i);
        if (token_is_one_of(tokens, i, "size_t uintptr_t") && token_is(tokens, i - 1, "(") &&
            token_is(tokens, i + 1, ")") && is_pointer(code, i + 2))
            return true;
        is_any |= variable && variables[variable - code->variables];
        for (int f = 0; f < code->function_count; f++)
            is_any |= functions[f] && tokens_are_same(tokens, code->functions[f].name, i) &&
                      token_is(tokens, i + 1, "(");
    }
    return is_any;
}

// The tokens of what a whole number starts from. False: it has no start.
static bool find_start(const Code *code, const Variable *variable, int *first, int *last) {
    const Tokens *tokens = &code->tokens;
    *first = variable->name + 2;
    if (!type_is_whole(variable->type) || variable->dimensions > 0 || !token_is(tokens, *first - 1, "="))
        return false;
    for (*last = *first; *last + 1 < tokens->count && !token_is_one_of(tokens, *last + 1, "; ,"); ++*last)
        if (token_is(tokens, *last, "(") && tokens->all[*last].partner > *last)
            *last = tokens->all[*last].partner - 1;
    return true;
}

static bool mark_functions(const Code *code, const bool variables[], bool functions[]) {
    bool has_more = false;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->kind != STATEMENT_RETURN || functions[statement->function] ||
            !is_of_address(code, variables, functions, statement->first + 1, statement->last - 1))
            continue;
        has_more = functions[statement->function] = true;
    }
    return has_more;
}

// A parameter that a call gives a variable of this kind.
static bool mark_parameters(const Code *code, bool variables[]) {
    const Tokens *tokens = &code->tokens;
    bool has_more = false;
    for (int f = 0; f < code->function_count; f++) {
        const Function *function = &code->functions[f];
        for (int at = 0; at < tokens->count; at++) {
            if (!code->is_open[at] || !tokens_are_same(tokens, at, function->name) ||
                !token_is(tokens, at + 1, "("))
                continue;
            int which = 0;
            for (int i = at + 2; i < tokens->all[at + 1].partner; i++) {
                const Variable *given = code_variable(code, i);
                which += token_is(tokens, i, ",");
                if (tokens->all[i].partner > i) i = tokens->all[i].partner;
                if (!given || !variables[given - code->variables] || !token_is_one_of(tokens, i - 1, "( ,") ||
                    !token_is_one_of(tokens, i + 1, ") ,"))
                    continue;
                int parameter = 0;
                for (int v = 0; v < code->variable_count; v++) {
                    const Variable *one = &code->variables[v];
                    if (one->name <= function->name || one->name >= function->first) continue;
                    if (parameter++ != which || variables[v]) continue;
                    has_more = variables[v] = true;
                }
            }
        }
    }
    return has_more;
}

// Whether a condition around the statement is one on an address: `if ((size_t)row % 16 != 0) head = 1;`, or
// `while ((size_t)(in + head) % 16 != 0) head++;`
static bool is_under_address(const Code *code, const bool variables[], const bool functions[],
                             const Statement *statement) {
    for (int s = statement->parent; s >= 0; s = code->statements[s].parent) {
        const Statement *around = &code->statements[s];
        const bool is_while =
            around->kind == STATEMENT_LOOP && token_is(&code->tokens, around->first, "while");
        if ((around->kind == STATEMENT_IF || is_while) &&
            is_of_address(code, variables, functions, around->first + 2,
                          code->tokens.all[around->first + 1].partner - 1))
            return true;
    }
    return false;
}

// The variable that a statement counts up by itself, as `head++`; NULL: it does something else.
static const Variable *counted_by(const Code *code, const Statement *statement) {
    const Tokens *tokens = &code->tokens;
    const int first = statement->first;
    if (statement->kind != STATEMENT_EXPRESSION || statement->last != first + 2) return NULL;
    if (token_is(tokens, first, "++")) return code_variable(code, first + 1);
    return token_is(tokens, first + 1, "++") ? code_variable(code, first) : NULL;
}

// A whole number that is counted up under a condition on an address.
static bool mark_counted(const Code *code, bool variables[], const bool functions[]) {
    bool has_more = false;
    for (int s = 0; s < code->statement_count; s++) {
        const Variable *variable = counted_by(code, &code->statements[s]);
        if (!variable || variables[variable - code->variables] || !type_is_whole(variable->type) ||
            variable->dimensions > 0 || !is_under_address(code, variables, functions, &code->statements[s]))
            continue;
        has_more = variables[variable - code->variables] = true;
    }
    return has_more;
}

// A whole number that is assigned what is computed from an address, or under a condition on one.
static bool mark_assigned(const Code *code, bool variables[], const bool functions[]) {
    bool has_more = false;
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        int first, last;
        if (statement->kind != STATEMENT_EXPRESSION || !token_is(&code->tokens, statement->first + 1, "="))
            continue;
        const Variable *variable = code_variable(code, statement->first);
        if (!variable || variables[variable - code->variables] || !type_is_whole(variable->type) ||
            variable->dimensions > 0 || !statement_value(code, statement, &first, &last) ||
            !(is_of_address(code, variables, functions, first, last) ||
              is_under_address(code, variables, functions, statement)))
            continue;
        has_more = variables[variable - code->variables] = true;
    }
    return has_more;
}

void variables_of_address(const Code *code, bool variables[]) {
    bool *functions = calloc((size_t)code->function_count + 1, sizeof *functions);
    for (bool has_more = functions != NULL; has_more;) {
        has_more = mark_functions(code, variables, functions);
        has_more |= mark_parameters(code, variables);
        has_more |= mark_assigned(code, variables, functions);
        has_more |= mark_counted(code, variables, functions);
        for (int v = 0; v < code->variable_count; v++) {
            int first, last;
            if (variables[v] || !find_start(code, &code->variables[v], &first, &last) ||
                !is_of_address(code, variables, functions, first, last))
                continue;
            has_more = variables[v] = true;
        }
    }
    free(functions);
}

// ---- The distance to the next boundary --------------------------------------------------------------------

// A number, or sizeof a type; 0: neither. `last`: its last token.
static long number_at(const Tokens *tokens, int at, int *last) {
    static const struct {
        const char *name;
        long bytes;
    } types[] = {{"char", 1}, {"short", 2},  {"int", 4},   {"unsigned", 4}, {"float", 4},   {"double", 8},
                 {"int2", 8}, {"float2", 8}, {"int4", 16}, {"uint4", 16},   {"float4", 16}, {"double2", 16}};
    *last = at;
    if (tokens->all[at].kind == TOKEN_INTEGER) return strtol(tokens->source + tokens->all[at].from, NULL, 0);
    if (!token_is(tokens, at, "sizeof") || !token_is(tokens, at + 1, "(") || !token_is(tokens, at + 3, ")"))
        return 0;
    *last = at + 3;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        if (token_is(tokens, at + 2, types[t].name)) return types[t].bytes;
    return 0;
}

// Of `x % 4`, `x % 16 / 4`, `x % sizeof(float4) / sizeof(float)` and `x & 3`: its last token, and the
// distance of boundaries. 0: it is neither.
static long distance_of(const Proposer *proposer, int at, int *last) {
    const Tokens *tokens = &proposer->code->tokens;
    int end;
    const long by = number_at(tokens, at + 1, last);
    if (token_is(tokens, at, "&")) return by > 0 && (by & (by + 1)) == 0 ? by + 1 : 0;
    if (!token_is(tokens, at, "%") || !token_is(tokens, *last + 1, "/"))
        return token_is(tokens, at, "%") ? by : 0;
    const long size = number_at(tokens, *last + 2, &end);
    if (size <= 0) return by;
    *last = end;
    return by % size == 0 ? by / size : 0;
}

// How far it is to the next boundary is 0, and not a whole group, for what is at one.
static void propose_no_whole_group(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    int left, right;
    if (!token_is(&code->tokens, at, "-") || code->tokens.all[at - 1].kind != TOKEN_INTEGER ||
        !operator_operands(code, at, &left, &right) || left != at - 1 ||
        token_is(&code->tokens, right + 2, "%"))
        return;
    const long group = strtol(code->tokens.source + code->tokens.all[left].from, NULL, 0);
    if (group < 2 || group > 16) return;
    char *distance = proposer_text(proposer, left, right, 0, 0, NULL);
    Text now = {0};
    if (distance) text_printf(&now, "(%s) %% %ld", distance, group);
    if (distance) proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, left, right, text_chars(&now));
    text_free(&now);
    free(distance);
}

// A cast of a pointer binds more tightly than the + behind it: the sum of pointer and number is cast instead.
static void propose_cast_of_sum(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (!token_is(tokens, at, "+") || at < 2 || !token_is(tokens, at - 2, ")")) return;
    const int open = tokens->all[at - 2].partner;
    const Variable *pointer = code_variable(code, at - 1), *number = code_variable(code, at + 1);
    const bool is_sum = pointer && strchr(pointer->type, '*') && number && type_is_whole(number->type) &&
                        token_is(tokens, at - 3, "*") && token_is_one_of(tokens, at + 2, "; , ) + -");
    if (!is_sum || open < 0) return;
    char *cast = proposer_text(proposer, open, at - 2, 0, 0, NULL),
         *sum = proposer_text(proposer, at - 1, at + 1, 0, 0, NULL);
    Text now = {0};
    if (cast && sum) {
        text_printf(&now, "%s(%s)", cast, sum);
        proposer_replace(proposer, CHANGE_SIZE, FIRST, open, at + 1, text_chars(&now));
    }
    text_free(&now);
    free(cast);
    free(sum);
}

// How far it is to the next boundary, in place of how far the last one is behind.
void propose_heads_at(const Proposer *proposer, int at) {
    enum { MOST = 16 }; // elements of the widest access
    int left, right, last;
    propose_no_whole_group(proposer, at);
    propose_cast_of_sum(proposer, at);
    if (!token_is_one_of(&proposer->code->tokens, at, "% &") ||
        !operator_operands(proposer->code, at, &left, &right) ||
        token_is(&proposer->code->tokens, left - 1, "-"))
        return;
    const long distance = distance_of(proposer, at, &last);
    bool has_address = false;
    for (int i = left; i < at; i++)
        has_address |= token_is_one_of(&proposer->code->tokens, i, "size_t uintptr_t");
    if (distance < 2 || distance > MOST) return;
    char *behind = proposer_text(proposer, left, last, 0, 0, NULL);
    Text ahead = {0};
    if (behind) text_printf(&ahead, "(%ld - %s) %% %ld", distance, behind, distance);
    if (behind)
        proposer_replace(proposer, CHANGE_EXPRESSION, has_address ? LIKELY : RARE, left, last,
                         text_chars(&ahead));
    text_free(&ahead);
    free(behind);
}

// What is left of a number after whole groups behind the next boundary, in place of what is left of all of
// it.
void propose_rests_at(const Proposer *proposer, int at) {
    enum { MOST = 16 };
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int left, right, last;
    if (!token_is_one_of(tokens, at, "% &") || !operator_operands(code, at, &left, &right) || left != at - 1)
        return;
    const Variable *all = code_variable(code, left);
    const long distance = distance_of(proposer, at, &last);
    if (!all || all->dimensions > 0 || !type_is_whole(all->type) || distance < 2 || distance > MOST ||
        proposer->is_of_address[all - code->variables])
        return;
    char name[64], head[64], now[192];
    variable_name_text(proposer, all, name, sizeof name);
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *before = &code->variables[v];
        if (!proposer->is_of_address[v] || at < before->from || at >= before->to || before->dimensions > 0 ||
            !type_is_whole(before->type))
            continue;
        variable_name_text(proposer, before, head, sizeof head);
        snprintf(now, sizeof now, "(%s - %s)", name, head);
        proposer_replace(proposer, CHANGE_EXPRESSION, FIRST, left, left, now);
    }
}

// ---- Numbers that lack it ---------------------------------------------------------------------------------

// A distance to a boundary that may be longer than what there is: no more than a number that the function
// has.
static void propose_limits(const Proposer *proposer, const Variable *head, int first, int last) {
    const Code *code = proposer->code;
    if (token_is(&code->tokens, first, "min") || code->tokens.all[first].kind == TOKEN_INTEGER) return;
    char *start = proposer_text(proposer, first, last, 0, 0, NULL), name[64];
    for (int v = 0; start && v < code->variable_count; v++) {
        const Variable *most = &code->variables[v];
        if (first < most->from || first >= most->to || !type_is_whole(most->type) || most->dimensions > 0 ||
            most->name > code->functions[most->function].first)
            continue;
        variable_name_text(proposer, most, name, sizeof name);
        Text now = {0};
        if (strcmp(head->type, most->type) == 0)
            text_printf(&now, "min(%s, %s)", start, name);
        else
            text_printf(&now, "min((%s)(%s), %s)", most->type, start, name);
        proposer_replace(proposer, CHANGE_EXPRESSION, FIRST, first, last, text_chars(&now));
        text_free(&now);
    }
    free(start);
}

// What a whole number starts from, with one of these variables that is known there.
void propose_heads(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int v = 0; v < code->variable_count; v++) {
        int first, last;
        if (code->variables[v].function != function ||
            !find_start(code, &code->variables[v], &first, &last) || !code->is_open[first])
            continue;
        if (proposer->is_of_address[v]) propose_limits(proposer, &code->variables[v], first, last);
        char *start = proposer_text(proposer, first, last, 0, 0, NULL), name[64];
        for (int w = 0; start && w < code->variable_count; w++) {
            const Variable *head = &code->variables[w];
            if (!proposer->is_of_address[w] || first < head->from || first >= head->to || w == v) continue;
            variable_name_text(proposer, head, name, sizeof name);
            for (int sign = 0; sign < 2; sign++) {
                Text now = {0};
                if (sum_cancels(start, name, "+-"[sign])) continue;
                text_printf(&now, "%s %c %s", start, "+-"[sign], name);
                proposer_replace(proposer, CHANGE_EXPRESSION, FIRST, first, last, text_chars(&now));
                text_free(&now);
            }
        }
        free(start);
    }
}
