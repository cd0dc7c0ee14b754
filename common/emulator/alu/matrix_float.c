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
#include "emulator/alu/matrix.h"

#include <string.h>

#include "emulator/alu/float_lanes.h"

// Vectors are passed within this file only, and by no convention of a processor.
#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

enum {
    FRACTION_BITS = 25,       // kept below the largest exponent of a sum
    SMALL_FRACTION_BITS = 13, // of 8-bit floats in wgmma
};

// ---- Factors ----------------------------------------------------------------------------------------------

enum {
    COLUMNS = 8, // that are computed together
    MOST_ROWS = 32,
    MOST_K = 32,
    STEP = 8,              // k comes in so many
    ZERO_EXPONENT = -2000, // a zero takes no part in the choice of the largest exponent
    SAFE_EXPONENT = 50, // products of numbers up to 2^50 and down to 2^-50 are exact in single precision, and
                        // so are they in units of their last place kept
};

// The elements of one factor, all of which are exact in single precision.
typedef struct {
    _Alignas(64) float value[MOST_ROWS * MOST_K];
    _Alignas(64) int32_t exponent[MOST_ROWS * MOST_K]; // of a subnormal number that of the least normal one
    bool has_special;                                  // an infinity or NaN
    bool is_safe;                                      // SAFE_EXPONENT
} Factor;

// e4m3 has no infinity, and one NaN of each sign; e5m2 is the upper half of an f16.
static float e4m3_float(uint8_t x) {
    const uint16_t shifted = (uint16_t)((x & 0x80u) << 8 | (x & 0x7fu) << 7);
    return (x & 0x7fu) == 0x7fu ? bits_float(NAN_F32) : f16_float(shifted) * 0x1p8f;
}

// Fills `to` with `count` values and returns the least exponent of a normal number.
static int read_values(float *to, MatrixType type, bool is_group, const void *matrix, int count) {
    const uint8_t *bytes = matrix;
    const uint16_t *halves = matrix;
    const uint32_t *words = matrix;
    switch (type) {
    case MATRIX_F16:
        for (int i = 0; i < count; i++) to[i] = f16_float(halves[i]);
        return -14;
    case MATRIX_BF16:
        for (int i = 0; i < count; i++) to[i] = bf16_float(halves[i]);
        return -126;
    case MATRIX_E4M3:
        for (int i = 0; i < count; i++) to[i] = e4m3_float(bytes[i]);
        return is_group ? -6 : -14; // mma converts it to f16
    case MATRIX_E5M2:
        for (int i = 0; i < count; i++) to[i] = f16_float((uint16_t)(bytes[i] << 8));
        return -14;
    default: // tf32: the last 13 bits of the register are ignored
        for (int i = 0; i < count; i++) to[i] = bits_float(words[i] & ~0x1fffu);
        return -126;
    }
}

static void read_factor(Factor *to, MatrixType type, bool is_group, const void *matrix, int count) {
    const int32_t least = read_values(to->value, type, is_group, matrix, count);
    uint32_t highest = 0, lowest = UINT32_MAX; // magnitudes, zeros left out
    for (int i = 0; i < count; i++) {
        const uint32_t magnitude = float_bits(to->value[i]) & 0x7fffffffu;
        highest = magnitude > highest ? magnitude : highest;
        lowest = magnitude - 1 < lowest ? magnitude - 1 : lowest;
    }
    for (int i = 0; i < count; i++) {
        const uint32_t magnitude = float_bits(to->value[i]) & 0x7fffffffu;
        const int32_t exponent = (int32_t)(magnitude >> 23) - 127,
                      bounded = exponent < least ? least : exponent;
        to->exponent[i] = magnitude ? bounded : ZERO_EXPONENT;
    }
    to->has_special = highest >= 0x7f800000u;
    to->is_safe = highest < (127u + SAFE_EXPONENT) << 23 && lowest >= (127u - SAFE_EXPONENT) << 23;
}

// Fills rows of `k` elements up with zeros to STEP.
static void widen(Factor *f, int rows, int k) {
    for (int i = rows * STEP - 1; i >= 0; i--) {
        const bool is_there = i % STEP < k;
        const int from = i / STEP * k + i % STEP;
        f->value[i] = is_there ? f->value[from] : 0;
        f->exponent[i] = is_there ? f->exponent[from] : ZERO_EXPONENT;
    }
}

// ---- Sums -------------------------------------------------------------------------------------------------

typedef int32_t Ints __attribute__((vector_size(4 * COLUMNS)));
typedef float Floats __attribute__((vector_size(4 * COLUMNS)));
typedef int64_t Longs __attribute__((vector_size(8 * COLUMNS)));
typedef double Doubles __attribute__((vector_size(8 * COLUMNS)));

// COLUMNS columns of b: [k].
typedef struct {
    Floats value[MOST_K];
    Ints exponent[MOST_K];
} Columns;

INLINE Ints larger(Ints x, Ints y) {
    const Ints is_x = x > y;
    return (x & is_x) | (y & ~is_x);
}

INLINE Doubles power_of_two(Ints exponent) {
    return (Doubles)((__builtin_convertvector(exponent, Longs) + 1023) << 52);
}

// The exponents of floats, as of factors.
INLINE Ints exponents_of(Floats x) {
    const Ints bits = (Ints)x & 0x7fffffff, is_zero = bits == 0;
    const Ints exponent = larger((bits >> 23) - 127, (Ints){0} - 126);
    return (exponent & ~is_zero) | (is_zero & ZERO_EXPONENT);
}

// The sum of what is left of products, in units of the last place kept. REAL holds the products exactly. The
// sum of STEP products, each less than 4 at the largest exponent, fits in 32 bits.
#define PRODUCTS(NAME, REALS)                                                                                \
    INLINE Doubles NAME(const float *a, const Floats *b, int count, Doubles units) {                         \
        const REALS scale = __builtin_convertvector(units, REALS);                                           \
        Doubles total = {0};                                                                                 \
        for (int first = 0; first < count; first += STEP) {                                                  \
            Ints sum = {0};                                                                                  \
            for (int k = first; k < first + STEP; k++)                                                       \
                sum += __builtin_convertvector(__builtin_convertvector(b[k], REALS) * a[k] * scale, Ints);   \
            total += __builtin_convertvector(sum, Doubles);                                                  \
        }                                                                                                    \
        return total;                                                                                        \
    }
PRODUCTS(float_products, Floats)
PRODUCTS(double_products, Doubles)

// Keeps SMALL_FRACTION_BITS of a sum.
INLINE Doubles cut_off(Doubles x) {
    return (Doubles)((Longs)x & ~((INT64_C(1) << (52 - SMALL_FRACTION_BITS)) - 1));
}

// Rounds towards zero to floats.
INLINE Floats toward_zero(Doubles x) {
    const Longs bits = (Longs)x, magnitude = bits & INT64_MAX, least = (Longs){0} + (INT64_C(897) << 52);
    const Longs is_small = magnitude < least; // than 2^-126
    int64_t some_small = 0;
    for (int i = 0; i < COLUMNS; i++) some_small |= is_small[i];
    if (!some_small) return __builtin_convertvector((Doubles)(bits & ~((INT64_C(1) << 29) - 1)), Floats);
    // Added to a number with that last place, a subnormal is cut off there; rounding to nearest is undone.
    const Doubles place = (Doubles)((Longs){0} + (INT64_C(926) << 52)), size = (Doubles)magnitude; // 2^-97
    const Doubles near = (size + place) - place;
    const Doubles lower = near - (Doubles)((Longs){0} + (INT64_C(874) << 52)); // 2^-149
    const Longs is_above = near > size;
    const Longs cut = ((Longs)lower & is_above) | ((Longs)near & ~is_above);
    const Longs kept = magnitude & ~((INT64_C(1) << 29) - 1);
    const Longs result = (cut & is_small) | (kept & ~is_small) | (bits & INT64_MIN);
    return __builtin_convertvector((Doubles)result, Floats);
}

// The accumulators `c` of one row and `count` products, added as above.
INLINE Doubles sum_of(const float *a, const int32_t *a_exponent, const Columns *b, int count, Floats c,
                      bool is_safe, int fraction) {
    Ints largest = exponents_of(c);
    for (int k = 0; k < count; k += STEP)
        for (int i = k; i < k + STEP; i++) largest = larger(largest, b->exponent[i] + a_exponent[i]);
    largest &= largest > -1000; // else all are zero
    const Doubles units = power_of_two(fraction - largest);
    // Where this exceeds a float all products are zero.
    const Doubles bounded = power_of_two(fraction - larger(largest, (Ints){0} - 2 * SAFE_EXPONENT));
    Doubles total =
        is_safe ? float_products(a, b->value, count, bounded) : double_products(a, b->value, count, units);
    total += __builtin_convertvector(
        __builtin_convertvector(__builtin_convertvector(c, Doubles) * units, Ints), Doubles);
    return total * power_of_two(largest - fraction);
}

// ---- Whole matrices ---------------------------------------------------------------------------------------

INLINE Floats read_sums(const MatrixForm *form, const void *c, int first) {
    Floats sums;
    if (form->c_type == MATRIX_F16)
        for (int j = 0; j < COLUMNS; j++) sums[j] = f16_float(((const uint16_t *)c)[first + j]);
    else
        memcpy(&sums, (const float *)c + first, sizeof sums);
    return sums;
}

static uint16_t half_of(double x) { return (uint16_t)rounded_double(x, FORMAT_F16, ROUND_NEAREST, NAN_HALF); }

// What results are because of infinities and NaNs: those, or 0 where none takes part.
static float special_sum(const float *a, const float *b, int k, float c) {
    float sum = c - c == 0 ? 0 : c;
    for (int i = 0; i < k; i++)
        if (a[i] - a[i] != 0 || b[i] - b[i] != 0) // NOLINT: read_factor() has filled as many
            sum += a[i] * b[i];
    return sum;
}

static bool sums_have_special(const MatrixForm *form, const void *c, int count) {
    uint32_t found = 0;
    if (form->c_type == MATRIX_F16)
        for (int i = 0; i < count; i++) found |= (((const uint16_t *)c)[i] & 0x7c00u) == 0x7c00u;
    else
        for (int i = 0; i < count; i++) found |= (((const uint32_t *)c)[i] & 0x7f800000u) == 0x7f800000u;
    return found;
}

// Takes them out.
static void clear_special(Factor *f, int count) {
    for (int i = 0; i < count; i++)
        if (f->value[i] - f->value[i] != 0) {
            f->value[i] = 0;
            f->exponent[i] = ZERO_EXPONENT;
        }
}

static void turn_columns(Columns *to, const Factor *from, int first, int k) {
    for (int i = 0; i < k; i++)
        for (int j = 0; j < COLUMNS; j++) {
            to->value[i][j] = from->value[(first + j) * k + i]; // NOLINT: read_factor() has filled as many
            to->exponent[i][j] = from->exponent[(first + j) * k + i];
        }
}

static void multiply_finite(const MatrixForm *form, const Factor *a, const Factor *b, const void *c, void *d,
                            int k) {
    const int m = form->shape.m, n = form->shape.n;
    const bool is_small = form->is_group && matrix_type_bits(form->a_type) == 8;
    const int fraction = is_small ? SMALL_FRACTION_BITS : FRACTION_BITS;
    const bool is_safe = a->is_safe && b->is_safe;
    for (int first = 0; first < n; first += COLUMNS) {
        Columns columns;
        turn_columns(&columns, b, first, k);
        for (int row = 0; row < m; row++) {
            Floats sums = read_sums(form, c, row * n + first);
            const Ints is_special = ((Ints)sums & 0x7f800000) == 0x7f800000;
            sums = (Floats)((Ints)sums & ~is_special);
            const Doubles exact =
                sum_of(&a->value[row * k], &a->exponent[row * k], &columns, k, sums, is_safe, fraction);
            sums = toward_zero(is_small ? cut_off(exact) : exact);
            if (form->d_type == MATRIX_F16) // with a c of f32 the sum is one of f32, and then converted
                for (int j = 0; j < COLUMNS; j++)
                    ((uint16_t *)d)[row * n + first + j] =
                        form->c_type == MATRIX_F16 ? half_of(exact[j]) : float_f16(sums[j]);
            else
                memcpy((float *)d + row * n + first, &sums, sizeof sums);
        }
    }
}

static float sum_element(const MatrixForm *form, const void *c, int i) {
    return form->c_type == MATRIX_F16 ? f16_float(((const uint16_t *)c)[i]) : ((const float *)c)[i];
}

// One sum for each element: k is 4, 8, 16 or 32.
static void multiply_floats(const MatrixForm *form, const void *a, const void *b, const void *c, void *d,
                            int k) {
    const int m = form->shape.m, n = form->shape.n;
    Factor rows, columns;
    read_factor(&rows, form->a_type, form->is_group, a, m * k);
    read_factor(&columns, form->b_type, form->is_group, b, n * k);
    for (int i = 0; i < m * k && form->negates; i++) rows.value[i] = -rows.value[i];
    if (k < STEP) {
        widen(&rows, m, k);
        widen(&columns, n, k);
        k = STEP;
    }
    float special[MOST_ROWS * MOST_ROWS];
    const bool has_special = rows.has_special || columns.has_special || sums_have_special(form, c, m * n);
    for (int i = 0; i < m * n && has_special; i++)
        special[i] =
            special_sum(&rows.value[i / n * k], &columns.value[i % n * k], k, sum_element(form, c, i));
    if (has_special) {
        clear_special(&rows, m * k);
        clear_special(&columns, n * k);
        rows.is_safe = false;
    }
    multiply_finite(form, &rows, &columns, c, d, k);
    for (int i = 0; i < m * n && has_special; i++) {
        if (special[i] == 0) continue;
        if (form->d_type == MATRIX_F16)
            ((uint16_t *)d)[i] = float_f16(special[i]);
        else
            ((float *)d)[i] = canonical(special[i]);
    }
}

// ---- What becomes other instructions ----------------------------------------------------------------------

// Half of the elements of each row, with k of them: of bytes 0 and 1 of every four words, or the first half.
static void take_half(void *to, const void *from, unsigned bits, int rows, int k, int half) {
    for (int i = 0; i < rows * k / 2; i++) {
        const int row = i / (k / 2) * k, at = i % (k / 2);
        if (bits == 8)
            ((uint8_t *)to)[i] = ((const uint8_t *)from)[row + at / 2 * 4 + half * 2 + at % 2];
        else
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[row + half * (k / 2) + at];
    }
}

// Two instructions, the second of which adds to the sums of the first.
static void multiply_halves(const MatrixForm *form, const void *a, const void *b, const void *c, void *d) {
    const int m = form->shape.m, n = form->shape.n, k = form->shape.k;
    _Alignas(64) uint8_t rows[MATRIX_BYTES] = {0}, columns[MATRIX_BYTES] = {0}, sums[MATRIX_BYTES];
    for (int half = 0; half < 2; half++) {
        take_half(rows, a, form->a.bits, m, k, half);
        take_half(columns, b, form->b.bits, n, k, half);
        multiply_floats(form, rows, columns, half ? sums : c, half ? d : sums, k / 2);
    }
}

// Products of 8-bit floats become two of f16, the first with elements 0 and 1 of each four; the accumulator
// is added at the end, by an ordinary addition.
static void multiply_8_bits(const MatrixForm *form, const void *a, const void *b, const void *c, void *d) {
    static const float zeros[MATRIX_BYTES / sizeof(float)];
    multiply_halves(form, a, b, zeros, d);
    for (int i = 0; i < form->shape.m * form->shape.n; i++)
        if (form->d_type == MATRIX_F16)
            ((uint16_t *)d)[i] = float_f16(f16_float(((uint16_t *)d)[i]) + sum_element(form, c, i));
        else
            ((float *)d)[i] = canonical(((float *)d)[i] + sum_element(form, c, i));
}

// m8n8k4 of f16, an instruction of Volta, becomes multiply-adds of f32.
static void multiply_quad(const MatrixForm *form, const uint16_t *a, const uint16_t *b, const void *c,
                          void *d) {
    for (int i = 0; i < 64; i++) {
        float x[4], y[4];
        for (int k = 0; k < 4; k++) {
            x[k] = f16_float(a[i / 8 * 4 + k]);
            y[k] = f16_float(b[i % 8 * 4 + k]);
        }
        const float given = sum_element(form, c, i);
        if (form->d_type == MATRIX_F16)
            ((uint16_t *)d)[i] =
                float_f16(fmaf(x[1], y[1], x[0] * y[0]) + given + fmaf(x[3], y[3], x[2] * y[2]));
        else {
            float sum = 0;
            for (int k = 0; k < 4; k++) sum = fmaf(x[k], y[k], sum);
            ((float *)d)[i] = canonical(sum + given);
        }
    }
}

void matrix_multiply_floats(const MatrixForm *form, const void *a, const void *b, const void *c, void *d) {
    if (form->is_group)
        multiply_floats(form, a, b, c, d, form->shape.k);
    else if (form->shape.is_quad)
        for (int p = 0; p < 4; p++)
            multiply_quad(form, (const uint16_t *)a + 32 * p, (const uint16_t *)b + 32 * p,
                          (const uint8_t *)c + 8 * p * form->c.bits, (uint8_t *)d + 8 * p * form->d.bits);
    else if (form->a.bits == 8)
        multiply_8_bits(form, a, b, c, d);
    else if (form->a_type == MATRIX_TF32 && form->shape.is_wmma)
        multiply_halves(form, a, b, c, d);
    else
        multiply_floats(form, a, b, c, d, form->shape.k);
}
