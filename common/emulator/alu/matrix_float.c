// Products of packed matrices of floats.
#include <string.h>

#include "emulator/alu/float_lanes.h"
#include "emulator/alu/matrix_block.h"

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
            Block block = read_block(at, n);
            multiply_blocks(&how, &of_rows[row / ROWS], 1, &of_columns, &block);
            write_block(at, n, block);
        }
    }
    for (int i = 0; i < m * n && has_special; i++)
        if (special[i] != 0) sums[i] = canonical(special[i]); // NaN, too
    if (form->d_type == MATRIX_F16)
        for (int i = 0; i < m * n; i++) ((uint16_t *)d)[i] = float_f16(sums[i]);
    else
        memcpy(d, sums, (size_t)(m * n) * sizeof *sums);
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
