// Operands of instructions.
#include <string.h>

#include "emulator/ptx/parser.h"

// What the opcode says of names among the operands.
typedef enum {
    CONTEXT_PLAIN,
    CONTEXT_BRANCH,       // bra: a label
    CONTEXT_BRANCH_TABLE, // brx.idx: after the index the .branchtargets
    CONTEXT_CALL,         // call: ( ) are lists, names may be functions and prototypes
} Context;

static bool parse_operand(Parser *p, PtxOperand *operand, Context context, int depth);

// ---- Names ------------------------------------------------------------------------------------------------

// %tid or %tid.x
static bool parse_special(Parser *p, PtxOperand *operand) {
    char text[64];
    Name *name = p->token.name;
    parser_advance(p);
    operand->kind = PTX_OPERAND_SPECIAL;
    if (p->token.kind == TOKEN_DOTTED && p->token.name->length == 1 &&
        strchr("xyzw", p->token.name->text[0])) {
        memcpy(text, name->text, name->length); // the names of special registers are short
        text[name->length] = '.';
        text[name->length + 1] = p->token.name->text[0];
        name = names_intern(p->names, text, name->length + 2);
        if (!name) return parser_no_memory(p);
        parser_advance(p);
    }
    operand->name = name->text;
    return true;
}

static bool parse_label_operand(Parser *p, PtxOperand *operand, BindingKind kind) {
    operand->kind = kind == BINDING_LABEL ? PTX_OPERAND_LABEL : PTX_OPERAND_TARGETS;
    operand->name = p->token.name->text;
    // The operand will be copied from the stack to the instruction; what waits for the label is that
    // copy: settle_label().
    operand->label = -1;
    parser_advance(p);
    return true;
}

static bool parse_name(Parser *p, PtxOperand *operand, Context context) {
    Token at = p->token;
    const Binding *binding = at.name->binding;
    if (at.name == p->sink && !binding) {
        operand->kind = PTX_OPERAND_SINK;
        parser_advance(p);
        return true;
    }
    if (!binding && at.name->is_special) return parse_special(p, operand);
    if (!binding && context == CONTEXT_CALL && at.name->text[0] != '%')
        return parser_fail(p, &at,
                           "function '%.100s' is not declared; declare it above, as in .extern .func %.100s;",
                           at.name->text, at.name->text);
    if (!binding) return parser_undeclared(p, &at);
    parser_advance(p);
    switch (binding->kind) {
    case BINDING_REGISTER:
        if (p->token.kind == TOKEN_DOTTED) {
            operand->part = p->token.name->text;
            parser_advance(p);
        }
        operand->kind = PTX_OPERAND_REGISTER;
        operand->reg = binding->reg;
        return true;
    case BINDING_VARIABLE:
        operand->kind = PTX_OPERAND_VARIABLE;
        operand->variable = binding->variable;
        return true;
    case BINDING_FUNCTION:
        operand->kind = PTX_OPERAND_FUNCTION;
        operand->function = binding->function;
        return true;
    case BINDING_PROTOTYPE:
        if (context != CONTEXT_CALL) break;
        operand->kind = PTX_OPERAND_PROTOTYPE;
        operand->name = binding->name->text;
        return true;
    default: break;
    }
    return parser_fail(p, &at, "'%.100s' is a %s, which cannot be an operand of this instruction",
                       at.name->text, binding_kind_name(binding->kind));
}

// ---- Constants --------------------------------------------------------------------------------------------

static bool parse_immediate(Parser *p, PtxOperand *operand) {
    Constant constant;
    bool is_unsigned = p->token.kind == TOKEN_INTEGER && p->token.is_unsigned;
    if (!parse_constant(p, &constant, false)) return false;
    operand->kind = constant.kind == CONSTANT_FLOAT32   ? PTX_OPERAND_FLOAT32
                    : constant.kind == CONSTANT_FLOAT64 ? PTX_OPERAND_FLOAT64
                                                        : PTX_OPERAND_INTEGER;
    operand->integer = constant.value;
    operand->is_unsigned_literal = is_unsigned;
    return true;
}

static bool starts_constant(const Token *token) {
    return token->kind == TOKEN_INTEGER || token->kind == TOKEN_FLOAT32 || token->kind == TOKEN_FLOAT64;
}

// ---- Groups -----------------------------------------------------------------------------------------------

// Reads operands up to `close`, which is the punctuation after them, into operand->elements.
static bool parse_group(Parser *p, PtxOperand *operand, int close, const char *where, Context context,
                        int depth) {
    size_t base = p->operands.count;
    parser_advance(p); // the opening bracket
    if (!parser_at(p, close)) do {
            PtxOperand element = {0};
            if (!parse_operand(p, &element, context, depth + 1)) return false;
            PtxOperand *place = parser_append(p, &p->operands, sizeof *place);
            if (!place) return false;
            *place = element;
        } while (parser_accept(p, ','));
    if (!parser_expect(p, close, where)) return false;
    size_t count = p->operands.count - base;
    if (count) // there may be no items at all to point into
        operand->elements = parser_copy(p, (PtxOperand *)p->operands.items + base, count, sizeof(PtxOperand));
    operand->element_count = (int)count;
    p->operands.count = base;
    return !p->failed;
}

// [base + offset], and [base, {x, y}] of the instructions that take coordinates.
static bool parse_address(Parser *p, PtxOperand *operand, int depth) {
    PtxOperand parts[4] = {0};
    size_t count = 1;
    operand->kind = PTX_OPERAND_ADDRESS;
    parser_advance(p); // [
    PtxOperand *base = &parts[0];
    base->line = p->token.line;
    base->column = p->token.column;
    if (p->token.kind == TOKEN_NAME && p->token.name != p->warp_size) {
        Token at = p->token;
        if (!parse_name(p, base, CONTEXT_PLAIN)) return false;
        if (base->kind != PTX_OPERAND_REGISTER && base->kind != PTX_OPERAND_VARIABLE)
            return parser_fail(p, &at, "an address begins with a register, a variable or a number");
        if (!parse_offset(p, &operand->offset)) return false;
    } else {
        if (!parse_immediate(p, base)) return false;
        if (base->kind != PTX_OPERAND_INTEGER)
            return parser_fail_at(p, EMULATOR_BAD_PTX, base->line, base->column,
                                  "an address cannot be a float");
    }
    while (parser_accept(p, ',')) {
        if (count == sizeof parts / sizeof *parts) return parser_expected(p, "']'");
        if (!parse_operand(p, &parts[count++], CONTEXT_PLAIN, depth + 1)) return false;
    }
    if (!parser_expect(p, ']', "after an address")) return false;
    operand->elements = parser_copy(p, parts, count, sizeof *parts);
    operand->element_count = (int)count;
    return !p->failed;
}

// p|q, of which the first has been read.
static bool parse_pair(Parser *p, PtxOperand *operand, int depth) {
    PtxOperand *pair = parser_alloc(p, 2, sizeof *pair);
    if (!pair) return false;
    parser_advance(p); // |
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a register after '|'");
    pair[0] = *operand;
    if (!parse_operand(p, &pair[1], CONTEXT_PLAIN, depth + 1)) return false;
    *operand = (PtxOperand){.kind = PTX_OPERAND_PAIR,
                            .elements = pair,
                            .element_count = 2,
                            .line = operand->line,
                            .column = operand->column};
    return true;
}

// ---- One operand ------------------------------------------------------------------------------------------

static bool parse_operand(Parser *p, PtxOperand *operand, Context context, int depth) {
    const Token at = p->token;
    if (depth > MAX_OPERAND_DEPTH)
        return parser_fail(p, &at, "operands are nested more than %d deep", MAX_OPERAND_DEPTH);
    *operand = (PtxOperand){.line = at.line, .column = at.column};
    if (starts_constant(&at) && context != CONTEXT_BRANCH) return parse_immediate(p, operand);
    if (at.kind == TOKEN_NAME) {
        if (at.name == p->warp_size && !at.name->binding) return parse_immediate(p, operand);
        if (context == CONTEXT_BRANCH) return parse_label_operand(p, operand, BINDING_LABEL);
        if (context == CONTEXT_BRANCH_TABLE &&
            !(at.name->binding && at.name->binding->kind == BINDING_REGISTER))
            return parse_label_operand(p, operand, BINDING_TARGETS);
        if (!parse_name(p, operand, context)) return false;
        if (operand->kind == PTX_OPERAND_VARIABLE) return parse_offset(p, &operand->offset);
        return !parser_at(p, '|') || parse_pair(p, operand, depth);
    }
    if (context == CONTEXT_BRANCH) return parser_expected(p, "a label");
    if (at.kind == TOKEN_PUNCTUATION) switch (at.punctuation) {
        case '{':
            operand->kind = PTX_OPERAND_VECTOR;
            return parse_group(p, operand, '}', "after the elements of a vector", CONTEXT_PLAIN, depth);
        case '[': return parse_address(p, operand, depth);
        case '(':
            if (context != CONTEXT_CALL) return parse_immediate(p, operand);
            operand->kind = PTX_OPERAND_LIST;
            return parse_group(p, operand, ')', "after the parameters of a call", CONTEXT_PLAIN, depth);
        case '!':
        case '-':
            // Before a register it negates; before a number it is part of the constant.
            if (parser_peek(p).kind != TOKEN_NAME) return parse_immediate(p, operand);
            parser_advance(p);
            if (!parse_name(p, operand, CONTEXT_PLAIN)) return false;
            if (operand->kind != PTX_OPERAND_REGISTER)
                return parser_fail(p, &at, "'%c' must come before a register or a number", at.punctuation);
            operand->negated = true;
            return true;
        case '+':
        case '~': return parse_immediate(p, operand);
        default: break;
        }
    return parser_expected(p, "an operand");
}

// ---- All operands -----------------------------------------------------------------------------------------

static Context context_of(const char *opcode) {
    if (opcode[0] == 'b') {
        if (strcmp(opcode, "bra") == 0) return CONTEXT_BRANCH;
        if (strcmp(opcode, "brx") == 0) return CONTEXT_BRANCH_TABLE;
    }
    return strcmp(opcode, "call") == 0 ? CONTEXT_CALL : CONTEXT_PLAIN;
}

static bool settle_label(Parser *p, PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_LABEL && operand->kind != PTX_OPERAND_TARGETS) return true;
    Token at = {.line = operand->line, .column = operand->column};
    at.name = names_find(p->names, operand->name, strlen(operand->name));
    return scope_want_label(p, &at, operand->kind == PTX_OPERAND_LABEL ? BINDING_LABEL : BINDING_TARGETS,
                            &operand->label);
}

bool parse_operands(Parser *p, PtxInstruction *in) {
    Context context = context_of(in->opcode);
    p->operands.count = 0;
    if (!parser_at(p, ';')) do {
            PtxOperand operand;
            if (!parse_operand(p, &operand, context, 0)) return false;
            PtxOperand *place = parser_append(p, &p->operands, sizeof *place);
            if (!place) return false;
            *place = operand;
        } while (parser_accept(p, ','));
    if (!parser_expect(p, ';', "after the operands")) return false;
    in->operands = parser_copy(p, p->operands.items, p->operands.count, sizeof(PtxOperand));
    in->operand_count = (int)p->operands.count;
    if (p->failed) return false;
    if (context == CONTEXT_BRANCH || context == CONTEXT_BRANCH_TABLE)
        for (int i = 0; i < in->operand_count; i++)
            if (!settle_label(p, &in->operands[i])) return false;
    return true;
}
