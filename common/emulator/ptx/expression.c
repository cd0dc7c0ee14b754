// Constant expressions: of immediates, offsets and initialisers.
//
// The grammar is C's over 64-bit integers, by precedence climbing. Floats take a sign and nothing else;
// an address takes an integer added or taken away.
#include <string.h>

#include "emulator/ptx/parser.h"

static bool parse_unary(Parser *p, Constant *constant, bool addresses, int depth);

// Precedences of C, low to high; 0 for anything but a binary operator.
static int precedence(const Token *token) {
    if (token->kind != TOKEN_PUNCTUATION) return 0;
    switch (token->punctuation) {
    case PUNCTUATION_EITHER: return 1;
    case PUNCTUATION_BOTH: return 2;
    case '|': return 3;
    case '^': return 4;
    case '&': return 5;
    case PUNCTUATION_EQUAL:
    case PUNCTUATION_UNEQUAL: return 6;
    case '<':
    case '>':
    case PUNCTUATION_AT_MOST:
    case PUNCTUATION_AT_LEAST: return 7;
    case PUNCTUATION_SHIFT_LEFT:
    case PUNCTUATION_SHIFT_RIGHT: return 8;
    case '+':
    case '-': return 9;
    case '*':
    case '/':
    case '%': return 10;
    default: return 0;
    }
}

static uint64_t shifted_right(uint64_t value, uint64_t by, bool is_unsigned) {
    bool negative = !is_unsigned && value >> 63;
    if (by > 63) return negative ? UINT64_MAX : 0;
    return value >> by | (negative && by ? UINT64_MAX << (64 - by) : 0);
}

static bool less(uint64_t a, uint64_t b, bool is_unsigned) {
    return is_unsigned ? a < b : (a ^ 1ull << 63) < (b ^ 1ull << 63);
}

static bool divide(Parser *p, const Token *at, bool want_rest, Constant *a, uint64_t b, bool is_unsigned) {
    if (b == 0) return parser_fail(p, at, "a division by zero");
    // In magnitudes, so that the most negative number divided by -1 is as defined as any other.
    bool a_negative = !is_unsigned && a->value >> 63, b_negative = !is_unsigned && b >> 63;
    uint64_t x = a_negative ? 0 - a->value : a->value, y = b_negative ? 0 - b : b;
    if (want_rest)
        a->value = a_negative ? 0 - x % y : x % y;
    else
        a->value = a_negative != b_negative ? 0 - x / y : x / y;
    return true;
}

// a = a OPERATOR b
static bool combine(Parser *p, const Token *at, Constant *a, const Constant *b) {
    int sign = at->punctuation;
    if (a->kind == CONSTANT_ADDRESS || b->kind == CONSTANT_ADDRESS) {
        bool sum = sign == '+' && !(a->kind == CONSTANT_ADDRESS && b->kind == CONSTANT_ADDRESS);
        bool difference = sign == '-' && b->kind == CONSTANT_INTEGER;
        const Constant *number = a->kind == CONSTANT_ADDRESS ? b : a;
        if ((!sum && !difference) || number->kind != CONSTANT_INTEGER)
            return parser_fail(p, at, "an address takes a number added or subtracted, and nothing else");
        if (number == a) {
            uint64_t value = a->value;
            *a = *b;
            a->value += value;
        } else {
            a->value = sign == '+' ? a->value + b->value : a->value - b->value;
        }
        return true;
    }
    if (a->kind != CONSTANT_INTEGER || b->kind != CONSTANT_INTEGER)
        return parser_unsupported(p, at, "arithmetic between floating-point constants is not supported");
    bool is_unsigned = a->is_unsigned || b->is_unsigned;
    uint64_t x = a->value, y = b->value;
    bool shift = sign == PUNCTUATION_SHIFT_LEFT || sign == PUNCTUATION_SHIFT_RIGHT;
    if (!shift) a->is_unsigned = is_unsigned;
    switch (sign) {
    case '+': a->value = x + y; break;
    case '-': a->value = x - y; break;
    case '*': a->value = x * y; break;
    case '/': return divide(p, at, false, a, y, is_unsigned);
    case '%': return divide(p, at, true, a, y, is_unsigned);
    case '&': a->value = x & y; break;
    case '|': a->value = x | y; break;
    case '^': a->value = x ^ y; break;
    case PUNCTUATION_SHIFT_LEFT: a->value = y > 63 ? 0 : x << y; break;
    case PUNCTUATION_SHIFT_RIGHT: a->value = shifted_right(x, y, a->is_unsigned); break;
    default: // a truth
        a->is_unsigned = false;
        switch (sign) {
        case '<': a->value = less(x, y, is_unsigned); break;
        case '>': a->value = less(y, x, is_unsigned); break;
        case PUNCTUATION_AT_MOST: a->value = !less(y, x, is_unsigned); break;
        case PUNCTUATION_AT_LEAST: a->value = !less(x, y, is_unsigned); break;
        case PUNCTUATION_EQUAL: a->value = x == y; break;
        case PUNCTUATION_UNEQUAL: a->value = x != y; break;
        case PUNCTUATION_BOTH: a->value = x && y; break;
        default: a->value = x || y; break;
        }
    }
    return true;
}

static bool parse_binary(Parser *p, Constant *constant, bool addresses, int lowest, int depth) {
    if (!parse_unary(p, constant, addresses, depth)) return false;
    for (int level; (level = precedence(&p->token)) >= lowest && level > 0;) {
        Token sign = p->token;
        Constant right;
        parser_advance(p);
        if (!parse_binary(p, &right, addresses, level + 1, depth + 1) || !combine(p, &sign, constant, &right))
            return false;
    }
    return true;
}

// C's CONDITION ? A : B, or the condition alone without a question mark.
static bool parse_choice(Parser *p, Constant *constant, bool addresses, int depth) {
    if (!parse_binary(p, constant, addresses, 1, depth)) return false;
    if (!parser_at(p, '?')) return true;
    Token at = p->token;
    Constant yes, no;
    parser_advance(p);
    if (!parse_choice(p, &yes, addresses, depth + 1)) return false;
    if (!parser_expect(p, ':', "between the two values of '?'")) return false;
    if (!parse_choice(p, &no, addresses, depth + 1)) return false;
    if (constant->kind != CONSTANT_INTEGER)
        return parser_fail(p, &at, "the condition before '?' is not an integer");
    *constant = constant->value ? yes : no;
    return true;
}

// name, after which the caller looks for "+4".
static bool parse_symbol(Parser *p, Constant *constant) {
    const Binding *binding = p->token.name->binding;
    *constant = (Constant){.kind = CONSTANT_ADDRESS};
    if (binding && binding->kind == BINDING_VARIABLE)
        constant->variable = binding->variable;
    else if (binding && binding->kind == BINDING_FUNCTION)
        constant->function = binding->function;
    else if (binding)
        return parser_fail(p, &p->token, "'%.100s' is a %s, whose address is not a constant",
                           p->token.name->text, binding_kind_name(binding->kind));
    else
        return parser_undeclared(p, &p->token);
    parser_advance(p);
    return true;
}

static bool parse_parenthesised(Parser *p, Constant *constant, bool addresses, int depth, const char *where) {
    parser_advance(p); // (
    return parse_choice(p, constant, addresses, depth + 1) && parser_expect(p, ')', where);
}

static bool parse_primary(Parser *p, Constant *constant, bool addresses, int depth) {
    Token at = p->token;
    *constant = (Constant){.value = at.value, .is_unsigned = at.is_unsigned};
    switch (at.kind) {
    case TOKEN_INTEGER:
        constant->kind = CONSTANT_INTEGER;
        if (at.value >> 63) constant->is_unsigned = true; // PTX ISA 4.5.1: what .s64 cannot hold is .u64
        parser_advance(p);
        if (!addresses || !parser_at(p, '(')) return true;
        // 0xFF00(name): that part of an address.
        if (!parse_parenthesised(p, constant, true, depth, "after the address")) return false;
        if (constant->kind != CONSTANT_ADDRESS || constant->mask)
            return parser_fail(p, &at, "a mask takes an address in parentheses, as in 0xFF(name)");
        if (at.value == 0) return parser_fail(p, &at, "a mask of 0 selects nothing of an address");
        constant->mask = at.value;
        return true;
    case TOKEN_FLOAT32:
    case TOKEN_FLOAT64:
        constant->kind = at.kind == TOKEN_FLOAT32 ? CONSTANT_FLOAT32 : CONSTANT_FLOAT64;
        parser_advance(p);
        return true;
    case TOKEN_PUNCTUATION:
        if (at.punctuation == '(')
            return parse_parenthesised(p, constant, addresses, depth, "after the expression");
        break;
    case TOKEN_NAME:
        if (at.name == p->warp_size && !at.name->binding) {
            *constant = (Constant){.kind = CONSTANT_INTEGER, .value = 32};
            parser_advance(p);
            return true;
        }
        if (!addresses) break;
        if (strcmp(at.name->text, "generic") == 0 && !at.name->binding) {
            parser_advance(p);
            if (!parser_at(p, '(')) return parser_expected(p, "'(' after generic");
            if (!parse_parenthesised(p, constant, true, depth, "after generic(name")) return false;
            if (constant->kind != CONSTANT_ADDRESS || constant->mask)
                return parser_fail(p, &at, "generic() takes the name of a variable");
            constant->is_generic = true;
            return true;
        }
        return parse_symbol(p, constant);
    default: break;
    }
    return parser_expected(p, addresses ? "a constant or an address" : "a constant");
}

// (.s64) and (.u64) before a value.
static bool at_cast(const Parser *p) { return parser_at(p, '(') && parser_peek(p).kind == TOKEN_DOTTED; }

static bool parse_cast(Parser *p, bool *is_unsigned) {
    parser_advance(p);
    *is_unsigned = parser_at_dotted(p, "u64");
    if (!*is_unsigned && !parser_at_dotted(p, "s64")) return parser_expected(p, ".s64 or .u64");
    parser_advance(p);
    return parser_expect(p, ')', "after the type of a cast");
}

static bool parse_unary(Parser *p, Constant *constant, bool addresses, int depth) {
    if (depth >= MAX_EXPRESSION_DEPTH)
        return parser_fail(p, &p->token, "an expression is nested more than %d deep", MAX_EXPRESSION_DEPTH);
    Token at = p->token;
    bool is_unsigned;
    if (at_cast(p)) {
        if (!parse_cast(p, &is_unsigned) || !parse_unary(p, constant, addresses, depth + 1)) return false;
        if (constant->kind != CONSTANT_INTEGER) return parser_fail(p, &at, "only an integer can be cast");
        constant->is_unsigned = is_unsigned;
        return true;
    }
    if (!parser_at(p, '-') && !parser_at(p, '+') && !parser_at(p, '~') && !parser_at(p, '!'))
        return parse_primary(p, constant, addresses, depth);
    parser_advance(p);
    if (!parse_unary(p, constant, addresses, depth + 1)) return false;
    if (at.punctuation == '+') return true;
    if (constant->kind == CONSTANT_ADDRESS || (constant->kind != CONSTANT_INTEGER && at.punctuation != '-'))
        return parser_fail(p, &at, "'%c' cannot come before this", at.punctuation);
    if (constant->kind == CONSTANT_FLOAT32)
        constant->value ^= 1ull << 31;
    else if (constant->kind == CONSTANT_FLOAT64)
        constant->value ^= 1ull << 63;
    else if (at.punctuation == '-')
        constant->value = 0 - constant->value;
    else if (at.punctuation == '~')
        constant->value = ~constant->value;
    else
        *constant = (Constant){.kind = CONSTANT_INTEGER, .value = !constant->value};
    return true;
}

bool parse_constant(Parser *p, Constant *constant, bool addresses) {
    return parse_choice(p, constant, addresses, 0);
}

bool parse_offset(Parser *p, int64_t *offset) {
    while (parser_at(p, '+') || parser_at(p, '-')) {
        Token at = p->token;
        Constant term;
        parser_advance(p);
        if (!parse_binary(p, &term, false, 10, 0)) return false;
        if (term.kind != CONSTANT_INTEGER) return parser_fail(p, &at, "an offset must be an integer");
        *offset = (int64_t)((uint64_t)*offset + (at.punctuation == '+' ? term.value : 0 - term.value));
    }
    return true;
}
