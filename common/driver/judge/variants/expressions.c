// Another operator, operand, number or name in an expression: the slips that learners make.
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

// Whether an operand of the operator at `at` may be a float, of which there is no remainder and no bit.
static bool has_float(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    int left, right;
    if (!operator_operands(code, at, &left, &right)) return true;
    for (int i = left; i <= right; i++) {
        const Variable *variable = code_variable(code, i);
        char type[48] = "int";
        if (variable) variable_element_type(variable, type);
        if (code->tokens.all[i].kind == TOKEN_FLOAT || !type_is_whole(type)) return true;
    }
    return false;
}

static void propose_exchanges(const Proposer *proposer, int at, const Exchange *exchanges, size_t count) {
    for (size_t e = 0; e < count; e++)
        if (token_is(&proposer->code->tokens, at, exchanges[e].was) &&
            !(token_is_one_of(&proposer->code->tokens, at, "/ & ^") && strchr("%&|", exchanges[e].now[0]) &&
              has_float(proposer, at)))
            proposer_replace(proposer, exchanges[e].kind, exchanges[e].rank, at, at, exchanges[e].now);
}
#define PROPOSE_EXCHANGES(proposer, at, exchanges)                                                           \
    propose_exchanges(proposer, at, exchanges, sizeof(exchanges) / sizeof(exchanges)[0])

// ---- Operands ---------------------------------------------------------------------------------------------

int operator_strength(const Code *code, int at) {
    static const char *const strengths[] = {"||",    "&&",        "|",     "^",   "&",
                                            "== !=", "< > <= >=", "<< >>", "+ -", "* / %"};
    for (int s = 0; s < (int)(sizeof strengths / sizeof strengths[0]); s++)
        if (token_is_one_of(&code->tokens, at, strengths[s]) && !code->tokens.all[at].is_type &&
            is_binary(code, at))
            return s + 1;
    return 0;
}

bool operator_operands(const Code *code, int at, int *left, int *right) {
    const int strength = operator_strength(code, at);
    int first, last;
    proposer_find_unit(code, at, at, &first, &last);
    for (*left = at - 1; *left >= first;) {
        if (token_is_one_of(&code->tokens, *left, ") ]"))
            *left = code->tokens.all[*left].partner - 1;
        else if (operator_strength(code, *left) > 0 && operator_strength(code, *left) < strength)
            break;
        else
            --*left;
    }
    ++*left;
    for (*right = at + 1; *right <= last;) {
        if (token_is_one_of(&code->tokens, *right, "( ["))
            *right = code->tokens.all[*right].partner + 1;
        else if (operator_strength(code, *right) > 0 && operator_strength(code, *right) <= strength)
            break;
        else
            ++*right;
    }
    --*right;
    return *left >= first && *right <= last && *left<at && * right> at;
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
    int left, right;
    if (!operator_operands(proposer->code, at, &left, &right)) return;
    char *one = proposer_text(proposer, left, at - 1, 0, 0, NULL),
         *other = proposer_text(proposer, at + 1, right, 0, 0, NULL);
    if (one && other) {
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, one);
        proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, other);
        int begin = left; // of a chain, its first operand alone
        while (begin < at && operator_strength(proposer->code, begin + 1) == 0)
            begin = proposer->code->tokens.all[begin].partner > begin
                        ? proposer->code->tokens.all[begin].partner
                        : begin + 1;
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

// `a << 16` is a product by 65,536: another number that kernel.cu names may be meant.
static void propose_products(const Proposer *proposer, int left, int right, const char *one, const char *by) {
    char *end;
    const long bits = strtol(by, &end, 0);
    if (*end || bits < 1 || bits > 30) return;
    for (int n = 0; n < proposer->named.count; n++) {
        const NamedNumber *named = &proposer->named.all[n];
        if (named->value <= 1L << (bits - 1) || named->value >= 1L << (bits + 1) ||
            !named_is_known(proposer, named, left))
            continue;
        Text text = {0};
        text_printf(&text, "%s * %s", one, named->name);
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, left, right, text_chars(&text));
        text_free(&text);
    }
}

// Other ways to read the same operators: a quotient that is rounded up, or not at all, a product of 64 bits,
// all but a remainder, and another order.
static void propose_readings(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    int first, last, left, right;
    proposer_find_unit(code, at, at, &first, &last);
    if (!operator_operands(code, at, &left, &right)) return;
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
        if (token_is_one_of(&code->tokens, at, "/ *") && !token_is(&code->tokens, first - 1, "[")) {
            const bool is_quotient = token_is(&code->tokens, at, "/");
            const bool is_number = code->tokens.all[at - 1].kind == TOKEN_INTEGER;
            text_printf(&text, "(%s)%s", is_quotient ? "float" : "long long", one);
            proposer_replace(proposer, CHANGE_EXPRESSION, is_quotient && is_number ? USUAL : RARE, left,
                             at - 1, text_chars(&text));
            text_free(&text);
        }
        if (token_is(&code->tokens, at, "%") && left == first && right == last) {
            text_printf(&text, "%s - %s %% %s", one, one, other); // where the rest begins, not how much it is
            proposer_replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, text_chars(&text));
            text_free(&text);
        }
        if (token_is(&code->tokens, at, "<<")) propose_products(proposer, left, right, one, other);
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

// Whether the number or name at `at` is how many elements or results a block has: a factor of blockIdx.x.
static bool is_block_number(const Code *code, int at) {
    const Tokens *tokens = &code->tokens;
    return (token_is(tokens, at - 1, "*") && token_is(tokens, at - 2, "x") &&
            token_is(tokens, at - 4, "blockIdx")) ||
           (token_is(tokens, at + 1, "*") && token_is(tokens, at + 2, "blockIdx") &&
            token_is(tokens, at + 4, "x"));
}

// Whether the number at `at` is what an address is divided by: the size of an element.
static bool is_size_in_address(const Code *code, int at) {
    enum { FEW_TOKENS = 8 };
    const Tokens *tokens = &code->tokens;
    bool is_cast = false;
    for (int i = at - 1; i > at - FEW_TOKENS && i > 0 && !token_is_one_of(tokens, i, "; { } ="); i--)
        is_cast |= token_is_one_of(tokens, i, "size_t uintptr_t");
    return is_cast && token_is(tokens, at - 1, "/");
}

static void propose_integers(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    const char *text = proposer->code->tokens.source + token->from;
    char *end, words[32];
    const unsigned long long number = strtoull(text, &end, 0);
    const int suffix = (int)(token->to - (end - proposer->code->tokens.source));
    if (suffix < 0 || suffix > 3) return;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        const unsigned long long masks[] = {0xffffffff, 2 * number + 1, number / 2, 0xff, 0xffff};
        for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
            if (masks[m] == number || masks[m] == 0 || masks[m] > 0xffffffff) continue;
            snprintf(words, sizeof words, "0x%llx", masks[m]);
            proposer_replace(proposer, CHANGE_CONSTANT, m < 3 ? LIKELY : USUAL, at, at, words);
        }
        return;
    }
    const bool is_divisor = token_is_one_of(&proposer->code->tokens, at - 1, "/ %");
    // A width or a size, of which the half and the double come first.
    const bool is_size = number >= 8 || (number > 1 && is_size_in_address(proposer->code, at));
    const bool is_power = is_size && (number & (number - 1)) == 0;
    const unsigned long long others[] = {number + 1, number - 1, 2 * number, number / 2, 0,
                                         1,          4 * number, number / 4, 32,         31};
    for (int o = 0; o < (int)(sizeof others / sizeof others[0]); o++) {
        bool is_known = others[o] == number || (o > 3 && number < 8 && o > 5) || others[o] > 1u << 30;
        for (int k = 0; k < o; k++) is_known |= others[k] == others[o];
        if (is_known || (others[o] == 0 && is_divisor)) continue;
        snprintf(words, sizeof words, "%llu%.*s", others[o], suffix, end);
        const bool is_likely = is_power ? o == 2 || o == 3 : o < 2;
        proposer_replace(proposer, CHANGE_CONSTANT, is_likely ? LIKELY : o < 6 ? USUAL : RARE, at, at, words);
    }
    // The last lane, thread or block instead of the first one.
    static const char *const last_ones[] = {"31", "(blockDim.x - 1)", "(gridDim.x - 1)"};
    for (int l = 0; l < 3 && number == 0 && token_is_one_of(&proposer->code->tokens, at - 1, "== !="); l++)
        proposer_replace(proposer, CHANGE_CONSTANT, l < 2 ? LIKELY : USUAL, at, at, last_ones[l]);
}

// An element or a result of each thread, or of each warp.
static void propose_block_numbers(const Proposer *proposer, int at) {
    const Tokens *tokens = &proposer->code->tokens;
    if (!is_block_number(proposer->code, at) || token_is_one_of(tokens, at + 1, ". ( [")) return;
    proposer_replace(proposer, CHANGE_NAME, LIKELY, at, at, "blockDim.x");
    proposer_replace(proposer, CHANGE_NAME, LIKELY, at, at, "(blockDim.x / 32)");
}

// Bytes that are counted for one float more, or one less.
static void propose_words(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    const long number = strtol(proposer->code->tokens.source + token->from, NULL, 0);
    char words[32];
    if (number < 8 || number % 4 != 0 || number > 1 << 20) return;
    for (int by = -4; by <= 4; by += 8) {
        snprintf(words, sizeof words, "%ld", number + by);
        proposer_replace(proposer, CHANGE_CONSTANT, LIKELY, at, at, words);
    }
}

static void propose_floats(const Proposer *proposer, int at) {
    const Token *token = &proposer->code->tokens.all[at];
    const bool is_float = proposer->code->tokens.source[token->to - 1] == 'f';
    static const char *const floats[] = {"0.0f", "1.0f", "-INFINITY", "INFINITY", "-1.0f", "0.5f", "2.0f"};
    static const char *const doubles[] = {"0.0", "1.0", "-INFINITY", "INFINITY", "-1.0", "0.5", "2.0"};
    char *end, words[32];
    const double number = strtod(proposer->code->tokens.source + token->from, &end);
    for (int by = 0; by < 2 && number != 0; by++) {
        snprintf(words, sizeof words, "%.9g", by ? 2 * number : number / 2);
        const size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", strpbrk(words, ".e") ? "" : ".0",
                 is_float ? "f" : "");
        proposer_replace(proposer, CHANGE_START, LIKELY, at, at, words);
    }
    // Of two numbers between which a condition chooses, the one that is not 0 may be what is wrong, rather
    // than the condition.
    const bool is_chosen = token_is_one_of(&proposer->code->tokens, at - 1, "? :");
    for (int f = 0; f < 7; f++) {
        const char *other = is_float ? floats[f] : doubles[f];
        if (strncmp(other, proposer->code->tokens.source + token->from, (size_t)(token->to - token->from)) ==
            0)
            continue;
        const int rank = f == 0 && is_chosen ? FIRST : f < 4 ? USUAL : RARE;
        proposer_replace(proposer, CHANGE_START, rank, at, at, other);
    }
}

// The numbers that headers name, as a start for sums and maxima.
static void propose_extremes(const Proposer *proposer, int at) {
    static const char *const floats[] = {"(-INFINITY)", "INFINITY", "0.0f"};
    if (!token_is_one_of(&proposer->code->tokens, at, "FLT_MIN FLT_MAX INFINITY")) return;
    for (int f = 0; f < 3; f++) proposer_replace(proposer, CHANGE_START, LIKELY, at, at, floats[f]);
}

// Whether the token at `at` is compared with 0. More than a number that is never negative never is 0: a sum
// in its place would only decide the condition for good.
static bool is_compared_with_zero(const Tokens *tokens, int at) {
    static const char signs[] = "== != < > <= >=";
    return (token_is_one_of(tokens, at + 1, signs) && token_is(tokens, at + 2, "0")) ||
           (token_is_one_of(tokens, at - 1, signs) && token_is(tokens, at - 2, "0"));
}

static void propose_near(const Proposer *proposer, int at, const char *name) {
    static const struct {
        const char *text;
        int rank;
    } forms[] = {{"(%s + 1)", LIKELY}, {"(%s - 1)", LIKELY}, {"(%s + 2)", RARE}, {"(%s - 2)", RARE},
                 {"(2 * %s)", RARE},   {"(%s / 2)", RARE},   {"0", RARE}};
    const size_t count = sizeof forms / sizeof forms[0];
    char words[96];
    const bool is_divisor = token_is_one_of(&proposer->code->tokens, at - 1, "/ %"),
               is_for_zero = is_compared_with_zero(&proposer->code->tokens, at);
    for (size_t f = 0; f < count - is_divisor; f++) {
        if (is_for_zero && strchr(forms[f].text, '+')) continue;
        snprintf(words, sizeof words, forms[f].text, name);
        proposer_replace(proposer, CHANGE_EXPRESSION, forms[f].rank, at, at, words);
    }
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
        if (named_is_known(proposer, other, at))
            proposer_replace(proposer, CHANGE_CONSTANT, USUAL, at, at, other->name);
    }
    if (!is_name) return;
    char name[NAMED_BYTES];
    snprintf(name, sizeof name, "%.*s", token->to - token->from, text);
    propose_near(proposer, at, name);
}

// Whether what a variable starts from says that name, itself or through a variable that it says.
static bool starts_from(const Code *code, const Variable *variable, const char *name, int depth) {
    if (!token_is(&code->tokens, variable->name + 1, "=")) return false;
    for (int i = variable->name + 2; i < variable->to && !token_is_one_of(&code->tokens, i, "; ,"); i++) {
        const Variable *other = depth > 0 ? code_variable(code, i) : NULL;
        if (token_is(&code->tokens, i, name) ||
            (other && other != variable && starts_from(code, other, name, depth - 1)))
            return true;
    }
    return false;
}

// The thread's number in the block for that in the grid, and the other way round, where a variable has it.
static void propose_number_of_thread(const Proposer *proposer, const Variable *variable, int at) {
    enum { DEPTH = 2 };
    const Code *code = proposer->code;
    const bool is_bound =
        token_is_one_of(&code->tokens, at - 1, "< <=") || token_is_one_of(&code->tokens, at + 1, "> >=");
    const bool is_of_thread = starts_from(code, variable, "threadIdx", DEPTH),
               is_of_block = starts_from(code, variable, "blockIdx", DEPTH),
               is_part = starts_from(code, variable, "/", 0) || starts_from(code, variable, "%", 0);
    const int rank = is_of_thread && is_of_block && !is_part ? LIKELY : USUAL;
    if (is_of_thread && !is_of_block && !is_part)
        proposer_replace(proposer, CHANGE_NAME, LIKELY, at, at, "(blockIdx.x * blockDim.x + threadIdx.x)");
    if (is_bound) return; // either would only keep the statement from being run
    proposer_replace(proposer, CHANGE_NAME, rank, at, at, "threadIdx.x");
    proposer_replace(proposer, CHANGE_NAME, USUAL, at, at, "blockIdx.x");
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
            proposer_replace(proposer, CHANGE_EXPRESSION, proposer->is_of_address[v] ? LIKELY : LAST, at, at,
                             words);
        }
    }
    if (variable->name < code->functions[variable->function].first) { // a parameter
        proposer_replace(proposer, CHANGE_NAME, USUAL, at, at, "gridDim.x");
        proposer_replace(proposer, CHANGE_NAME, RARE, at, at, "blockDim.x");
    }
    propose_number_of_thread(proposer, variable, at);
    variable_name_text(proposer, variable, name, sizeof name);
    propose_near(proposer, at, name);
}

static const Exchange dimensions[] = {
    {"threadIdx", "blockIdx.x", CHANGE_NAME, LIKELY},
    {"threadIdx", "(blockIdx.x * blockDim.x + threadIdx.x)", CHANGE_NAME, LIKELY},
    {"threadIdx", "(threadIdx.x % 32)", CHANGE_NAME, USUAL},
    {"threadIdx", "(threadIdx.x / 32)", CHANGE_NAME, USUAL},
    {"threadIdx", "blockDim.x", CHANGE_NAME, USUAL},
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

// A whole number that the kernel is given, in place of a number of threads or blocks.
static void propose_parameters(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *given = &code->variables[v];
        char name[64];
        const bool is_parameter = given->name < code->functions[given->function].first;
        if (at < given->from || at >= given->to || !type_is_whole(given->type) || given->dimensions > 0 ||
            !(is_parameter || given->is_const))
            continue;
        variable_name_text(proposer, given, name, sizeof name);
        proposer_replace(proposer, CHANGE_NAME, is_parameter ? LIKELY : USUAL, at, at + 2, name);
    }
}

// Whether kernel.cu has a second dimension: without one, blockDim.y is another name for 1.
static bool has_rows_of_threads(const Tokens *tokens) {
    for (int t = 0; t + 2 < tokens->count; t++)
        if (token_is_one_of(tokens, t, "threadIdx blockIdx blockDim gridDim block grid") &&
            token_is_one_of(tokens, t + 1, ". ->") && token_is(tokens, t + 2, "y"))
            return true;
    return false;
}

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
    if (is_x && token_is_one_of(tokens, at, "blockDim gridDim")) propose_parameters(proposer, at);
    // The first thread or block instead of the last one.
    if (token_is_one_of(tokens, at, "blockDim gridDim") && token_is(tokens, at + 3, "-") &&
        token_is(tokens, at + 4, "1"))
        proposer_replace(proposer, CHANGE_CONSTANT, USUAL, at, at + 4, "0");
    if (!is_y && !(is_x && has_rows_of_threads(tokens))) return;
    snprintf(words, sizeof words, "%.*s.%s", tokens->all[at].to - tokens->all[at].from,
             tokens->source + tokens->all[at].from, is_x ? "y" : "x");
    proposer_replace(proposer, CHANGE_NAME, USUAL, at, at + 2, words);
}

// ---- Indices ---------------------------------------------------------------------------------------------

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

void propose_literals(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    const Token *token = &code->tokens.all[at];
    if (token->kind == TOKEN_FLOAT) propose_floats(proposer, at);
    if (token->kind == TOKEN_INTEGER) {
        propose_integers(proposer, at);
        propose_words(proposer, at);
    }
    if (token->kind == TOKEN_SIGN && operator_strength(code, at) > 0) {
        PROPOSE_EXCHANGES(proposer, at, operators);
        propose_operands(proposer, at);
    }
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
    if (token->kind == TOKEN_NAME) propose_extremes(proposer, at);
    if (token->kind == TOKEN_NAME || token->kind == TOKEN_INTEGER) propose_block_numbers(proposer, at);
    propose_dimensions(proposer, at);
    if (token->kind == TOKEN_SIGN && operator_strength(code, at) > 0 && !has_pointer(proposer, at)) {
        PROPOSE_EXCHANGES(proposer, at, operators);
        propose_operands(proposer, at);
        propose_readings(proposer, at);
    }
    propose_exchanged_indices(proposer, at);
}
