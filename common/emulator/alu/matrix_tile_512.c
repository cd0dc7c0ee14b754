// Of tiles where the processor has vectors of 512 bits, and rounds as an instruction says: in doubles, which
// need half as many operations as matrix_block.c.
//
// A sum starts as 1.5 * 2^52 units of the last place that is kept, so that adding a product rounds it to such
// units, down. What a tensor core does is to cut it off: a negative product with bits below the unit gets one
// unit more. These are counted with the exponents of the lowest bits of its factors, whose sum is that of the
// product.
#include "emulator/alu/matrix_tile.h"

#if WIDTH == 512

#include "emulator/alu/float_lanes.h"

enum {
    // In bytes: the exponents of numbers that are not zero, from the largest of a factor down; sums of two
    // of them are larger than those with a zero.
    TOP = 127,
    BOTTOM = 64,
    BOTH_TOPS = 2 * TOP,
    // The same of lowest bits, beside the sign. A sum of two signs is too large for a byte, and stays 255; so
    // is one with a zero.
    TOP_BIT = 63,
    NEGATIVE = 0x80,
    ZERO = 0xff,
    NO_BIT = 1000, // more than any lowest bit
    FRACTION = 25,
    // The least byte of a sum's largest exponent with which it does not matter what BOTTOM, or a lowest bit
    // of 0, stands for.
    WIDEST = BOTH_TOPS - 2 * TOP_BIT + FRACTION + TOP_BIT + 1,
    // Exponents of sums that are computed here; their units and results are normal numbers.
    LOWEST = -100,
    HIGHEST = 120,
    FLOAT_BIAS = 127,
    DOUBLE_BIAS = 1023,
    SPECIAL = 255, // the exponent of infinities and NaNs
};

INLINE Ints all(int x) { return (Ints){0} + x; }
INLINE Ints smaller(Ints x, Ints y) { return (Ints)_mm512_min_epi32((__m512i)x, (__m512i)y); }
INLINE int largest_lane(Ints x) { return _mm512_reduce_max_epi32((__m512i)x); }
INLINE int smallest_lane(Ints x) { return _mm512_reduce_min_epi32((__m512i)x); }
// Lanes of two vectors: `order` counts through both.
INLINE Ints taken(Ints x, Ints order, Ints y) {
    return (Ints)_mm512_permutex2var_epi32((__m512i)x, (__m512i)order, (__m512i)y);
}

// ---- Factors ----------------------------------------------------------------------------------------------

// Eight rows or columns of eight elements of k, as elements_of() has them.
typedef struct {
    Elements part[PARTS];
} Eight;

INLINE Eight eight_of(MatrixType type, const void *register_, const void *next) {
    return (Eight){{elements_of(type, register_, next, 0), elements_of(type, register_, next, 1)}};
}

// The exponent with the bias of floats; that of a zero is not larger than any, and that of an infinity is
// SPECIAL.
INLINE Ints exponents_of(Floats x, int least) {
    return larger((Ints)((Words)((Words)x << 1) >> 24), all(least + FLOAT_BIAS));
}

INLINE Ints top_of(const Eight *x, int least) {
    return larger(larger(exponents_of(x->part[0].first, least), exponents_of(x->part[0].second, least)),
                  larger(exponents_of(x->part[1].first, least), exponents_of(x->part[1].second, least)));
}

// The bytes of exponents, and in the upper halves of the words those of lowest bits. `top`: with the bias of
// floats.
INLINE Ints bytes_of(Floats x, int least, Ints top, Ints *least_bit) {
    const __mmask16 is_some = _mm512_test_epi32_mask((__m512i)x, _mm512_set1_epi32(INT32_MAX));
    const Ints exponent = larger(exponents_of(x, least) - (top - TOP), all(BOTTOM));
    const Ints fraction = ((Ints)x & 0x7fffff) | 0x800000, lowest = fraction & -fraction;
    const Ints place = (Ints) __builtin_convertvector(lowest, Floats) >> 23; // that of the last is 127
    // A subnormal number has the exponent of the least normal one.
    const Ints bit = exponents_of(x, 1 - FLOAT_BIAS) + place - (top + (FLOAT_BIAS + 23 - TOP_BIT));
    *least_bit = (Ints)_mm512_mask_min_epi32((__m512i)*least_bit, is_some, (__m512i)*least_bit, (__m512i)bit);
    const Ints with_sign = larger(bit, all(0)) | (((Ints)x >> 24) & NEGATIVE);
    return (Ints)_mm512_mask_mov_epi32(_mm512_set1_epi32(ZERO << 16), is_some,
                                       (__m512i)(exponent | with_sign << 16));
}

// Elements k and k + 1 of eight rows, a lane for each.
static const Ints of_rows = {0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29};
// Of eight columns, the even ones first.
static const Ints of_columns = {0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5, 13, 21, 29};

INLINE void put_doubles(double *first, double *second, Ints floats) {
    _mm512_store_pd(first, _mm512_cvtps_pd(_mm512_castps512_ps256((__m512)floats)));
    _mm512_store_pd(second, _mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)floats, 1)));
}

// Byte `byte` of each word four times.
INLINE __m512i four_times(Ints words, int byte) {
    const __m128i order = _mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    return _mm512_shuffle_epi8((__m512i)words,
                               _mm512_broadcast_i32x4(_mm_add_epi8(order, _mm_set1_epi8((char)byte))));
}

// Four elements of k from `k` on, of four rows and of the next four, with their bytes.
INLINE void put_rows(TileRows *to, int half, int k, Floats x, Floats y, Ints of_x, Ints of_y) {
    for (int i = 0; i < 4; i += 2) {
        const Ints order = of_rows + i, bytes = taken(of_x, order, of_y);
        put_doubles(&to->value[k + i][8 * half], &to->value[k + i + 1][8 * half],
                    taken((Ints)x, order, (Ints)y));
        _mm512_storeu_si512(to->exponents[half][k + i], four_times(bytes, 0));
        _mm512_storeu_si512(to->lowest_bits[half][k + i], four_times(bytes, 2));
    }
}

// For two elements of k the bytes of four even columns in each of eight rows, and then of four odd ones.
INLINE void put_column_bytes(uint8_t (*to)[64], Ints words) {
    const __m512i bytes = _mm512_castsi128_si512(_mm512_cvtepi32_epi8((__m512i)words));
    const Ints order = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    _mm512_store_si512(to[0], _mm512_permutexvar_epi32((__m512i)order, bytes));
    _mm512_store_si512(to[1], _mm512_permutexvar_epi32((__m512i)(order + 2), bytes));
}

INLINE void put_columns(TileColumns *to, int k, Floats x, Floats y, Ints of_x, Ints of_y) {
    for (int i = 0; i < 4; i += 2) {
        const Ints order = of_columns + i, bytes = taken(of_x, order, of_y);
        put_doubles(to->value[k + i], to->value[k + i + 1], taken((Ints)x, order, (Ints)y));
        put_column_bytes(&to->exponents[k + i], bytes);
        put_column_bytes(&to->lowest_bits[k + i], bytes >> 16);
    }
}

// `type` is a constant.
INLINE bool make_rows(TileRows *to, MatrixType type, const void *const *registers, int count, int steps) {
    const int least = least_exponent(type, false);
    Eight all_of[2][2];
    Ints top = {0}, least_bit = all(NO_BIT);
    for (int s = 0; s < steps; s++)
        for (int half = 0; half < 2; half++) {
            const int at = 2 * s + half;
            all_of[s][half] = eight_of(type, registers[at], at + 2 < count ? registers[at + 2] : NULL);
            top = larger(top, top_of(&all_of[s][half], least));
        }
    to->top = largest_lane(top);
    top = all(to->top);
    for (int s = 0; s < steps; s++)
        for (int half = 0; half < 2; half++) {
            const Elements x = all_of[s][half].part[0], y = all_of[s][half].part[1];
            put_rows(to, half, STEP * s, x.first, y.first, bytes_of(x.first, least, top, &least_bit),
                     bytes_of(y.first, least, top, &least_bit));
            put_rows(to, half, STEP * s + 4, x.second, y.second, bytes_of(x.second, least, top, &least_bit),
                     bytes_of(y.second, least, top, &least_bit));
        }
    to->least_bit = smallest_lane(least_bit);
    return to->top != SPECIAL;
}

INLINE bool make_columns(TileColumns *to, MatrixType type, const void *const *registers, int count,
                         int steps) {
    const int least = least_exponent(type, false);
    Eight all_of[2];
    Ints top = {0}, least_bit = all(NO_BIT);
    for (int s = 0; s < steps; s++) {
        all_of[s] = eight_of(type, registers[s], s + 1 < count ? registers[s + 1] : NULL);
        top = larger(top, top_of(&all_of[s], least));
    }
    to->top = largest_lane(top);
    top = all(to->top);
    for (int s = 0; s < steps; s++) {
        const Elements x = all_of[s].part[0], y = all_of[s].part[1];
        put_columns(to, STEP * s, x.first, y.first, bytes_of(x.first, least, top, &least_bit),
                    bytes_of(y.first, least, top, &least_bit));
        put_columns(to, STEP * s + 4, x.second, y.second, bytes_of(x.second, least, top, &least_bit),
                    bytes_of(y.second, least, top, &least_bit));
    }
    to->least_bit = smallest_lane(least_bit);
    return to->top != SPECIAL;
}

bool tile_rows(TileRows *to, MatrixType type, const void *const *registers, int count, int steps) {
    switch (type) {
    case MATRIX_F16: return make_rows(to, MATRIX_F16, registers, count, steps);
    case MATRIX_BF16: return make_rows(to, MATRIX_BF16, registers, count, steps);
    default: return make_rows(to, MATRIX_TF32, registers, count, steps);
    }
}

bool tile_columns(TileColumns *to, MatrixType type, const void *const *registers, int count, int steps) {
    switch (type) {
    case MATRIX_F16: return make_columns(to, MATRIX_F16, registers, count, steps);
    case MATRIX_BF16: return make_columns(to, MATRIX_BF16, registers, count, steps);
    default: return make_columns(to, MATRIX_TF32, registers, count, steps);
    }
}

// ---- Sums -------------------------------------------------------------------------------------------------

// Vectors of sums: of each half of eight rows the even columns of four rows, of the other four, and the odd
// columns likewise.
enum { VECTORS = 4 };
typedef struct {
    Ints of[2][VECTORS];
} TileInts;

INLINE Floats sums_at(const Block sums[TILE_BLOCKS], int half, int v) {
    const Block *block = &sums[half * PARTS + v % PARTS];
    return v / PARTS ? block->odd : block->even;
}

// Bytes of sums of eight rows, v: which of VECTORS.
INLINE Ints widened(const uint8_t *bytes, int v) {
    return (Ints)_mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)bytes + v));
}

INLINE __m512i bytes_with(const uint8_t *rows) {
    return _mm512_broadcast_i64x4(_mm256_load_si256((const __m256i *)rows));
}

// Of each sum of eight rows the largest exponent of a product; 0: all are zero.
INLINE void largest_products(uint8_t to[64], const uint8_t (*rows)[32], const uint8_t (*columns)[64],
                             int count) {
    __m512i x = _mm512_setzero_si512(), y = x;
    for (int k = 0; k < count; k += 2) {
        x = _mm512_max_epu8(x, _mm512_add_epi8(bytes_with(rows[k]), _mm512_load_si512(columns[k])));
        y = _mm512_max_epu8(y, _mm512_add_epi8(bytes_with(rows[k + 1]), _mm512_load_si512(columns[k + 1])));
    }
    x = _mm512_max_epu8(x, y);
    const __mmask64 is_some = _mm512_cmpge_epu8_mask(x, _mm512_set1_epi8((char)(2 * BOTTOM)));
    _mm512_store_si512(to, _mm512_maskz_mov_epi8(is_some, x));
}

// Of each sum of eight rows how many negative products have bits below the unit.
INLINE void count_cut(uint8_t to[64], const Ints largest[VECTORS], const uint8_t (*rows)[32],
                      const uint8_t (*columns)[64], int count) {
    enum { UNIT = BOTH_TOPS - 2 * TOP_BIT + FRACTION };
    // NEGATIVE and the exponent of the unit, as bytes with a sign.
    __m512i limit[VECTORS];
    for (int v = 0; v < VECTORS; v++) limit[v] = (__m512i)(largest[v] - (UNIT + NEGATIVE));
    const __m512i all_limits = _mm512_min_epi8(
        _mm512_packs_epi16(_mm512_packs_epi32(limit[0], limit[1]), _mm512_packs_epi32(limit[2], limit[3])),
        _mm512_set1_epi8(-1));
    const Ints order = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    const __m512i limits = _mm512_permutexvar_epi32((__m512i)order, all_limits), one = _mm512_set1_epi8(1);
    __m512i counts[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (int k = 0; k < count; k++) {
        const __m512i bits = _mm512_adds_epu8(bytes_with(rows[k]), _mm512_load_si512(columns[k]));
        counts[k % 2] =
            _mm512_mask_add_epi8(counts[k % 2], _mm512_cmplt_epi8_mask(bits, limits), counts[k % 2], one);
    }
    _mm512_store_si512(to, _mm512_add_epi8(counts[0], counts[1]));
}

// The upper halves of doubles that are 1.5 * 2^52 units; the lower ones are 0.
INLINE Ints start_of(Ints largest, int tops) {
    return (largest << 20) + (((tops - BOTH_TOPS - FRACTION + 52 + DOUBLE_BIAS) << 20) + (1 << 19));
}

// `count` is a constant.
INLINE void add_products(__m512d sums[TILE_ROWS], const TileRows *rows, const TileColumns *columns,
                         int count) {
#pragma GCC unroll 1
    for (int k = 0; k < count; k++) {
        const __m512d column = _mm512_load_pd(columns->value[k]);
#pragma GCC unroll 16
        for (int r = 0; r < TILE_ROWS; r++)
            sums[r] = _mm512_fmadd_round_pd(_mm512_set1_pd(rows->value[k][r]), column, sums[r],
                                            _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    }
}

// A sum of `units` of 2^place.
INLINE Floats to_floats(Ints units, Ints place, bool to_odd) {
    Floats sum = towards_zero(units);
    if (to_odd) sum = (Floats)((Ints)sum | ((__builtin_convertvector(sum, Ints) != units) & 1));
    return sum * (Floats)((place + FLOAT_BIAS) << 23);
}

// Whether a sum has exponents that the bytes of a wide factor hide.
static bool is_hidden(const TileInts *largest, const uint8_t products[2][64]) {
    Ints found = {0};
    for (int half = 0; half < 2; half++)
        for (int v = 0; v < VECTORS; v++)
            found |= (largest->of[half][v] < WIDEST) & (widened(products[half], v) != 0);
    return has_any(found);
}

// Whether a sum that is not zero is smaller than is computed here; `lowest` is what stands for LOWEST.
static bool is_low(const TileInts *largest, const uint8_t products[2][64], const Block sums[TILE_BLOCKS],
                   int lowest) {
    Ints found = {0};
    for (int half = 0; half < 2; half++)
        for (int v = 0; v < VECTORS; v++)
            found |= (largest->of[half][v] <= lowest) &
                     ((widened(products[half], v) != 0) | (((Ints)sums_at(sums, half, v) & 0x7fffffff) != 0));
    return has_any(found);
}

INLINE bool multiply(const Summing *how, const TileRows *rows, const TileColumns *columns,
                     const Block c[TILE_BLOCKS], Block d[TILE_BLOCKS], int count) {
    const int tops = rows->top + columns->top - 2 * FLOAT_BIAS;
    const int of_one = BOTH_TOPS - tops; // what stands for exponent 0
    if (tops - BOTH_TOPS > LOWEST) return false;
    _Alignas(64) uint8_t products[2][64], cut[2][64];
    TileInts largest;
    Ints high = {0}, low = all(INT32_MAX);
    for (int half = 0; half < 2; half++) {
        largest_products(products[half], rows->exponents[half], columns->exponents, count);
        for (int v = 0; v < VECTORS; v++) {
            const Ints of_sum = larger(((Ints)sums_at(c, half, v) >> 23) & 0xff, all(LOWEST + FLOAT_BIAS));
            const Ints x = larger(widened(products[half], v), of_sum + (of_one - FLOAT_BIAS));
            largest.of[half][v] = x;
            high = larger(high, x);
            low = smaller(low, x);
        }
    }
    if (has_any(high > of_one + HIGHEST)) return false;
    if (has_any(low <= of_one + LOWEST) && is_low(&largest, products, c, of_one + LOWEST)) return false;
    if ((rows->least_bit < 0 || columns->least_bit < 0) && is_hidden(&largest, products)) return false;

    const int bits = rows->least_bit + columns->least_bit;
    const bool is_cut = has_any(high > bits + (BOTH_TOPS - 2 * TOP_BIT + FRACTION));
    for (int half = 0; half < 2 && is_cut; half++)
        count_cut(cut[half], largest.of[half], rows->lowest_bits[half], columns->lowest_bits, count);

    __m512d of_row[TILE_ROWS]; // even columns first
#pragma GCC unroll 4
    for (int i = 0; i < TILE_BLOCKS; i++) {
        const Ints order = {0, 0, 0, 1, 0, 2, 0, 3, 0, 16, 0, 17, 0, 18, 0, 19};
        const Ints even = start_of(largest.of[i / PARTS][i % PARTS], tops),
                   odd = start_of(largest.of[i / PARTS][PARTS + i % PARTS], tops);
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++)
            of_row[ROWS * i + r] = (__m512d)_mm512_maskz_permutex2var_epi32(
                0xaaaa, (__m512i)even, (__m512i)(order + 4 * r), (__m512i)odd);
    }
    add_products(of_row, rows, columns, count);

    Ints many = {0};
#pragma GCC unroll 4
    for (int i = 0; i < TILE_BLOCKS; i++) {
        // The lower halves of the doubles are numbers of units.
        const Ints lower = {0, 2, 4, 6, 16, 18, 20, 22, 8, 10, 12, 14, 24, 26, 28, 30};
        const Ints x = taken((Ints)of_row[ROWS * i], lower, (Ints)of_row[ROWS * i + 1]),
                   y = taken((Ints)of_row[ROWS * i + 2], lower, (Ints)of_row[ROWS * i + 3]);
        const Ints of_even = {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
        Floats *to[] = {&d[i].even, &d[i].odd};
#pragma GCC unroll 2
        for (int odd = 0; odd < 2; odd++) {
            const int half = i / PARTS, v = odd * PARTS + i % PARTS;
            Words units = (Words)taken(x, of_even + 8 * odd, y);
            if (is_cut) units += (Words)widened(cut[half], v);
            many |= (Ints)(units ^ (units << 1));
            const Floats sum = sums_at(c, half, v);
            const Ints place = largest.of[half][v] + (tops - BOTH_TOPS - FRACTION);
            const Floats scale = (Floats)((all(FLOAT_BIAS) - place) << 23);
            units += (Words) __builtin_convertvector(sum * scale, Ints);
            *to[odd] = to_floats((Ints)units, place, how->to_odd);
        }
    }
    return !has_any(many & INT32_MIN);
}

bool tile_multiply(const Summing *how, const TileRows *rows, const TileColumns *columns,
                   const Block c[TILE_BLOCKS], Block d[TILE_BLOCKS]) {
    return how->k == STEP ? multiply(how, rows, columns, c, d, STEP)
                          : multiply(how, rows, columns, c, d, 2 * STEP);
}

#endif
