// Products of tiles of 16 rows and 8 columns, of floats of 16 and 19 bits as they lie in the registers of a
// warp. Internal to matrix_*.c.
//
// A vector is a part of a register: rows of a, columns of b, or of rows of c the even or the odd columns. Of
// 16-bit elements two that are neighbours in k, or of c in a row, share a word.
#pragma once

#include "emulator/alu/matrix_block.h"

// A register has eight rows.
enum { TILE_ROWS = 16, TILE_K = 16, TILE_BLOCKS = TILE_ROWS / ROWS, PARTS = 8 / ROWS };

#define HAS_DOUBLE_TILES (WIDTH > 128)
#if HAS_DOUBLE_TILES
// Doubles, and what is known of them in bytes: matrix_tile_double.c. A set is as many rows as have a vector
// of bytes, one for each sum, those of even columns first.
enum { SET_ROWS = (int)sizeof(Bytes) / COLUMNS, TILE_SETS = TILE_ROWS / SET_ROWS };
typedef struct {
    _Alignas(64) double value[TILE_K][TILE_ROWS];
    // In even columns; the same in odd ones.
    uint8_t exponents[TILE_SETS][TILE_K][sizeof(Bytes) / 2],
        lowest_bits[TILE_SETS][TILE_K][sizeof(Bytes) / 2];
    Floats exact[TILE_K][TILE_BLOCKS]; // of a row in all columns; not set where add_exact() has no use for it
    int top;                           // the largest exponent
    int least_bit; // of lowest_bits; less than 0: bytes may be larger than what they stand for
} TileRows;
typedef struct {
    _Alignas(64) double value[TILE_K][COLUMNS];
    Bytes exponents[TILE_K], lowest_bits[TILE_K];
    _Alignas(64) float exact[TILE_K][COLUMNS]; // of even columns first
    int top, least_bit;
} TileColumns;
#else
typedef struct {
    RowBlock blocks[TILE_BLOCKS];
} TileRows;
typedef struct {
    ColumnBlock block;
} TileColumns;
#endif

// From `count` registers, whose elements of k come in `steps`. False: one of them is infinite or NaN.
bool tile_rows(TileRows *to, MatrixType type, const void *const *registers, int count, int steps);
bool tile_columns(TileColumns *to, MatrixType type, const void *const *registers, int count, int steps);
// d = the products, and c. False: that cannot be done here.
bool tile_multiply(const Summing *how, const TileRows *rows, const TileColumns *columns,
                   const Block c[TILE_BLOCKS], Block d[TILE_BLOCKS]);

// make(to, type, ...), in which the type is a constant.
#define MAKE_OF_TYPE(make, to, type, ...)                                                                    \
    ((type) == MATRIX_F16    ? make(to, MATRIX_F16, __VA_ARGS__)                                             \
     : (type) == MATRIX_BF16 ? make(to, MATRIX_BF16, __VA_ARGS__)                                            \
                             : make(to, MATRIX_TF32, __VA_ARGS__))

// ---- Vectors ----------------------------------------------------------------------------------------------

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
