// Products of floats of 16 and 19 bits, as they lie in the registers of a warp.
#include <stdlib.h>
#include <string.h>

#include "emulator/alu/float_lanes.h"
#include "emulator/alu/matrix_tile.h"

// ---- Factors ----------------------------------------------------------------------------------------------

enum { TILE_REGISTERS = 4, REGISTER_VECTORS = WARP_SIZE / LANES };

// The registers that a factor was made from.
typedef struct {
    Ints words[TILE_REGISTERS][REGISTER_VECTORS];
    MatrixType type;
    int count;     // of registers; 0: there is no factor
    bool is_whole; // tile_rows() or tile_columns() made it
} Origin;

typedef struct {
    Origin origin;
    TileRows tile;
} Rows;

typedef struct {
    Origin origin;
    TileColumns tile;
} Columns;

// By address of the first register: of neighbours each has its place.
enum { KEPT_ROWS = 16, KEPT_COLUMNS = 32, APART = 256 };
struct MatrixFactors {
    Rows rows[KEPT_ROWS];
    Columns columns[KEPT_COLUMNS];
};

static size_t place_of(const void *const *registers) { return (uintptr_t)registers[0] / APART; }

MatrixFactors *matrix_factors_new(void) {
    MatrixFactors *new = aligned_alloc(_Alignof(MatrixFactors), sizeof *new);
    if (!new) return NULL;
    for (int i = 0; i < KEPT_ROWS; i++) new->rows[i].origin.count = 0;
    for (int i = 0; i < KEPT_COLUMNS; i++) new->columns[i].origin.count = 0;
    return new;
}

void matrix_factors_free(MatrixFactors *factors) { free(factors); }

// Whether the registers hold what they held then.
INLINE bool is_from(const Origin *origin, MatrixType type, const void *const *registers, int count) {
    if (origin->count != count || origin->type != type) return false;
    Ints changed = {0};
    for (int r = 0; r < count; r++)
        for (int i = 0; i < REGISTER_VECTORS; i++)
            changed |= origin->words[r][i] ^ vector_of(registers[r], i);
    return !has_any(changed);
}

static void set_origin(Origin *origin, MatrixType type, const void *const *registers, int count,
                       bool is_whole) {
    for (int r = 0; r < count; r++) memcpy(origin->words[r], registers[r], sizeof origin->words[r]);
    origin->type = type;
    origin->count = count;
    origin->is_whole = is_whole;
}

// NULL: there is none.
static const TileRows *rows_of(MatrixFactors *factors, MatrixType type, const void *const *registers,
                               int count, int steps) {
    Rows *rows = &factors->rows[place_of(registers) % KEPT_ROWS];
    if (!is_from(&rows->origin, type, registers, count))
        set_origin(&rows->origin, type, registers, count,
                   tile_rows(&rows->tile, type, registers, count, steps));
    return rows->origin.is_whole ? &rows->tile : NULL;
}
static const TileColumns *columns_of(MatrixFactors *factors, MatrixType type, const void *const *registers,
                                     int count, int steps) {
    Columns *columns = &factors->columns[place_of(registers) % KEPT_COLUMNS];
    if (!is_from(&columns->origin, type, registers, count))
        set_origin(&columns->origin, type, registers, count,
                   tile_columns(&columns->tile, type, registers, count, steps));
    return columns->origin.is_whole ? &columns->tile : NULL;
}

// ---- Sums -------------------------------------------------------------------------------------------------

static void read_sums(Block to[TILE_BLOCKS], MatrixType type, const void *const *registers) {
    for (int i = 0; i < TILE_BLOCKS; i++) {
        const int half = i / PARTS, part = i % PARTS;
        if (type == MATRIX_F16) {
            const Ints words = vector_of(registers[half], part);
            to[i] = (Block){low_halves(MATRIX_F16, words), high_halves(MATRIX_F16, words)};
        } else
            to[i] = (Block){(Floats)vector_of(registers[2 * half], part),
                            (Floats)vector_of(registers[2 * half + 1], part)};
    }
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

// ---- Products ---------------------------------------------------------------------------------------------

enum { MOST_TILES = 2 }; // of 16 rows, or of 8 columns: a wmma is two m16n8

// The registers of one factor, and how many of them each of its `tiles` has. The last ones: a fragment of
// wmma may have all elements twice.
typedef struct {
    const void *const *registers;
    int of_tile, tiles;
} FactorTiles;

// registers / tiles, of 1 or 2, without a division.
static int of_each(int registers, int tiles) { return tiles == 1 ? registers : registers / 2; }

static FactorTiles tiles_of(const MatrixFragment *f, const void *const *registers, int tiles) {
    return (FactorTiles){registers + f->registers - f->distinct, of_each(f->distinct, tiles), tiles};
}

static bool multiply_tiles(const MatrixForm *form, const FactorTiles *a, const FactorTiles *b,
                           const MatrixRegisters *registers, MatrixFactors *factors) {
    const MatrixType type = form->a_type;
    const int steps = (form->shape.k + STEP - 1) / STEP, count = a->tiles * b->tiles;
    const int of_c = of_each(form->c.registers, count), of_d = of_each(form->d.registers, count);
    const Summing how = summing_of(form, steps * STEP);
    Block sums[MOST_TILES][TILE_BLOCKS], given[TILE_BLOCKS];
    for (int i = 0; i < count; i++) {
        const int of_a = a->tiles == 1 ? 0 : i, of_b = b->tiles == 1 ? 0 : i; // two of both there are not
        // Not before: the factors of another tile may take their places.
        const TileRows *rows = rows_of(factors, type, a->registers + of_a * a->of_tile, a->of_tile, steps);
        const TileColumns *columns =
            columns_of(factors, type, b->registers + of_b * b->of_tile, b->of_tile, steps);
        if (!rows || !columns) return false;
        read_sums(given, form->c_type, registers->c + i * of_c);
        if (!tile_multiply(&how, rows, columns, given, sums[i])) return false;
    }
    for (int i = 0; i < count; i++) write_sums(form->d_type, registers->d + i * of_d, sums[i]);
    return true;
}

bool matrix_multiply_fragments(const MatrixForm *form, const MatrixRegisters *registers,
                               MatrixFactors *factors) {
    const MatrixShape *s = &form->shape;
    const bool is_turned = s->n > s->m; // then b has the rows
    const int row_tiles = (is_turned ? s->n : s->m) / TILE_ROWS,
              column_tiles = (is_turned ? s->m : s->n) / COLUMNS;
    const bool is_half = form->a_type == MATRIX_F16 || form->a_type == MATRIX_BF16;
    // wmma of tf32 is two instructions.
    if ((!is_half && (form->a_type != MATRIX_TF32 || s->is_wmma)) || s->is_quad || !row_tiles) return false;
    const FactorTiles of_a = tiles_of(&form->a, registers->a, is_turned ? column_tiles : row_tiles),
                      of_b = tiles_of(&form->b, registers->b, is_turned ? row_tiles : column_tiles);
    return multiply_tiles(form, is_turned ? &of_b : &of_a, is_turned ? &of_a : &of_b, registers, factors);
}
