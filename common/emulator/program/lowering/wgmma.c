// Decodes wgmma: products of tiles by four warps, of which each computes 16 rows.
#include <string.h>

#include "emulator/program/lowering/matrix.h"

static bool lower_order(Lowering *l, const PtxInstruction *in, WgmmaOrder operation) {
    Instruction built = blank(KIND_WGMMA_ORDER);
    built.operation = (uint8_t)operation;
    const bool waits = operation == WGMMA_WAIT;
    if (in->operand_count != waits)
        return wrong_operands(l, in, waits ? "the number of groups that may be pending" : "no operands");
    if (waits && !lower_literal(l, in, &in->operands[0], &built.literal[0])) return false;
    return emit(l, in, &built);
}

// The multiplication that the words name; false after an error.
static bool read_form(Lowering *l, const PtxInstruction *in, WgmmaDetail *detail) {
    MatrixWords words;
    if (!matrix_words(l, in, 1, &words)) return false;
    MatrixForm *f = &detail->form;
    *f = (MatrixForm){.operation = words.operation,
                      .saturate = words.saturate,
                      .is_group = true,
                      .c_type = words.type[0],
                      .d_type = words.type[0],
                      .a_type = words.type[1],
                      .b_type = words.type[2]};
    const MatrixType kind = matrix_factor_kind(f->a_type);
    const unsigned bits = matrix_type_bits(kind);
    const bool is_integer = kind == MATRIX_S8, is_bits = kind == MATRIX_B1;
    const bool is_known = is_integer || is_bits || kind == MATRIX_F16 || kind == MATRIX_BF16 ||
                          kind == MATRIX_TF32 || kind == MATRIX_E4M3;
    const unsigned n = words.shape.n, step = is_integer || is_bits ? 16 : 8;
    if (words.types != 3 || !is_known || matrix_factor_kind(f->b_type) != kind || !matrix_sums_fit(f))
        return unsupported_form(l, in, in->modifiers[in->modifier_count - 1]);
    if (words.shape.m != 64 || words.shape.k != 256 / bits || !n || n > 256 ||
        (n % step && n != 8 && n != 24))
        return lower_fail(l, EMULATOR_UNSUPPORTED, in, "wgmma has no shape m%dn%dk%d of this type",
                          words.shape.m, words.shape.n, words.shape.k);
    if (is_bits != (f->operation == MATRIX_AND_POPC && words.has_popc) || (f->saturate && !is_integer) ||
        (!is_bits && f->operation != MATRIX_MULTIPLY))
        return unsupported_form(l, in, is_bits ? "b1" : "satfinite");
    f->shape = (MatrixShape){.m = GROUP_ROWS, .n = GROUP_COLUMNS, .k = words.shape.k};
    detail->n = (uint16_t)n;
    detail->sums = (uint8_t)(f->d_type == MATRIX_F16 ? n / 4 : n / 2);
    return true;
}

// What follows scale-d: the signs of both factors of floats, and of 16-bit ones whether they are turned.
static bool read_immediates(Lowering *l, const PtxInstruction *in, WgmmaDetail *detail) {
    const bool has_signs = detail->form.d_type != MATRIX_S32;
    const int turns = matrix_type_bits(detail->form.a_type) == 16 ? 2 - detail->a_in_registers : 0;
    uint32_t given[4] = {1, 1};
    if (in->operand_count != 4 + 2 * has_signs + turns)
        return wrong_operands(l, in, "as many operands as its type has: d, a, b, scale-d, signs and layouts");
    for (int k = 4; k < in->operand_count; k++)
        if (!lower_literal(l, in, &in->operands[k], &given[k - 4])) return false;
    for (int k = 0; k < 2; k++)
        if (given[k] != 1 && given[k] != UINT32_MAX) return wrong_operands(l, in, "signs of 1 or -1");
    detail->form.negates = given[0] != given[1];
    for (int k = 0; k < turns; k++) detail->is_turned[k + (turns == 1)] = given[2 + k];
    return true;
}

static bool lower_product(Lowering *l, const PtxInstruction *in) {
    WgmmaDetail *detail = arena_alloc(l->arena, sizeof *detail);
    if (!detail) return lower_no_memory(l);
    if (!read_form(l, in, detail)) return false;
    if (!operands_fit(l, in, in->operand_count)) return false;
    detail->a_in_registers = in->operands[1].kind == PTX_OPERAND_VECTOR;
    if (!read_immediates(l, in, detail)) return false;
    const PtxOperand *sums = matrix_registers(l, in, &in->operands[0], detail->sums);
    MoreOperands *more = more_operands(l, detail->sums, detail->sums + (detail->a_in_registers ? 4 : 0));
    if (!sums || !more) return false;
    for (int r = 0; r < detail->sums; r++)
        if (!lower_destination(l, in, &sums[r], PTX_B32, false, &more->dst[r]) ||
            !lower_source(l, in, &sums[r], PTX_B32, false, &more->src[r]))
            return false;
    Instruction built = blank(KIND_WGMMA);
    built.detail = detail;
    built.more = more;
    built.space = PTX_SPACE_SHARED; // of the factors that descriptors name
    built.width = 16;
    built.elements = 1;
    built.src_count = 4;
    if (detail->a_in_registers) {
        const PtxOperand *a = matrix_registers(l, in, &in->operands[1], 4);
        for (int r = 0; r < 4; r++)
            if (!a || !lower_source(l, in, &a[r], PTX_B32, false, &more->src[detail->sums + r])) return false;
    }
    const PtxOperand *of_a = &in->operands[detail->a_in_registers ? 2 : 1];
    return lower_all_lanes(l, in, &built.src[WGMMA_MASK]) &&
           lower_source(l, in, of_a, PTX_B64, false, &built.src[WGMMA_A]) &&
           lower_source(l, in, &in->operands[2], PTX_B64, false, &built.src[WGMMA_B]) &&
           lower_source(l, in, &in->operands[3], PTX_PRED, false, &built.src[WGMMA_SCALE]) &&
           emit(l, in, &built);
}

bool lower_wgmma(Lowering *l, const PtxInstruction *in) {
    const char *what = in->modifier_count ? in->modifiers[0] : "";
    if (!strcmp(what, "mma_async")) return lower_product(l, in);
    if (!strcmp(what, "fence")) return lower_order(l, in, WGMMA_FENCE);
    if (!strcmp(what, "commit_group")) return lower_order(l, in, WGMMA_COMMIT);
    if (!strcmp(what, "wait_group")) return lower_order(l, in, WGMMA_WAIT);
    return unsupported_form(l, in, what);
}
