// What ptxas makes of PTX, as far as time is concerned: which instructions vanish, which become several,
// which branches become predicates, which loops are unrolled.
//
// The rules were read off the SASS that ptxas 13 makes for sm_90 of the kernels in bench/variants and
// solutions, and are checked against the instructions that an H200 counted for them (docs/time-model.md).
#include "emulator/model/cost.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/model/instruction_cost.h"
#include "emulator/program/unrolled.h"

enum {
    LONGEST_PREDICATED = 12, // PTX instructions that a forward branch may skip to become predicates
    LONGEST_UNROLLED = 64,   // PTX instructions of a loop body that ptxas still unrolls
    UNROLL = 4,
};

// ---- Registers --------------------------------------------------------------------------------------------

// Dense numbers for the offsets of a register file, given out as they are met.
typedef struct {
    int *number; // by offset / 4; -1: none yet
    int next;
    bool *is_operand; // by offset / 4: what the register holds is a constant operand
    int *uses;        // by offset / 4: how many instructions read it
    int *defined;     // by offset / 4: where it was written last; -1: nowhere yet
} Numbering;

static void numbering_free(Numbering *n) {
    free(n->number);
    free(n->is_operand);
    free(n->uses);
    free(n->defined);
}

static uint16_t numbered(Numbering *n, int32_t offset) {
    int *place = &n->number[offset / 4];
    if (*place < 0) *place = n->next++;
    return (uint16_t)*place;
}

// A multiply-add that reads three registers.
static bool is_fused(const Instruction *in, const InstructionCost *cost, const Numbering *n) {
    if (in->kind != KIND_ALU || in->src_count != 3 || (in->float_ops != 2 && !cost->is_multiply_add))
        return false;
    for (int k = 0; k < 3; k++)
        if (in->src[k].constant || n->is_operand[in->src[k].offset / 4]) return false;
    return true;
}

// Whether two fmas in a row multiply by the same register, at the same place of the instruction or not: ptxas
// then keeps it in the operand collector (the `.reuse` of SASS; Z. Jia and others, "Dissecting the NVIDIA
// Volta GPU Architecture via Microbenchmarking", 2018, section 2.2), so that two registers are read. If the
// second needs the first one's result, other warps come between them, and the H200 reads three (`256
// multiply-adds` of bench/variants).
static bool shares_factor(const Instruction *in, const Instruction *before) {
    bool is_shared = false;
    for (int k = 0; k < 3; k++) {
        if (in->src[k].offset == before->dst[0]) return false;
        for (int other = 0; k < 2 && other < 2; other++)
            is_shared = is_shared || in->src[k].offset == before->src[other].offset;
    }
    return is_shared;
}

// What reading three registers costs. Doubles hold their pipe for half as long again, and integers, which the
// multiply-add pipe takes at half its rate, for two more slots instead of one (bench/variants/doubles.cu and
// integers_32 of families.cu: 1.5 times as long as with a shared factor, and 3 slots).
static void mark_three_registers(InstructionCost *cost, bool shares) {
    if (cost->pipe_double > 0)
        cost->pipe_double *= shares ? 1 : 1.5F;
    else if (cost->is_multiply_add)
        cost->fused = shares ? 1 : 2;
    else
        cost->fused = shares ? 0 : 1;
}

static void number_operands(const Instruction *in, Numbering *n, InstructionCost *cost) {
    int32_t read[MOST_READ], written[MOST_WRITTEN];
    const int reads = registers_read(in, read), writes = registers_written(in, written);
    for (int k = 0; k < reads && k < COST_SOURCES; k++)
        cost->sources[cost->source_count++] = numbered(n, read[k]);
    for (int k = 0; k < writes && k < COST_DESTINATIONS; k++)
        cost->destinations[cost->destination_count++] = numbered(n, written[k]);
    for (int k = 0; k < writes; k++) n->is_operand[written[k] / 4] = is_constant_operand(in);
}

// ---- What depends on the instructions around --------------------------------------------------------------

static bool stays_in_line(const Instruction *in) {
    switch ((InstructionKind)in->kind) {
    case KIND_CALL:
    case KIND_BRANCH_TABLE:
    case KIND_RETURN:
    case KIND_EXIT:
    case KIND_BARRIER:
    case KIND_WARP_BARRIER:
    case KIND_SHUFFLE:
    case KIND_VOTE:
    case KIND_FENCE:
    case KIND_TRAP: return false;
    default: return true;
    }
}

// Where the ways of a guarded branch forward meet again: at its target, or after the other side of an if with
// an else, over which a branch without a guard jumps. -1: too far away, or there is more on the way than
// predicates can replace.
static int end_of_ways(const Function *f, int branch) {
    int end = f->code[branch].target;
    for (int k = branch + 1; k < end; k++) {
        const Instruction *in = &f->code[k];
        if (end - branch > LONGEST_PREDICATED || !stays_in_line(in)) return -1;
        if (in->kind != KIND_BRANCH) continue;
        if (in->guard >= 0 || in->target <= k) return -1;
        if (in->target > end) end = in->target;
    }
    return end - branch > LONGEST_PREDICATED ? -1 : end;
}

// The slots of the way from there.
static float issued_on_way(const Function *f, const InstructionCost *of, int from, int end) {
    float sum = 0;
    for (int k = from; k < end; k = f->code[k].kind == KIND_BRANCH ? f->code[k].target : k + 1)
        if (f->code[k].kind != KIND_BRANCH) sum += of[f->code[k].number].issued;
    return sum;
}

// A short if becomes predicates, with or without an else: ptxas issues both sides, and loads of both wait
// together (`simple` of chapter 17: five loads in a row in SASS, from four ifs and an if with an else).
static void mark_predicated(const Function *f, InstructionCost *of) {
    for (int i = 0; i < f->count; i++) {
        const Instruction *in = &f->code[i];
        if (in->kind != KIND_BRANCH || in->guard < 0 || in->target <= i) continue;
        const int end = end_of_ways(f, i);
        if (end < 0) continue;
        float both = 0;
        for (int k = i + 1; k < end; k++) {
            InstructionCost *inner = &of[f->code[k].number];
            if (f->code[k].kind != KIND_BRANCH) {
                both += inner->issued;
                continue;
            }
            inner->is_predicated = true;
            inner->issued = inner->skipped = inner->skipped_if_taken = 0;
        }
        InstructionCost *cost = &of[in->number];
        cost->is_predicated = true;
        cost->issued = 0;
        cost->skipped = both - issued_on_way(f, of, i + 1, end);
        cost->skipped_if_taken = both - issued_on_way(f, of, in->target, end);
    }
}

// The address of an array element is mul.wide and add, which is one IMAD.WIDE.
static void mark_addresses(const Function *f, InstructionCost *of) {
    for (int i = 1; i < f->count; i++) {
        const Instruction *in = &f->code[i];
        const InstructionCost *cost = &of[in->number];
        if (cost->issued != 2 || cost->latency != latency_alu || in->kind != KIND_ALU) continue;
        for (int back = i - 1; back >= 0 && i - back <= 8; back--) {
            const Instruction *before = &f->code[back];
            const InstructionCost *made = &of[before->number];
            if (before->kind != KIND_ALU || made->latency != latency_wide || !made->destination_count)
                continue;
            bool is_used = false;
            for (int k = 0; k < cost->source_count; k++)
                is_used = is_used || cost->sources[k] == made->destinations[0];
            if (is_used) {
                of[in->number].issued = 0;
                of[in->number].pipe_alu = 0;
                of[in->number].latency = 0;
            }
        }
    }
}

static bool is_logic(const PtxInstruction *in) {
    return in && (is_named(in, "and") || is_named(in, "or") || is_named(in, "xor")) &&
           ptx_type_bytes(ptx_type_from_end(in, 0)) == 4;
}

static bool is_narrow(const PtxInstruction *in, const char *opcode) {
    return in && is_named(in, opcode) && ptx_type_bytes(ptx_type_from_end(in, 0)) == 4;
}

// Whether an `or` with what the shift `shl` leaves is an addition: the other operand has no bit that high,
// since an `and` with a constant made it.
static bool adds_below(const Function *f, const Numbering *n, const Instruction *in,
                       const PtxInstruction *shl) {
    int32_t read[MOST_READ];
    const PtxOperand *by = &shl->operands[shl->operand_count - 1];
    if (by->kind != PTX_OPERAND_INTEGER || by->integer >= 32) return false;
    for (int k = registers_read(in, read) - 1; k >= 0; k--) {
        const int at = n->defined[read[k] / 4];
        const PtxInstruction *made = at < 0 ? NULL : ptx_at_line(f->ptx, f->code[at].ptx_line);
        if (!made || !is_narrow(made, "and")) continue;
        const PtxOperand *most = &made->operands[made->operand_count - 1];
        if (most->kind == PTX_OPERAND_INTEGER && most->integer >> by->integer == 0) return true;
    }
    return false;
}

// Two operations of logic are one LOP3, and a shift and an addition one LEA or IMAD, also if nvcc wrote the
// addition as an `or`: the first of the two costs nothing if the second alone reads its result.
static void mark_joined(const Function *f, InstructionCost *of, Numbering *n) {
    const size_t registers = (size_t)f->register_bytes / 4 + 1;
    int32_t read[MOST_READ], written[MOST_WRITTEN];
    memset(n->uses, 0, registers * sizeof *n->uses);
    memset(n->defined, -1, registers * sizeof *n->defined);
    for (int i = 0; i < f->count; i++)
        for (int k = registers_read(&f->code[i], read) - 1; k >= 0; k--) n->uses[read[k] / 4]++;
    int last_joined = -1; // has taken another in, and is not taken in itself
    for (int i = 0; i < f->count; i++) {
        const Instruction *in = &f->code[i];
        const PtxInstruction *ptx = in->kind == KIND_ALU ? ptx_at_line(f->ptx, in->ptx_line) : NULL;
        const bool takes_logic = is_logic(ptx), takes_shift = is_narrow(ptx, "add");
        for (int k = registers_read(in, read) - 1; k >= 0 && (takes_logic || takes_shift); k--) {
            const int at = n->defined[read[k] / 4];
            if (at < 0 || at == last_joined || n->uses[read[k] / 4] != 1) continue;
            const PtxInstruction *before = ptx_at_line(f->ptx, f->code[at].ptx_line);
            InstructionCost *cost = &of[f->code[at].number];
            const bool is_shift = is_narrow(before, "shl") &&
                                  (takes_shift || (is_narrow(ptx, "or") && adds_below(f, n, in, before)));
            if (cost->issued <= 0 || !(is_shift || (takes_logic && is_logic(before)))) continue;
            cost->issued = cost->pipe_alu = cost->latency = 0;
            last_joined = i;
            break;
        }
        for (int k = registers_written(in, written) - 1; k >= 0; k--)
            n->defined[written[k] / 4] = in->kind == KIND_ALU ? i : -1;
    }
}

static const Instruction *definition_in(const Function *f, int32_t offset, int from, int to) {
    const Instruction *found = NULL;
    for (int k = from; k <= to; k++)
        for (int d = 0; d < f->code[k].dst_count; d++)
            if (f->code[k].dst[d] == offset) found = found ? NULL : &f->code[k];
    return found;
}

// A loop whose counter goes up or down by a constant is unrolled fourfold, unless a pragma forbids it.
static void mark_unrolled(const Function *f, InstructionCost *of) {
    for (int i = 0; i < f->count; i++) {
        const Instruction *in = &f->code[i];
        of[in->number].unrolled = 1;
        if (in->kind != KIND_BRANCH || in->guard < 0 || in->target > i || i - in->target > LONGEST_UNROLLED)
            continue;
        bool is_plain = true;
        for (int k = in->target; k < i; k++) {
            const Instruction *inner = &f->code[k];
            bool is_inner_loop = inner->kind == KIND_BRANCH && inner->target <= k;
            is_plain = is_plain && !is_inner_loop && stays_in_line(inner);
        }
        const Instruction *compare = definition_in(f, in->guard, in->target, i);
        if (!is_plain || !compare || compare->src_count < 1 || compare->src[0].constant) continue;
        const Instruction *step = definition_in(f, compare->src[0].offset, in->target, i);
        bool is_constant = step && step->kind == KIND_ALU && step->src_count >= 2 && !step->src[0].constant &&
                           step->src[1].constant;
        if (is_constant && !is_nounroll(f, in->target)) of[in->number].unrolled = UNROLL;
    }
}

// ---- A program --------------------------------------------------------------------------------------------

static void cost_function(const Program *program, int index, Numbering *numbering, ProgramCosts *costs) {
    const Function *f = &program->functions[index];
    const size_t registers = (size_t)f->register_bytes / 4 + 1;
    memset(numbering->number, -1, registers * sizeof *numbering->number);
    memset(numbering->is_operand, 0, registers * sizeof *numbering->is_operand);
    const Instruction *fused = NULL; // the last one
    for (int i = 0; i < f->count; i++) {
        const Instruction *in = &f->code[i];
        InstructionCost *cost = &costs->of[in->number];
        cost_instruction(in, ptx_at_line(f->ptx, in->ptx_line), cost);
        if (in->merged_bytes == MERGED_AWAY) {
            cost->issued = 0;
            cost->is_lsu = false;
        }
        number_operands(in, numbering, cost);
        if (is_fused(in, cost, numbering)) {
            mark_three_registers(cost, fused && shares_factor(in, fused));
            fused = in;
        }
    }
    mark_addresses(f, costs->of);
    mark_joined(f, costs->of, numbering);
    mark_predicated(f, costs->of);
    mark_unrolled(f, costs->of);
}

ProgramCosts *program_costs_new(const Program *program) {
    ProgramCosts *costs = calloc(1, sizeof *costs);
    if (!costs) return NULL;
    size_t functions = (size_t)program->module->function_count, most = 0;
    for (size_t k = 0; k < functions; k++)
        if (program->functions[k].register_bytes > most) most = program->functions[k].register_bytes;
    Numbering numbering = {.number = malloc((most / 4 + 1) * sizeof(int)),
                           .is_operand = malloc((most / 4 + 1) * sizeof(bool)),
                           .uses = malloc((most / 4 + 1) * sizeof(int)),
                           .defined = malloc((most / 4 + 1) * sizeof(int))};
    costs->of = calloc((size_t)program->instruction_count + 1, sizeof *costs->of);
    costs->first_register = calloc(functions + 1, sizeof *costs->first_register);
    if (!numbering.number || !numbering.is_operand || !numbering.uses || !numbering.defined || !costs->of ||
        !costs->first_register) {
        numbering_free(&numbering);
        program_costs_free(costs);
        return NULL;
    }
    for (size_t k = 0; k < functions; k++) {
        costs->first_register[k] = numbering.next;
        cost_function(program, (int)k, &numbering, costs);
    }
    costs->first_register[functions] = costs->register_count = numbering.next;
    numbering_free(&numbering);
    return costs;
}

void program_costs_free(ProgramCosts *costs) {
    if (!costs) return;
    free(costs->of);
    free(costs->first_register);
    free(costs);
}
