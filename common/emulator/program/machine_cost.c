// Measured with ptxas 13 for sm_90 and kernels of one `if`: how many copies of an instruction, or of a pair,
// it puts under a predicate.
#include "emulator/program/machine_cost.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/alu/slow_path.h"
#include "emulator/program/registers.h"

enum {
    SEVERAL = -2,       // of a register that several instructions write
    COST_OF_BASE = 3,   // the address of shared memory: S2UR, UMOV and ULEA, once
    COST_OF_SCALED = 5, // an approximation that keeps subnormal numbers: scaled before and after
    COST_OF_GUARD = 1,
};

typedef struct {
    const Function *function;
    int *definition; // of a register: its only writer among the PTX instructions, -1, or SEVERAL
    int *uses;
    int *block;     // of a PTX instruction: the number of its basic block
    bool *is_value; // of a register: it is used for something other than an address
    bool *joined;   // of a PTX instruction: joins(), of all those before the one that is looked at
    bool has_base;
    int *seen; // of a decoded instruction: the round of is_read_after() that came to it
    int round;
    int *stack;
} Costs;

static bool is_called(const PtxInstruction *in, const char *opcode) {
    return strcmp(in->opcode, opcode) == 0;
}

static bool is_one_of(const PtxInstruction *in, const char *const *opcodes) {
    for (; *opcodes; opcodes++)
        if (is_called(in, *opcodes)) return true;
    return false;
}

// ---- Definitions and uses ---------------------------------------------------------------------------------

static void note_use(Costs *c, const PtxOperand *o, bool is_address) {
    if (o->kind == PTX_OPERAND_REGISTER) {
        c->uses[o->reg->index]++;
        if (!is_address) c->is_value[o->reg->index] = true;
    }
    for (int k = 0; k < o->element_count; k++) note_use(c, &o->elements[k], o->kind == PTX_OPERAND_ADDRESS);
}

static void note_definition(Costs *c, const PtxOperand *o, int at) {
    if (o->kind == PTX_OPERAND_REGISTER)
        c->definition[o->reg->index] = c->definition[o->reg->index] == -1 ? at : SEVERAL;
    for (int k = 0; k < o->element_count; k++) note_definition(c, &o->elements[k], at);
}

static void note(Costs *c, int at) {
    static const char *const without_result[] = {"st", "red", "bra", "brx", NULL};
    const PtxInstruction *in = &c->function->ptx->instructions[at];
    const bool has_result = in->operand_count > 0 && in->operands[0].kind != PTX_OPERAND_ADDRESS &&
                            !is_one_of(in, without_result);
    if (has_result) note_definition(c, &in->operands[0], at);
    for (int k = has_result ? 1 : 0; k < in->operand_count; k++) note_use(c, &in->operands[k], false);
}

static void number_blocks(Costs *c) {
    const PtxFunction *f = c->function->ptx;
    int label = 0, block = 0;
    for (int i = 0; i < f->instruction_count; i++) {
        for (; label < f->label_count && f->labels[label].instruction <= i; label++) block++;
        c->block[i] = block;
        if (is_called(&f->instructions[i], "bra")) block++;
    }
}

// ---- Arithmetic -------------------------------------------------------------------------------------------

// The earlier instruction of the same block that makes this operand, if it is used at most `most` times, or
// NULL.
static const PtxInstruction *made_for(const Costs *c, const PtxOperand *o, const PtxInstruction *user,
                                      int most) {
    if (o->kind != PTX_OPERAND_REGISTER || c->uses[o->reg->index] > most) return NULL;
    const PtxFunction *f = c->function->ptx;
    const int at = c->definition[o->reg->index];
    const int use = (int)(user - f->instructions);
    return at >= 0 && at < use && c->block[at] == c->block[use] ? &f->instructions[at] : NULL;
}

// Whether the instruction and one that it takes an operand from become one: IMAD, LEA, IADD3, FFMA or LOP3.
static bool joins(const Costs *c, const PtxInstruction *in) {
    static const char *const sums[] = {"add", "sub", NULL}, *const logic[] = {"and", "or", "xor", NULL};
    static const char *const factors[] = {"mul", "shl", "shr", NULL};
    const PtxType type = ptx_type_from_end(in, 0);
    const unsigned bytes = ptx_type_bytes(type);
    for (int k = 1; k < in->operand_count; k++) {
        const PtxInstruction *from = made_for(c, &in->operands[k], in, 1);
        if (!from || from->guard || in->guard) continue;
        if (is_one_of(in, logic) && bytes == 4 && is_one_of(from, logic)) return true;
        if (!is_one_of(in, sums) || ptx_has(in, "cc") || ptx_has(in, "rn")) continue;
        if (bytes == 8 && type == PTX_F64 && is_called(from, "mul") && !ptx_has(from, "rn")) return true;
        if (bytes == 4 && is_one_of(from, factors) && !ptx_has(from, "hi") && !ptx_has(from, "rn"))
            return true;
        if (bytes == 4 && type != PTX_F32 && is_called(from, "add") &&
            !c->joined[from - c->function->ptx->instructions])
            return true;
    }
    return false;
}

// IMAD.WIDE, which makes the product again for each sum.
static bool is_wide_sum(const Costs *c, const PtxInstruction *in) {
    if (!is_called(in, "add") || ptx_type_bytes(ptx_type_from_end(in, 0)) != 8) return false;
    for (int k = 1; k < in->operand_count; k++) {
        const PtxInstruction *from = made_for(c, &in->operands[k], in, INT_MAX);
        if (from && is_called(from, "mul") && ptx_has(from, "wide")) return true;
    }
    return false;
}

// The addition of a constant to an address, which becomes the offset of the accesses unless ways meet with
// others.
static bool is_offset(const Costs *c, const PtxInstruction *in) {
    return is_called(in, "add") && in->operand_count == 3 && !in->guard &&
           in->operands[0].kind == PTX_OPERAND_REGISTER && in->operands[1].kind == PTX_OPERAND_REGISTER &&
           in->operands[2].kind == PTX_OPERAND_INTEGER && !c->is_value[in->operands[0].reg->index] &&
           c->definition[in->operands[0].reg->index] != SEVERAL;
}

// Whether instructions that come after `at` read the register before it is written again.
static bool is_read_after(Costs *c, int32_t offset, int at) {
    const Function *f = c->function;
    int32_t registers[MOST_READ > MOST_WRITTEN ? MOST_READ : MOST_WRITTEN];
    int count = 0;
    c->round++;
    c->stack[count++] = at + 1;
    while (count) {
        const int i = c->stack[--count];
        if (i >= f->count || c->seen[i] == c->round) continue;
        const Instruction *in = &f->code[i];
        bool is_written = false;
        c->seen[i] = c->round;
        for (int k = registers_read(in, registers) - 1; k >= 0; k--)
            if (registers[k] == offset) return true;
        for (int k = registers_written(in, registers) - 1; k >= 0; k--)
            is_written |= registers[k] == offset && in->guard < 0;
        if (is_written || (in->kind == KIND_EXIT && in->guard < 0)) continue;
        if (in->kind == KIND_BRANCH) c->stack[count++] = in->target;
        if (in->kind != KIND_BRANCH || in->guard >= 0) c->stack[count++] = i + 1;
    }
    return false;
}

// Where ways meet with different values of a register, a move on one of them is an instruction unless the
// register can be that of the value: a parameter has none, and a value that is needed later keeps its own.
static int cost_of_copy(Costs *c, const PtxInstruction *ptx, const Instruction *in) {
    const PtxOperand *to = &ptx->operands[0], *from = &ptx->operands[1];
    if (to->kind != PTX_OPERAND_REGISTER || c->definition[to->reg->index] != SEVERAL || in->src[0].constant)
        return 0;
    const int at = c->definition[from->reg->index];
    const PtxInstruction *made = at >= 0 ? &c->function->ptx->instructions[at] : NULL;
    return (made && is_called(made, "ld") && ptx_has(made, "param")) ||
           is_read_after(c, in->src[0].offset, in->index);
}

static int cost_of_move(Costs *c, const PtxInstruction *ptx, const Instruction *in) {
    if (ptx->operand_count < 2) return 1;
    const PtxOperand *from = &ptx->operands[1];
    if (from->kind == PTX_OPERAND_REGISTER) return cost_of_copy(c, ptx, in);
    if (from->kind == PTX_OPERAND_SPECIAL) return 0; // KIND_SPECIAL has it
    if (from->kind != PTX_OPERAND_VARIABLE || from->variable->space != PTX_SPACE_SHARED) return 1;
    const int cost = c->has_base ? 0 : COST_OF_BASE;
    c->has_base = true;
    return cost;
}

static int cost_of_conversion(const PtxInstruction *in) {
    const PtxType from = ptx_type_from_end(in, 0), to = ptx_type_from_end(in, 1);
    const bool is_whole = from != PTX_F16 && from != PTX_BF16 && from != PTX_F32 && from != PTX_F64 &&
                          to != PTX_F16 && to != PTX_BF16 && to != PTX_F32 && to != PTX_F64;
    const bool is_extension = ptx_type_bytes(to) > ptx_type_bytes(from) && to == PTX_S64;
    return is_whole ? is_extension : 1;
}

static int cost_of_arithmetic(Costs *c, const PtxInstruction *in, const Instruction *decoded) {
    static const char *const approximations[] = {"ex2", "lg2", "rcp", "rsqrt", "sqrt", NULL};
    static const char *const free_of_cost[] = {"neg", "abs", NULL};
    const PtxType type = ptx_type_from_end(in, 0);
    const bool is_double_width = ptx_type_bytes(type) == 8 && type != PTX_F64;
    if (type == PTX_PRED) return 0; // a part of the comparison
    if (is_called(in, "mov")) return cost_of_move(c, in, decoded);
    if (is_called(in, "cvt")) return cost_of_conversion(in);
    if (is_called(in, "div") || is_called(in, "rem")) return NEVER_PREDICATED;
    if (is_one_of(in, approximations)) return ptx_has(in, "ftz") ? 1 : COST_OF_SCALED;
    if (is_one_of(in, free_of_cost) && (type == PTX_F32 || type == PTX_F64)) return 0;
    if (is_offset(c, in) || c->joined[in - c->function->ptx->instructions]) return 0;
    if (is_wide_sum(c, in)) return 1;
    if (is_called(in, "mul") && ptx_has(in, "wide")) return 0; // a part of the sums
    if (is_called(in, "setp") || is_called(in, "selp") || !is_double_width || ptx_has(in, "wide")) return 1;
    return is_called(in, "mul") || is_called(in, "mad") ? 4 : is_called(in, "shl") ? 0 : 2;
}

// ---- Instructions -----------------------------------------------------------------------------------------

// The shape of the launch is an operand there, as parameters are.
static bool is_in_constant_memory(SpecialRegister which) {
    return (which >= SPECIAL_NTID_X && which <= SPECIAL_NTID_Z) ||
           (which >= SPECIAL_NCTAID_X && which <= SPECIAL_NCTAID_Z);
}

static int cost_of(Costs *c, const Instruction *in) {
    const PtxInstruction *ptx = ptx_at_line(c->function->ptx, in->ptx_line);
    switch ((InstructionKind)in->kind) {
    case KIND_CVTA: return 0;
    case KIND_LOAD: return in->merged_bytes != MERGED_AWAY && in->space != PTX_SPACE_PARAM;
    case KIND_STORE: return in->merged_bytes != MERGED_AWAY;
    case KIND_ALU: return in->slow_path || !ptx ? NEVER_PREDICATED : cost_of_arithmetic(c, ptx, in);
    case KIND_SPECIAL: return !is_in_constant_memory((SpecialRegister)in->literal[0]);
    case KIND_MAPA:
    case KIND_CP_ASYNC:
    case KIND_BARRIER:
    case KIND_MBARRIER: return 1;
    default: return NEVER_PREDICATED;
    }
}

bool find_machine_costs(Function *function) {
    const PtxFunction *f = function->ptx;
    const size_t registers = (size_t)f->register_count + 1, count = (size_t)f->instruction_count + 1;
    Costs c = {.function = function,
               .definition = malloc(registers * sizeof *c.definition),
               .uses = calloc(registers, sizeof *c.uses),
               .block = malloc(count * sizeof *c.block),
               .is_value = calloc(registers, sizeof *c.is_value),
               .joined = calloc(count, sizeof *c.joined),
               .seen = calloc((size_t)function->count + 1, sizeof *c.seen),
               .stack = malloc(2 * ((size_t)function->count + 1) * sizeof *c.stack)};
    const bool is_ready = c.definition && c.uses && c.block && c.is_value && c.joined && c.seen && c.stack;
    if (is_ready) {
        for (int i = 0; i < f->register_count; i++) c.definition[i] = -1;
        for (int i = 0; i < f->instruction_count; i++) note(&c, i);
        number_blocks(&c);
        for (int i = 0; i < f->instruction_count; i++) c.joined[i] = joins(&c, &f->instructions[i]);
        for (int i = 0; i < function->count; i++) {
            Instruction *in = &function->code[i];
            const int cost = cost_of(&c, in);
            in->machine_cost =
                (uint8_t)(cost == NEVER_PREDICATED ? cost : cost + (in->guard >= 0 ? COST_OF_GUARD : 0));
        }
    }
    free(c.definition);
    free(c.uses);
    free(c.block);
    free(c.is_value);
    free(c.joined);
    free(c.seen);
    free(c.stack);
    return is_ready;
}
