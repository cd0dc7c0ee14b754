#include "emulator/alu/matrix_block.h"

#include <math.h>

#include "emulator/alu/float_lanes.h"

// ---- Sums -------------------------------------------------------------------------------------------------

enum {
    // Exponents between which single precision computes the sum: a product that it cannot hold is too small
    // to count, and units and sums are normal numbers.
    LOWEST = -100,
    HIGHEST = 120,
    SUM_BIAS = 2 * EXPONENT_BIAS,
    NO_SUM = SUM_BIAS - 500, // more than a zero and a number have
};

INLINE Floats power_of_two(Ints exponent) { return (Floats)(exponent << 23); } // which has a bias of 127

// The largest exponent of products, less than NO_SUM if all are zero.
INLINE Ints largest_of(Ints halves) { return larger(halves & 0xffff, (halves >> 16) & 0xffff); }

// The largest exponent of a sum, or LOWEST if that is larger. `c` is no more than compared: an infinity is
// beyond HIGHEST.
INLINE Ints largest_with(Ints of_products, Floats c) {
    const Ints of_c = larger(((Ints)c >> 23) & 0xff, (Ints){0} + (LOWEST + 127)) + (SUM_BIAS - 127);
    return larger(of_products, of_c);
}

// Rounds towards zero to floats in units of 2^place, or to odd: such a float is then rounded to an f16 as the
// sum would be.
INLINE Floats units_to_floats(Ints units, Ints place, bool to_odd) {
    const Floats unit = power_of_two(place + 127);
    if (!to_odd) return towards_zero(units) * unit;
    const Floats near = __builtin_convertvector(units, Floats);
    const Ints excess = __builtin_convertvector(near, Ints) - units, is_inexact = excess != 0;
    const Ints is_away = is_inexact & ((excess ^ units) >= 0);
    return (Floats)(((Ints)near + is_away) | (is_inexact & 1)) * unit;
}

// The exact sum of one element, from `a` and `b` in the lane of its row and in its column.
static double sum_exactly(const RowBlock *a, const ColumnBlock *b, int count, int lane, int column, float c,
                          int fraction) {
    int largest = float_bits(c) << 1 ? (int)biased_exponents((Floats){0} + c, -126)[0] + EXPONENT_BIAS : 0;
    for (int k = 0; k < count / 2; k++) {
        const uint32_t sum = (uint32_t)a->exponents[k][lane] + (uint32_t)b->exponents[k][column];
        if (largest < (int)(sum & 0xffff)) largest = (int)(sum & 0xffff);
        if (largest < (int)(sum >> 16)) largest = (int)(sum >> 16);
    }
    if (largest < NO_SUM) return 0;
    const double scale = ldexp(1, SUM_BIAS + fraction - largest);
    int64_t sum = (int64_t)((double)c * scale);
    for (int k = 0; k < count; k++)
        sum += (int64_t)((double)a->value[k][lane] * (double)b->value[k][column] * scale);
    return ldexp((double)sum, largest - SUM_BIAS - fraction);
}

// Rounds likewise; numbers from 2^128 on become infinity.
static float sum_to_float(double x, bool to_odd) {
    const float near = (float)x;
    if (fabs(x) >= 0x1p128) return near;
    const bool is_away = fabs((double)near) > fabs(x), is_inexact = (double)near != x;
    return bits_float((float_bits(near) - is_away) | (to_odd && is_inexact));
}

// ---- Blocks -----------------------------------------------------------------------------------------------

// What multiply_rows() does not compute.
static __attribute__((noinline)) void sum_lanes(const Summing *how, const RowBlock *a, const ColumnBlock *b,
                                                int columns, Floats *c) {
    const uint64_t cut = how->is_small && !how->to_odd ? (1ull << (52 - SMALL_FRACTION_BITS)) - 1 : 0;
    for (int lane = 0; lane < LANES; lane++) {
        const double exact = sum_exactly(a, b, how->k, lane, columns + lane % 4, (*c)[lane], how->fraction);
        (*c)[lane] = sum_to_float(bits_double(double_bits(exact) & ~cut), how->to_odd);
    }
}

// Half of the columns of a block: what its sums are computed with.
typedef struct {
    Ints of_products, largest;
    Floats scale;
    Words units;
} Half;

INLINE Half half_of(Ints exponents, Floats c, int fraction) {
    const Ints of_products = largest_of(exponents), largest = largest_with(of_products, c);
    return (Half){of_products, largest, power_of_two(SUM_BIAS + 127 + fraction - largest), (Words){0}};
}

INLINE void add_products(Half *half, Floats row, const float *columns) {
    const Floats products = row * (Floats)every_row(columns);
    half->units += (Words) __builtin_convertvector(products * half->scale, Ints); // wraps where it is beyond
}

// Where something that is not zero is too small, or the sum, or its number of units, is too large.
INLINE Ints beyond(const Half *half, Floats c) {
    const Ints is_low = half->largest <= SUM_BIAS + LOWEST;
    const Ints is_some = (half->of_products > NO_SUM) | (((Ints)c & 0x7fffffff) != 0);
    const Ints is_many = (Ints)(half->units ^ (half->units << 1)) < 0; // 2^30: the accumulator may not fit
    return (is_low & is_some) | (half->largest > SUM_BIAS + HIGHEST) | is_many;
}

INLINE Floats rounded(const Summing *how, const Half *half, Floats c) {
    const Ints units = (Ints)(half->units + (Words) __builtin_convertvector(c * half->scale, Ints));
    const Floats sum = units_to_floats(units, half->largest - (SUM_BIAS + how->fraction), how->to_odd);
    if (!how->is_small || how->to_odd) return sum;
    return (Floats)((Ints)sum & ~((1 << (23 - SMALL_FRACTION_BITS)) - 1));
}

// `count` is how->k, a constant.
INLINE void multiply_rows(const Summing *how, const RowBlock *a, const ColumnBlock *b, Block *c, int count) {
    Ints of_even = {0}, of_odd = {0};
    for (int k = 0; k < count / 2; k++) {
        of_even = larger_halves(of_even, a->exponents[k] + every_row(b->exponents[k]));
        of_odd = larger_halves(of_odd, a->exponents[k] + every_row(b->exponents[k] + 4));
    }
    Half even = half_of(of_even, c->even, how->fraction), odd = half_of(of_odd, c->odd, how->fraction);
    for (int k = 0; k < count; k++) {
        add_products(&even, a->value[k], b->value[k]);
        add_products(&odd, a->value[k], b->value[k] + 4);
    }
    if (has_any(beyond(&even, c->even) | beyond(&odd, c->odd))) {
        sum_lanes(how, a, b, 0, &c->even);
        sum_lanes(how, a, b, 4, &c->odd);
        return;
    }
    *c = (Block){rounded(how, &even, c->even), rounded(how, &odd, c->odd)};
}

void multiply_blocks(const Summing *how, const RowBlock *a, int blocks, const ColumnBlock *b, Block *c) {
    for (int i = 0; i < blocks; i++) switch (how->k) {
        case 8: multiply_rows(how, &a[i], b, &c[i], 8); break;
        case 16: multiply_rows(how, &a[i], b, &c[i], 16); break;
        default: multiply_rows(how, &a[i], b, &c[i], 32);
        }
}
