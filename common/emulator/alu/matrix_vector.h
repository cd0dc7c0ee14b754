// Vectors for products of matrices: of rows of four columns, a row after the other, as many as the processor
// has room for. What it has an instruction for and the language has no operator for is named here.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined __AVX512F__ && defined __AVX512BW__ && defined __AVX512DQ__
#include <immintrin.h>
#define WIDTH 512
#elif defined __AVX2__ && defined __FMA__
#include <immintrin.h>
#define WIDTH 256
#else
#define WIDTH 128
#endif

// Vectors are passed within one file only, and by no convention of a processor.
#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

enum { LANES = WIDTH / 32, ROWS = LANES / 4 };

typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t Words __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef uint16_t Halves __attribute__((vector_size(4 * LANES)));
typedef uint8_t Bytes __attribute__((vector_size(4 * LANES)));

INLINE Ints chosen(Ints mask, Ints x, Ints y) { return (x & mask) | (y & ~mask); }
INLINE Ints larger(Ints x, Ints y) {
#if WIDTH == 512
    return (Ints)_mm512_max_epi32((__m512i)x, (__m512i)y);
#elif WIDTH == 256
    return (Ints)_mm256_max_epi32((__m256i)x, (__m256i)y);
#else
    return chosen(x > y, x, y);
#endif
}

// Of the two halves of each lane, both without a sign.
INLINE Ints larger_halves(Ints x, Ints y) {
#if WIDTH == 512
    return (Ints)_mm512_max_epu16((__m512i)x, (__m512i)y);
#elif WIDTH == 256
    return (Ints)_mm256_max_epu16((__m256i)x, (__m256i)y);
#else
    return chosen((Ints)((Halves)x > (Halves)y), x, y);
#endif
}

// Whether any lane is not 0.
INLINE bool has_any(Ints x) {
#if WIDTH == 512
    return _mm512_test_epi32_mask((__m512i)x, (__m512i)x);
#elif WIDTH == 256
    return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#else
    return (x[0] | x[1] | x[2] | x[3]) != 0;
#endif
}

// Rounds towards zero.
INLINE Floats towards_zero(Ints x) {
#if WIDTH == 512
    return (Floats)_mm512_cvt_roundepi32_ps((__m512i)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    const Floats near = __builtin_convertvector(x, Floats);
    const Ints excess = __builtin_convertvector(near, Ints) - x;
    return (Floats)((Ints)near + ((excess != 0) & ((excess ^ x) >= 0)));
#endif
}

INLINE Ints ints_at(const void *from) {
    Ints x;
    memcpy(&x, from, sizeof x);
    return x;
}

// What four columns have, in each row.
INLINE Ints every_row(const void *from) {
#if WIDTH == 512
    return (Ints)_mm512_broadcast_i32x4(_mm_loadu_si128(from));
#elif WIDTH == 256
    return (Ints)_mm256_broadcastsi128_si256(_mm_loadu_si128(from));
#else
    return ints_at(from);
#endif
}

// What column `column`, a constant, has in each row, in all columns of that row.
#if WIDTH == 512
#define every_column(x, column) ((Ints)_mm512_shuffle_epi32((__m512i)(x), (_MM_PERM_ENUM)(0x55 * (column))))
#elif WIDTH == 256
#define every_column(x, column) ((Ints)_mm256_shuffle_epi32((__m256i)(x), 0x55 * (column)))
#else
#define every_column(x, column) ((Ints){0} + (x)[column])
#endif

// From eight rows of four words to four rows of eight: of each column, what rows 0, 2, 4 and 6 have, and then
// 1, 3, 5 and 7.
INLINE void turn(void *to, const Ints *from) {
#if WIDTH == 512
    const Ints order = {0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5, 13, 21, 29};
    for (int i = 0; i < 2; i++) {
        const Ints two =
            (Ints)_mm512_permutex2var_epi32((__m512i)from[0], (__m512i)(order + 2 * i), (__m512i)from[1]);
        memcpy((Ints *)to + i, &two, sizeof two);
    }
#elif WIDTH == 256
    const __m256i x[] = {(__m256i)from[0], (__m256i)from[1], (__m256i)from[2], (__m256i)from[3]};
    const __m256i low_0 = _mm256_unpacklo_epi32(x[0], x[1]), low_1 = _mm256_unpacklo_epi32(x[2], x[3]),
                  high_0 = _mm256_unpackhi_epi32(x[0], x[1]), high_1 = _mm256_unpackhi_epi32(x[2], x[3]);
    const Ints turned[] = {
        (Ints)_mm256_unpacklo_epi64(low_0, low_1), (Ints)_mm256_unpackhi_epi64(low_0, low_1),
        (Ints)_mm256_unpacklo_epi64(high_0, high_1), (Ints)_mm256_unpackhi_epi64(high_0, high_1)};
    memcpy(to, turned, sizeof turned);
#else
    int32_t words[32];
    memcpy(words, from, sizeof words);
    for (int i = 0; i < 32; i++)
        memcpy((int32_t *)to + i, &words[(i % 4 * 2 + i / 4 % 2) * 4 + i / 8], sizeof *words);
#endif
}
