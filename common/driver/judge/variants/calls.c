// Arguments of a call in another order, and additions that are to be atomic.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// ---- Arguments --------------------------------------------------------------------------------------------

enum { MOST_ARGUMENTS = 8 };

typedef struct {
    int first, last;
} Argument;

// The arguments between the brackets at `open`; 0: they are too many, or there are none.
static int find_arguments(const Code *code, int open, Argument arguments[MOST_ARGUMENTS]) {
    const Tokens *tokens = &code->tokens;
    const int close = tokens->all[open].partner;
    int count = 0, first = open + 1;
    for (int at = first; at <= close; at++) {
        if (at < close && tokens->all[at].partner > at) {
            at = tokens->all[at].partner;
            continue;
        }
        if (at < close && (tokens->all[at].is_type || !token_is(tokens, at, ","))) continue;
        if (count == MOST_ARGUMENTS || at == first) return 0;
        arguments[count++] = (Argument){first, at - 1};
        first = at + 1;
    }
    return count;
}

static bool is_of_kernel(const Code *code, int name) {
    for (int f = 0; f < code->function_count; f++)
        if (tokens_are_same(&code->tokens, code->functions[f].name, name)) return true;
    return false;
}

// Whether a name is neither that of a number, nor of a thread or block, nor called.
static bool is_unknown(const Proposer *proposer, int at) {
    const Tokens *tokens = &proposer->code->tokens;
    const Token *token = &tokens->all[at];
    long value;
    return token->kind == TOKEN_NAME && !token_is_one_of(tokens, at - 1, ". ->") &&
           !token_is_one_of(tokens, at, "threadIdx blockIdx blockDim gridDim") &&
           !token_is(tokens, at + 1, "(") &&
           !token_is_one_of(tokens, at, "int unsigned float double size_t long") &&
           !named_number(&proposer->named, tokens->source + token->from, token->to - token->from, &value);
}

// Whether it is certainly a number.
static bool is_number(const Proposer *proposer, const Argument *argument) {
    const Code *code = proposer->code;
    for (int i = argument->first; i <= argument->last; i++) {
        const Variable *variable = code_variable(code, i);
        char type[48];
        if (token_is_one_of(&code->tokens, i, "{ &") || is_of_kernel(code, i)) return false;
        if (!variable && is_unknown(proposer, i)) return false;
        if (!variable) continue;
        const bool has_element = token_is(&code->tokens, i + 1, "[");
        if (has_element != (variable->dimensions > 0 || strchr(variable->type, '*') != NULL)) return false;
        variable_element_type(variable, type);
        const bool is_part = token_is_one_of(&code->tokens, i + 2, "x y z w"); // of a float4
        if (!type_is_whole(type) && strcmp(type, "float") != 0 && strcmp(type, "double") != 0 && !is_part)
            return false;
    }
    return true;
}

// Whether it is a float, of which a template may not be a whole number.
static bool has_float(const Code *code, const Argument *argument) {
    for (int i = argument->first; i <= argument->last; i++)
        if (code->tokens.all[i].kind == TOKEN_FLOAT) return true;
    return false;
}

static bool may_be_exchanged(const Proposer *proposer, int name, const Argument *one, const Argument *other) {
    const Code *code = proposer->code;
    if (is_of_kernel(code, name) && has_float(code, one) != has_float(code, other)) return false;
    if (is_number(proposer, one)) return is_number(proposer, other);
    const Variable *a = one->first == one->last ? code_variable(code, one->first) : NULL,
                   *b = other->first == other->last ? code_variable(code, other->first) : NULL;
    return a && b && a->is_const == b->is_const && variable_may_stand_for(a, b);
}

static void exchange(const Proposer *proposer, int name, int open, const Argument *one, const Argument *other,
                     int rank) {
    const int close = proposer->code->tokens.all[open].partner;
    char *before = proposer_text(proposer, name, one->first - 1, 0, 0, NULL),
         *first = proposer_text(proposer, one->first, one->last, 0, 0, NULL),
         *between = proposer_text(proposer, one->last + 1, other->first - 1, 0, 0, NULL),
         *second = proposer_text(proposer, other->first, other->last, 0, 0, NULL),
         *behind = proposer_text(proposer, other->last + 1, close, 0, 0, NULL);
    if (before && first && between && second && behind && strcmp(first, second) != 0) {
        Text text = {0};
        text_printf(&text, "%s%s%s%s %s%s", before, one->first > open + 1 ? " " : "", second, between, first,
                    behind);
        proposer_replace(proposer, CHANGE_EXCHANGED, rank, name, close, text_chars(&text));
        text_free(&text);
    }
    free(before);
    free(first);
    free(between);
    free(second);
    free(behind);
}

// `left - 1` beside `top - 1`: what follows the variable of another argument.
static void propose_like(const Proposer *proposer, const Argument *one, const Argument *other) {
    const Code *code = proposer->code;
    if (one->first != one->last || other->last - other->first < 2) return;
    const Variable *mine = code_variable(code, one->first), *its = code_variable(code, other->first);
    if (!mine || !its || mine == its || !type_is_whole(mine->type) || strcmp(mine->type, its->type) != 0 ||
        mine->dimensions > 0 || operator_strength(code, other->first + 1) == 0)
        return;
    char *name = proposer_text(proposer, one->first, one->last, 0, 0, NULL),
         *rest = proposer_text(proposer, other->first + 1, other->last, 0, 0, NULL);
    Text now = {0};
    if (name && rest) text_printf(&now, "%s %s", name, rest);
    if (name && rest)
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, one->first, one->last, text_chars(&now));
    text_free(&now);
    free(name);
    free(rest);
}

// The power of a difference: `expf(x[i])` lacks what is subtracted.
static void propose_differences(const Proposer *proposer, int name, const Argument *argument) {
    enum { MOST = 4 };
    const Code *code = proposer->code;
    if (!token_is_one_of(&code->tokens, name, "expf __expf exp")) return;
    char *was = proposer_text(proposer, argument->first, argument->last, 0, 0, NULL), with[64], now[160];
    for (int v = code->variable_count - 1, tried = 0; was && v >= 0 && tried < MOST; v--) {
        const Variable *term = &code->variables[v];
        if (argument->first < term->from || argument->first >= term->to || term->dimensions > 0 ||
            strcmp(term->type, "float") != 0)
            continue;
        variable_name_text(proposer, term, with, sizeof with);
        snprintf(now, sizeof now, "%.80s - %s", was, with);
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, argument->first, argument->last, now);
        tried++;
    }
    free(was);
}

// What an atomic adds to a place is at the same place of another array, in place of 1.
static void propose_elements(const Proposer *proposer, int name, const Argument *place,
                             const Argument *value) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    if (!token_is(tokens, name, "atomicAdd") || value->first != value->last ||
        tokens->all[value->first].kind != TOKEN_INTEGER || !token_is(tokens, place->last, "]"))
        return;
    char *index = proposer_text(proposer, tokens->all[place->last].partner, place->last, 0, 0, NULL),
         array[64], now[160];
    for (int v = 0; index && v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        char type[48];
        variable_element_type(other, type);
        if (value->first < other->from || value->first >= other->to || !type_is_whole(type) ||
            (other->dimensions != 1 && !strchr(other->type, '*')) ||
            tokens_are_same(tokens, other->name, place->first + 1))
            continue;
        variable_name_text(proposer, other, array, sizeof array);
        snprintf(now, sizeof now, "%s%.80s", array, index);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, value->first, value->last, now);
    }
    free(index);
}

// A sum that a function of kernel.cu is given lacks a float that is known there.
static void propose_sums(const Proposer *proposer, int name, const Argument *argument) {
    enum { MOST = 4 };
    const Code *code = proposer->code;
    const Variable *mine = argument->first == argument->last ? code_variable(code, argument->first) : NULL;
    bool is_of_kernel = false;
    for (int f = 0; f < code->function_count; f++)
        is_of_kernel |= tokens_are_same(&code->tokens, code->functions[f].name, name);
    if (!mine || !is_of_kernel || mine->dimensions > 0 ||
        (strcmp(mine->type, "float") != 0 && strcmp(mine->type, "double") != 0))
        return;
    char was[64], with[64], now[160];
    variable_name_text(proposer, mine, was, sizeof was);
    for (int v = code->variable_count - 1, tried = 0; v >= 0 && tried < MOST; v--) {
        const Variable *term = &code->variables[v];
        if (term == mine || argument->first < term->from || argument->first >= term->to ||
            term->dimensions > 0 || strcmp(term->type, mine->type) != 0)
            continue;
        variable_name_text(proposer, term, with, sizeof with);
        snprintf(now, sizeof now, "%s + %s", was, with);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, argument->first, argument->first, now);
        tried++;
    }
}

static void propose_arguments(const Proposer *proposer, int name) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int open = name + 1;
    while (open < tokens->count && tokens->all[open].is_type) open++;
    if (!token_is(tokens, open, "(") || tokens->all[open].partner <= open || !code->is_open[name] ||
        token_is_one_of(tokens, name, "if for while switch return sizeof max min fmaxf fminf") ||
        token_is_one_of(tokens, name - 1, ". -> ::"))
        return;
    Argument arguments[MOST_ARGUMENTS];
    const int count = find_arguments(code, open, arguments);
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            if (a != b) propose_like(proposer, &arguments[a], &arguments[b]);
    for (int a = 0; a < count; a++) propose_sums(proposer, name, &arguments[a]);
    for (int a = 0; a < count; a++) propose_differences(proposer, name, &arguments[a]);
    if (count == 2) propose_elements(proposer, name, &arguments[0], &arguments[1]);
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++)
            if (may_be_exchanged(proposer, name, &arguments[a], &arguments[b]))
                exchange(proposer, name, open, &arguments[a], &arguments[b], b == a + 1 ? LIKELY : USUAL);
}

// ---- Atomics ----------------------------------------------------------------------------------------------

// Whether the tokens name a place of an array of numbers, or what a pointer to them points to.
static bool is_place(const Code *code, int first, int last) {
    static const char *const types[] = {"int", "unsigned", "unsigned int", "float", "double", "uint32_t"};
    const bool is_pointed = token_is(&code->tokens, first, "*") && last == first + 1;
    const Variable *variable = code_variable(code, is_pointed ? last : first);
    if (!variable || (!is_pointed && !token_is(&code->tokens, first + 1, "["))) return false;
    char type[48];
    variable_element_type(variable, type);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        if (strcmp(type, types[t]) == 0) return true;
    return false;
}

// `now` for a statement that adds to a place.
static void add_atomically(const Proposer *proposer, const Statement *statement, int rank, const char *place,
                           const char *sign, const char *value) {
    Text now = {0};
    char words[200];
    text_printf(&now, "atomicAdd(&%s, %s%s);", place, sign, value);
    snprintf(words, sizeof words, "%.180s in", text_chars(&now));
    char *end = strrchr(words, ';');
    if (end) memmove(end, end + 1, strlen(end));
    proposer_instead_of(proposer, CHANGE_ATOMIC, rank, statement, text_chars(&now), words);
    text_free(&now);
}

// `place++`, `place += value`, `place = place + value` and `place = value`, after which an addition by
// another thread may be lost.
static void propose_additions(const Proposer *proposer, const Statement *statement) {
    const Code *code = proposer->code;
    const Tokens *tokens = &code->tokens;
    int first = statement->first, last = statement->last - 1, sign = first;
    if (token_is_one_of(tokens, first, "++ --")) {
        if (!is_place(code, first + 1, last)) return;
        char *place = proposer_text(proposer, first + 1, last, 0, 0, NULL);
        if (place)
            add_atomically(proposer, statement, LIKELY, place, "",
                           token_is(tokens, first, "++") ? "1" : "-1");
        free(place);
        return;
    }
    while (sign <= last && !token_is_one_of(tokens, sign, "= += -= ++ --"))
        sign = tokens->all[sign].partner > sign ? tokens->all[sign].partner + 1 : sign + 1;
    if (sign > last || sign == first || !is_place(code, first, sign - 1)) return;
    char *place = proposer_text(proposer, first, sign - 1, 0, 0, NULL),
         *value = sign < last ? proposer_text(proposer, sign + 1, last, 0, 0, NULL) : NULL;
    if (place && token_is_one_of(tokens, sign, "++ --")) {
        add_atomically(proposer, statement, LIKELY, place, "", token_is(tokens, sign, "++") ? "1" : "-1");
    } else if (place && value && token_is_one_of(tokens, sign, "+= -=")) {
        Text whole = {0};
        text_printf(&whole, token_is(tokens, sign, "+=") ? "%s" : "(%s)", value);
        add_atomically(proposer, statement, LIKELY, place, token_is(tokens, sign, "+=") ? "" : "-",
                       text_chars(&whole));
        text_free(&whole);
    } else if (place && value) {
        const int places = sign - first, plus = sign + 1 + places;
        bool is_same = plus < last && token_is(tokens, plus, "+");
        for (int i = 0; i < places && is_same; i++)
            is_same = tokens_are_same(tokens, first + i, sign + 1 + i);
        char *added = is_same ? proposer_text(proposer, plus + 1, last, 0, 0, NULL) : NULL;
        const bool is_constant = sign + 1 == last && tokens->all[last].kind != TOKEN_NAME; // a start
        if (!is_constant)
            add_atomically(proposer, statement, added ? LIKELY : USUAL, place, "", added ? added : value);
        free(added);
    }
    free(place);
    free(value);
}

// `atomicExch(place, *place + value)`: the exchange alone is atomic.
static void propose_exchange(const Proposer *proposer, int name) {
    const Code *code = proposer->code;
    Argument arguments[MOST_ARGUMENTS];
    if (!token_is(&code->tokens, name, "atomicExch") || !token_is(&code->tokens, name + 1, "(") ||
        !code->is_open[name] || find_arguments(code, name + 1, arguments) != 2)
        return;
    char *place = proposer_text(proposer, arguments[0].first, arguments[0].last, 0, 0, NULL);
    for (int i = arguments[1].first; place && i <= arguments[1].last; i++) {
        int left, right;
        if (code->tokens.all[i].partner > i) i = code->tokens.all[i].partner;
        if (!token_is(&code->tokens, i, "+") || !operator_operands(code, i, &left, &right)) continue;
        for (int side = 0; side < 2; side++) {
            char *value = side ? proposer_text(proposer, left, i - 1, 0, 0, NULL)
                               : proposer_text(proposer, i + 1, right, 0, 0, NULL);
            Text now = {0};
            if (value) text_printf(&now, "atomicAdd(%s, %s)", place, value);
            if (value)
                proposer_replace(proposer, CHANGE_ATOMIC, LIKELY, name, code->tokens.all[name + 1].partner,
                                 text_chars(&now));
            text_free(&now);
            free(value);
        }
    }
    free(place);
}

void propose_calls(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int at = code->functions[function].first; at < code->functions[function].last; at++) {
        if (code->tokens.all[at].kind != TOKEN_NAME) continue;
        propose_arguments(proposer, at);
        propose_exchange(proposer, at);
    }
    for (int s = 0; s < code->statement_count; s++) {
        const Statement *statement = &code->statements[s];
        if (statement->function == function && statement->kind == STATEMENT_EXPRESSION)
            propose_additions(proposer, statement);
    }
}
