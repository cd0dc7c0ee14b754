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
// of m16n8, so that parts of the registers of such an instruction are its vectors.
#include "emulator/alu/matrix.h"

#include <string.h>

#include "emulator/alu/float_lanes.h"
#include "emulator/alu/matrix_vector.h"

enum {
    FRACTION_BITS = 25,       // kept below the largest exponent of a sum
    SMALL_FRACTION_BITS = 13, // of 8-bit floats in wgmma
};

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
static int least_exponent(MatrixType type, bool is_group) {
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

// ---- Sums -------------------------------------------------------------------------------------------------

enum {
    // Exponents between which single precision computes the sum: a product that it cannot hold is too small
    // to count, and units and sums are normal numbers.
    LOWEST = -100,
    HIGHEST = 120,
    SUM_BIAS = 2 * EXPONENT_BIAS,
    NO_SUM = SUM_BIAS - 500, // more than a zero and a number have
};

// What remains of the products and of the accumulators `c`, in units of the last place kept.
typedef struct {
    Ints units;
    Ints place;     // the exponent of that unit, plus 127
    bool is_beyond; // of what is computed here
} Sums;

INLINE Floats power_of_two(Ints exponent) { return (Floats)(exponent << 23); } // which has a bias of 127

INLINE Sums sum_products(const RowBlock *a, const ColumnBlock *b, int count, int columns, Floats c,
                         int fraction) {
    Ints both = {0};
    for (int k = 0; k < count / 2; k++)
        both = larger_halves(both, a->exponents[k] + every_row(&b->exponents[k][columns]));
    const Ints of_c = biased_exponents(c, -126), has_c = of_c != 0;
    Ints largest = larger(both & 0xffff, (Ints)((both >> 16) & 0xffff));
    largest = larger(largest, (of_c + EXPONENT_BIAS) & has_c);
    largest = chosen(largest > NO_SUM, largest, (Ints){0} + SUM_BIAS); // else all are zero
    const Ints is_within = (largest >= SUM_BIAS + LOWEST) & (largest <= SUM_BIAS + HIGHEST);
    const Floats scale = power_of_two(SUM_BIAS + 127 + fraction - largest);
    Words sum = {0}; // wraps where it is beyond
    for (int k = 0; k < count; k++)
        sum += (Words) __builtin_convertvector(a->value[k] * (Floats)every_row(&b->value[k][columns]) * scale,
                                               Ints);
    const Ints is_many = (Ints)(sum ^ (sum << 1)) < 0; // 2^30: the accumulator may not fit
    const Words of_sums = (Words) __builtin_convertvector(c * scale, Ints);
    return (Sums){(Ints)(sum + of_sums), largest - (SUM_BIAS - 127 + fraction),
                  has_any(~is_within | is_many)};
}

// Rounds towards zero to floats, or to odd: such a float is then rounded to an f16 as the sum would be.
INLINE Floats sums_to_floats(Sums sums, bool to_odd) {
    const Floats near = __builtin_convertvector(sums.units, Floats);
    const Ints excess = __builtin_convertvector(near, Ints) - sums.units, is_inexact = excess != 0;
    const Ints is_away = is_inexact & ((excess ^ sums.units) >= 0);
    const Ints bits = ((Ints)near + is_away) | (to_odd ? is_inexact & 1 : (Ints){0});
    return (Floats)bits * power_of_two(sums.place);
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

// ---- Blocks of sums ---------------------------------------------------------------------------------------

// How a product is summed.
typedef struct {
    int k;
    int fraction;
    bool is_small; // SMALL_FRACTION_BITS
    bool to_odd;   // else towards zero
} Summing;

// ROWS rows and COLUMNS columns, the even columns first.
typedef struct {
    Floats even, odd;
} Block;

// What sum_products() does not compute.
static __attribute__((noinline)) void sum_lanes(const Summing *how, const RowBlock *a, const ColumnBlock *b,
                                                int columns, const Floats *c, Floats *result) {
    const uint64_t cut = how->is_small && !how->to_odd ? (1ull << (52 - SMALL_FRACTION_BITS)) - 1 : 0;
    for (int lane = 0; lane < LANES; lane++) {
        const double exact = sum_exactly(a, b, how->k, lane, columns + lane % 4, (*c)[lane], how->fraction);
        (*result)[lane] = sum_to_float(bits_double(double_bits(exact) & ~cut), how->to_odd);
    }
}

// Four columns of a block from `columns` on; `count` is how->k.
INLINE Floats sum_columns(const Summing *how, const RowBlock *a, const ColumnBlock *b, int columns, Floats c,
                          int count) {
    const Sums sums = sum_products(a, b, count, columns, c, how->fraction);
    Floats result;
    if (sums.is_beyond) {
        sum_lanes(how, a, b, columns, &c, &result);
        return result;
    }
    if (how->to_odd) return sums_to_floats(sums, true);
    result = sums_to_floats(sums, false);
    return how->is_small ? (Floats)((Ints)result & ~((1 << (23 - SMALL_FRACTION_BITS)) - 1)) : result;
}

// `count` is a constant.
INLINE Block sum_block(const Summing *how, const RowBlock *a, const ColumnBlock *b, Block c, int count) {
    return (Block){sum_columns(how, a, b, 0, c.even, count), sum_columns(how, a, b, 4, c.odd, count)};
}

static Block multiply_block(const Summing *how, const RowBlock *a, const ColumnBlock *b, Block c) {
    switch (how->k) {
    case 8: return sum_block(how, a, b, c, 8);
    case 16: return sum_block(how, a, b, c, 16);
    default: return sum_block(how, a, b, c, 32);
    }
}

// ---- Packed matrices --------------------------------------------------------------------------------------

// e4m3 has no infinity, and one NaN of each sign; e5m2 is the upper half of an f16.
static float e4m3_float(uint8_t x) {
    const uint16_t shifted = (uint16_t)((x & 0x80u) << 8 | (x & 0x7fu) << 7);
    return (x & 0x7fu) == 0x7fu ? bits_float(NAN_F32) : f16_float(shifted) * 0x1p8f;
}

static void read_values(float *to, MatrixType type, const void *matrix, int count) {
    const uint8_t *bytes = matrix;
    const uint16_t *halves = matrix;
    const uint32_t *words = matrix;
    switch (type) {
    case MATRIX_F16:
        for (int i = 0; i < count; i++) to[i] = f16_float(halves[i]);
        break;
    case MATRIX_BF16:
        for (int i = 0; i < count; i++) to[i] = bf16_float(halves[i]);
        break;
    case MATRIX_E4M3:
        for (int i = 0; i < count; i++) to[i] = e4m3_float(bytes[i]);
        break;
    case MATRIX_E5M2:
        for (int i = 0; i < count; i++) to[i] = f16_float((uint16_t)(bytes[i] << 8));
        break;
    case MATRIX_TF32: // the last 13 bits of the register are ignored
        for (int i = 0; i < count; i++) to[i] = bits_float(words[i] & ~0x1fffu);
        break;
    default: memcpy(to, matrix, (size_t)count * sizeof *to); break;
    }
}

static bool have_special(const float *values, int count) {
    uint32_t found = 0;
    for (int i = 0; i < count; i++) found |= (float_bits(values[i]) & 0x7f800000u) == 0x7f800000u;
    return found;
}

static void clear_special(float *values, int count) {
    for (int i = 0; i < count; i++)
        if (values[i] - values[i] != 0) values[i] = 0;
}

// What results are because of infinities and NaNs: those, or 0 where none takes part.
static float special_sum(const float *a, const float *b, int k, float c) {
    float sum = c - c == 0 ? 0 : c;
    for (int i = 0; i < k; i++)
        if (a[i] - a[i] != 0 || b[i] - b[i] != 0) sum += a[i] * b[i];
    return sum;
}

// Fills rows of `k` elements up with zeros to STEP.
static void widen(float *values, int rows, int k) {
    for (int i = rows * STEP - 1; i >= 0; i--) values[i] = i % STEP < k ? values[i / STEP * k + i % STEP] : 0;
}

// Four elements of each of ROWS rows, which are `k` long.
static Floats rows_at(const float *from, int k) {
    Floats result;
    for (int row = 0; row < ROWS; row++) memcpy((float *)&result + 4 * row, from + row * k, 4 * sizeof *from);
    return result;
}

static void pack_rows(RowBlock *to, const float *values, int k, int least) {
    for (int i = 0; i < k; i += STEP)
        add_rows(to, i, rows_at(values + i, k), rows_at(values + i + 4, k), least);
}

static void pack_columns(ColumnBlock *to, const float *values, int k, int least) {
    for (int i = 0; i < k; i += STEP) {
        Floats first[COLUMN_VECTORS], second[COLUMN_VECTORS];
        for (int v = 0; v < COLUMN_VECTORS; v++) {
            first[v] = rows_at(values + v * ROWS * k + i, k);
            second[v] = rows_at(values + v * ROWS * k + i + 4, k);
        }
        add_columns(to, i, first, second, least);
    }
}

static Block read_block(const float *values, int n) {
    Block block;
    for (int i = 0; i < LANES; i++) {
        block.even[i] = values[i / 4 * n + i % 4 * 2];
        block.odd[i] = values[i / 4 * n + i % 4 * 2 + 1];
    }
    return block;
}

static void write_block(float *values, int n, Block block) {
    for (int i = 0; i < LANES; i++) {
        values[i / 4 * n + i % 4 * 2] = block.even[i];
        values[i / 4 * n + i % 4 * 2 + 1] = block.odd[i];
    }
}

static Summing summing_of(const MatrixForm *form, int k) {
    const bool is_small = form->is_group && matrix_type_bits(form->a_type) == 8;
    return (Summing){.k = k,
                     .fraction = is_small ? SMALL_FRACTION_BITS : FRACTION_BITS,
                     .is_small = is_small,
                     // Else the sum is one of f32, of which an f16 is made then.
                     .to_odd = form->d_type == MATRIX_F16 && form->c_type == MATRIX_F16};
}

// One sum for each element: k is 4, 8, 16 or 32.
static void multiply_floats(const MatrixForm *form, const void *a, const void *b, const void *c, void *d,
                            int k) {
    const int m = form->shape.m, n = form->shape.n;
    _Alignas(64) float rows[MOST_ROWS * MOST_K], columns[MOST_ROWS * MOST_K], sums[MOST_ROWS * MOST_ROWS];
    float special[MOST_ROWS * MOST_ROWS];
    read_values(rows, form->a_type, a, m * k);
    read_values(columns, form->b_type, b, n * k);
    read_values(sums, form->c_type, c, m * n);
    for (int i = 0; i < m * k && form->negates; i++) rows[i] = -rows[i];
    if (k < STEP) {
        widen(rows, m, k);
        widen(columns, n, k);
        k = STEP;
    }
    const bool has_special =
        have_special(rows, m * k) || have_special(columns, n * k) || have_special(sums, m * n);
    if (has_special) {
        for (int i = 0; i < m * n; i++)
            special[i] = special_sum(&rows[i / n * k], &columns[i % n * k], k, sums[i]);
        clear_special(rows, m * k);
        clear_special(columns, n * k);
        clear_special(sums, m * n);
    }
    const Summing how = summing_of(form, k);
    RowBlock of_rows[MOST_ROWS / ROWS];
    for (int row = 0; row < m; row += ROWS)
        pack_rows(&of_rows[row / ROWS], rows + row * k, k, least_exponent(form->a_type, form->is_group));
    for (int column = 0; column < n; column += COLUMNS) {
        ColumnBlock of_columns;
        pack_columns(&of_columns, columns + column * k, k, least_exponent(form->b_type, form->is_group));
        for (int row = 0; row < m; row += ROWS) {
            float *at = sums + row * n + column;
            write_block(at, n, multiply_block(&how, &of_rows[row / ROWS], &of_columns, read_block(at, n)));
        }
    }
    for (int i = 0; i < m * n && has_special; i++)
        if (special[i] != 0) sums[i] = canonical(special[i]); // NaN, too
    if (form->d_type == MATRIX_F16)
        for (int i = 0; i < m * n; i++) ((uint16_t *)d)[i] = float_f16(sums[i]);
    else
        memcpy(d, sums, (size_t)(m * n) * sizeof *sums);
}

// ---- Fragments --------------------------------------------------------------------------------------------

// m16n8, or two of them, in the registers of a warp. A vector is a part of a register: rows of a, columns of
// b, or of rows of c the even or the odd columns. Of 16-bit elements two that are neighbours in k, or of c in
// a row, share a word.

INLINE Floats low_halves(MatrixType type, Ints words) {
    if (type == MATRIX_BF16) return (Floats)(words << 16);
    const Ints magnitude = (words & 0x7fff) << 13, is_special = magnitude >= 0x7c00 << 13;
    const Ints finite = (Ints)((Floats)magnitude * 0x1p112f);
    return (Floats)((words & 0x8000) << 16 | chosen(is_special, magnitude | 0x7f800000, finite));
}
INLINE Floats high_halves(MatrixType type, Ints words) {
    if (type == MATRIX_BF16) return (Floats)(words & ~0xffff);
    return low_halves(type, (words >> 16) & 0xffff);
}

// A register has eight rows.
enum { TILE_ROWS = 16, TILE_BLOCKS = TILE_ROWS / ROWS, PARTS = 8 / ROWS };

INLINE Ints vector_of(const void *register_, int part) {
    return ints_at((const unsigned char *)register_ + part * (int)sizeof(Ints));
}

// STEP elements of k, in two vectors. `next`: the register with the second half of tf32; NULL: that is zeros.
typedef struct {
    Floats first, second;
} Elements;
INLINE Elements elements_of(MatrixType type, const void *register_, const void *next, int part) {
    const Ints words = vector_of(register_, part);
    if (type != MATRIX_TF32) return (Elements){low_halves(type, words), high_halves(type, words)};
    return (Elements){(Floats)(words & ~0x1fff),
                      next ? (Floats)(vector_of(next, part) & ~0x1fff) : (Floats){0}};
}

INLINE Ints specials(Floats x) { return ((Ints)x & 0x7f800000) == 0x7f800000; }

// Of k elements, in `steps`; true where one is infinite or NaN.
INLINE bool rows_of(RowBlock to[TILE_BLOCKS], MatrixType type, const void *const *registers, int count,
                    int steps) {
    Ints found = {0};
    for (int i = 0; i < TILE_BLOCKS; i++)
        for (int s = 0; s < steps; s++) {
            const int at = 2 * s + i / PARTS;
            const Elements x =
                elements_of(type, registers[at], at + 2 < count ? registers[at + 2] : NULL, i % PARTS);
            add_rows(&to[i], STEP * s, x.first, x.second, least_exponent(type, false));
            found |= specials(x.first) | specials(x.second);
        }
    return has_any(found);
}
INLINE bool columns_of(ColumnBlock *to, MatrixType type, const void *const *registers, int count, int steps) {
    Ints found = {0};
    for (int s = 0; s < steps; s++) {
        Floats first[COLUMN_VECTORS], second[COLUMN_VECTORS];
        for (int v = 0; v < COLUMN_VECTORS; v++) {
            const Elements x = elements_of(type, registers[s], s + 1 < count ? registers[s + 1] : NULL, v);
            first[v] = x.first;
            second[v] = x.second;
            found |= specials(x.first) | specials(x.second);
        }
        add_columns(to, STEP * s, first, second, least_exponent(type, false));
    }
    return has_any(found);
}

static bool read_sums(Block to[TILE_BLOCKS], MatrixType type, const void *const *registers) {
    Ints found = {0};
    for (int i = 0; i < TILE_BLOCKS; i++) {
        const int half = i / PARTS, part = i % PARTS;
        if (type == MATRIX_F16) {
            const Ints words = vector_of(registers[half], part);
            to[i] = (Block){low_halves(MATRIX_F16, words), high_halves(MATRIX_F16, words)};
        } else
            to[i] = (Block){(Floats)vector_of(registers[2 * half], part),
                            (Floats)vector_of(registers[2 * half + 1], part)};
        found |= specials(to[i].even) | specials(to[i].odd);
    }
    return has_any(found);
}

static void write_vector(void *register_, int part, const void *values) {
    if (register_) memcpy((unsigned char *)register_ + part * (int)sizeof(Ints), values, sizeof(Ints));
}

static void write_sums(MatrixType type, void *const *registers, const Block from[TILE_BLOCKS]) {
    for (int i = 0; i < TILE_BLOCKS; i++) {
        const int half = i / PARTS, part = i % PARTS;
        if (type != MATRIX_F16) {
            write_vector(registers[2 * half], part, &from[i].even);
            write_vector(registers[2 * half + 1], part, &from[i].odd);
            continue;
        }
        uint32_t words[LANES];
        for (int lane = 0; lane < LANES; lane++)
            words[lane] = float_f16(from[i].even[lane]) | (uint32_t)float_f16(from[i].odd[lane]) << 16;
        write_vector(registers[half], part, words);
    }
}

enum { MOST_TILES = 2 }; // of 16 rows, or of 8 columns: a wmma is two m16n8

// The registers of one factor, and how many of them each of its `tiles` has. The last ones: a fragment of
// wmma may have all elements twice.
typedef struct {
    const void *const *registers;
    int of_tile, tiles;
} FactorTiles;

static FactorTiles tiles_of(const MatrixFragment *f, const void *const *registers, int tiles) {
    return (FactorTiles){registers + f->registers - f->distinct, f->distinct / tiles, tiles};
}

// `type` is a constant.
INLINE bool multiply_tiles(const MatrixForm *form, MatrixType type, const FactorTiles *a,
                           const FactorTiles *b, const MatrixRegisters *registers) {
    const int steps = (form->shape.k + STEP - 1) / STEP, count = a->tiles * b->tiles;
    const int of_c = form->c.registers / count, of_d = form->d.registers / count;
    RowBlock rows[MOST_TILES][TILE_BLOCKS];
    ColumnBlock columns[MOST_TILES];
    Block sums[MOST_TILES][TILE_BLOCKS];
    bool has_special = false;
    for (int i = 0; i < a->tiles; i++)
        has_special |= rows_of(rows[i], type, a->registers + i * a->of_tile, a->of_tile, steps);
    for (int i = 0; i < b->tiles; i++)
        has_special |= columns_of(&columns[i], type, b->registers + i * b->of_tile, b->of_tile, steps);
    for (int i = 0; i < count; i++) has_special |= read_sums(sums[i], form->c_type, registers->c + i * of_c);
    if (has_special) return false;
    const Summing how = summing_of(form, steps * STEP);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < TILE_BLOCKS; j++)
            sums[i][j] = multiply_block(&how, &rows[i / b->tiles][j], &columns[i % b->tiles], sums[i][j]);
        write_sums(form->d_type, registers->d + i * of_d, sums[i]);
    }
    return true;
}

bool matrix_multiply_fragments(const MatrixForm *form, const MatrixRegisters *registers) {
    const MatrixShape *s = &form->shape;
    const bool is_turned = s->n > s->m; // then b has the rows
    const int row_tiles = (is_turned ? s->n : s->m) / TILE_ROWS,
              column_tiles = (is_turned ? s->m : s->n) / COLUMNS;
    if (s->is_quad || !row_tiles) return false;
    const FactorTiles of_a = tiles_of(&form->a, registers->a, is_turned ? column_tiles : row_tiles),
                      of_b = tiles_of(&form->b, registers->b, is_turned ? row_tiles : column_tiles);
    const FactorTiles *rows = is_turned ? &of_b : &of_a, *columns = is_turned ? &of_a : &of_b;
    switch (form->a_type) {
    case MATRIX_F16: return multiply_tiles(form, MATRIX_F16, rows, columns, registers);
    case MATRIX_BF16: return multiply_tiles(form, MATRIX_BF16, rows, columns, registers);
    case MATRIX_TF32: // wmma is two instructions
        return !s->is_wmma && multiply_tiles(form, MATRIX_TF32, rows, columns, registers);
    default: return false;
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

static float sum_element(const MatrixForm *form, const void *c, int i) {
    return form->c_type == MATRIX_F16 ? f16_float(((const uint16_t *)c)[i]) : ((const float *)c)[i];
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
