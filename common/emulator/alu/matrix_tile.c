// Of tiles whose blocks are multiplied one after the other.
#include "emulator/alu/matrix_tile.h"

#if !HAS_DOUBLE_TILES

INLINE Ints specials(Floats x) { return ((Ints)x & 0x7f800000) == 0x7f800000; }

// `type` is a constant.
INLINE bool make_rows(TileRows *to, MatrixType type, const void *const *registers, int count, int steps) {
    Ints found = {0};
    for (int i = 0; i < TILE_BLOCKS; i++)
        for (int s = 0; s < steps; s++) {
            const int at = 2 * s + i / PARTS;
            const Elements x =
                elements_of(type, registers[at], at + 2 < count ? registers[at + 2] : NULL, i % PARTS);
            add_rows(&to->blocks[i], STEP * s, x.first, x.second, least_exponent(type, false));
            found |= specials(x.first) | specials(x.second);
        }
    return !has_any(found);
}

INLINE bool make_columns(TileColumns *to, MatrixType type, const void *const *registers, int count,
                         int steps) {
    Ints found = {0};
    for (int s = 0; s < steps; s++) {
        Floats first[COLUMN_VECTORS], second[COLUMN_VECTORS];
        for (int v = 0; v < COLUMN_VECTORS; v++) {
            const Elements x = elements_of(type, registers[s], s + 1 < count ? registers[s + 1] : NULL, v);
            first[v] = x.first;
            second[v] = x.second;
            found |= specials(x.first) | specials(x.second);
        }
        add_columns(&to->block, STEP * s, first, second, least_exponent(type, false));
    }
    return !has_any(found);
}

bool tile_rows(TileRows *to, MatrixType type, const void *const *registers, int count, int steps) {
    return MAKE_OF_TYPE(make_rows, to, type, registers, count, steps);
}

bool tile_columns(TileColumns *to, MatrixType type, const void *const *registers, int count, int steps) {
    return MAKE_OF_TYPE(make_columns, to, type, registers, count, steps);
}

bool tile_multiply(const Summing *how, const TileRows *rows, const TileColumns *columns,
                   const Block c[TILE_BLOCKS], Block d[TILE_BLOCKS]) {
    Ints found = {0};
    for (int i = 0; i < TILE_BLOCKS; i++) found |= specials(c[i].even) | specials(c[i].odd);
    if (has_any(found)) return false;
    memcpy(d, c, TILE_BLOCKS * sizeof *d);
    multiply_blocks(how, rows->blocks, TILE_BLOCKS, &columns->block, d);
    return true;
}

#endif
