// The words and operands that matrix instructions have in common.
#include <string.h>

#include "emulator/program/lowering/matrix.h"

// ---- Words ------------------------------------------------------------------------------------------------

static MatrixType matrix_type_named(const char *word) {
    static const struct {
        const char *name;
        MatrixType type;
    } types[] = {{"f16", MATRIX_F16},   {"bf16", MATRIX_BF16}, {"tf32", MATRIX_TF32}, {"e4m3", MATRIX_E4M3},
                 {"e5m2", MATRIX_E5M2}, {"f32", MATRIX_F32},   {"f64", MATRIX_F64},   {"s8", MATRIX_S8},
                 {"u8", MATRIX_U8},     {"s4", MATRIX_S4},     {"u4", MATRIX_U4},     {"b1", MATRIX_B1},
                 {"s32", MATRIX_S32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(word, types[i].name)) return types[i].type;
    return MATRIX_NO_TYPE;
}

// "m16n8k16"
static bool read_shape(const char *word, MatrixShape *shape) {
    static const char letters[] = "mnk";
    unsigned sizes[3];
    for (int i = 0; i < 3; i++) {
        if (*word++ != letters[i]) return false;
        sizes[i] = 0;
        while (*word >= '0' && *word <= '9' && sizes[i] < 1000)
            sizes[i] = sizes[i] * 10 + (unsigned)(*word++ - '0');
    }
    if (*word || sizes[0] > 64 || sizes[1] > 256 || sizes[2] > 256) return false;
    shape->m = (uint16_t)sizes[0];
    shape->n = (uint16_t)sizes[1];
    shape->k = (uint16_t)sizes[2];
    return true;
}

bool matrix_words(Lowering *l, const PtxInstruction *in, int first, MatrixWords *words) {
    *words = (MatrixWords){0};
    bool is_sync = false, is_aligned = false, rounds_to_nearest = false;
    for (int i = first; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        const MatrixType type = matrix_type_named(word);
        if (!strcmp(word, "sync"))
            is_sync = true;
        else if (!strcmp(word, "aligned"))
            is_aligned = true;
        else if ((!strcmp(word, "row") || !strcmp(word, "col")) && words->layouts < 2)
            words->is_column[words->layouts++] = word[0] == 'c';
        else if (type != MATRIX_NO_TYPE && words->types < 4)
            words->type[words->types++] = type;
        else if (!strcmp(word, "satfinite"))
            words->saturate = true;
        else if (!strcmp(word, "rn")) // also what the form without this word does
            rounds_to_nearest = true;
        else if (!strcmp(word, "xor"))
            words->operation = MATRIX_XOR_POPC;
        else if (!strcmp(word, "and"))
            words->operation = MATRIX_AND_POPC;
        else if (!strcmp(word, "global"))
            words->space = PTX_SPACE_GLOBAL;
        else if (!strcmp(word, "shared") || !strcmp(word, "shared::cta"))
            words->space = PTX_SPACE_SHARED;
        else if (!strcmp(word, "popc"))
            words->has_popc = true;
        else if (!strncmp(word, "sp", 2))
            return lower_fail(l, EMULATOR_UNSUPPORTED, in, "%s of a sparse matrix (.%s) is not supported",
                              in->opcode, word);
        else if (words->shape.m || !read_shape(word, &words->shape))
            return unsupported_form(l, in, word);
    }
    if (!is_sync || !is_aligned || !words->shape.m)
        return lower_fail(l, EMULATOR_BAD_PTX, in, "%s wants .sync.aligned and a shape such as .m16n8k16",
                          in->opcode);
    // PTX ISA, wmma.mma: only the products of f64 name their rounding.
    if (rounds_to_nearest && (words->types != 4 || words->type[0] != MATRIX_F64))
        return unsupported_form(l, in, "rn");
    return true;
}

// ---- Shapes -----------------------------------------------------------------------------------------------

// The shapes of each type of factor. s8 stands for u8, s4 for u4, e4m3 for e5m2.
static const struct {
    MatrixType type;
    uint8_t m, n;
    uint16_t k;
    bool is_wmma;
} shapes[] = {
    {MATRIX_F16, 8, 8, 4, false},   {MATRIX_F16, 16, 8, 8, false},   {MATRIX_F16, 16, 8, 16, false},
    {MATRIX_BF16, 16, 8, 8, false}, {MATRIX_BF16, 16, 8, 16, false}, {MATRIX_TF32, 16, 8, 4, false},
    {MATRIX_TF32, 16, 8, 8, false}, {MATRIX_E4M3, 16, 8, 16, false}, {MATRIX_E4M3, 16, 8, 32, false},
    {MATRIX_F64, 8, 8, 4, false},   {MATRIX_F64, 16, 8, 4, false},   {MATRIX_F64, 16, 8, 8, false},
    {MATRIX_F64, 16, 8, 16, false}, {MATRIX_S8, 8, 8, 16, false},    {MATRIX_S8, 16, 8, 16, false},
    {MATRIX_S8, 16, 8, 32, false},  {MATRIX_S4, 8, 8, 32, false},    {MATRIX_S4, 16, 8, 32, false},
    {MATRIX_S4, 16, 8, 64, false},  {MATRIX_B1, 8, 8, 128, false},   {MATRIX_B1, 16, 8, 128, false},
    {MATRIX_B1, 16, 8, 256, false}, {MATRIX_F16, 16, 16, 16, true},  {MATRIX_F16, 32, 8, 16, true},
    {MATRIX_F16, 8, 32, 16, true},  {MATRIX_BF16, 16, 16, 16, true}, {MATRIX_BF16, 32, 8, 16, true},
    {MATRIX_BF16, 8, 32, 16, true}, {MATRIX_TF32, 16, 16, 8, true},  {MATRIX_S8, 16, 16, 16, true},
    {MATRIX_S8, 32, 8, 16, true},   {MATRIX_S8, 8, 32, 16, true},    {MATRIX_F64, 8, 8, 4, true},
    {MATRIX_S4, 8, 8, 32, true},    {MATRIX_B1, 8, 8, 128, true},
};

MatrixType matrix_factor_kind(MatrixType type) {
    return type == MATRIX_U8     ? MATRIX_S8
           : type == MATRIX_U4   ? MATRIX_S4
           : type == MATRIX_E5M2 ? MATRIX_E4M3
                                 : type;
}

bool matrix_shape_known(MatrixType factor, const MatrixShape *shape) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].type == matrix_factor_kind(factor) && shapes[i].m == shape->m &&
            shapes[i].n == shape->n && shapes[i].k == shape->k && shapes[i].is_wmma == shape->is_wmma)
            return true;
    return false;
}

// ---- Operands ---------------------------------------------------------------------------------------------

const PtxOperand *matrix_registers(Lowering *l, const PtxInstruction *in, const PtxOperand *o, int count) {
    const int given = o->kind == PTX_OPERAND_VECTOR ? o->element_count : 1;
    if (given != count) {
        lower_fail(l, EMULATOR_BAD_PTX, in, "a fragment of this %s has %d registers, not %d", in->opcode,
                   count, given);
        return NULL;
    }
    return o->kind == PTX_OPERAND_VECTOR ? o->elements : o;
}

bool lower_all_lanes(Lowering *l, const PtxInstruction *in, Operand *out) {
    const PtxOperand all = {.kind = PTX_OPERAND_INTEGER, .integer = FULL_MASK};
    return lower_source(l, in, &all, PTX_B32, false, out);
}
