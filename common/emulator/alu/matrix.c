// One multiplication: gathers the fragments of a warp, multiplies, and deals out the result.
#include "emulator/alu/matrix.h"

#include <math.h>
#include <string.h>

#include "emulator/alu/float_lanes.h"

// ---- Fragments to matrices and back -----------------------------------------------------------------------

static void gather(const MatrixFragment *f, const void *const *registers, void *matrix) {
    if (f->step == 1) { // a register's elements are neighbours: it is one word of the matrix
        for (int r = 0; r < f->registers; r++)
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
                const unsigned word = f->first[r][lane] >> f->shift;
                if (f->width == 8)
                    ((uint64_t *)matrix)[word] = ((const uint64_t *)registers[r])[lane];
                else
                    ((uint32_t *)matrix)[word] = ((const uint32_t *)registers[r])[lane];
            }
        return;
    }
    for (int r = 0; r < f->registers; r++) // two halves that are not
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
            const uint32_t pair = ((const uint32_t *)registers[r])[lane];
            ((uint16_t *)matrix)[f->first[r][lane]] = (uint16_t)pair;
            ((uint16_t *)matrix)[f->first[r][lane] + f->step] = (uint16_t)(pair >> 16);
        }
}

static void deal_out(const MatrixFragment *f, const void *matrix, void *const *registers) {
    for (int r = 0; r < f->registers; r++) {
        if (!registers[r]) continue;
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
            const unsigned first = f->first[r][lane];
            if (f->width == 8)
                ((uint64_t *)registers[r])[lane] = ((const uint64_t *)matrix)[first];
            else if (f->step == 1)
                ((uint32_t *)registers[r])[lane] = ((const uint32_t *)matrix)[first >> f->shift];
            else
                ((uint32_t *)registers[r])[lane] =
                    ((const uint16_t *)matrix)[first] | (uint32_t)((const uint16_t *)matrix)[first + f->step]
                                                            << 16;
        }
    }
}

// ---- Integers and bits ------------------------------------------------------------------------------------

static int32_t integer_element(const void *matrix, MatrixType type, int i) {
    const uint8_t *bytes = matrix;
    switch (type) {
    case MATRIX_S8: return (int8_t)bytes[i];
    case MATRIX_U8: return bytes[i];
    default: {
        const int32_t nibble = bytes[i / 2] >> i % 2 * 4 & 15;
        return type == MATRIX_S4 ? (nibble ^ 8) - 8 : nibble;
    }
    }
}

static void multiply_integers(const MatrixForm *form, const void *a, const void *b, const int32_t *c,
                              int32_t *d) {
    const int m = form->shape.m, n = form->shape.n, k = form->shape.k;
    int16_t rows[1024] = {0}, columns[1024] = {0}; // at most 16 x 64, or 32 x 16
    for (int i = 0; i < m * k; i++) rows[i] = (int16_t)integer_element(a, form->a_type, i);
    for (int i = 0; i < n * k; i++) columns[i] = (int16_t)integer_element(b, form->b_type, i);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int32_t products = 0; // at most 64 of 2^16
            for (int at = 0; at < k; at++) products += rows[i * k + at] * columns[j * k + at];
            int64_t sum = (int64_t)c[i * n + j] + products;
            if (form->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            d[i * n + j] = (int32_t)(uint32_t)sum;
        }
}

static void multiply_bits(const MatrixForm *form, const uint32_t *a, const uint32_t *b, const int32_t *c,
                          int32_t *d) {
    const int words = form->shape.k / 32;
    for (int i = 0; i < form->shape.m; i++)
        for (int j = 0; j < form->shape.n; j++) {
            uint32_t sum = (uint32_t)c[i * form->shape.n + j];
            for (int w = 0; w < words; w++) {
                const uint32_t x = a[i * words + w], y = b[j * words + w];
                sum += (uint32_t)__builtin_popcount(form->operation == MATRIX_XOR_POPC ? x ^ y : x & y);
            }
            d[i * form->shape.n + j] = (int32_t)sum;
        }
}

// ---- Doubles ----------------------------------------------------------------------------------------------

// A chain of fused multiply-adds in the order of k.
static void multiply_doubles(const MatrixForm *form, const double *a, const double *b, const double *c,
                             double *d) {
    const int n = form->shape.n, k = form->shape.k;
    for (int i = 0; i < form->shape.m; i++)
        for (int j = 0; j < n; j++) {
            double sum = c[i * n + j];
            for (int at = 0; at < k; at++) {
                const double x = a[i * k + at], y = b[j * k + at];
                sum = with_nan_of(fma(x, y, sum), x, y, sum);
            }
            d[i * n + j] = sum;
        }
}

// ---- All --------------------------------------------------------------------------------------------------

void matrix_multiply_packed(const MatrixForm *form, const void *a, const void *b, const void *c, void *d) {
    switch (form->a_type) {
    case MATRIX_F64: multiply_doubles(form, a, b, c, d); break;
    case MATRIX_B1: multiply_bits(form, a, b, c, d); break;
    case MATRIX_S8:
    case MATRIX_U8:
    case MATRIX_S4:
    case MATRIX_U4: multiply_integers(form, a, b, c, d); break;
    default: matrix_multiply_floats(form, a, b, c, d); break;
    }
}

void matrix_multiply(const MatrixForm *form, const MatrixRegisters *registers, MatrixFactors *factors) {
    if (matrix_multiply_fragments(form, registers, factors)) return;
    // Every element that the form has is in a fragment.
    _Alignas(64) unsigned char a[MATRIX_BYTES], b[MATRIX_BYTES], c[MATRIX_BYTES], d[MATRIX_BYTES];
    gather(&form->a, registers->a, a);
    gather(&form->b, registers->b, b);
    gather(&form->c, registers->c, c);
    matrix_multiply_packed(form, a, b, c, d);
    deal_out(&form->d, d, registers->d);
}
