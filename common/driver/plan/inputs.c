#include "driver/plan/inputs.h"

#include <math.h>

#include "driver/plan/elements.h"

static const struct {
    const char *name, *words;
} families[FAMILIES] = {
    [FAMILY_INTEGERS] = {"integers", "integers"},
    [FAMILY_ONES] = {"ones", "ones and a half"},
    [FAMILY_CONSTANTS] = {"constants", "one constant and one other value"},
    [FAMILY_UNIFORM] = {"uniform", "uniform in [-1, 1)"},
    [FAMILY_NORMAL] = {"normal", "normal around 4"},
    [FAMILY_CANCELLING] = {"cancelling", "alternating, cancelling"},
    [FAMILY_TEN_ORDERS] = {"ten_orders", "ten orders of magnitude"},
    [FAMILY_NAN] = {"nan", "one NaN"},
    [FAMILY_INFINITY] = {"infinity", "+Inf at both ends and within"},
    [FAMILY_INFINITIES] = {"infinities", "+Inf and -Inf"},
    [FAMILY_NEGATIVE_ZEROS] = {"negative_zeros", "negative zeros and a one"},
    [FAMILY_SUBNORMALS] = {"subnormals", "subnormal numbers"},
    [FAMILY_HUGE] = {"huge", "uniform, with one huge value"},
    [FAMILY_SKEWED] = {"skewed", "three of four are one value"},
    [FAMILY_RUNS] = {"runs", "runs of one value"},
    [FAMILY_RAMP] = {"ramp", "each one more than the value before"},
    [FAMILY_LOGITS] = {"logits", "rows with peaks, far above and below 0"},
    [FAMILY_MASKED] = {"masked", "rows of one value and -Inf"},
};

// Of several sums each has what one has.
static const char *const words_of_several[FAMILIES] = {
    [FAMILY_CONSTANTS] = "one constant, and another value here and there",
    [FAMILY_NAN] = "some NaN",
    [FAMILY_INFINITY] = "some +Inf",
    [FAMILY_NEGATIVE_ZEROS] = "negative zeros and some ones",
    [FAMILY_HUGE] = "uniform, with some huge values",
};

const char *family_words(Family family, bool has_several) {
    return has_several && words_of_several[family] ? words_of_several[family] : families[family].words;
}

const char *family_name(Family family) { return families[family].name; }

bool family_suits(Family family, ElementType type) {
    const bool is_of_bytes = family == FAMILY_SKEWED || family == FAMILY_RUNS || family == FAMILY_RAMP;
    if (family == FAMILY_INTEGERS) return true;
    if (type == U8) return is_of_bytes || family == FAMILY_CONSTANTS;
    return element_is_float(type) && !is_of_bytes;
}

bool family_is_of_rows(Family family) { return family == FAMILY_LOGITS || family == FAMILY_MASKED; }

// The finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014), used as a hash of a counter, so that element i needs no element before it.
static uint64_t mix(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

static uint64_t stream_of(uint64_t seed, uint64_t stream) { return mix(seed + golden * (stream + 1)); }
static uint64_t bits_at(uint64_t stream, uint64_t index) { return mix(stream + golden * (index + 1)); }

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
    return bits_at(stream_of(seed, stream), index);
}

// Uniform in [0, 1), 53 bits.
static double unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

// Beyond this many terms whole numbers that fit into 2^24 together would be too small to distinguish, so most
// elements are zero and the others larger.
enum { DENSE_TERMS = 1 << 20, SCATTERED = 1 << 19 };
// Worth more than one core.
enum { MANY = 1 << 21 };
enum { PIECE = 1024 }; // elements

long long integer_range(long long terms) {
    long long carriers = terms <= DENSE_TERMS ? terms : SCATTERED;
    if (carriers < 1) carriers = 1;
    long long range = (1LL << 24) / carriers;
    return range < 1 ? 1 : range;
}

// The whole numbers from 1 to `range`; a division for each would take most of the time of filling inputs.
typedef struct {
    uint64_t range, inverse; // inverse: 2^64 / range, rounded down
} Range;

static Range range_of(long long range) {
    return (Range){.range = (uint64_t)range, .inverse = UINT64_MAX / (uint64_t)range};
}

// bits % range.range: the quotient is at most 2 too small.
static uint64_t remainder_of(uint64_t bits, Range range) {
    const uint64_t quotient = (uint64_t)((unsigned __int128)bits * range.inverse >> 64);
    uint64_t rest = bits - quotient * range.range;
    // Without branches, which would be foreseen as seldom as the bits.
    for (int i = 0; i < 2; i++) rest -= range.range & -(uint64_t)(rest >= range.range);
    return rest;
}

// A whole number from -range to range, never 0: leaving it out always shows.
static double whole_number(uint64_t bits, Range range) {
    const int64_t magnitude = 1 + (int64_t)remainder_of(bits >> 1, range), negative = -(int64_t)(bits & 1);
    return (double)((magnitude ^ negative) - negative);
}

static void fill_integers(void *array, ElementType type, long long count, long long terms, uint64_t key) {
    const long long most = integer_range(terms);
    // 8 bits of significand: whole numbers and their sums stay exact.
    const Range range = range_of(type == BF16 && most > 128 ? 128 : most);
    if (terms <= DENSE_TERMS) {
        const uint64_t stream = stream_of(key, 1);
#pragma omp parallel for if (count > MANY)
        for (long long first = 0; first < count; first += PIECE) {
            double values[PIECE];
            const long long here = count - first < PIECE ? count - first : PIECE;
            for (long long i = 0; i < here; i++)
                values[i] = whole_number(bits_at(stream, (uint64_t)(first + i)), range);
            elements_set(array, type, first, here, values);
        }
        return;
    }
    clear_bytes(array, (size_t)count * element_bytes(type));
    // Where kernels go wrong: the head, the tail, block borders; the rest at random places. At most SCATTERED
    // in any `terms` elements: 2 * 4096 + 2 * borders + random ones.
    const long long edge = count < 8192 ? count / 2 : 4096;
    for (long long i = 0; i < edge; i++) {
        element_set(array, type, i, whole_number(random_bits(key, 1, (uint64_t)i), range));
        element_set(array, type, count - 1 - i, whole_number(random_bits(key, 2, (uint64_t)i), range));
    }
    const long long borders = SCATTERED / 8;
    long long step = (count / borders + 256) / 256 * 256;
    if (step < 256) step = 256;
    for (long long i = step; i < count; i += step) {
        element_set(array, type, i - 1, whole_number(random_bits(key, 3, (uint64_t)i), range));
        element_set(array, type, i, whole_number(random_bits(key, 4, (uint64_t)i), range));
    }
    for (long long k = 0; k < SCATTERED / 2; k++) {
        long long i = (long long)(random_bits(key, 5, (uint64_t)k) % (uint64_t)count);
        element_set(array, type, i, whole_number(random_bits(key, 6, (uint64_t)k), range));
    }
}

static double normal(uint64_t key, uint64_t index) {
    // G. Box, M. Muller, "A note on the generation of random normal deviates", 1958.
    double radius = sqrt(-2.0 * log(1.0 - unit(random_bits(key, 1, index))));
    return radius * cos(6.283185307179586 * unit(random_bits(key, 2, index)));
}

// A pair (large, -large) with a small value added to each, so that the sum is the small values.
static double cancelling(uint64_t key, uint64_t index) {
    double large = 1e4 * (1.0 + unit(random_bits(key, 1, index / 2)));
    large = (double)(float)large;
    return index & 1 ? -large : large + 0.25 * unit(random_bits(key, 2, index));
}

static double ten_orders(uint64_t key, uint64_t index) {
    uint64_t bits = random_bits(key, 1, index);
    double magnitude = pow(10.0, 10.0 * unit(bits) - 5.0);
    return bits & 1 ? -magnitude : magnitude;
}

static double subnormal(ElementType type, uint64_t bits) {
    double smallest = type == F64 ? 0x1p-1074 : type == BF16 ? 0x1p-133 : 0x1p-149;
    double steps = type == BF16 ? 127.0 : 8388607.0;
    double value = smallest * floor(1.0 + unit(bits) * (steps - 1.0));
    return bits & 1 ? -value : value;
}

static double value_of(Family family, ElementType type, uint64_t key, uint64_t index) {
    switch (family) {
    case FAMILY_ONES: return 1.0;
    case FAMILY_CONSTANTS: return 0.7;
    case FAMILY_NORMAL: return 4.0 + normal(key, index);
    case FAMILY_CANCELLING: return cancelling(key, index);
    case FAMILY_TEN_ORDERS: return ten_orders(key, index);
    case FAMILY_NEGATIVE_ZEROS: return -0.0;
    case FAMILY_SUBNORMALS: return subnormal(type, random_bits(key, 1, index));
    default: return 2.0 * unit(random_bits(key, 1, index)) - 1.0;
    }
}

// The families with special values put them at random places, in every sum of `terms` elements except the
// first if there are several (so that rows without any are checked too).
static void place_specials(void *array, ElementType type, long long count, long long terms, Family family,
                           uint64_t key) {
    if (terms < 1) terms = 1;
    for (long long start = count > terms ? terms : 0; start < count; start += terms) {
        long long length = count - start < terms ? count - start : terms;
        long long first = (long long)(random_bits(key, 7, (uint64_t)start) % (uint64_t)length);
        element_set(array, type, start + first, family == FAMILY_NAN ? (double)NAN : (double)INFINITY);
        if (family == FAMILY_INFINITY) { // where indices beyond the end are clamped to: 0 times it is a NaN
            element_set(array, type, start, (double)INFINITY);
            element_set(array, type, start + length - 1, (double)INFINITY);
        }
        if (family == FAMILY_INFINITIES && length > 1) {
            long long gap = 1 + (long long)(random_bits(key, 8, (uint64_t)start) % (uint64_t)(length - 1));
            element_set(array, type, start + (first + gap) % length, -(double)INFINITY);
        }
    }
}

// Every sum has one element, at a random place, that differs from the others: sampling a few elements does
// not tell the sum.
static void place_exceptions(void *array, ElementType type, long long count, long long terms, double value,
                             uint64_t key) {
    if (terms < 1) terms = 1;
    for (long long start = 0; start < count; start += terms) {
        const long long length = count - start < terms ? count - start : terms;
        const uint64_t at = random_bits(key, 9, (uint64_t)start) % (uint64_t)length;
        element_set(array, type, start + (long long)at, value);
    }
}

// ---- Rows ------------------------------------------------------------------------------------------------

// A column of the row: the first, the last or any, each equally often.
static long long place_in_row(uint64_t key, uint64_t stream, long long row, long long columns) {
    const uint64_t bits = random_bits(key, stream, (uint64_t)row);
    if (bits % 3 < 2) return bits % 3 ? columns - 1 : 0;
    return (long long)((bits >> 8) % (uint64_t)columns);
}

// About normal, without the logarithm and the cosine that most of the time would go into: the sum of four
// uniform numbers, of mean 0 and standard deviation 1.
static double nearly_normal(uint64_t bits) {
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += (double)(bits >> 16 * k & 0xffff) * 0x1p-16;
    return (sum - 2) * 1.7320508075688772;
}

// Such numbers around 0; far above and below it, where the exponential function is infinite or 0; so far
// that little is left of their digits; rising and falling, so that every element is a new extreme; with one
// element, or two, that outweigh the others.
static void fill_logits(void *array, ElementType type, long long first, long long count, long long number,
                        long long columns, uint64_t key) {
    enum { PLAIN, HIGH, LOW, FAR, RISING, FALLING, PEAK, TWO_PEAKS, KINDS };
    static const double offsets[KINDS] = {[HIGH] = 100, [LOW] = -150, [FAR] = 10000};
    static const double peak = 120;
    const uint64_t kind = random_bits(key, 11, (uint64_t)number) % KINDS, stream = stream_of(key, 1);
    for (long long c = 0; c < count; c++) {
        const double slope = 200 * (double)(c + 1) / (double)columns - 100;
        element_set(array, type, first + c,
                    kind == RISING ? slope
                    : kind == FALLING
                        ? -slope
                        : nearly_normal(bits_at(stream, (uint64_t)(first + c))) + offsets[kind]);
    }
    const long long places[] = {place_in_row(key, 12, number, columns),
                                place_in_row(key, 13, number, columns)};
    if (kind >= PEAK && places[0] < count) element_set(array, type, first + places[0], peak);
    if (kind == TWO_PEAKS && places[1] < count) element_set(array, type, first + places[1], peak);
}

// One value, in a power of two of the columns, so that each share of 1 is exact: the first ones, as a mask
// for the future leaves them, or neighbours at any place. Everywhere else, and in some rows everywhere, -Inf.
// Or the value in all columns.
static void fill_masked(void *array, ElementType type, long long first, long long count, long long number,
                        long long columns, uint64_t key) {
    enum { ALL_MASKED, ONE_LEFT, FIRST_LEFT, SOME_LEFT, NONE_MASKED, KINDS };
    static const double values[] = {0, 0, 1, -3, 96, -1000, 3e38, -3e38};
    const uint64_t bits = random_bits(key, 14, (uint64_t)number), kind = bits % KINDS;
    const double value = values[(bits >> 8) % (sizeof values / sizeof values[0])];
    const long long at = kind == FIRST_LEFT ? 0 : place_in_row(key, 15, number, columns);
    long long left = kind == ALL_MASKED ? 0 : 1;
    for (uint64_t k = (bits >> 16) % 20; k > 0 && kind > ONE_LEFT && 2 * left <= columns; k--) left *= 2;
    if (kind == NONE_MASKED) left = columns;
    for (long long c = 0; c < count; c++)
        element_set(array, type, first + c, (c + columns - at) % columns < left ? value : -(double)INFINITY);
}

static void fill_rows(void *array, ElementType type, long long count, long long columns, Family family,
                      uint64_t key) {
    if (columns < 1) columns = 1;
#pragma omp parallel for if (count > MANY)
    for (long long r = 0; r < (count + columns - 1) / columns; r++) {
        const long long first = r * columns, here = count - first < columns ? count - first : columns;
        (family == FAMILY_MASKED ? fill_masked : fill_logits)(array, type, first, here, r, columns, key);
    }
}

// ---- Bytes -----------------------------------------------------------------------------------------------

// Three of four bytes are one value. Of the others half are a second value, a fourth a third one, and so on.
static uint8_t skewed_byte(uint64_t key, uint64_t index) {
    const uint64_t bits = random_bits(key, 1, index);
    const uint64_t rank = bits & 3 ? 0 : 1 + (uint64_t)__builtin_ctzll(bits >> 2 | 1ull << 60);
    return (uint8_t)random_bits(key, 2, rank);
}

// In every stretch of bytes, runs of one length: so that a byte does not depend on those before it.
static uint8_t byte_of_runs(uint64_t key, uint64_t index) {
    enum { STRETCH = 3000, LONGEST = 300 };
    const uint64_t stretch = index / STRETCH, length = 1 + random_bits(key, 1, stretch) % LONGEST;
    return (uint8_t)random_bits(key, 2 + stretch, index % STRETCH / length);
}

static void fill_bytes(uint8_t *array, long long count, Family family, uint64_t key) {
    const uint64_t stream = stream_of(key, 1);
    const uint8_t constant = (uint8_t)random_bits(key, 2, 0);
#pragma omp parallel for if (count > MANY)
    for (long long i = 0; i < count; i++) {
        const uint64_t index = (uint64_t)i;
        switch (family) {
        case FAMILY_CONSTANTS: array[i] = constant; break;
        case FAMILY_SKEWED: array[i] = skewed_byte(key, index); break;
        case FAMILY_RUNS: array[i] = byte_of_runs(key, index); break;
        case FAMILY_RAMP: array[i] = (uint8_t)(constant + index); break;
        default: array[i] = (uint8_t)bits_at(stream, index);
        }
    }
    if (family == FAMILY_CONSTANTS)
        array[random_bits(key, 9, 0) % (uint64_t)count] ^= (uint8_t)(1 + random_bits(key, 3, 0) % 255);
}

// ---- All families ----------------------------------------------------------------------------------------

void fill_inputs(void *array, ElementType type, long long count, long long terms, Family family,
                 uint64_t seed, unsigned stream) {
    uint64_t key = random_bits(seed, 100 + (uint64_t)family, stream);
    if (count <= 0) return;
    if (type == U8) {
        fill_bytes(array, count, family, key);
        return;
    }
    if (family_is_of_rows(family) && element_is_float(type)) {
        fill_rows(array, type, count, terms, family, key);
        return;
    }
    if (!element_is_float(type) || family == FAMILY_INTEGERS) {
        fill_integers(array, type, count, terms, key);
        return;
    }
    if (type == F32 && (family == FAMILY_UNIFORM || family == FAMILY_NAN || family == FAMILY_INFINITY ||
                        family == FAMILY_INFINITIES)) { // the common ones, without the switch per element
        float *values = array;
#pragma omp parallel for if (count > MANY)
        for (long long i = 0; i < count; i++)
            values[i] = (float)((double)(random_bits(key, 1, (uint64_t)i) >> 40) * 0x1p-23 - 1.0);
    } else {
#pragma omp parallel for if (count > MANY)
        for (long long i = 0; i < count; i++)
            element_set(array, type, i, value_of(family, type, key, (uint64_t)i));
    }
    if (family == FAMILY_HUGE) place_exceptions(array, type, count, terms, type == F64 ? 1.6e308 : 3e38, key);
    if (family == FAMILY_NEGATIVE_ZEROS) place_exceptions(array, type, count, terms, 1.0, key);
    if (family == FAMILY_ONES) place_exceptions(array, type, count, terms, 0.5, key);
    if (family == FAMILY_CONSTANTS) place_exceptions(array, type, count, terms, 2.1, key);
    if (family == FAMILY_NAN || family == FAMILY_INFINITY || family == FAMILY_INFINITIES)
        place_specials(array, type, count, terms, family, key);
}

void place_zeros(void *array, ElementType type, long long count, uint64_t seed, unsigned stream) {
    enum { STRETCH = 1024, FEWEST = 16, ONE_IN = 8, STREAM = 200 };
    const uint64_t key = random_bits(seed, STREAM, stream);
    const long long stretches = count / STRETCH;
    for (long long s = 1; stretches >= FEWEST && s < stretches; s++)
        if (random_bits(key, 1, (uint64_t)s) % ONE_IN == 0)
            clear_bytes((char *)array + (size_t)(s * STRETCH) * element_bytes(type),
                        STRETCH * element_bytes(type));
}
