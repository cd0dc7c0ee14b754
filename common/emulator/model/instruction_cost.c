// What one PTX instruction costs, whatever is around it.
//
// The rules were read off the SASS that ptxas 13 makes for sm_90 of the kernels in bench/variants and
// solutions. Latencies are cycles of Hopper: those of the basic operations are measured by
// bench/variants/calibrate.cu.
#include "emulator/model/instruction_cost.h"

#include <string.h>

#include "emulator/alu/matrix.h"

static const float latency_special = 23, latency_convert = 12, latency_double = 16, latency_shuffle = 24,
                   latency_vote = 12, latency_register = 20;
// Tensor instructions: 989.4 TFLOP/s of f16 on 132 SMs at 1,830 MHz (NVIDIA H100 Tensor Core GPU
// Architecture, table of the H100 SXM5) are 1,024 operations a cycle for each scheduler; f64 has 1/16 of
// that. The latency is that of m16n8k16 of f16 (Luo and others, "Benchmarking and Dissecting the Nvidia
// Hopper GPU Architecture via Microbenchmarking", 2024).
static const float latency_matrix = 32, tensor_operations = 1024, slow_double = 16;

// Of 291 left shifts in the SASS of those kernels, 79 are SHF; 202 are IMAD.SHL, which the multiply-add pipe
// takes, and 10 are of the uniform pipe.
static const float alu_share_of_shift = 79.0F / 291;

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
        set_sequence(cost, 20, 1, 250); // MUFU.RCP64H, nine DFMA, a test and a call that is seldom taken
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
            set_sequence(cost, 20, 1, 220), cost->pipe_double = 8;
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
        cost->is_multiply_add = is_named(ptx, "mad") && !is_wide && !ptx_has(ptx, "wide");
        set(cost, is_wide && !ptx_has(ptx, "wide") ? 4 : 1, 0, latency_wide); // IMAD: the multiply-add pipe
    } else if (is_named(ptx, "popc") || is_named(ptx, "clz") || is_named(ptx, "bfind") ||
               is_named(ptx, "brev")) {
        set(cost, 1, 0, latency_convert);
        cost->pipe_special = 1;
    } else if (is_named(ptx, "add") || is_named(ptx, "sub")) {
        set(cost, is_wide ? 2 : 1, is_wide ? 1 : 0.5F, latency_alu); // half of them as IMAD
    } else if (is_named(ptx, "shl") && is_wide) {
        set(cost, 0, 0, latency_alu); // LEA: part of the addition behind it
    } else if (is_named(ptx, "shl")) {
        set(cost, 1, alu_share_of_shift, latency_alu);
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

void cost_instruction(const Instruction *in, const PtxInstruction *ptx, InstructionCost *cost) {
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
            if (is_constant_operand(in))
                set(cost, 0, 0, 0);
            else
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
