// Tensor-core arithmetic on floats. NVIDIA does not document it. What is written here is the model of the
// published measurements (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores",
// PeerJ Computer Science 7, 2021, and later work on newer GPUs), with parameters found by experiments on an
// H200 (tests/hardware_truth/tensor):
//
//   The products of one group along k are exact. They and the accumulator are aligned to the largest exponent
//   among them, and bits below a fixed place are cut off. Their sum is exact, and is rounded once. Groups
//   follow each other in the order of k.
#include "emulator/alu/matrix.h"

#include <string.h>

#include "emulator/alu/float_lanes.h"

// ---- Parameters
// -----------------------------------------------------------------------------------------------

typedef struct {
    int group;         // products that are added at once
    int fraction_bits; // kept below the largest exponent of a sum
} SumRule;

static const SumRule rule_16_bits = {16, 25}, rule_tf32 = {8, 25}, rule_8_bits = {16, 25};

static SumRule rule_of(MatrixType type) {
    switch (type) {
    case MATRIX_TF32: return rule_tf32;
    case MATRIX_E4M3:
    case MATRIX_E5M2: return rule_8_bits;
    default: return rule_16_bits;
    }
}

// ---- Numbers as significand and exponent
// ------------------------------------------------------------------------

enum {
    COLUMNS = 8, // that are computed together
    MOST_ROWS = 32,
    MOST_K = 32,           // of float operands
    ZERO_EXPONENT = -2000, // a zero takes no part in the choice of the largest exponent
    ONE_SUM = 8,           // products whose sum fits in 32 bits
};

typedef struct {
    int exponent_bits, fraction_bits;
    bool has_infinity;
} Format;

static Format format_of(MatrixType type) {
    switch (type) {
    case MATRIX_F16: return (Format){5, 10, true};
    case MATRIX_BF16: return (Format){8, 7, true};
    case MATRIX_TF32: return (Format){8, 10, true};
    case MATRIX_E4M3: return (Format){4, 3, false};
    case MATRIX_E5M2: return (Format){5, 2, true};
    default: return (Format){8, 23, true};
    }
}

typedef enum { IS_FINITE, IS_INFINITE, IS_NAN } Class;

// One factor: value = significand * 2^(exponent - fraction bits). A special one has significand 0.
typedef struct {
    _Alignas(64) int32_t significand[MOST_ROWS * MOST_K], exponent[MOST_ROWS * MOST_K];
    uint8_t class[MOST_ROWS * MOST_K];
    bool has_special;
} Factor;

static uint32_t packed_element(const void *matrix, unsigned bits, int i) {
    if (bits == 8) return ((const uint8_t *)matrix)[i];
    if (bits == 16) return ((const uint16_t *)matrix)[i];
    return ((const uint32_t *)matrix)[i];
}

static void split(Factor *to, MatrixType type, const void *matrix, int count) {
    const Format format = format_of(type);
    uint32_t raw[MOST_ROWS * MOST_K];
    const unsigned bits = matrix_type_bits(type);
    for (int i = 0; i < count; i++) raw[i] = packed_element(matrix, bits, i);
    if (type == MATRIX_TF32) // the last 13 bits of the register are ignored
        for (int i = 0; i < count; i++) raw[i] >>= 13;
    const int fraction_bits = format.fraction_bits, top = (1 << format.exponent_bits) - 1, bias = top / 2;
    const uint32_t fraction_mask = (1u << fraction_bits) - 1;
    uint32_t special = 0;
    for (int i = 0; i < count; i++) {
        const int32_t fraction = (int32_t)(raw[i] & fraction_mask);
        const int32_t field = (int32_t)(raw[i] >> fraction_bits) & top;
        const bool is_negative = raw[i] >> (fraction_bits + format.exponent_bits) & 1;
        const bool is_special = field == top && (format.has_infinity || fraction == (int32_t)fraction_mask);
        int32_t significand = field ? fraction | 1 << fraction_bits : fraction;
        significand = is_special ? 0 : significand;
        to->significand[i] = is_negative ? -significand : significand;
        to->exponent[i] = significand ? (field ? field : 1) - bias : ZERO_EXPONENT;
        to->class[i] = (uint8_t)(is_special ? (fraction ? IS_NAN : IS_INFINITE) : IS_FINITE);
        special |= is_special;
        // The sign of an infinity is found in its exponent.
        if (is_special) to->exponent[i] = ZERO_EXPONENT - is_negative;
    }
    to->has_special = special;
}

// ---- Sums
// -------------------------------------------------------------------------------------------------------

// The accumulators of one row, COLUMNS of them, as exact doubles that are floats or halves.
typedef struct {
    double value[COLUMNS];
} Sums;

// Rounds towards zero to a float; what is below the least subnormal number becomes zero.
static inline float toward_zero(double x) {
    const double magnitude = fabs(x);
    const double kept = magnitude < 0x1p-126
                            ? (double)(int64_t)(magnitude * 0x1p149) * 0x1p-149
                            : bits_double(double_bits(magnitude) & ~((UINT64_C(1) << 29) - 1));
    return (float)copysign(kept, x);
}

// Adds the products of one group to `sums`. `a`: of one row, `b`: [k][COLUMNS].
static void add_group(const SumRule *rule, int product_bits, const int32_t *a, const int32_t *a_exponent,
                      const int32_t (*b)[COLUMNS], const int32_t (*b_exponent)[COLUMNS], int count,
                      Sums *sums, bool to_half) {
    int32_t c[COLUMNS], c_exponent[COLUMNS], largest[COLUMNS];
    for (int j = 0; j < COLUMNS; j++) {
        const uint32_t bits = float_bits((float)sums->value[j]);
        const int32_t field = (int32_t)(bits >> 23 & 0xff), fraction = (int32_t)(bits & 0x7fffff);
        const int32_t significand = field ? fraction | 1 << 23 : fraction;
        c[j] = bits >> 31 ? -significand : significand;
        c_exponent[j] = significand ? (field ? field : 1) - 127 : ZERO_EXPONENT;
        largest[j] = c_exponent[j];
    }
    for (int k = 0; k < count; k++)
        for (int j = 0; j < COLUMNS; j++) {
            const int32_t exponent = a_exponent[k] + b_exponent[k][j];
            largest[j] = exponent > largest[j] ? exponent : largest[j];
        }
    const int left = rule->fraction_bits > product_bits ? rule->fraction_bits - product_bits : 0;
    const int right = product_bits > rule->fraction_bits ? product_bits - rule->fraction_bits : 0;
    double total[COLUMNS];
    for (int j = 0; j < COLUMNS; j++) {
        const int c_left = rule->fraction_bits > 23 ? rule->fraction_bits - 23 : 0;
        const int c_right = rule->fraction_bits > 23 ? 0 : 23 - rule->fraction_bits;
        int32_t shift = largest[j] - c_exponent[j] + c_right;
        shift = shift > 31 ? 31 : shift;
        const uint32_t magnitude = (uint32_t)(c[j] < 0 ? -c[j] : c[j]) << c_left >> shift;
        total[j] = c[j] < 0 ? -(double)(int32_t)magnitude : (double)(int32_t)magnitude;
    }
    for (int first = 0; first < count; first += ONE_SUM) {
        const int last = first + ONE_SUM < count ? first + ONE_SUM : count;
        int32_t sum[COLUMNS] = {0};
        for (int k = first; k < last; k++)
            for (int j = 0; j < COLUMNS; j++) {
                const int32_t product = a[k] * b[k][j], sign = product >> 31;
                int32_t shift = largest[j] - a_exponent[k] - b_exponent[k][j] + right;
                shift = shift > 31 ? 31 : shift;
                const uint32_t magnitude = (uint32_t)((product ^ sign) - sign) << left >> shift;
                sum[j] += ((int32_t)magnitude ^ sign) - sign;
            }
        for (int j = 0; j < COLUMNS; j++) total[j] += sum[j];
    }
    for (int j = 0; j < COLUMNS; j++) {
        int32_t scale = largest[j] - rule->fraction_bits;
        scale = scale < -900 ? -900 : scale;
        const double exact = total[j] * bits_double((uint64_t)(scale + 1023) << 52);
        sums->value[j] = to_half ? exact : (double)toward_zero(exact);
    }
    if (to_half)
        for (int j = 0; j < COLUMNS; j++)
            sums->value[j] = (double)f16_float(
                (uint16_t)rounded_double(sums->value[j], FORMAT_F16, ROUND_NEAREST, NAN_HALF));
}

// ---- Infinities and NaNs
// ------------------------------------------------------------------------------------------

// What one result is because of them: NaN, an infinity, or 0 where no special number takes part.
static double special_sum(const Factor *a, int a_first, const Factor *b, int b_first, int k, double c) {
    double sum = c - c == 0 ? 0 : c;
    for (int i = 0; i < k; i++) {
        const int x = a_first + i, y = b_first + i;
        if (a->class[x] == IS_FINITE && b->class[y] == IS_FINITE) continue;
        const bool is_nan = a->class[x] == IS_NAN || b->class[y] == IS_NAN ||
                            (a->class[x] == IS_FINITE && a->significand[x] == 0) ||
                            (b->class[y] == IS_FINITE && b->significand[y] == 0);
        const bool x_negative =
            a->class[x] == IS_FINITE ? a->significand[x] < 0 : a->exponent[x] < ZERO_EXPONENT;
        const bool y_negative =
            b->class[y] == IS_FINITE ? b->significand[y] < 0 : b->exponent[y] < ZERO_EXPONENT;
        sum += is_nan ? (double)NAN : x_negative != y_negative ? -(double)INFINITY : (double)INFINITY;
    }
    return sum;
}

// ---- Whole matrices
// -----------------------------------------------------------------------------------------------

static double sum_element(const MatrixForm *form, const void *c, int i) {
    return form->c_type == MATRIX_F16 ? (double)f16_float(((const uint16_t *)c)[i])
                                      : (double)((const float *)c)[i];
}

static void put_element(const MatrixForm *form, void *d, int i, double value) {
    if (form->d_type == MATRIX_F16)
        ((uint16_t *)d)[i] = (uint16_t)rounded_double(value, FORMAT_F16, ROUND_NEAREST, NAN_HALF);
    else
        ((float *)d)[i] = canonical((float)value);
}

void matrix_multiply_floats(const MatrixForm *form, const void *a, const void *b, const void *c, void *d,
                            int m, int n, int k) {
    const SumRule rule = rule_of(form->a_type);
    const int product_bits = format_of(form->a_type).fraction_bits + format_of(form->b_type).fraction_bits;
    Factor rows, columns;
    split(&rows, form->a_type, a, m * k);
    split(&columns, form->b_type, b, n * k);
    for (int first = 0; first < n; first += COLUMNS) {
        _Alignas(64) int32_t turned[MOST_K][COLUMNS], exponent[MOST_K][COLUMNS];
        for (int i = 0; i < k; i++)
            for (int j = 0; j < COLUMNS; j++) {
                turned[i][j] = columns.significand[(first + j) * k + i];
                exponent[i][j] = columns.exponent[(first + j) * k + i];
            }
        for (int row = 0; row < m; row++) {
            Sums sums;
            double given[COLUMNS];
            bool has_special = rows.has_special || columns.has_special;
            for (int j = 0; j < COLUMNS; j++) {
                given[j] = sum_element(form, c, row * n + first + j);
                const bool is_special = given[j] - given[j] != 0;
                has_special |= is_special;
                sums.value[j] = is_special ? 0 : given[j];
            }
            for (int from = 0; from < k; from += rule.group) {
                const int count = k - from < rule.group ? k - from : rule.group;
                add_group(&rule, product_bits, &rows.significand[row * k + from],
                          &rows.exponent[row * k + from], &turned[from], &exponent[from], count, &sums,
                          form->d_type == MATRIX_F16);
            }
            for (int j = 0; j < COLUMNS; j++) {
                if (has_special) {
                    const double special =
                        special_sum(&rows, row * k, &columns, (first + j) * k, k, given[j]);
                    if (special != 0) sums.value[j] = special; // a NaN too
                }
                put_element(form, d, row * n + first + j, sums.value[j]);
            }
        }
    }
}
