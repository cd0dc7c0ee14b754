// Of tiles where the processor has vectors of 256 or 512 bits: in doubles, which need half as many operations
// as matrix_block.c.
//
// A sum starts as 1.5 * 2^52 units of the last place that is kept, so that adding a product rounds it to such
// units, down. What a tensor core does is to cut it off: a negative product with bits below the unit gets one
// unit more. These are counted with the exponents of the lowest bits of its factors, whose sum is that of the
// product.
//
// Factors are often whole numbers, or have few bits and similar exponents. Where floats hold all sums of
// their products exactly, nothing is cut off, and floats are added.
#include "emulator/alu/matrix_tile_vector.h"

#if HAS_DOUBLE_TILES

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
    FRACTION = 25,
    // From the last bit to the largest exponent, of products whose sums floats hold exactly: of 24 bits, 6
    // are
    // for a sum of 16 products, each less than 4 times a power of two.
    EXACT_BITS = 24 - 6,
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

// ---- Factors ----------------------------------------------------------------------------------------------

// All rows or columns that a register has, of eight elements of k, as elements_of() has them.
typedef struct {
    Elements part[PARTS];
} Eight;

INLINE Eight eight_of(MatrixType type, const void *register_, const void *next) {
    Eight x;
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++) x.part[i] = elements_of(type, register_, next, i);
    return x;
}

// The exponent with the bias of floats; that of a zero is not larger than any, and that of an infinity is
// SPECIAL.
INLINE Ints exponents_of(Floats x, int least) {
    return larger((Ints)((Words)((Words)x << 1) >> 24), all(least + FLOAT_BIAS));
}

INLINE Ints top_of(const Eight *x, int least) {
    Ints top = {0};
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++)
        top = larger(top,
                     larger(exponents_of(x->part[i].first, least), exponents_of(x->part[i].second, least)));
    return top;
}

// The bytes of exponents, and in the upper halves of the words those of lowest bits. `top`: with the bias of
// floats.
INLINE Ints bytes_of(Floats x, int least, Ints top, Ints *least_bit) {
    const Ints is_some = ((Ints)x & INT32_MAX) != 0;
    const Ints exponent = larger(exponents_of(x, least) - (top - TOP), all(BOTTOM));
    const Ints fraction = ((Ints)x & 0x7fffff) | 0x800000, lowest = fraction & -fraction;
    const Ints place = (Ints) __builtin_convertvector(lowest, Floats) >> 23; // that of the last is 127
    // A subnormal number has the exponent of the least normal one.
    const Ints bit = exponents_of(x, 1 - FLOAT_BIAS) + place - (top + (FLOAT_BIAS + 23 - TOP_BIT));
    *least_bit = smaller(*least_bit, chosen(is_some, bit, all(TOP_BIT)));
    const Ints with_sign = larger(bit, all(0)) | (((Ints)x >> 24) & NEGATIVE);
    return chosen(is_some, exponent | with_sign << 16, all(ZERO << 16));
}

// Four elements of k from `k` on, of the rows of two vectors, with their bytes.
INLINE void put_rows(TileRows *to, int set, int k, Floats x, Floats y, Ints of_x, Ints of_y) {
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
        const Floats values = (Floats)words_of_rows((Ints)x, (Ints)y, i);
        put_doubles(&to->value[k + i][SET_ROWS * set], values);
        put_more_doubles(&to->value[k + i + 1][SET_ROWS * set], values);
        const Ints bytes = words_of_rows(of_x, of_y, i);
        const Bytes exponents = four_times(bytes, 0), lowest_bits = four_times(bytes, 2);
        memcpy(&to->exponents[set][k + i], &exponents, sizeof exponents); // and of the next k
        memcpy(&to->lowest_bits[set][k + i], &lowest_bits, sizeof lowest_bits);
    }
}

// Four elements of k from `k` on.
INLINE void put_columns(TileColumns *to, int k, const Ints values[COLUMN_VECTORS],
                        const Ints bytes[COLUMN_VECTORS]) {
    Ints turned[COLUMN_VECTORS], turned_bytes[COLUMN_VECTORS];
    turn(turned, values);
    turn(turned_bytes, bytes);
    memcpy(to->exact[k], turned, sizeof turned);
#pragma GCC unroll 4
    for (int i = 0; i < COLUMN_VECTORS; i++) {
        const int at = k + i * (LANES / COLUMNS);
        put_doubles(to->value[at], (Floats)turned[i]);
        put_more_doubles(to->value[at] + DOUBLE_LANES, (Floats)turned[i]);
        put_in_rows(&to->exponents[at], all_four_times(turned_bytes[i], 0));
        put_in_rows(&to->lowest_bits[at], all_four_times(turned_bytes[i], 2));
    }
}

INLINE void put_exact_rows(TileRows *to, int k, int block, Elements x) {
#define PUT(i)                                                                                               \
    to->exact[k + i][block] = (Floats)every_column((Ints)x.first, i);                                        \
    to->exact[k + 4 + i][block] = (Floats)every_column((Ints)x.second, i);
    PUT(0)
    PUT(1)
    PUT(2)
    PUT(3)
#undef PUT
}

// `type` is a constant.
INLINE bool make_rows(TileRows *to, MatrixType type, const void *const *registers, int count, int steps) {
    const int least = least_exponent(type, false);
    Eight all_of[2][2];
    Ints top = {0}, least_bit = all(TOP_BIT);
    for (int s = 0; s < steps; s++)
        for (int half = 0; half < 2; half++) {
            const int at = 2 * s + half;
            all_of[s][half] = eight_of(type, registers[at], at + 2 < count ? registers[at + 2] : NULL);
            top = larger(top, top_of(&all_of[s][half], least));
        }
    to->top = largest_lane(top);
    top = all(to->top);
    for (int s = 0; s < steps; s++)
        for (int set = 0; set < TILE_SETS; set++) {
            const Elements *of = all_of[s][set / (PARTS / 2)].part + set % (PARTS / 2) * 2;
            const Elements x = of[0], y = of[1];
            put_rows(to, set, STEP * s, x.first, y.first, bytes_of(x.first, least, top, &least_bit),
                     bytes_of(y.first, least, top, &least_bit));
            put_rows(to, set, STEP * s + 4, x.second, y.second, bytes_of(x.second, least, top, &least_bit),
                     bytes_of(y.second, least, top, &least_bit));
        }
    to->least_bit = smallest_lane(least_bit);
    // Else no columns have sums that are exact: their least_bit is not more than TOP_BIT.
    if (to->least_bit >= TOP_BIT - EXACT_BITS)
        for (int s = 0; s < steps; s++)
            for (int i = 0; i < TILE_BLOCKS; i++)
                put_exact_rows(to, STEP * s, i, all_of[s][i / PARTS].part[i % PARTS]);
    return to->top != SPECIAL;
}

INLINE bool make_columns(TileColumns *to, MatrixType type, const void *const *registers, int count,
                         int steps) {
    const int least = least_exponent(type, false);
    Eight all_of[2];
    Ints top = {0}, least_bit = all(TOP_BIT);
    for (int s = 0; s < steps; s++) {
        all_of[s] = eight_of(type, registers[s], s + 1 < count ? registers[s + 1] : NULL);
        top = larger(top, top_of(&all_of[s], least));
    }
    to->top = largest_lane(top);
    top = all(to->top);
    for (int s = 0; s < steps; s++) {
        Ints first[COLUMN_VECTORS], second[COLUMN_VECTORS], of_first[COLUMN_VECTORS],
            of_second[COLUMN_VECTORS];
#pragma GCC unroll 4
        for (int i = 0; i < COLUMN_VECTORS; i++) {
            const Elements x = all_of[s].part[i];
            first[i] = (Ints)x.first;
            second[i] = (Ints)x.second;
            of_first[i] = bytes_of(x.first, least, top, &least_bit);
            of_second[i] = bytes_of(x.second, least, top, &least_bit);
        }
        put_columns(to, STEP * s, first, of_first);
        put_columns(to, STEP * s + 4, second, of_second);
    }
    to->least_bit = smallest_lane(least_bit);
    return to->top != SPECIAL;
}

bool tile_rows(TileRows *to, MatrixType type, const void *const *registers, int count, int steps) {
    return MAKE_OF_TYPE(make_rows, to, type, registers, count, steps);
}

bool tile_columns(TileColumns *to, MatrixType type, const void *const *registers, int count, int steps) {
    return MAKE_OF_TYPE(make_columns, to, type, registers, count, steps);
}

// ---- Sums -------------------------------------------------------------------------------------------------

// Vectors of the sums of a set of rows: the even columns of two blocks, and then the odd ones.
enum { VECTORS = 4 };
typedef struct {
    Ints of[TILE_SETS][VECTORS];
} TileInts;

INLINE Floats sums_at(const Block sums[TILE_BLOCKS], int set, int v) {
    const Block *block = &sums[2 * set + v % 2];
    return v / 2 ? block->odd : block->even;
}

// Of each sum of a set the largest exponent of a product; 0: all are zero.
INLINE Bytes largest_products(const uint8_t (*rows)[sizeof(Bytes) / 2], const Bytes *columns, int count) {
    Bytes x = {0}, y = x;
    for (int k = 0; k < count; k += 2) {
        x = larger_bytes(x, both_halves(rows[k]) + columns[k]);
        y = larger_bytes(y, both_halves(rows[k + 1]) + columns[k + 1]);
    }
    return where_not_less(larger_bytes(x, y), 2 * BOTTOM);
}

// Of each sum of a set how many negative products have bits below the unit.
INLINE Bytes count_cut(const Ints largest[VECTORS], const uint8_t (*rows)[sizeof(Bytes) / 2],
                       const Bytes *columns, int count) {
    enum { UNIT = BOTH_TOPS - 2 * TOP_BIT + FRACTION };
    // NEGATIVE and the exponent of the unit, as bytes with a sign.
    Ints limit[VECTORS];
    for (int v = 0; v < VECTORS; v++) limit[v] = largest[v] - (UNIT + NEGATIVE);
    const Bytes limits = narrowed(limit, -1);
    Bytes counts[2] = {{0}, {0}};
    for (int k = 0; k < count; k++) {
        const Bytes bits = sum_at_most_255(both_halves(rows[k]), columns[k]);
        counts[k % 2] = counted_less(counts[k % 2], bits, limits);
    }
    return counts[0] + counts[1];
}

// The upper halves of doubles that are 1.5 * 2^52 units; the lower ones are 0.
INLINE Ints start_of(Ints largest, int tops) {
    return (largest << 20) + (((tops - BOTH_TOPS - FRACTION + 52 + DOUBLE_BIAS) << 20) + (1 << 19));
}

// As many rows as there are registers for.
enum { ROWS_AT_ONCE = WIDTH == 512 ? 16 : 6 };

// `count` and `rows_now` are constants.
INLINE void add_to_rows(Doubles sums[][ROW_DOUBLES], int rows_now, const TileRows *rows, int row,
                        const TileColumns *columns, int count) {
    Doubles at_once[ROWS_AT_ONCE][ROW_DOUBLES];
    memcpy(at_once, sums, (size_t)rows_now * sizeof *sums);
#pragma GCC unroll 1
    for (int k = 0; k < count; k++) {
#pragma GCC unroll 2
        for (int i = 0; i < ROW_DOUBLES; i++) {
            const Doubles column = *(const Doubles *)&columns->value[k][i * DOUBLE_LANES];
#pragma GCC unroll 16
            for (int r = 0; r < rows_now; r++)
                at_once[r][i] = with_product(at_once[r][i], &rows->value[k][row + r], column);
        }
    }
    memcpy(sums, at_once, (size_t)rows_now * sizeof *sums);
}

INLINE void add_products(Doubles sums[TILE_ROWS][ROW_DOUBLES], const TileRows *rows,
                         const TileColumns *columns, int count) {
    enum { LAST = TILE_ROWS % ROWS_AT_ONCE, BEFORE = TILE_ROWS - LAST };
#pragma GCC unroll 4
    for (int row = 0; row < BEFORE; row += ROWS_AT_ONCE)
        add_to_rows(&sums[row], ROWS_AT_ONCE, rows, row, columns, count);
    if (LAST) add_to_rows(&sums[BEFORE], LAST, rows, BEFORE, columns, count);
}

// The compiler must not move any of it: see set_rounding().
static __attribute__((noinline)) void add_products_rounded_down(Doubles sums[TILE_ROWS][ROW_DOUBLES],
                                                                const TileRows *rows,
                                                                const TileColumns *columns, int count) {
    const unsigned before = set_rounding(_MM_ROUND_DOWN);
    if (count == STEP)
        add_products(sums, rows, columns, STEP);
    else
        add_products(sums, rows, columns, 2 * STEP);
    restore_rounding(before);
}

// A sum of `units` of 2^place.
INLINE Floats to_floats(Ints units, Ints place, bool to_odd) {
    Floats sum = towards_zero(units);
    if (to_odd) sum = (Floats)((Ints)sum | ((__builtin_convertvector(sum, Ints) != units) & 1));
    return sum * (Floats)((place + FLOAT_BIAS) << 23);
}

// Whether a sum has exponents that the bytes of a wide factor hide.
static bool is_hidden(const TileInts *largest, const Bytes products[TILE_SETS]) {
    Ints found = {0};
    for (int set = 0; set < TILE_SETS; set++)
        for (int v = 0; v < VECTORS; v++)
            found |= (largest->of[set][v] < WIDEST) & (widened(&products[set], v) != 0);
    return has_any(found);
}

// Whether a sum that is not zero is smaller than is computed here; `lowest` is what stands for LOWEST.
static bool is_low(const TileInts *largest, const Bytes products[TILE_SETS], const Block sums[TILE_BLOCKS],
                   int lowest) {
    Ints found = {0};
    for (int set = 0; set < TILE_SETS; set++)
        for (int v = 0; v < VECTORS; v++)
            found |= (largest->of[set][v] <= lowest) &
                     ((widened(&products[set], v) != 0) | (((Ints)sums_at(sums, set, v) & 0x7fffffff) != 0));
    return has_any(found);
}

INLINE bool multiply(const Summing *how, const TileRows *rows, const TileColumns *columns,
                     const Block c[TILE_BLOCKS], Block d[TILE_BLOCKS], int count) {
    const int tops = rows->top + columns->top - 2 * FLOAT_BIAS;
    const int of_one = BOTH_TOPS - tops; // what stands for exponent 0
    if (tops - BOTH_TOPS > LOWEST) return false;
    Bytes products[TILE_SETS], cut[TILE_SETS];
    TileInts largest;
    Ints high = {0}, low = all(INT32_MAX);
    for (int set = 0; set < TILE_SETS; set++) {
        products[set] = largest_products(rows->exponents[set], columns->exponents, count);
        for (int v = 0; v < VECTORS; v++) {
            const Ints of_sum = larger(((Ints)sums_at(c, set, v) >> 23) & 0xff, all(LOWEST + FLOAT_BIAS));
            const Ints x = larger(widened(&products[set], v), of_sum + (of_one - FLOAT_BIAS));
            largest.of[set][v] = x;
            high = larger(high, x);
            low = smaller(low, x);
        }
    }
    if (has_any(high > of_one + HIGHEST)) return false;
    if (has_any(low <= of_one + LOWEST) && is_low(&largest, products, c, of_one + LOWEST)) return false;
    if ((rows->least_bit < 0 || columns->least_bit < 0) && is_hidden(&largest, products)) return false;

    const int bits = rows->least_bit + columns->least_bit;
    const bool is_cut = has_any(high > bits + (BOTH_TOPS - 2 * TOP_BIT + FRACTION));
    for (int set = 0; set < TILE_SETS && is_cut; set++)
        cut[set] = count_cut(largest.of[set], rows->lowest_bits[set], columns->lowest_bits, count);

    Doubles of_row[TILE_ROWS][ROW_DOUBLES]; // even columns first
#pragma GCC unroll 8
    for (int i = 0; i < TILE_BLOCKS; i++)
        doubles_of(&of_row[ROWS * i], start_of(largest.of[i / 2][i % 2], tops),
                   start_of(largest.of[i / 2][2 + i % 2], tops));
    if (SAYS_HOW_TO_ROUND || !is_cut) // or nothing is rounded
        add_products(of_row, rows, columns, count);
    else
        add_products_rounded_down(of_row, rows, columns, count);

    Ints many = {0};
#pragma GCC unroll 8
    for (int i = 0; i < TILE_BLOCKS; i++) {
        Ints lower[2]; // numbers of units
        lower_halves(lower, &of_row[ROWS * i]);
        Floats *to[] = {&d[i].even, &d[i].odd};
#pragma GCC unroll 2
        for (int odd = 0; odd < 2; odd++) {
            const int set = i / 2, v = odd * 2 + i % 2;
            Words units = (Words)lower[odd];
            if (is_cut) units += (Words)widened(&cut[set], v);
            many |= (Ints)(units ^ (units << 1));
            const Floats sum = sums_at(c, set, v);
            const Ints place = largest.of[set][v] + (tops - BOTH_TOPS - FRACTION);
            const Floats scale = (Floats)((all(FLOAT_BIAS) - place) << 23);
            units += (Words) __builtin_convertvector(sum * scale, Ints);
            *to[odd] = to_floats((Ints)units, place, how->to_odd);
        }
    }
    return !has_any(many & INT32_MIN);
}

// ---- Exact sums -------------------------------------------------------------------------------------------

// The exponent of a bit that no product has bits below; not more than 0.
INLINE int last_bit(const TileRows *rows, const TileColumns *columns, int tops) {
    const int bit = rows->least_bit + columns->least_bit - 2 * TOP_BIT + tops;
    return bit < 0 ? bit : 0;
}

enum { BLOCKS_AT_ONCE = 4 }; // as many as there are registers for

// A sum of products that floats hold exactly is rounded once, with what was given: as the sum of two floats.
// `last`: their last_bit(). False: what was given has bits far below it, or is so large that bits of products
// may be cut off.
static __attribute__((noinline)) bool add_exact(const TileRows *rows, const TileColumns *columns,
                                                const Block c[TILE_BLOCKS], Block d[TILE_BLOCKS], int last,
                                                int count) {
    // What becomes an integer is smaller than 2^FRACTION last bits, and has no bit that is cut off, as the
    // largest exponent of a product is at most EXACT_BITS above.
    enum { BELOW = 31 - FRACTION };
    const Floats scale = (Floats)all((BELOW - last + FLOAT_BIAS) << 23);
    Ints differ = {0};
    for (int i = 0; i < TILE_BLOCKS; i++) {
        const Floats even = c[i].even * scale, odd = c[i].odd * scale;
        differ |= __builtin_convertvector(__builtin_convertvector(even, Ints), Floats) != even;
        differ |= __builtin_convertvector(__builtin_convertvector(odd, Ints), Floats) != odd;
    }
    if (has_any(differ)) return false;
    const unsigned before = set_rounding(_MM_ROUND_TOWARD_ZERO);
    for (int i = 0; i < TILE_BLOCKS; i += BLOCKS_AT_ONCE) {
        Block sums[BLOCKS_AT_ONCE];
#pragma GCC unroll 8
        for (int j = 0; j < BLOCKS_AT_ONCE; j++) sums[j] = (Block){{0}, {0}};
#pragma GCC unroll 4
        for (int k = 0; k < count; k++) {
            const Floats even = (Floats)every_row(columns->exact[k]),
                         odd = (Floats)every_row(columns->exact[k] + 4);
#pragma GCC unroll 8
            for (int j = 0; j < BLOCKS_AT_ONCE; j++) {
                const Floats row = rows->exact[k][i + j];
                sums[j].even = multiply_add(row, even, sums[j].even);
                sums[j].odd = multiply_add(row, odd, sums[j].odd);
            }
        }
#pragma GCC unroll 8
        for (int j = 0; j < BLOCKS_AT_ONCE; j++)
            d[i + j] = (Block){c[i + j].even + sums[j].even, c[i + j].odd + sums[j].odd};
    }
    restore_rounding(before);
    return true;
}

bool tile_multiply(const Summing *how, const TileRows *rows, const TileColumns *columns,
                   const Block c[TILE_BLOCKS], Block d[TILE_BLOCKS]) {
    const int tops = rows->top + columns->top - 2 * FLOAT_BIAS;
    const int last = last_bit(rows, columns, tops);
    if (tops - last <= EXACT_BITS && last >= LOWEST && !how->to_odd &&
        add_exact(rows, columns, c, d, last, how->k))
        return true;
    return how->k == STEP ? multiply(how, rows, columns, c, d, STEP)
                          : multiply(how, rows, columns, c, d, 2 * STEP);
}

#endif
