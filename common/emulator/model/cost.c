// What ptxas makes of PTX, as far as time is concerned: which instructions vanish, which become several,
// which branches become predicates, which loops are unrolled.
//
// The rules were read off the SASS that ptxas 13 makes for sm_90 of the kernels in bench/variants and
// solutions, and are checked against the instructions that an H200 counted for them (docs/time-model.md).
// Latencies are cycles of Hopper: those of the basic operations are measured by bench/variants/calibrate.cu.
#include "emulator/model/cost.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/alu/matrix.h"

enum {
    LONGEST_PREDICATED = 12, // PTX instructions that a forward branch may skip to become predicates
    LONGEST_UNROLLED = 64,   // PTX instructions of a loop body that ptxas still unrolls
    UNROLL = 4,
};

static const float latency_alu = 4.5F, latency_wide = 6, latency_special = 23, latency_convert = 12,
                   latency_double = 16, latency_shuffle = 24, latency_vote = 12, latency_register = 20;
// Tensor instructions: 989.4 TFLOP/s of f16 on 132 SMs at 1,830 MHz (NVIDIA H100 Tensor Core GPU
// Architecture, table of the H100 SXM5) are 1,024 operations a cycle for each scheduler; f64 has 1/16 of
// that. The latency is that of m16n8k16 of f16 (Luo and others, "Benchmarking and Dissecting the Nvidia
// Hopper GPU Architecture via Microbenchmarking", 2024).
static const float latency_matrix = 32, tensor_operations = 1024, slow_double = 16;

// ---- One instruction --------------------------------------------------------------------------------------

static bool is_named(const PtxInstruction *in, const char *opcode) { return strcmp(in->opcode, opcode) == 0; }

static bool is_float(PtxType type) { return type == PTX_F32 || type == PTX_F16X2 || type == PTX_BF16X2; }

static void set(InstructionCost *cost, float issued, float alu, float latency) {
    cost->issued = issued;
    cost->pipe_alu = alu;
    cost->latency = latency;
}

// A sequence of that many instructions with `special` of them on the special function unit.
static void set_sequence(InstructionCost *cost, float issued, float special, float latency) {
    set(cost, issued, issued / 3, latency);
    cost->pipe_special = special;
}

static void cost_divide(const PtxInstruction *ptx, PtxType type, InstructionCost *cost) {
    if (type == PTX_F64) {
        set_sequence(cost, 40, 1, 250);
        cost->pipe_double = 10;
    } else if (type == PTX_F32) {
        if (ptx_has(ptx, "approx") || ptx_has(ptx, "full"))
            set_sequence(cost, 4, 1, 40);
        else
            set_sequence(cost, 14, 1, 90);
    } else if (ptx_type_bytes(type) == 8)
        set_sequence(cost, 110, 2, 500);
    else
        set_sequence(cost, 18, 1, 110); // by a reciprocal in floats and two corrections
}

static void cost_arithmetic(const PtxInstruction *ptx, InstructionCost *cost) {
    PtxType type = ptx_type_from_end(ptx, 0);
    bool is_wide = ptx_type_bytes(type) == 8 && type != PTX_F64;
    if (is_named(ptx, "mov")) {
        set(cost, 0.25F, 0, 1); // most go with the allocation of registers
    } else if (is_named(ptx, "div") || is_named(ptx, "rem")) {
        cost_divide(ptx, type, cost);
    } else if (is_named(ptx, "sqrt") || is_named(ptx, "rsqrt") || is_named(ptx, "rcp")) {
        bool is_approximate = ptx_has(ptx, "approx");
        if (type == PTX_F64)
            set_sequence(cost, 35, 1, 220), cost->pipe_double = 8;
        else if (is_approximate)
            set_sequence(cost, ptx_has(ptx, "ftz") ? 1 : 4, 1, latency_special + 12);
        else
            set_sequence(cost, 12, 1, 80);
    } else if (is_named(ptx, "ex2") || is_named(ptx, "lg2") || is_named(ptx, "sin") || is_named(ptx, "cos") ||
               is_named(ptx, "tanh")) {
        set_sequence(cost, 2, 1, latency_special + 8);
    } else if (is_named(ptx, "cvt")) {
        PtxType from = type, to = ptx_type_from_end(ptx, 1);
        bool is_integers = !is_float(from) && !is_float(to) && from != PTX_F64 && to != PTX_F64 &&
                           from != PTX_F16 && to != PTX_F16 && from != PTX_BF16 && to != PTX_BF16;
        if (is_integers) { // a sign extension at most, and often part of the address arithmetic
            set(cost, 0.5F, 0.5F, latency_alu);
        } else {
            set(cost, 1, 0, latency_convert);
            cost->pipe_special = 1;
        }
    } else if (type == PTX_F64) {
        set(cost, 1, 0, latency_double);
        cost->pipe_double = 1;
    } else if (is_float(type) || type == PTX_F16 || type == PTX_BF16) {
        bool is_compare = is_named(ptx, "setp") || is_named(ptx, "selp") || is_named(ptx, "min") ||
                          is_named(ptx, "max") || is_named(ptx, "set");
        set(cost, 1, is_compare ? 1 : 0, latency_alu);
    } else if (type == PTX_PRED) {
        set(cost, 0.5F, 0.5F, latency_alu); // often part of the comparison
    } else if (is_named(ptx, "mul") || is_named(ptx, "mad")) {
        set(cost, is_wide && !ptx_has(ptx, "wide") ? 4 : 1, 0, latency_wide); // IMAD: the multiply-add pipe
    } else if (is_named(ptx, "popc") || is_named(ptx, "clz") || is_named(ptx, "bfind") ||
               is_named(ptx, "brev")) {
        set(cost, 1, 0, latency_convert);
        cost->pipe_special = 1;
    } else if (is_named(ptx, "add") || is_named(ptx, "sub")) {
        set(cost, is_wide ? 2 : 1, is_wide ? 1 : 0.5F, latency_alu); // half of them as IMAD
    } else if (is_named(ptx, "shl") && is_wide) {
        set(cost, 0, 0, latency_alu); // LEA: part of the addition behind it
    } else {
        set(cost, is_wide ? 2 : 1, is_wide ? 2 : 1, latency_alu);
    }
}

// It holds its pipe as long as an issue slot for every 1,024 operations of f16; narrower integers are faster,
// and 8-bit floats become f16.
static void cost_matrix(const MatrixForm *form, InstructionCost *cost) {
    const MatrixShape *s = &form->shape;
    const float operations = 2.0F * (float)s->m * (float)s->n * (float)s->k * (s->is_quad ? 4 : 1);
    const bool is_small_float = form->a_type == MATRIX_E4M3 || form->a_type == MATRIX_E5M2;
    const float relative = form->a_type == MATRIX_F64 ? slow_double
                           : is_small_float           ? 1
                                                      : (float)form->a.bits / 16;
    const float slots = operations * relative / tensor_operations;
    set(cost, slots > 1 ? slots : 1, 0, latency_matrix);
}

static void cost_instruction(const Instruction *in, const PtxInstruction *ptx, InstructionCost *cost) {
    switch ((InstructionKind)in->kind) {
    case KIND_ALU:
        if (in->alu == matrix_address) // of wmma: an offset of the access
            set(cost, 0, 0, latency_alu);
        else if (ptx)
            cost_arithmetic(ptx, cost);
        break;
    case KIND_SPECIAL: set(cost, 1, 0, latency_register); break;
    case KIND_LOAD:
        if (in->space == PTX_SPACE_PARAM || in->space == PTX_SPACE_CONST) {
            set(cost, 1, 0, latency_convert);
            break;
        }
        set(cost, 1, 0, 0);
        cost->is_lsu = true;
        break;
    case KIND_STORE:
    case KIND_ROW_LOAD:
    case KIND_ROW_STORE:
    case KIND_ATOMIC:
    case KIND_CP_ASYNC:
        set(cost, 1, 0, 0);
        cost->is_lsu = true;
        break;
    case KIND_SHUFFLE:
        set(cost, 1, 0, latency_shuffle);
        cost->is_lsu = true;
        break;
    case KIND_VOTE:
    case KIND_MATCH:
    case KIND_REDUX:
    case KIND_ELECT: set(cost, 1, 1, latency_vote); break;
    case KIND_MMA: cost_matrix(in->detail, cost); break;
    case KIND_MATRIX_MOVE: // else a part of ldmatrix or stmatrix
        set(cost, in->operation == MOVE_FRAGMENT ? 1 : 0, 0,
            in->operation == MOVE_FRAGMENT ? latency_convert : 0);
        break;
    case KIND_CALL: set(cost, 4, 0, 30); break;
    case KIND_CVTA:
    case KIND_FRAME_ADDRESS:
    case KIND_NOT_PREDICATE:
    case KIND_NOP:
    case KIND_PARAM_LOAD:
    case KIND_PARAM_STORE: set(cost, 0, 0, 0); break;
    default: set(cost, 1, 0, 0); break;
    }
}

// ---- Registers --------------------------------------------------------------------------------------------

// Dense numbers for the offsets of a register file, given out as they are met.
typedef struct {
    int *number; // by offset / 4; -1: none yet
    int next;
} Numbering;

static uint16_t numbered(Numbering *n, int32_t offset) {
    int *place = &n->number[offset / 4];
    if (*place < 0) *place = n->next++;
    return (uint16_t)*place;
}

// A float fma that reads three registers.
static bool is_fused(const Instruction *in, const InstructionCost *cost) {
    if (in->kind != KIND_ALU || in->float_ops != 2 || in->src_count != 3 || cost->pipe_double > 0)
        return false;
    for (int k = 0; k < 3; k++)
        if (in->src[k].constant) return false;
    return true;
}

// Whether two fmas in a row multiply by the same register, at the same place of the instruction or not: ptxas
// then keeps it in the operand collector (the `.reuse` of SASS; Z. Jia and others, "Dissecting the NVIDIA
// Volta GPU Architecture via Microbenchmarking", 2018, section 2.2), so that two registers are read.
static bool shares_factor(const Instruction *in, const Instruction *before) {
    for (int k = 0; k < 2; k++)
        for (int other = 0; other < 2; other++)
            if (in->src[k].offset == before->src[other].offset) return true;
    return false;
}

static void number_operands(const Instruction *in, Numbering *n, InstructionCost *cost) {
    int32_t read[MOST_READ], written[MOST_WRITTEN];
    const int reads = registers_read(in, read), writes = registers_written(in, written);
    for (int k = 0; k < reads && k < COST_SOURCES; k++)
        cost->sources[cost->source_count++] = numbered(n, read[k]);
    for (int k = 0; k < writes && k < COST_DESTINATIONS; k++)
        cost->destinations[cost->destination_count++] = numbered(n, written[k]);
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

static void mark_predicated(const Function *f, InstructionCost *of) {
    for (int i = 0; i < f->count; i++) {
        const Instruction *in = &f->code[i];
        if (in->kind != KIND_BRANCH || in->guard < 0 || in->target <= i ||
            in->target - i > LONGEST_PREDICATED)
            continue;
        bool is_plain = true;
        float skipped = 0;
        for (int k = i + 1; k < in->target; k++) {
            is_plain = is_plain && f->code[k].kind != KIND_BRANCH && stays_in_line(&f->code[k]);
            skipped += of[f->code[k].number].issued;
        }
        InstructionCost *cost = &of[in->number];
        cost->is_predicated = is_plain;
        cost->skipped = is_plain ? skipped : 0;
        if (is_plain) cost->issued = 0;
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

// The PTX instruction at that line of the text, or NULL.
static const PtxInstruction *written_at(const PtxFunction *f, int line) {
    int low = 0, high = f->instruction_count - 1;
    while (low <= high) {
        int middle = (low + high) / 2, at = f->instructions[middle].line;
        if (at == line) return &f->instructions[middle];
        if (at < line)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

static const Instruction *definition_in(const Function *f, int32_t offset, int from, int to) {
    const Instruction *found = NULL;
    for (int k = from; k <= to; k++)
        for (int d = 0; d < f->code[k].dst_count; d++)
            if (f->code[k].dst[d] == offset) found = found ? NULL : &f->code[k];
    return found;
}

static bool is_nounroll(const Function *f, int32_t target) {
    const PtxInstruction *first = written_at(f->ptx, f->code[target].ptx_line);
    for (int k = 0; first && k < f->ptx->label_count; k++) {
        const PtxLabel *label = &f->ptx->labels[k];
        if (label->is_nounroll && label->instruction == first - f->ptx->instructions) return true;
    }
    return false;
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
    const Instruction *fused = NULL; // the last one
    memset(numbering->number, -1, ((size_t)f->register_bytes / 4 + 1) * sizeof(int));
    for (int i = 0; i < f->count; i++) {
        const Instruction *in = &f->code[i];
        InstructionCost *cost = &costs->of[in->number];
        cost_instruction(in, written_at(f->ptx, in->ptx_line), cost);
        number_operands(in, numbering, cost);
        if (is_fused(in, cost)) {
            cost->fused = fused && shares_factor(in, fused) ? 0 : 1;
            fused = in;
        }
    }
    mark_addresses(f, costs->of);
    mark_predicated(f, costs->of);
    mark_unrolled(f, costs->of);
}

ProgramCosts *program_costs_new(const Program *program) {
    ProgramCosts *costs = calloc(1, sizeof *costs);
    if (!costs) return NULL;
    size_t functions = (size_t)program->module->function_count, most = 0;
    for (size_t k = 0; k < functions; k++)
        if (program->functions[k].register_bytes > most) most = program->functions[k].register_bytes;
    Numbering numbering = {.number = malloc((most / 4 + 1) * sizeof(int))};
    costs->of = calloc((size_t)program->instruction_count + 1, sizeof *costs->of);
    costs->first_register = calloc(functions + 1, sizeof *costs->first_register);
    if (!numbering.number || !costs->of || !costs->first_register) {
        free(numbering.number);
        program_costs_free(costs);
        return NULL;
    }
    for (size_t k = 0; k < functions; k++) {
        costs->first_register[k] = numbering.next;
        cost_function(program, (int)k, &numbering, costs);
    }
    costs->first_register[functions] = costs->register_count = numbering.next;
    free(numbering.number);
    return costs;
}

void program_costs_free(ProgramCosts *costs) {
    if (!costs) return;
    free(costs->of);
    free(costs->first_register);
    free(costs);
}
