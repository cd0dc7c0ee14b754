// Decodes matrix multiplications: mma and wmma.mma. Their forms are one table.
#include "emulator/program/lowering/matrix.h"

#include <string.h>

// ---- Forms ------------------------------------------------------------------------------------------------

bool matrix_sums_fit(const MatrixForm *f) {
    const bool same = f->c_type == f->d_type, is_half = f->c_type == MATRIX_F16 || f->c_type == MATRIX_F32,
               d_half = f->d_type == MATRIX_F16 || f->d_type == MATRIX_F32;
    switch (matrix_factor_kind(f->a_type)) {
    case MATRIX_F16: return is_half && d_half;
    case MATRIX_E4M3: return is_half && same;
    case MATRIX_BF16:
    case MATRIX_TF32: return f->c_type == MATRIX_F32 && same;
    case MATRIX_F64: return f->c_type == MATRIX_F64 && same;
    default: return f->c_type == MATRIX_S32 && same;
    }
}

static bool form_is_known(const MatrixForm *f, const MatrixWords *words) {
    const bool is_mixed = f->a_type != f->b_type;
    if (matrix_factor_kind(f->a_type) != matrix_factor_kind(f->b_type) || (f->shape.is_wmma && is_mixed))
        return false;
    if ((f->a_type == MATRIX_B1) != (f->operation != MATRIX_MULTIPLY && words->has_popc)) return false;
    if (words->layouts != 2 || words->space != PTX_SPACE_NONE) return false;
    const bool has_layouts = f->shape.is_quad || (f->shape.is_wmma && f->a.bits >= 8);
    if (!has_layouts && (words->is_column[0] || !words->is_column[1])) return false;
    const bool is_integer =
        f->a_type == MATRIX_S8 || f->a_type == MATRIX_U8 || f->a_type == MATRIX_S4 || f->a_type == MATRIX_U4;
    return matrix_sums_fit(f) && (!f->saturate || is_integer);
}

static MatrixForm *make_form(Lowering *l, const MatrixWords *words, bool is_wmma) {
    MatrixForm *f = arena_alloc(l->arena, sizeof *f);
    if (!f) return NULL;
    *f = (MatrixForm){.shape = words->shape, .operation = words->operation, .saturate = words->saturate};
    // d a b c; wmma of f16 leaves out a and b.
    f->d_type = words->type[0];
    f->a_type = words->types == 4 ? words->type[1] : MATRIX_F16;
    f->b_type = words->types == 4 ? words->type[2] : MATRIX_F16;
    f->c_type = words->types == 4 ? words->type[3] : words->type[1];
    f->shape.is_wmma = is_wmma;
    f->shape.is_quad = !is_wmma && f->a_type == MATRIX_F16 && f->shape.k == 4;
    if (!matrix_shape_known(f->a_type, &f->shape) || !matrix_sums_fit(f)) return f; // no fragments
    matrix_fragment(&f->a, &f->shape, MATRIX_A, f->a_type, words->is_column[0]);
    matrix_fragment(&f->b, &f->shape, MATRIX_B, f->b_type, words->is_column[1]);
    matrix_fragment(&f->c, &f->shape, MATRIX_C, f->c_type, false);
    matrix_fragment(&f->d, &f->shape, MATRIX_C, f->d_type, false);
    return f;
}

static bool same_words(const MatrixWords *x, const MatrixWords *y) {
    bool same = x->types == y->types && x->layouts == y->layouts && x->operation == y->operation &&
                x->saturate == y->saturate && x->space == y->space && x->has_popc == y->has_popc &&
                x->shape.m == y->shape.m && x->shape.n == y->shape.n && x->shape.k == y->shape.k;
    for (int i = 0; same && i < 4; i++) same = x->type[i] == y->type[i];
    return same && x->is_column[0] == y->is_column[0] && x->is_column[1] == y->is_column[1];
}

// Instructions with the same words share one form.
static const MatrixForm *form_of(Lowering *l, const MatrixWords *words, bool is_wmma) {
    for (const struct MatrixForms *known = l->matrix_forms; known; known = known->next)
        if (known->is_wmma == is_wmma && same_words(&known->words, words)) return known->form;
    struct MatrixForms *new = arena_alloc(l->arena, sizeof *new);
    if (!new || !(new->form = make_form(l, words, is_wmma))) return NULL;
    new->words = *words;
    new->is_wmma = is_wmma;
    new->next = l->matrix_forms;
    l->matrix_forms = new;
    return new->form;
}

// ---- Operands ---------------------------------------------------------------------------------------------

static bool lower_factor(Lowering *l, const PtxInstruction *in, const PtxOperand *o, const MatrixFragment *f,
                         MoreOperands *more) {
    const PtxOperand *registers = matrix_registers(l, in, o, f->registers);
    for (int r = 0; registers && r < f->registers; r++)
        if (!lower_source(l, in, &registers[r], f->width == 8 ? PTX_B64 : PTX_B32, false,
                          &more->src[more->src_count++]))
            return false;
    return registers != NULL;
}

static bool lower_multiply(Lowering *l, const PtxInstruction *in, int first_word, bool is_wmma) {
    MatrixWords words;
    if (!matrix_words(l, in, first_word, &words)) return false;
    if (words.types != 4 && !(is_wmma && words.types == 2))
        return wrong_operands(l, in, "the types of d, a, b and c");
    const MatrixForm *form = form_of(l, &words, is_wmma);
    if (!form) return lower_no_memory(l);
    if (!form->a.registers || !form_is_known(form, &words))
        return unsupported_form(l, in, in->modifiers[in->modifier_count - 1]);
    if (in->operand_count != 4) return wrong_operands(l, in, l->opcode->wanted);
    MoreOperands *more = more_operands(l, form->d.registers, 3 * FRAGMENT_REGISTERS);
    if (!more) return false;
    more->src_count = 0; // of those that lower_factor() adds
    const PtxOperand *to = matrix_registers(l, in, &in->operands[0], form->d.registers);
    if (!to) return false;
    for (int r = 0; r < form->d.registers; r++)
        if (!lower_destination(l, in, &to[r], form->d.width == 8 ? PTX_B64 : PTX_B32, false, &more->dst[r]))
            return false;
    Instruction built = blank(KIND_MMA);
    built.detail = form;
    built.more = more;
    built.src_count = 1;
    return lower_factor(l, in, &in->operands[1], &form->a, more) &&
           lower_factor(l, in, &in->operands[2], &form->b, more) &&
           lower_factor(l, in, &in->operands[3], &form->c, more) && lower_all_lanes(l, in, &built.src[0]) &&
           emit(l, in, &built);
}

bool lower_mma(Lowering *l, const PtxInstruction *in) { return lower_multiply(l, in, 0, false); }

bool lower_wmma(Lowering *l, const PtxInstruction *in) {
    const char *what = in->modifier_count ? in->modifiers[0] : "";
    if (!strcmp(what, "mma")) return lower_multiply(l, in, 1, true);
    if (!strcmp(what, "load") || !strcmp(what, "store")) return lower_wmma_memory(l, in, what[0] == 'l');
    return unsupported_form(l, in, what);
}
