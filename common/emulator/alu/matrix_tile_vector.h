// Vectors of doubles and of bytes for matrix_tile_double.c: what the processor has an instruction for and the
// language has no operator for.
#pragma once

#include "emulator/alu/matrix_tile.h"

#if HAS_DOUBLE_TILES

typedef double Doubles __attribute__((vector_size(4 * LANES)));
typedef int8_t SignedBytes __attribute__((vector_size(4 * LANES)));

enum { DOUBLE_LANES = LANES / 2, ROW_DOUBLES = COLUMNS / DOUBLE_LANES }; // vectors of a row

// ---- How the processor rounds -----------------------------------------------------------------------------

// It rounds so until restore_rounding(). What is between the two must read memory after the first and write
// it before the second: the compiler may move other arithmetic.
INLINE unsigned set_rounding(unsigned mode) {
    unsigned before;
    __asm__ volatile("stmxcsr %0" : "=m"(before));
    const unsigned now = (before & ~(unsigned)_MM_ROUND_MASK) | mode;
    __asm__ volatile("ldmxcsr %0" : : "m"(now) : "memory");
    return before;
}
INLINE void restore_rounding(unsigned before) { __asm__ volatile("ldmxcsr %0" : : "m"(before) : "memory"); }

// ---- Instructions of both widths --------------------------------------------------------------------------

#if WIDTH == 512
#define INSTRUCTION(name) _mm512_##name
typedef __m512i IntegerRegister;
typedef __m512 FloatRegister;
#else
#define INSTRUCTION(name) _mm256_##name
typedef __m256i IntegerRegister;
typedef __m256 FloatRegister;
#endif

INLINE Ints all(int x) { return (Ints){0} + x; }
INLINE Ints smaller(Ints x, Ints y) {
    return (Ints)INSTRUCTION(min_epi32)((IntegerRegister)x, (IntegerRegister)y);
}
INLINE Floats multiply_add(Floats x, Floats y, Floats z) {
    return (Floats)INSTRUCTION(fmadd_ps)((FloatRegister)x, (FloatRegister)y, (FloatRegister)z);
}

INLINE Bytes larger_bytes(Bytes x, Bytes y) {
    return (Bytes)INSTRUCTION(max_epu8)((IntegerRegister)x, (IntegerRegister)y);
}
INLINE Bytes sum_at_most_255(Bytes x, Bytes y) {
    return (Bytes)INSTRUCTION(adds_epu8)((IntegerRegister)x, (IntegerRegister)y);
}
INLINE Bytes where_not_less(Bytes x, uint8_t least) { return x & (Bytes)(x >= (Bytes){0} + least); }

// Of every four words, those bytes that `order` counts, each `byte` further.
INLINE Bytes bytes_in_order(Ints words, const uint8_t order[16], int byte) {
    const Bytes at = (Bytes)every_row(order) + (uint8_t)byte;
    return (Bytes)INSTRUCTION(shuffle_epi8)((IntegerRegister)words, (IntegerRegister)at);
}
// Byte `byte` of each word, four times.
INLINE Bytes four_times(Ints words, int byte) {
    static const uint8_t order[16] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
    return bytes_in_order(words, order, byte);
}
// Byte `byte` of each of four words, and so on four times.
INLINE Bytes all_four_times(Ints words, int byte) {
    static const uint8_t order[16] = {0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12};
    return bytes_in_order(words, order, byte);
}

// ---- Instructions that differ -----------------------------------------------------------------------------

// Each of these is there for both widths, and the comment is at the first.
#if WIDTH == 512

INLINE int largest_lane(Ints x) { return _mm512_reduce_max_epi32((__m512i)x); }

// Lanes of two vectors: `order` counts through both.
INLINE Ints taken(Ints x, Ints order, Ints y) {
    return (Ints)_mm512_permutex2var_epi32((__m512i)x, (__m512i)order, (__m512i)y);
}
// Words i and i + 1 of four in each row of two vectors: a lane for each row, and again. `i` is 0 or 2.
INLINE Ints words_of_rows(Ints x, Ints y, int i) {
    const Ints order = {0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29};
    return taken(x, order + i, y);
}

INLINE void put_doubles(double *to, Floats x) { // the first half
    _mm512_store_pd(to, _mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)));
}
INLINE void put_more_doubles(double *to, Floats x) { // the second one
    _mm512_store_pd(to, _mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1)));
}

// x + factor * column, rounded down: by set_rounding() where the instruction does not say how.
enum { SAYS_HOW_TO_ROUND = true };
INLINE Doubles with_product(Doubles x, const double *factor, Doubles column) {
    return (Doubles)_mm512_fmadd_round_pd(_mm512_set1_pd(*factor), (__m512d)column, (__m512d)x,
                                          _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

// Rows of doubles from their upper halves; the lower ones are 0.
INLINE void doubles_of(Doubles to[ROWS][ROW_DOUBLES], Ints even, Ints odd) {
    const Ints order = {0, 0, 0, 1, 0, 2, 0, 3, 0, 16, 0, 17, 0, 18, 0, 19};
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
        to[r][0] = (Doubles)_mm512_maskz_permutex2var_epi32(0xaaaa, (__m512i)even, (__m512i)(order + 4 * r),
                                                            (__m512i)odd);
}
// The lower halves of rows of doubles, of even and of odd columns.
INLINE void lower_halves(Ints to[2], Doubles from[ROWS][ROW_DOUBLES]) {
    const Ints lower = {0, 2, 4, 6, 16, 18, 20, 22, 8, 10, 12, 14, 24, 26, 28, 30};
    const Ints x = taken((Ints)from[0][0], lower, (Ints)from[1][0]),
               y = taken((Ints)from[2][0], lower, (Ints)from[3][0]);
    const Ints of_even = {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
#pragma GCC unroll 2
    for (int odd = 0; odd < 2; odd++) to[odd] = taken(x, of_even + 8 * odd, y);
}

INLINE Bytes both_halves(const uint8_t *half) {
    return (Bytes)_mm512_broadcast_i64x4(_mm256_load_si256((const __m256i *)half));
}
// Of the bytes those of vector `v`, each in a lane.
INLINE Ints widened(const Bytes *bytes, int v) {
    return (Ints)_mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)bytes + v));
}
// Four vectors as one of bytes with a sign, of which none is more than `most`; they saturate.
INLINE Bytes narrowed(const Ints x[4], int most) {
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32((__m512i)x[0], (__m512i)x[1]),
                                             _mm512_packs_epi32((__m512i)x[2], (__m512i)x[3]));
    const Ints order = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    return (Bytes)_mm512_permutexvar_epi32((__m512i)order,
                                           _mm512_min_epi8(bytes, _mm512_set1_epi8((char)most)));
}
// One more where x is less than y, as bytes with a sign.
INLINE Bytes counted_less(Bytes count, Bytes x, Bytes y) {
    return (Bytes)_mm512_mask_add_epi8((__m512i)count, _mm512_cmplt_epi8_mask((__m512i)x, (__m512i)y),
                                       (__m512i)count, _mm512_set1_epi8(1));
}
// What all_four_times() has of the columns of LANES / COLUMNS elements of k, in all rows.
INLINE void put_in_rows(Bytes *to, Bytes x) {
    to[0] = (Bytes)_mm512_shuffle_i32x4((__m512i)x, (__m512i)x, 0x50);
    to[1] = (Bytes)_mm512_shuffle_i32x4((__m512i)x, (__m512i)x, 0xfa);
}

#else

INLINE int largest_lane(Ints x) {
    int32_t largest = x[0];
    for (int i = 1; i < LANES; i++) largest = x[i] > largest ? x[i] : largest;
    return largest;
}

INLINE Ints words_of_rows(Ints x, Ints y, int i) {
    const __m256i pairs =
        i ? _mm256_unpackhi_epi32((__m256i)x, (__m256i)y) : _mm256_unpacklo_epi32((__m256i)x, (__m256i)y);
    return (Ints)_mm256_permutevar8x32_epi32(pairs, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE void put_doubles(double *to, Floats x) {
    _mm256_store_pd(to, _mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x)));
}
INLINE void put_more_doubles(double *to, Floats x) {
    _mm256_store_pd(to, _mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1)));
}

enum { SAYS_HOW_TO_ROUND = false };
INLINE Doubles with_product(Doubles x, const double *factor, Doubles column) {
    return (Doubles)_mm256_fmadd_pd(_mm256_broadcast_sd(factor), (__m256d)column, (__m256d)x);
}

INLINE Doubles doubles_with(__m128i upper) {
    return (Doubles)_mm256_slli_epi64(_mm256_cvtepu32_epi64(upper), 32);
}
INLINE void doubles_of(Doubles to[ROWS][ROW_DOUBLES], Ints even, Ints odd) {
    to[0][0] = doubles_with(_mm256_castsi256_si128((__m256i)even));
    to[0][1] = doubles_with(_mm256_castsi256_si128((__m256i)odd));
    to[1][0] = doubles_with(_mm256_extracti128_si256((__m256i)even, 1));
    to[1][1] = doubles_with(_mm256_extracti128_si256((__m256i)odd, 1));
}
INLINE void lower_halves(Ints to[2], Doubles from[ROWS][ROW_DOUBLES]) {
#pragma GCC unroll 2
    for (int odd = 0; odd < 2; odd++) {
        const __m256 mixed = _mm256_shuffle_ps((__m256)from[0][odd], (__m256)from[1][odd], 0x88);
        to[odd] = (Ints)_mm256_permute4x64_epi64((__m256i)mixed, 0xd8);
    }
}

INLINE Bytes both_halves(const uint8_t *half) {
    return (Bytes)_mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)half));
}
INLINE Ints widened(const Bytes *bytes, int v) {
    return (Ints)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)((const uint8_t *)bytes + v * LANES)));
}
INLINE Bytes narrowed(const Ints x[4], int most) {
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32((__m256i)x[0], (__m256i)x[1]),
                                             _mm256_packs_epi32((__m256i)x[2], (__m256i)x[3]));
    return (Bytes)_mm256_permutevar8x32_epi32(_mm256_min_epi8(bytes, _mm256_set1_epi8((char)most)),
                                              _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
INLINE Bytes counted_less(Bytes count, Bytes x, Bytes y) {
    return count - (Bytes)((SignedBytes)x < (SignedBytes)y);
}
INLINE void put_in_rows(Bytes *to, Bytes x) { *to = x; }

#endif

INLINE int smallest_lane(Ints x) { return ~largest_lane(~x); }

#endif
