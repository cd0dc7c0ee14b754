// Tensor-core arithmetic on floats. NVIDIA does not document it. What is written here is the model of the
// published measurements (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores",
// PeerJ Computer Science 7, 2021), with parameters that agree with every result of an H200 in
// tests/hardware_truth/tensor:
//
//   The products are exact. They and the accumulator are aligned to the largest exponent
//   among them, and bits below a fixed place are cut off. Their sum is exact, and is rounded once: towards
//   zero to f32, to nearest to f16. Groups follow each other in the order of k.
//
// wgmma does the same with all of k at once. It also multiplies 8-bit floats themselves, and then keeps fewer
// bits: of the terms, and of a sum that becomes an f32 (tests/hardware_truth/wgmma).
//
// Some rows of eight columns are a block, which is computed in two vectors. Its layout is that of a fragment
// of m16n8, so that parts of the registers of such an instruction are its vectors. Internal to matrix_*.c.
#pragma once

#include "emulator/alu/matrix.h"
#include "emulator/alu/matrix_vector.h"

// ---- Blocks of factors ------------------------------------------------------------------------------------

enum {
    COLUMNS = 8,
    COLUMN_VECTORS = COLUMNS / ROWS, // of 4 of k
    MOST_ROWS = 32,
    MOST_K = 32,
    STEP = 8,            // k comes in so many
    EXPONENT_BIAS = 1024 // of exponents that are added up in 16 bits without a sign; a zero has 0
};

// The factors of ROWS rows. Two exponents share a word: those of k and of k + 4, for each 8 of k. A subnormal
// number has that of the least normal one.
typedef struct {
    Floats value[MOST_K]; // of a row in all columns
    Ints exponents[MOST_K / 2];
} RowBlock;

// The factors of COLUMNS columns, of the even ones first.
typedef struct {
    _Alignas(64) float value[MOST_K][COLUMNS];
    _Alignas(64) int32_t exponents[MOST_K / 2][COLUMNS];
} ColumnBlock;

// The least exponent of a normal number.
INLINE int least_exponent(MatrixType type, bool is_group) {
    switch (type) {
    case MATRIX_BF16:
    case MATRIX_TF32: return -126;
    case MATRIX_E4M3: return is_group ? -6 : -14; // mma converts it to f16
    default: return -14;
    }
}

INLINE Ints biased_exponents(Floats x, int least) {
    const Ints magnitude = (Ints)x & 0x7fffffff;
    const Ints exponent = larger(magnitude >> 23, (Ints){0} + (least + 127)) + (EXPONENT_BIAS - 127);
    return exponent & (magnitude != 0);
}

// Four elements of k, in the columns of the vectors, and the four after them, from place `k` on.
INLINE void add_rows(RowBlock *to, int k, Floats first, Floats second, int least) {
    const Ints exponents = biased_exponents(first, least) | biased_exponents(second, least) << 16;
#define ADD(i)                                                                                               \
    to->value[k + i] = (Floats)every_column((Ints)first, i);                                                 \
    to->value[k + 4 + i] = (Floats)every_column((Ints)second, i);                                            \
    to->exponents[k / 2 + i] = every_column(exponents, i);
    ADD(0)
    ADD(1)
    ADD(2)
    ADD(3)
#undef ADD
}

// The same of COLUMNS columns, which have the place of rows in the vectors.
INLINE void add_columns(ColumnBlock *to, int k, const Floats first[COLUMN_VECTORS],
                        const Floats second[COLUMN_VECTORS], int least) {
    Ints exponents[COLUMN_VECTORS], x[COLUMN_VECTORS], y[COLUMN_VECTORS];
    for (int i = 0; i < COLUMN_VECTORS; i++) {
        exponents[i] = biased_exponents(first[i], least) | biased_exponents(second[i], least) << 16;
        x[i] = (Ints)first[i];
        y[i] = (Ints)second[i];
    }
    turn(to->value[k], x);
    turn(to->value[k + 4], y);
    turn(to->exponents[k / 2], exponents);
}

// ---- Blocks of sums ---------------------------------------------------------------------------------------

// How a product is summed.
typedef struct {
    int k;
    int fraction;
    bool is_small; // SMALL_FRACTION_BITS
    bool to_odd;   // else towards zero
} Summing;

enum {
    FRACTION_BITS = 25,       // kept below the largest exponent of a sum
    SMALL_FRACTION_BITS = 13, // of 8-bit floats in wgmma
};

INLINE Summing summing_of(const MatrixForm *form, int k) {
    const bool is_small = form->is_group && matrix_type_bits(form->a_type) == 8;
    return (Summing){.k = k,
                     .fraction = is_small ? SMALL_FRACTION_BITS : FRACTION_BITS,
                     .is_small = is_small,
                     // Else the sum is one of f32, of which an f16 is made then.
                     .to_odd = form->d_type == MATRIX_F16 && form->c_type == MATRIX_F16};
}

// ROWS rows and COLUMNS columns, the even columns first.
typedef struct {
    Floats even, odd;
} Block;

// Adds to `c` the products of `blocks` blocks of rows.
void multiply_blocks(const Summing *how, const RowBlock *a, int blocks, const ColumnBlock *b, Block *c);
