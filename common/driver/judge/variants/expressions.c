// Another operator, operand, number, name or term of an expression: the slips that learners make.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

static bool ends_operand(const Code *code, int at) {
    const Token *token = &code->tokens.all[at];
    return token->kind != TOKEN_SIGN ? !token_is_one_of(&code->tokens, at, "return case else sizeof")
                                     : token_is_one_of(&code->tokens, at, ") ]") || token->is_type;
}

static bool begins_operand(const Code *code, int at) {
    return at < code->tokens.count &&
           (code->tokens.all[at].kind != TOKEN_SIGN || token_is_one_of(&code->tokens, at, "( - ! ~ & *"));
}

// Between two operands. A cast is none: "(float)" before a minus.
static bool is_binary(const Code *code, int at) {
    if (at == 0 || !ends_operand(code, at - 1) || !begins_operand(code, at + 1)) return false;
    const int open = code->tokens.all[at - 1].partner;
    if (!token_is(&code->tokens, at - 1, ")") || open < 0) return true;
    return !(open + 2 == at - 1 && code_variable(code, open + 1) == NULL &&
             code->tokens.all[open + 1].kind == TOKEN_NAME && code->tokens.all[open - 1].kind == TOKEN_SIGN &&
             token_is_one_of(&code->tokens, at, "- & * +"));
}

// ---- Operators --------------------------------------------------------------------------------------------

static const Exchange operators[] = {
    {"<", "<=", CHANGE_COMPARISON, LIKELY},  {"<=", "<", CHANGE_COMPARISON, LIKELY},
    {">", ">=", CHANGE_COMPARISON, LIKELY},  {">=", ">", CHANGE_COMPARISON, LIKELY},
    {"<", ">=", CHANGE_COMPARISON, USUAL},   {">", "<", CHANGE_COMPARISON, USUAL},
    {"<=", ">=", CHANGE_COMPARISON, RARE},   {">=", "<=", CHANGE_COMPARISON, RARE},
    {"==", "!=", CHANGE_COMPARISON, LIKELY}, {"!=", "==", CHANGE_COMPARISON, LIKELY},
    {"==", "<", CHANGE_COMPARISON, RARE},    {"<", "!=", CHANGE_COMPARISON, RARE},
    {"+", "-", CHANGE_OPERATOR, LIKELY},     {"-", "+", CHANGE_OPERATOR, LIKELY},
    {"+", "*", CHANGE_OPERATOR, USUAL},      {"*", "+", CHANGE_OPERATOR, USUAL},
    {"*", "/", CHANGE_OPERATOR, RARE},       {"/", "*", CHANGE_OPERATOR, USUAL},
    {"/", "%", CHANGE_OPERATOR, LIKELY},     {"%", "/", CHANGE_OPERATOR, LIKELY},
    {"<<", ">>", CHANGE_OPERATOR, USUAL},    {">>", "<<", CHANGE_OPERATOR, USUAL},
    {"&", "|", CHANGE_OPERATOR, USUAL},      {"|", "&", CHANGE_OPERATOR, USUAL},
    {"&", "%", CHANGE_OPERATOR, USUAL},      {"^", "+", CHANGE_OPERATOR, USUAL},
    {"|", "^", CHANGE_OPERATOR, USUAL},      {"^", "&", CHANGE_OPERATOR, RARE},
    {"&&", "||", CHANGE_OPERATOR, LIKELY},   {"||", "&&", CHANGE_OPERATOR, LIKELY},
};

static const Exchange calls[] = {
    {"fmaxf", "fminf", CHANGE_OPERATOR, LIKELY},
    {"fminf", "fmaxf", CHANGE_OPERATOR, LIKELY},
    {"max", "min", CHANGE_OPERATOR, LIKELY},
    {"min", "max", CHANGE_OPERATOR, LIKELY},
    {"__shfl_down_sync", "__shfl_up_sync", CHANGE_OPERATOR, LIKELY},
    {"__shfl_down_sync", "__shfl_xor_sync", CHANGE_OPERATOR, LIKELY},
    {"__shfl_down_sync", "__shfl_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_up_sync", "__shfl_down_sync", CHANGE_OPERATOR, LIKELY},
    {"__shfl_up_sync", "__shfl_xor_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_xor_sync", "__shfl_down_sync", CHANGE_OPERATOR, LIKELY},
    {"__shfl_xor_sync", "__shfl_up_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_sync", "__shfl_down_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_sync", "__shfl_up_sync", CHANGE_OPERATOR, USUAL},
    {"__shfl_sync", "__shfl_xor_sync", CHANGE_OPERATOR, USUAL},
    {"atomicMax", "atomicAdd", CHANGE_OPERATOR, USUAL},
    {"atomicExch", "atomicAdd", CHANGE_OPERATOR, USUAL},
    {"atomicAdd_block", "atomicAdd", CHANGE_OPERATOR, LIKELY},
    {"__any_sync", "__all_sync", CHANGE_OPERATOR, LIKELY},
    {"__all_sync", "__any_sync", CHANGE_OPERATOR, LIKELY},
    {"__ffs", "__clz", CHANGE_OPERATOR, USUAL},
    {"__clz", "__ffs", CHANGE_OPERATOR, USUAL},
    {"ceil_div", "max", CHANGE_OPERATOR, RARE},
    {"sqrtf", "rsqrtf", CHANGE_OPERATOR, LIKELY},
    {"rsqrtf", "sqrtf", CHANGE_OPERATOR, LIKELY},
    {"expf", "logf", CHANGE_OPERATOR, USUAL},
    {"logf", "expf", CHANGE_OPERATOR, USUAL},
};

static void propose_exchanges(const Proposer *proposer, int at, const Exchange *exchanges, size_t count) {
    for (size_t e = 0; e < count; e++)
        if (token_is(&proposer->code->tokens, at, exchanges[e].was))
            proposer_replace(proposer, exchanges[e].kind, exchanges[e].rank, at, at, exchanges[e].now);
}
#define PROPOSE_EXCHANGES(proposer, at, exchanges)                                                           \
    propose_exchanges(proposer, at, exchanges, sizeof(exchanges) / sizeof(exchanges)[0])

// ---- Operands ---------------------------------------------------------------------------------------------

// How strongly a binary operator binds; 0: it is none, and ends an expression.
static int strength_of(const Code *code, int at) {
    static const char *const strengths[] = {"||",    "&&",        "|",     "^",   "&",
                                            "== !=", "< > <= >=", "<< >>", "+ -", "* / %"};
    for (int s = 0; s < (int)(sizeof strengths / sizeof strengths[0]); s++)
        if (token_is_one_of(&code->tokens, at, strengths[s]) && !code->tokens.all[at].is_type &&
            is_binary(code, at))
            return s + 1;
    return 0;
}

// The operands of the operator at `at`, in the unit from `first` to `last`.
static void find_operands(const Code *code, int at, int first, int last, int *left, int *right) {
    const int strength = strength_of(code, at);
    for (*left = at - 1; *left >= first;) {
        if (token_is_one_of(&code->tokens, *left, ") ]"))
            *left = code->tokens.all[*left].partner - 1;
        else if (strength_of(code, *left) > 0 && strength_of(code, *left) < strength)
            break;
        else
            --*left;
    }
    ++*left;
    for (*right = at + 1; *right <= last;) {
        if (token_is_one_of(&code->tokens, *right, "( ["))
            *right = code->tokens.all[*right].partner + 1;
        else if (strength_of(code, *right) > 0 && strength_of(code, *right) <= strength)
            break;
        else
            ++*right;
    }
    --*right;
}

// Whether the unit around `at` calculates with a pointer, of which there is no product.
static bool has_pointer(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    int first, last;
    proposer_find_unit(code, at, at, &first, &last);
    for (int i = first; i <= last; i++) {
        const Variable *variable = code_variable(code, i);
        if (variable && (variable->dimensions > 0 || strchr(variable->type, '*')) &&
            !token_is(&code->tokens, i + 1, "["))
            return true;
        if (token_is_one_of(&code->tokens, i, "( [") && code->tokens.all[i].partner > i)
            i = code->tokens.all[i].partner;
    }
    return false;
}

// Without one of the two operands. Exchanged, too, where their order matters.
static void propose_operands(const Proposer *proposer, int at) {
    int first, last, left, right;
    proposer_find_unit(proposer->code, at, at, &first, &last);
    find_operands(proposer->code, at, first, last, &left, &right);
    if (left < first || right > last || left >= at || right <= at) return;
    char *one = proposer_text(proposer, left, at - 1, 0, 0, NULL),
         *other = proposer_text(proposer, at + 1, right, 0, 0, NULL);
    if (one && other) {
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, left, right, one);
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, left, right, other);
        int begin = left; // of a chain, its first operand alone
        while (begin < at && strength_of(proposer->code, begin + 1) == 0) begin++;
        if (begin + 1 < at) {
            char *first_one = proposer_text(proposer, left, begin, 0, 0, NULL);
            if (first_one) proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, first_one);
            free(first_one);
        }
        if (token_is_one_of(&proposer->code->tokens, at, "- / % << >>")) {
            Text exchanged = {0};
            text_printf(&exchanged, "%s %.*s %s", other,
                        proposer_end(proposer, at) - proposer_begin(proposer, at),
                        proposer->code->tokens.source + proposer_begin(proposer, at), one);
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, text_chars(&exchanged));
            text_free(&exchanged);
        }
    }
    free(one);
    free(other);
}

// Other ways to read the same operators: a quotient that is rounded up, or not at all, a product of 64 bits,
// and another order.
static void propose_readings(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    int first, last, left, right;
    proposer_find_unit(code, at, at, &first, &last);
    find_operands(code, at, first, last, &left, &right);
    if (left < first || right > last || left >= at || right <= at) return;
    char *one = proposer_text(proposer, left, at - 1, 0, 0, NULL),
         *other = proposer_text(proposer, at + 1, right, 0, 0, NULL);
    char *before = proposer_text(proposer, first, at - 1, 0, 0, NULL),
         *behind = proposer_text(proposer, at + 1, last, 0, 0, NULL);
    if (one && other && before && behind) {
        Text text = {0};
        if (token_is(&code->tokens, at, "/")) {
            text_printf(&text, "(%s + %s - 1) / %s", one, other, other);
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, text_chars(&text));
            text_free(&text);
        }
        if (token_is_one_of(&code->tokens, at, "/ *")) {
            const bool is_quotient = token_is(&code->tokens, at, "/");
            const bool is_number = code->tokens.all[at - 1].kind == TOKEN_INTEGER;
            text_printf(&text, "(%s)%s", is_quotient ? "float" : "long long", one);
            proposer_replace(proposer, CHANGE_EXPRESSION, is_quotient && is_number ? USUAL : RARE, left,
                             at - 1, text_chars(&text));
            text_free(&text);
        }
        if (left > first) {
            text_printf(&text, "(%s) %.*s %s", before,
                        proposer_end(proposer, at) - proposer_begin(proposer, at),
                        code->tokens.source + proposer_begin(proposer, at), behind);
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, text_chars(&text));
            text_free(&text);
        }
        if (right < last) {
            text_printf(&text, "%s %.*s (%s)", before,
                        proposer_end(proposer, at) - proposer_begin(proposer, at),
                        code->tokens.source + proposer_begin(proposer, at), behind);
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, text_chars(&text));
            text_free(&text);
        }
    }
    free(one);
    free(other);
    free(before);
    free(behind);
}

// ---- Numbers and names -----------------------------------------------------------------------------------

static void propose_integers(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    const char *text = proposer->code->tokens.source + token->from;
    char *end, words[32];
    const unsigned long long number = strtoull(text, &end, 0);
    const int suffix = (int)(token->to - (end - proposer->code->tokens.source));
    if (suffix < 0 || suffix > 3) return;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        if (number != 0xffffffff) proposer_replace(proposer, CHANGE_CONSTANT, LIKELY, at, at, "0xffffffff");
        return;
    }
    const bool is_divisor = token_is_one_of(&proposer->code->tokens, at - 1, "/ %");
    const unsigned long long others[] = {number + 1, number - 1, 2 * number, number / 2, 0,
                                         1,          4 * number, number / 4, 32,         31};
    for (int o = 0; o < (int)(sizeof others / sizeof others[0]); o++) {
        bool is_known = others[o] == number || (o > 3 && number < 8 && o > 5) || others[o] > 1u << 30;
        for (int k = 0; k < o; k++) is_known |= others[k] == others[o];
        if (is_known || (others[o] == 0 && is_divisor)) continue;
        snprintf(words, sizeof words, "%llu%.*s", others[o], suffix, end);
        proposer_replace(proposer, CHANGE_CONSTANT, o < 2 ? LIKELY : o < 6 ? USUAL : RARE, at, at, words);
    }
}

static void propose_floats(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    const bool is_float = proposer->code->tokens.source[token->to - 1] == 'f';
    static const char *const floats[] = {"0.0f", "1.0f", "-INFINITY", "INFINITY", "-1.0f", "0.5f", "2.0f"};
    static const char *const doubles[] = {"0.0", "1.0", "-INFINITY", "INFINITY", "-1.0", "0.5", "2.0"};
    for (int f = 0; f < 7; f++) {
        const char *other = is_float ? floats[f] : doubles[f];
        if (strncmp(other, proposer->code->tokens.source + token->from, (size_t)(token->to - token->from)) ==
            0)
            continue;
        proposer_replace(proposer, CHANGE_START, f < 4 ? USUAL : RARE, at, at, other);
    }
}

static void propose_near(const Proposer *proposer, int at, const char *name) {
    static const char *const forms[] = {"(%s + 1)", "(%s - 1)", "(2 * %s)", "(%s / 2)", "0"};
    char words[96];
    const bool is_divisor = token_is_one_of(&proposer->code->tokens, at - 1, "/ %");
    for (int f = 0; f < (is_divisor ? 4 : 5); f++) {
        snprintf(words, sizeof words, forms[f], name);
        proposer_replace(proposer, CHANGE_EXPRESSION, f < 2 ? USUAL : RARE, at, at, words);
    }
}

// Whether a name of a number is known at the token `at`: said before, or by a directive.
static bool is_declared_before(const Proposer *proposer, const char *name, int at) {
    char directive[NAMED_BYTES + 16];
    const Tokens *tokens = &proposer->code->tokens;
    for (int i = 0; i < at; i++)
        if (token_is(tokens, i, name) &&
            (token_is(tokens, i + 1, "=") || token_is_one_of(tokens, i - 1, "{ ,")))
            return true;
    snprintf(directive, sizeof directive, "#define %s ", name);
    return strstr(tokens->source, directive) != NULL;
}

// The other numbers that kernel.cu names, where the token at `at`, which is a whole number, has one value or
// another.
static void propose_named(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    const char *text = proposer->code->tokens.source + token->from;
    long value;
    const bool is_name = token->kind == TOKEN_NAME;
    if (is_name && !named_number(&proposer->named, text, token->to - token->from, &value)) return;
    for (int n = 0; n < proposer->named.count; n++) {
        const NamedNumber *other = &proposer->named.all[n];
        if (strlen(other->name) == (size_t)(token->to - token->from) &&
            strncmp(other->name, text, strlen(other->name)) == 0)
            continue;
        if (other->line == 0 && is_declared_before(proposer, other->name, at))
            proposer_replace(proposer, CHANGE_CONSTANT, is_name ? LIKELY : USUAL, at, at, other->name);
    }
    if (!is_name) return;
    char name[NAMED_BYTES];
    snprintf(name, sizeof name, "%.*s", token->to - token->from, text);
    propose_near(proposer, at, name);
}

// Another variable of its type that is known there, or a number near it.
static void propose_names(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Variable *variable = code_variable(code, at);
    char name[64];
    if (!variable) {
        propose_named(proposer, at);
        return;
    }
    const bool is_set = variable_is_assigned(code, at),
               is_whole = type_is_whole(variable->type) && variable->dimensions == 0;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        if (other == variable || at < other->from || at >= other->to ||
            !variable_may_stand_for(variable, other) || tokens_are_same(&code->tokens, other->name, at) ||
            code->tokens.all[other->name].from > code->tokens.all[at].from)
            continue;
        if (is_set && (strcmp(other->type, variable->type) != 0 || other->is_const != variable->is_const))
            continue;
        if (other->is_const && !variable->is_const && !token_is(&code->tokens, at + 1, "[")) continue;
        variable_name_text(proposer, other, name, sizeof name);
        proposer_replace(proposer, CHANGE_NAME, USUAL, at, at, name);
    }
    if (!is_whole || is_set) return;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        char term[64], words[160];
        if (other == variable || at < other->from || at >= other->to || !type_is_whole(other->type) ||
            other->dimensions > 0)
            continue;
        variable_name_text(proposer, variable, name, sizeof name);
        variable_name_text(proposer, other, term, sizeof term);
        for (int sign = 0; sign < 2; sign++) {
            snprintf(words, sizeof words, "(%s %c %s)", name, sign ? '+' : '-', term);
            proposer_replace(proposer, CHANGE_EXPRESSION, LAST, at, at, words);
        }
    }
    proposer_replace(proposer, CHANGE_NAME, LIKELY, at, at, "threadIdx.x");
    proposer_replace(proposer, CHANGE_NAME, USUAL, at, at, "blockIdx.x");
    variable_name_text(proposer, variable, name, sizeof name);
    propose_near(proposer, at, name);
}

static const Exchange dimensions[] = {
    {"threadIdx", "blockIdx.x", CHANGE_NAME, LIKELY},
    {"threadIdx", "(blockIdx.x * blockDim.x + threadIdx.x)", CHANGE_NAME, LIKELY},
    {"threadIdx", "(threadIdx.x % 32)", CHANGE_NAME, USUAL},
    {"threadIdx", "(threadIdx.x / 32)", CHANGE_NAME, USUAL},
    {"blockIdx", "threadIdx.x", CHANGE_NAME, LIKELY},
    {"blockIdx", "(blockIdx.x * blockDim.x + threadIdx.x)", CHANGE_NAME, LIKELY},
    {"blockIdx", "(gridDim.x - 1 - blockIdx.x)", CHANGE_NAME, RARE},
    {"blockDim", "gridDim.x", CHANGE_NAME, LIKELY},
    {"blockDim", "(gridDim.x * blockDim.x)", CHANGE_NAME, LIKELY},
    {"blockDim", "(blockDim.x / 32)", CHANGE_NAME, USUAL},
    {"blockDim", "32", CHANGE_NAME, USUAL},
    {"gridDim", "blockDim.x", CHANGE_NAME, LIKELY},
    {"gridDim", "(gridDim.x * blockDim.x)", CHANGE_NAME, LIKELY},
};

static void propose_dimensions(const Proposer *proposer, int at) {
    const Tokens *tokens = &proposer->code->tokens;
    if (!token_is_one_of(tokens, at, "threadIdx blockIdx blockDim gridDim") || !token_is(tokens, at + 1, "."))
        return;
    const bool is_x = token_is(tokens, at + 2, "x"), is_y = token_is(tokens, at + 2, "y");
    char words[64];
    for (size_t e = 0; is_x && e < sizeof dimensions / sizeof dimensions[0]; e++) {
        if (!token_is(tokens, at, dimensions[e].was)) continue;
        proposer_replace(proposer, dimensions[e].kind, dimensions[e].rank, at, at + 2, dimensions[e].now);
    }
    if (!is_x && !is_y) return;
    snprintf(words, sizeof words, "%.*s.%s", tokens->all[at].to - tokens->all[at].from,
             tokens->source + tokens->all[at].from, is_x ? "y" : "x");
    proposer_replace(proposer, CHANGE_NAME, USUAL, at, at + 2, words);
}

// ---- Terms -----------------------------------------------------------------------------------------------

// A whole number from `first` to `last`, as an index, with a term that it may lack. `adds`: a variable too.
static void propose_terms(const Proposer *proposer, int first, int last, bool adds) {
    const Code *code = proposer->code;
    static const char *const terms[] = {"+ threadIdx.x",
                                        "+ blockIdx.x * blockDim.x",
                                        "+ 1",
                                        "- 1",
                                        "* blockDim.x",
                                        "% 32",
                                        "* 32",
                                        "/ 32",
                                        "* 2",
                                        "* gridDim.x",
                                        "* 4",
                                        "/ 4",
                                        "* (blockDim.x / 32)"};
    char *was = proposer_text(proposer, first, last, 0, 0, NULL), name[64];
    for (size_t t = 0; was && t < sizeof terms / sizeof terms[0]; t++) {
        Text now = {0};
        text_printf(&now, first == last || strchr("+-", terms[t][0]) ? "%s %s" : "(%s) %s", was, terms[t]);
        proposer_replace(proposer, CHANGE_EXPRESSION, t < 4 ? USUAL : RARE, first, last, text_chars(&now));
        text_free(&now);
    }
    for (int v = 0; was && adds && v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        if (first < other->from || first >= other->to || !type_is_whole(other->type) || other->dimensions > 0)
            continue;
        variable_name_text(proposer, other, name, sizeof name);
        for (int sign = 0; sign < 2; sign++) {
            Text now = {0};
            text_printf(&now, "%s %c %s", was, sign ? '-' : '+', name);
            proposer_replace(proposer, CHANGE_EXPRESSION, RARE, first, last, text_chars(&now));
            text_free(&now);
        }
    }
    free(was);
}

// What the whole numbers of a function start from.
void propose_terms_of_starts(const Proposer *proposer, int function) {
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
        propose_terms(proposer, start, last, false);
    }
}

// The two indices of an access of an array of arrays, exchanged.
static void propose_exchanged_indices(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const int close = code->tokens.all[at].partner, open = close + 1;
    if (!token_is(&code->tokens, at, "[") || close <= at + 1 || !token_is(&code->tokens, open, "[")) return;
    const int end = code->tokens.all[open].partner;
    if (end <= open + 1) return;
    char *one = proposer_text(proposer, at + 1, close - 1, 0, 0, NULL),
         *other = proposer_text(proposer, open + 1, end - 1, 0, 0, NULL);
    if (one && other) {
        Text text = {0};
        text_printf(&text, "[%s][%s]", other, one);
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, at, end, text_chars(&text));
        text_free(&text);
    }
    free(one);
    free(other);
}

void propose_expressions(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Token *token = &code->tokens.all[at];
    if (token->kind == TOKEN_INTEGER) {
        propose_integers(proposer, at);
        propose_named(proposer, at);
    }
    if (token->kind == TOKEN_FLOAT) propose_floats(proposer, at);
    if (token->kind == TOKEN_NAME && token_is(&code->tokens, at + 1, "("))
        PROPOSE_EXCHANGES(proposer, at, calls);
    if (token->kind == TOKEN_NAME) propose_names(proposer, at);
    propose_dimensions(proposer, at);
    if (token->kind == TOKEN_SIGN && strength_of(code, at) > 0 && !has_pointer(proposer, at)) {
        PROPOSE_EXCHANGES(proposer, at, operators);
        propose_operands(proposer, at);
        propose_readings(proposer, at);
    }
    propose_exchanged_indices(proposer, at);
    if (token_is(&code->tokens, at, "[") && token->partner > at + 1)
        propose_terms(proposer, at + 1, token->partner - 1, true);
}
