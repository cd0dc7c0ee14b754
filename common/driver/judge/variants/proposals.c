// Which variants there are: each rule is a slip that learners make.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/named_numbers.h"
#include "driver/judge/variants/variants.h"

enum { LIKELY, USUAL, RARE, LAST }; // ranks

typedef struct {
    const Code *code;
    NamedNumbers named;
    Variants *variants;
} Proposer;

// ---- Texts -----------------------------------------------------------------------------------------------

// The text of the tokens from `first` to `last`, in which those from `from` to `to` are `instead`; NULL: as
// they are. To be freed.
static char *text_of(const Proposer *proposer, int first, int last, int from, int to, const char *instead) {
    const Tokens *tokens = &proposer->code->tokens;
    Text text = {0};
    for (int i = first; i <= last; i++) {
        const Token *token = &tokens->all[i];
        const bool is_dropped = instead && i > from && i <= to;
        if (i > first && token->from > tokens->all[i - 1].to && !is_dropped) text_add_char(&text, ' ');
        if (instead && i == from) text_add(&text, instead);
        if (!instead || i < from || i > to)
            text_add_bytes(&text, tokens->source + token->from, (size_t)(token->to - token->from));
    }
    return text_take(&text);
}

static Variant *add(const Proposer *proposer, ChangeKind kind, int token, int rank) {
    Variants *variants = proposer->variants;
    if (variants->count == variants->room) {
        const int room = variants->room ? 2 * variants->room : 256;
        Variant *grown = realloc(variants->all, (size_t)room * sizeof *grown);
        if (!grown) {
            variants->failed = true;
            return NULL;
        }
        variants->all = grown;
        variants->room = room;
    }
    Variant *added = &variants->all[variants->count++];
    *added = (Variant){.kind = kind, .line = proposer->code->tokens.all[token].line, .rank = rank};
    for (int f = 0; f < proposer->code->function_count; f++)
        if (proposer->code->functions[f].first <= token && token <= proposer->code->functions[f].last)
            added->function = f;
    return added;
}

// Takes over `text`.
static void edit(const Proposer *proposer, Variant *variant, EditForm form, int from, int to, char *text) {
    if (!text) proposer->variants->failed = true;
    if (!text || !variant || variant->edit_count == MOST_EDITS) {
        free(text);
        return;
    }
    variant->edits[variant->edit_count++] = (SourceEdit){.form = form, .from = from, .to = to, .text = text};
}

static int begin_of(const Proposer *proposer, int token) { return proposer->code->tokens.all[token].from; }
static int end_of(const Proposer *proposer, int token) { return proposer->code->tokens.all[token].to; }

// ---- Expressions -----------------------------------------------------------------------------------------

// The statement around a token that no other one in it is around.
static const Statement *statement_at(const Code *code, int token) {
    const Statement *found = NULL;
    for (int s = 0; s < code->statement_count && code->statements[s].first <= token; s++)
        if (token <= code->statements[s].last) found = &code->statements[s];
    return found;
}

// The part of an expression that a change of the tokens from `from` to `to` is written with: up to what binds
// less than any operator in it, so that it is an operand as a whole.
static void find_unit(const Code *code, int from, int to, int *first, int *last) {
    const Tokens *tokens = &code->tokens;
    const char *const limits = token_is_one_of(tokens, from, "&& ||")
                                   ? "( [ { } ) ] , ; ? : = return"
                                   : "( [ { } ) ] , ; ? : && || = += -= *= /= %= &= |= ^= <<= >>= return";
    const Statement *statement = statement_at(code, from);
    const int least = statement ? statement->first : 0;
    for (*first = from; *first > least;) {
        const int before = *first - 1;
        if (token_is_one_of(tokens, before, ") ]") && tokens->all[before].partner >= least)
            *first = tokens->all[before].partner;
        else if (token_is_one_of(tokens, before, limits))
            break;
        else
            *first = before;
    }
    for (*last = to; *last + 1 < tokens->count;) {
        const int next = *last + 1;
        if (token_is_one_of(tokens, next, "( [") && tokens->all[next].partner > next)
            *last = tokens->all[next].partner;
        else if (token_is_one_of(tokens, next, limits))
            break;
        else
            *last = next;
    }
}

enum { SHOWN = 64 }; // characters of a part of the source that the words of a change show

// An expression with `instead` in place of the tokens from `from` to `to`.
static void replace(const Proposer *proposer, ChangeKind kind, int rank, int from, int to,
                    const char *instead) {
    int first, last;
    find_unit(proposer->code, from, to, &first, &last);
    Variant *variant = add(proposer, kind, from, rank);
    char *now = text_of(proposer, first, last, from, to, instead);
    char *was = text_of(proposer, first, last, 0, 0, NULL), *part = text_of(proposer, from, to, 0, 0, NULL);
    if (variant && now && was && part) {
        const bool is_short = strlen(now) < SHOWN && strlen(was) < SHOWN;
        snprintf(variant->words, sizeof variant->words, "%.100s instead of %.100s in line %d",
                 is_short ? now : instead, is_short ? was : part, variant->line);
    }
    free(was);
    free(part);
    edit(proposer, variant, EDIT_EXPRESSION, begin_of(proposer, first), end_of(proposer, last), now);
}

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

typedef struct {
    const char *was, *now;
    ChangeKind kind;
    int rank;
} Exchange;

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

static const Exchange assignments[] = {
    {"=", "+=", CHANGE_OPERATOR, LIKELY},  {"+=", "=", CHANGE_OPERATOR, LIKELY},
    {"-=", "+=", CHANGE_OPERATOR, LIKELY}, {"+=", "-=", CHANGE_OPERATOR, USUAL},
    {"*=", "+=", CHANGE_OPERATOR, USUAL},  {"+=", "*=", CHANGE_OPERATOR, USUAL},
    {"/=", "*=", CHANGE_OPERATOR, USUAL},  {"*=", "/=", CHANGE_OPERATOR, USUAL},
    {"/=", "-=", CHANGE_OPERATOR, RARE},   {">>=", "<<=", CHANGE_OPERATOR, USUAL},
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
            replace(proposer, exchanges[e].kind, exchanges[e].rank, at, at, exchanges[e].now);
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
    find_unit(code, at, at, &first, &last);
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
    find_unit(proposer->code, at, at, &first, &last);
    find_operands(proposer->code, at, first, last, &left, &right);
    if (left < first || right > last || left >= at || right <= at) return;
    char *one = text_of(proposer, left, at - 1, 0, 0, NULL),
         *other = text_of(proposer, at + 1, right, 0, 0, NULL);
    if (one && other) {
        replace(proposer, CHANGE_EXPRESSION, LIKELY, left, right, one);
        replace(proposer, CHANGE_EXPRESSION, LIKELY, left, right, other);
        int begin = left; // of a chain, its first operand alone
        while (begin < at && strength_of(proposer->code, begin + 1) == 0) begin++;
        if (begin + 1 < at) {
            char *first_one = text_of(proposer, left, begin, 0, 0, NULL);
            if (first_one) replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, first_one);
            free(first_one);
        }
        if (token_is_one_of(&proposer->code->tokens, at, "- / % << >>")) {
            Text exchanged = {0};
            text_printf(&exchanged, "%s %.*s %s", other, end_of(proposer, at) - begin_of(proposer, at),
                        proposer->code->tokens.source + begin_of(proposer, at), one);
            replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, text_chars(&exchanged));
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
    find_unit(code, at, at, &first, &last);
    find_operands(code, at, first, last, &left, &right);
    if (left < first || right > last || left >= at || right <= at) return;
    char *one = text_of(proposer, left, at - 1, 0, 0, NULL),
         *other = text_of(proposer, at + 1, right, 0, 0, NULL);
    char *before = text_of(proposer, first, at - 1, 0, 0, NULL),
         *behind = text_of(proposer, at + 1, last, 0, 0, NULL);
    if (one && other && before && behind) {
        Text text = {0};
        if (token_is(&code->tokens, at, "/")) {
            text_printf(&text, "(%s + %s - 1) / %s", one, other, other);
            replace(proposer, CHANGE_EXPRESSION, USUAL, left, right, text_chars(&text));
            text_free(&text);
        }
        if (token_is_one_of(&code->tokens, at, "/ *")) {
            const bool is_quotient = token_is(&code->tokens, at, "/");
            const bool is_number = code->tokens.all[at - 1].kind == TOKEN_INTEGER;
            text_printf(&text, "(%s)%s", is_quotient ? "float" : "long long", one);
            replace(proposer, CHANGE_EXPRESSION, is_quotient && is_number ? USUAL : RARE, left, at - 1,
                    text_chars(&text));
            text_free(&text);
        }
        if (left > first) {
            text_printf(&text, "(%s) %.*s %s", before, end_of(proposer, at) - begin_of(proposer, at),
                        code->tokens.source + begin_of(proposer, at), behind);
            replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, text_chars(&text));
            text_free(&text);
        }
        if (right < last) {
            text_printf(&text, "%s %.*s (%s)", before, end_of(proposer, at) - begin_of(proposer, at),
                        code->tokens.source + begin_of(proposer, at), behind);
            replace(proposer, CHANGE_EXPRESSION, USUAL, first, last, text_chars(&text));
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
        if (number != 0xffffffff) replace(proposer, CHANGE_CONSTANT, LIKELY, at, at, "0xffffffff");
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
        replace(proposer, CHANGE_CONSTANT, o < 2 ? LIKELY : o < 6 ? USUAL : RARE, at, at, words);
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
        replace(proposer, CHANGE_START, f < 4 ? USUAL : RARE, at, at, other);
    }
}

static bool is_whole_type(const char *type) {
    static const char *const types[] = {"int",       "unsigned", "unsigned int",       "long",
                                        "long long", "size_t",   "unsigned long long", "uint32_t",
                                        "int32_t",   "short",    "uint64_t",           "int64_t"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        if (strcmp(type, types[t]) == 0) return true;
    return false;
}

// The element of an array or a pointer, as "float".
static void element_type(const Variable *variable, char type[48]) {
    memcpy(type, variable->type, sizeof variable->type);
    char *pointer = strstr(type, " *");
    if (pointer && variable->dimensions == 0) *pointer = '\0';
}

static bool may_stand_for(const Variable *was, const Variable *now) {
    char a[48], b[48];
    const int was_places = was->dimensions ? was->dimensions : strchr(was->type, '*') != NULL,
              now_places = now->dimensions ? now->dimensions : strchr(now->type, '*') != NULL;
    if (was_places != now_places) return false;
    if (was_places == 0 && is_whole_type(was->type)) return is_whole_type(now->type);
    element_type(was, a);
    element_type(now, b);
    return strcmp(a, b) == 0 && was->type[0];
}

static void name_of(const Proposer *proposer, const Variable *variable, char *out, size_t bytes) {
    const Token *token = &proposer->code->tokens.all[variable->name];
    snprintf(out, bytes, "%.*s", token->to - token->from, proposer->code->tokens.source + token->from);
}

static bool is_assigned(const Code *code, int at) {
    int next = at + 1;
    while (token_is(&code->tokens, next, "[")) next = code->tokens.all[next].partner + 1;
    return token_is_one_of(&code->tokens, next, "= += -= *= /= %= &= |= ^= <<= >>= ++ --") ||
           token_is_one_of(&code->tokens, at - 1, "++ -- &");
}

static void propose_near(const Proposer *proposer, int at, const char *name) {
    static const char *const forms[] = {"(%s + 1)", "(%s - 1)", "(2 * %s)", "(%s / 2)", "0"};
    char words[96];
    const bool is_divisor = token_is_one_of(&proposer->code->tokens, at - 1, "/ %");
    for (int f = 0; f < (is_divisor ? 4 : 5); f++) {
        snprintf(words, sizeof words, forms[f], name);
        replace(proposer, CHANGE_EXPRESSION, f < 2 ? USUAL : RARE, at, at, words);
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
            replace(proposer, CHANGE_CONSTANT, is_name ? LIKELY : USUAL, at, at, other->name);
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
    const bool is_set = is_assigned(code, at),
               is_whole = is_whole_type(variable->type) && variable->dimensions == 0;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        if (other == variable || at < other->from || at >= other->to || !may_stand_for(variable, other) ||
            tokens_are_same(&code->tokens, other->name, at) ||
            code->tokens.all[other->name].from > code->tokens.all[at].from)
            continue;
        if (is_set && (strcmp(other->type, variable->type) != 0 || other->is_const != variable->is_const))
            continue;
        if (other->is_const && !variable->is_const && !token_is(&code->tokens, at + 1, "[")) continue;
        name_of(proposer, other, name, sizeof name);
        replace(proposer, CHANGE_NAME, USUAL, at, at, name);
    }
    if (!is_whole || is_set) return;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        char term[64], words[160];
        if (other == variable || at < other->from || at >= other->to || !is_whole_type(other->type) ||
            other->dimensions > 0)
            continue;
        name_of(proposer, variable, name, sizeof name);
        name_of(proposer, other, term, sizeof term);
        for (int sign = 0; sign < 2; sign++) {
            snprintf(words, sizeof words, "(%s %c %s)", name, sign ? '+' : '-', term);
            replace(proposer, CHANGE_EXPRESSION, LAST, at, at, words);
        }
    }
    replace(proposer, CHANGE_NAME, LIKELY, at, at, "threadIdx.x");
    replace(proposer, CHANGE_NAME, USUAL, at, at, "blockIdx.x");
    name_of(proposer, variable, name, sizeof name);
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
        replace(proposer, dimensions[e].kind, dimensions[e].rank, at, at + 2, dimensions[e].now);
    }
    if (!is_x && !is_y) return;
    snprintf(words, sizeof words, "%.*s.%s", tokens->all[at].to - tokens->all[at].from,
             tokens->source + tokens->all[at].from, is_x ? "y" : "x");
    replace(proposer, CHANGE_NAME, USUAL, at, at + 2, words);
}

// ---- Terms and conditions ---------------------------------------------------------------------------------

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
    char *was = text_of(proposer, first, last, 0, 0, NULL), name[64];
    for (size_t t = 0; was && t < sizeof terms / sizeof terms[0]; t++) {
        Text now = {0};
        text_printf(&now, first == last || strchr("+-", terms[t][0]) ? "%s %s" : "(%s) %s", was, terms[t]);
        replace(proposer, CHANGE_EXPRESSION, t < 4 ? USUAL : RARE, first, last, text_chars(&now));
        text_free(&now);
    }
    for (int v = 0; was && adds && v < code->variable_count; v++) {
        const Variable *other = &code->variables[v];
        if (first < other->from || first >= other->to || !is_whole_type(other->type) || other->dimensions > 0)
            continue;
        name_of(proposer, other, name, sizeof name);
        for (int sign = 0; sign < 2; sign++) {
            Text now = {0};
            text_printf(&now, "%s %c %s", was, sign ? '-' : '+', name);
            replace(proposer, CHANGE_EXPRESSION, RARE, first, last, text_chars(&now));
            text_free(&now);
        }
    }
    free(was);
}

// What the whole numbers of a function start from.
static void propose_terms_of_starts(const Proposer *proposer, int function) {
    const Code *code = proposer->code;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *variable = &code->variables[v];
        const int start = variable->name + 2;
        if (variable->function != function || !is_whole_type(variable->type) || variable->dimensions > 0 ||
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
    char *one = text_of(proposer, at + 1, close - 1, 0, 0, NULL),
         *other = text_of(proposer, open + 1, end - 1, 0, 0, NULL);
    if (one && other) {
        Text text = {0};
        text_printf(&text, "[%s][%s]", other, one);
        replace(proposer, CHANGE_EXPRESSION, LIKELY, at, end, text_chars(&text));
        text_free(&text);
    }
    free(one);
    free(other);
}

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
        find_unit(proposer->code, at, at, &first, &last);
        char *text = text_of(proposer, first, last, 0, 0, NULL);
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

static void propose_conditions(const Proposer *proposer, const Statement *statement,
                               const Comparisons *comparisons) {
    const Code *code = proposer->code;
    const int open = statement->first + 1, last = code->tokens.all[open].partner - 1, first = open + 1;
    if (!token_is(&code->tokens, open, "(") || last < first || !code->is_open[first]) return;
    char *was = text_of(proposer, first, last, 0, 0, NULL);
    const bool is_if = statement->kind == STATEMENT_IF;
    for (int c = 0; was && c < comparisons->count; c++) {
        Text now = {0};
        if (!comparisons->texts[c] || !is_known_at(code, comparisons, c, first) ||
            strcmp(was, comparisons->texts[c]) == 0)
            continue;
        text_printf(&now, strstr(was, "||") ? "(%s) && %s" : "%s && %s", was, comparisons->texts[c]);
        Variant *variant = add(proposer, CHANGE_EXPRESSION, first, USUAL);
        if (variant)
            snprintf(variant->words, sizeof variant->words, "%.100s instead of %.100s in line %d",
                     text_chars(&now), was, variant->line);
        edit(proposer, variant, EDIT_EXPRESSION, begin_of(proposer, first), end_of(proposer, last),
             text_take(&now));
    }
    static const char *const whole[] = {"true", "false"};
    for (int w = 0; was && is_if && w < 2; w++) {
        Text now = {0};
        text_add(&now, whole[w]);
        Variant *variant = add(proposer, CHANGE_EXPRESSION, first, USUAL);
        if (variant)
            snprintf(variant->words, sizeof variant->words, "%s instead of %.100s in line %d", whole[w], was,
                     variant->line);
        edit(proposer, variant, EDIT_EXPRESSION, begin_of(proposer, first), end_of(proposer, last),
             text_take(&now));
    }
    free(was);
}

// ---- Statements ------------------------------------------------------------------------------------------

static char *statement_text(const Proposer *proposer, const Statement *statement) {
    return text_of(proposer, statement->first, statement->last, 0, 0, NULL);
}

static void instead_of(const Proposer *proposer, ChangeKind kind, int rank, const Statement *statement,
                       const char *now, const char *words) {
    Text text = {0};
    text_add(&text, now);
    Variant *variant = add(proposer, kind, statement->first, rank);
    if (variant) snprintf(variant->words, sizeof variant->words, "%s line %d", words, variant->line);
    edit(proposer, variant, EDIT_STATEMENT, begin_of(proposer, statement->first),
         end_of(proposer, statement->last), text_take(&text));
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

// The statement where `to` begins or ends instead.
static void move(const Proposer *proposer, const Statement *statement, int before, const char *where,
                 int line) {
    if (!is_sound_at(proposer->code, statement, before)) return;
    Variant *variant = add(proposer, CHANGE_MOVED, statement->first, USUAL);
    if (variant)
        snprintf(variant->words, sizeof variant->words, "line %d moved %s line %d", variant->line, where,
                 line);
    Text empty = {0};
    text_add(&empty, " ");
    edit(proposer, variant, EDIT_STATEMENT, begin_of(proposer, statement->first),
         end_of(proposer, statement->last), text_take(&empty));
    edit(proposer, variant, EDIT_BEFORE, begin_of(proposer, before), begin_of(proposer, before),
         statement_text(proposer, statement));
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

static bool is_number(const char *type) {
    return is_whole_type(type) || strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

static void propose_assignments(const Proposer *proposer, const Statement *statement) {
    const Tokens *tokens = &proposer->code->tokens;
    const Variable *variable = code_variable(proposer->code, statement->first);
    char type[48];
    if (!variable) return;
    element_type(variable, type);
    if (!is_number(type) && !(type[0] && isupper((unsigned char)type[0]) && !type[1]) &&
        strcmp(type, "Number") != 0)
        return;
    for (int at = statement->first; at < statement->last; at++) {
        if (token_is_one_of(tokens, at, "( [") && tokens->all[at].partner > at) at = tokens->all[at].partner;
        for (size_t a = 0; a < sizeof assignments / sizeof assignments[0]; a++) {
            if (!token_is(tokens, at, assignments[a].was)) continue;
            char words[64],
                *now = text_of(proposer, statement->first, statement->last, at, at, assignments[a].now);
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
        Variant *variant = add(proposer, kinds[b], statement->first, USUAL);
        Text text = {0};
        text_add(&text, barriers[b]);
        if (variant) snprintf(variant->words, sizeof variant->words, "%s line %d", words[b], variant->line);
        edit(proposer, variant, EDIT_BEFORE, begin_of(proposer, statement->first),
             begin_of(proposer, statement->first), text_take(&text));
    }
}

static void propose_statements(const Proposer *proposer, const Statement *statement,
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
        !is_whole_type(variable->type) || !token_is_one_of(&code->tokens, open + 2, "< <="))
        return;
    static const char *const steps[] = {"gridDim.x * blockDim.x", "blockDim.x", "32"};
    char *condition = text_of(proposer, open + 1, close - 1, 0, 0, NULL),
         *body = text_of(proposer, close + 1, statement->last, 0, 0, NULL), name[64], words[256];
    name_of(proposer, variable, name, sizeof name);
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
            if (!other || other == one || is_assigned(code, i) || is_assigned(code, j) ||
                !may_stand_for(one, other) || i < other->from)
                continue;
            name_of(proposer, one, first_name, sizeof first_name);
            name_of(proposer, other, second_name, sizeof second_name);
            find_unit(code, i, i, &first, &last);
            find_unit(code, j, j, &second_first, &second_last);
            if (last >= second_first) continue; // in one expression: the order of its operands
            Variant *variant = add(proposer, CHANGE_EXCHANGED, i, USUAL);
            if (variant)
                snprintf(variant->words, sizeof variant->words, "%s and %s exchanged in line %d", first_name,
                         second_name, variant->line);
            edit(proposer, variant, EDIT_EXPRESSION, begin_of(proposer, first), end_of(proposer, last),
                 text_of(proposer, first, last, i, i, second_name));
            edit(proposer, variant, EDIT_EXPRESSION, begin_of(proposer, second_first),
                 end_of(proposer, second_last),
                 text_of(proposer, second_first, second_last, j, j, first_name));
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
    name_of(proposer, variable, name, sizeof name);
    static const char *const steps[] = {"blockDim.x", "gridDim.x * blockDim.x", "gridDim.x", "32", "2"};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        snprintf(words, sizeof words, "%s += %s", name, steps[s]);
        replace(proposer, CHANGE_EXPRESSION, USUAL, at + 1, close - 1, words);
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
    char *from = text_of(proposer, start + 1, parts[0] - 1, 0, 0, NULL),
         *to = text_of(proposer, parts[0] + 3, parts[1] - 1, 0, 0, NULL);
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
        Variant *variant = add(proposer, CHANGE_MOVED, loop->first, USUAL);
        if (variant)
            snprintf(variant->words, sizeof variant->words,
                     "the rounds of the loop in line %d in the other order", variant->line);
        edit(proposer, variant, EDIT_STATEMENT, begin_of(proposer, close + 1), end_of(proposer, loop->last),
             text_take(&body));
    }
    free(from);
    free(to);
}

// ---- All of them -----------------------------------------------------------------------------------------

static void propose_at(const Proposer *proposer, int at) {
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

static int compare_ranks(const void *left, const void *right) {
    const Variant *a = left, *b = right;
    if (a->rank != b->rank) return a->rank - b->rank;
    if (a->edits[0].from != b->edits[0].from) return a->edits[0].from - b->edits[0].from;
    return strcmp(a->words, b->words);
}

static int compare_places(const void *left, const void *right) {
    const Variant *a = left, *b = right;
    const int places = source_edits_compare(&a->edits[0], &b->edits[0]);
    return places != 0 ? places : compare_ranks(left, right);
}

void variants_propose(const Code *code, const bool functions[], int finding, int most, Variants *variants) {
    Proposer proposer = {.code = code, .variants = variants};
    named_numbers_find(code->tokens.source, &proposer.named);
    for (int f = 0; f < code->function_count; f++) {
        const Function *function = &code->functions[f];
        if (!functions[f]) continue;
        Comparisons comparisons;
        find_comparisons(&proposer, function, &comparisons);
        for (int at = function->first; at < function->last; at++)
            if (code->is_open[at]) propose_at(&proposer, at);
        propose_terms_of_starts(&proposer, f);
        for (int s = 0; s < code->statement_count; s++) {
            const Statement *statement = &code->statements[s];
            if (statement->function != f) continue;
            propose_statements(&proposer, statement, &comparisons);
            if (statement->kind == STATEMENT_IF) {
                propose_conditions(&proposer, statement, &comparisons);
                propose_loops(&proposer, statement);
            }
            if (statement->kind == STATEMENT_EXPRESSION || statement->kind == STATEMENT_RETURN ||
                statement->kind == STATEMENT_DECLARATION)
                propose_exchanged_names(&proposer, statement);
            if (statement->kind == STATEMENT_LOOP) {
                propose_steps(&proposer, statement);
                propose_reversed(&proposer, statement);
            }
        }
        free_comparisons(&comparisons);
    }
    for (int v = 0; v < variants->count && finding > 0; v++)
        if (abs(variants->all[v].line - finding) <= 1 && variants->all[v].rank > LIKELY)
            variants->all[v].rank--;
    if (variants->count == 0) return;
    qsort(variants->all, (size_t)variants->count, sizeof *variants->all, compare_ranks);
    while (variants->count > most) {
        Variant *last = &variants->all[--variants->count];
        for (int e = 0; e < last->edit_count; e++) free(last->edits[e].text);
    }
    qsort(variants->all, (size_t)variants->count, sizeof *variants->all, compare_places);
}

void variants_free(Variants *variants) {
    for (int v = 0; v < variants->count; v++)
        for (int e = 0; e < variants->all[v].edit_count; e++) free(variants->all[v].edits[e].text);
    free(variants->all);
    *variants = (Variants){0};
}
