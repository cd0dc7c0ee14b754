// Which elements of a matrix each lane holds (ISA, Matrix Fragments for mma.*). For wmma the ISA leaves that
// open; here a fragment of wmma is that of the mma instructions which a GPU executes instead.
#include "emulator/alu/matrix.h"

unsigned matrix_type_bits(MatrixType type) {
    switch (type) {
    case MATRIX_F64: return 64;
    case MATRIX_F32:
    case MATRIX_TF32:
    case MATRIX_S32: return 32;
    case MATRIX_F16:
    case MATRIX_BF16: return 16;
    case MATRIX_S4:
    case MATRIX_U4: return 4;
    case MATRIX_B1: return 1;
    default: return 8;
    }
}

// Four lanes share a row of a, or a column of b; `halves`: 2 where a block has 16 of these, in two halves
// of 8.
static int factor_place(const MatrixFragment *f, int k, int halves, int r, int lane) {
    const int across = 4 * f->per_register, of_block = k / across * halves, within = r % of_block;
    const int outer = r / of_block * 8 * halves + within % halves * 8 + lane / 4;
    return outer * k + within / halves * across + lane % 4 * f->per_register;
}

// Pairs of neighbours in a row; of a wide sum, 8 x 32, in a column.
static int sum_place(const MatrixFragment *f, const MatrixShape *s, bool is_turned, int r, int lane) {
    const int rows = is_turned ? s->n : s->m, per = f->per_register;
    const int of_half = 2 / per > 0 ? 2 / per : 1, halves = rows % 16 ? 1 : 2;
    const int half = r / of_half % halves, pair = lane % 4 * 2 + r % of_half * per;
    // Blocks of 16 x 8: side by side where there are two columns of blocks, else one below the other.
    const int block = r / (of_half * halves);
    const int blocks_across = (is_turned ? s->m : s->n) / 8;
    const int row = block / blocks_across * 8 * halves + half * 8 + lane / 4;
    const int column = block % blocks_across * 8 + pair;
    return is_turned ? column * s->n + row : row * s->n + column;
}

// m8n8k4 of f16: lanes 0 to 3 and 16 to 19 have the first product, and so on.
static int quad_place(MatrixFragment *f, MatrixRole role, bool is_column, int r, int lane) {
    const int product = lane / 4 % 4 * 8, upper = lane / 16 * 4, own = lane % 4;
    if (role == MATRIX_C && f->bits == 16) return (product + own + upper) * 8 + 2 * r;
    if (role == MATRIX_C)
        return (product + (lane & 1) + (r & 2) + upper) * 8 + (r & 4) + (lane & 2) + (r & 1);
    const bool is_along_k = (role == MATRIX_A) != is_column; // elements of a register are neighbours in k
    if (is_along_k) return (product + own + upper) * 4 + 2 * r;
    f->step = 4;
    return (product + 2 * r + upper) * 4 + own;
}

void matrix_fragment(MatrixFragment *f, const MatrixShape *s, MatrixRole role, MatrixType type,
                     bool is_column) {
    *f = (MatrixFragment){.bits = (uint8_t)matrix_type_bits(type), .step = 1};
    f->width = f->bits == 64 ? 8 : 4;
    f->per_register = (uint8_t)(f->width * 8 / f->bits);
    f->shift = (uint8_t)__builtin_ctz(f->per_register);
    // The wider side of 8 x 32 is taken as the rows.
    const bool is_turned = s->n > s->m && s->n % 16 == 0;
    const int elements = role == MATRIX_A ? s->m * s->k : role == MATRIX_B ? s->k * s->n : s->m * s->n;
    const int distinct = elements * (s->is_quad ? 4 : 1) / (int)WARP_SIZE / f->per_register;
    f->distinct = (uint8_t)distinct;
    // wmma has each element of f16 factors twice, as on Volta, where m16n16k16 began.
    f->registers = (uint8_t)(s->is_wmma && type == MATRIX_F16 && role != MATRIX_C ? 8 : distinct);
    if (is_turned && role == MATRIX_C && f->per_register == 2) f->step = (uint8_t)s->n;
    for (int i = 0; i < f->registers; i++)
        for (int lane = 0; lane < (int)WARP_SIZE; lane++) {
            const int r = i % distinct;
            int place;
            if (s->is_quad)
                place = quad_place(f, role, is_column, r, lane);
            else if (role == MATRIX_C)
                place = sum_place(f, s, is_turned, r, lane);
            else {
                const bool is_rows = (role == MATRIX_B) == is_turned;
                const int outer = role == MATRIX_A ? s->m : s->n;
                place = factor_place(f, s->k, is_rows && outer % 16 == 0 ? 2 : 1, r, lane);
            }
            f->first[i][lane] = (uint16_t)place;
        }
}

void matrix_address(unsigned char *registers, const Instruction *in, uint32_t mask) {
    const MatrixPlaces *places = in->detail;
    const void *base = source(registers, in, 0);
    const uint32_t *stride = source(registers, in, 1);
    uint64_t *to = destination(registers, in, 0);
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
        if (!(mask >> lane & 1)) continue;
        const uint64_t from =
            places->is_narrow ? ((const uint32_t *)base)[lane] : ((const uint64_t *)base)[lane];
        const uint64_t element = (uint64_t)places->major[lane] * stride[lane] + places->minor[lane];
        to[lane] = from + element * places->bits / 8;
    }
}
