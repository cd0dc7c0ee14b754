// A division of whole numbers after the products that it cuts off: `a * c / b` for `a / b * c`; and one of
// the divisor alone: `a / (b / c)` for `a / b / c`.
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

// Whether the tokens may come to a float, of which a division leaves nothing out.
static bool has_float(const Code *code, int first, int last) {
    for (int i = first; i <= last; i++) {
        const Variable *variable = code_variable(code, i);
        char type[48] = "";
        if (variable) variable_element_type(variable, type);
        if (code->tokens.all[i].kind == TOKEN_FLOAT || token_is_one_of(&code->tokens, i, "float double") ||
            strcmp(type, "float") == 0 || strcmp(type, "double") == 0)
            return true;
    }
    return false;
}

// The whole numbers of a quotient: the tokens of the operands.
typedef struct {
    int sign;        // the token of the /
    int left, right; // the first and the last one
} Quotient;

// The last division of the tokens from `first` to `last`, if they are a chain of factors and divisors. False:
// they are none, or a float is among them.
static bool find_quotient(const Code *code, int first, int last, Quotient *quotient) {
    for (int i = last - 1; i > first; i--) {
        if (token_is_one_of(&code->tokens, i, ") ]")) {
            i = code->tokens.all[i].partner;
            continue;
        }
        if (!token_is(&code->tokens, i, "/") || operator_strength(code, i) == 0) continue;
        *quotient = (Quotient){.sign = i};
        return operator_operands(code, i, &quotient->left, &quotient->right) && quotient->left == first &&
               quotient->right == last && !has_float(code, first, last);
    }
    return false;
}

// Adds `a * c / b` for the tokens from `from` to `to`, with the quotient's a and b, and the factor c. As a
// product of 64 bits, too, where one of 32 may overflow.
static void propose_late(const Proposer *proposer, const Quotient *quotient, int from, int to, int factor,
                         int factor_end) {
    const Code *code = proposer->code;
    char *divided = proposer_text(proposer, quotient->left, quotient->sign - 1, 0, 0, NULL),
         *divisor = proposer_text(proposer, quotient->sign + 1, quotient->right, 0, 0, NULL),
         *by = proposer_text(proposer, factor, factor_end, 0, 0, NULL);
    // `a / b * b` is a rounded down to a multiple.
    if (divided && divisor && by && strcmp(divisor, by) != 0) {
        for (int is_wide = 0; is_wide < 2; is_wide++) {
            Text text = {0};
            text_printf(&text, "%s%s * %s / %s", is_wide ? "(long long)" : "", divided, by, divisor);
            if (is_wide == 0 || !has_float(code, factor, factor_end))
                proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, from, to, text_chars(&text));
            text_free(&text);
        }
    }
    free(divided);
    free(divisor);
    free(by);
}

// The factor beside the tokens from `first` to `last`, which `times` multiplies them by. False: it is none.
static bool find_factor(const Code *code, int times, int first, int last, int *from, int *to) {
    int left, right;
    if (!token_is(&code->tokens, times, "*") || operator_strength(code, times) == 0 ||
        !operator_operands(code, times, &left, &right))
        return false;
    *from = times < first ? left : times + 1;
    *to = times < first ? times - 1 : right;
    return times < first ? right == last : left == first;
}

// The quotient is the tokens from `first` to `last`, with the brackets around it if it has some, or a
// variable that starts from it.
static void propose_beside(const Proposer *proposer, const Quotient *quotient, int first, int last) {
    const Code *code = proposer->code;
    int from, to;
    if (find_factor(code, last + 1, first, last, &from, &to))
        propose_late(proposer, quotient, first, to, from, to);
    if (find_factor(code, first - 1, first, last, &from, &to))
        propose_late(proposer, quotient, from, last, from, to);
}

// Adds `a / (b / c)` for the quotient `a / b` / c.
static void propose_inner(const Proposer *proposer, const Quotient *quotient) {
    const Code *code = proposer->code;
    const int strength = operator_strength(code, quotient->sign);
    int sign = quotient->sign - 1;
    while (sign > quotient->left && operator_strength(code, sign) != strength)
        sign = token_is_one_of(&code->tokens, sign, ") ]") ? code->tokens.all[sign].partner - 1 : sign - 1;
    if (sign <= quotient->left || !token_is(&code->tokens, sign, "/")) return;
    char *divisor = proposer_text(proposer, sign + 1, quotient->right, 0, 0, NULL);
    Text text = {0};
    text_printf(&text, "(%s)", divisor ? divisor : "");
    if (divisor)
        proposer_replace(proposer, CHANGE_EXPRESSION, LIKELY, sign + 1, quotient->right, text_chars(&text));
    text_free(&text);
    free(divisor);
}

// Whether the brackets around the tokens from `first` to `last` are those of an expression, and not of a call
// or behind a cast.
static bool has_brackets(const Code *code, int first, int last) {
    const Token *before = first > 1 ? &code->tokens.all[first - 2] : NULL;
    return before && token_is(&code->tokens, first - 1, "(") &&
           code->tokens.all[first - 1].partner == last + 1 &&
           (token_is(&code->tokens, first - 2, "return") ||
            (before->kind == TOKEN_SIGN && !token_is_one_of(&code->tokens, first - 2, ") ] >")));
}

// What the whole number that a name stands for starts from. False: from no quotient that is known at `at`.
static bool find_start(const Code *code, int at, Quotient *quotient) {
    const Variable *variable = code_variable(code, at);
    if (!variable || variable->dimensions > 0 || !type_is_whole(variable->type) ||
        variable_is_assigned(code, at) || !token_is(&code->tokens, variable->name + 1, "="))
        return false;
    const int first = variable->name + 2;
    int last = first;
    if (!code->is_open[first]) return false;
    for (; last + 1 < code->tokens.count && !token_is_one_of(&code->tokens, last + 1, ", ;"); last++)
        if (token_is_one_of(&code->tokens, last + 1, "( [") && code->tokens.all[last + 1].partner > last)
            last = code->tokens.all[last + 1].partner - 1;
    return find_quotient(code, first, last, quotient) && code_knows(code, first, last, at);
}

void propose_quotients_at(const Proposer *proposer, int at) {
    const Code *code = proposer->code;
    Quotient quotient;
    if (token_is(&code->tokens, at, "/") && operator_strength(code, at) > 0) {
        int left, right;
        if (!operator_operands(code, at, &left, &right) || has_float(code, left, right)) return;
        quotient = (Quotient){.sign = at, .left = left, .right = right};
        const int brackets = has_brackets(code, left, right);
        propose_beside(proposer, &quotient, left - brackets, right + brackets);
        propose_inner(proposer, &quotient);
    } else if (code->tokens.all[at].kind == TOKEN_NAME && find_start(code, at, &quotient)) {
        propose_beside(proposer, &quotient, at, at);
    }
}
