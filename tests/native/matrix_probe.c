// Compares products of fragments, which are computed a tile at a time, with those of packed matrices, which
// are computed a block at a time: random operands of each form, the bits of all results.
//
//   matrix_probe SEED ROUNDS    the first difference, if any, and how many products were compared
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/alu/float_lanes.h"
#include "emulator/alu/matrix.h"

static uint64_t state;

static uint32_t random_bits(void) { // splitmix64
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(x ^ x >> 31);
}
static int below(int n) { return (int)(random_bits() % (uint32_t)n); }

// ---- Operands ---------------------------------------------------------------------------------------------

// What the numbers of one operand have in common.
typedef struct {
    int exponent, spread; // from `exponent` on
    int bits;             // of a fraction
    int signs;            // 0: all are positive, 1: all are negative, 2: either
    int zeros, specials;  // one in so many; 0: none
} Family;

static Family some_family(bool is_f16) {
    static const int spreads[] = {1, 1, 2, 4, 8, 16, 32, 64, 250}, bits[] = {0, 1, 2, 3, 5, 7, 7, 10, 23};
    const int spread = spreads[below(9)];
    int exponent = below(6) ? below(24) - 12 - spread / 2 : below(280) - 150;
    if (is_f16 && exponent < -40) exponent = -40 + below(40);
    return (Family){.exponent = exponent,
                    .spread = spread,
                    .bits = bits[below(9)],
                    .signs = below(3),
                    .zeros = below(3) ? 0 : 1 + below(8),
                    .specials = below(40) ? 0 : 100};
}

static float some_number(const Family *f) {
    if (f->zeros && !below(f->zeros)) return below(2) ? 0.0f : -0.0f;
    if (f->specials && !below(f->specials)) return below(3) ? below(2) ? INFINITY : -INFINITY : NAN;
    const uint32_t fraction = random_bits() & 0x7fffff & ~(0x7fffffu >> f->bits);
    const float x = ldexpf(bits_float(0x3f800000 | fraction), f->exponent + below(f->spread));
    return f->signs == 1 || (f->signs == 2 && below(2)) ? -x : x;
}

static uint32_t encoded(MatrixType type, float x) {
    switch (type) {
    case MATRIX_F16: return float_f16(x);
    case MATRIX_BF16: return float_bits(x) >> 16;
    default: return float_bits(x);
    }
}

static double decoded(MatrixType type, const void *matrix, int i) {
    switch (type) {
    case MATRIX_F16: return f16_float(((const uint16_t *)matrix)[i]);
    case MATRIX_BF16: return bf16_float(((const uint16_t *)matrix)[i]);
    case MATRIX_TF32: return bits_float(((const uint32_t *)matrix)[i] & ~0x1fffu);
    default: return ((const float *)matrix)[i];
    }
}

static void set_element(void *matrix, MatrixType type, int i, float x) {
    if (matrix_type_bits(type) == 16)
        ((uint16_t *)matrix)[i] = (uint16_t)encoded(type, x);
    else
        ((uint32_t *)matrix)[i] = encoded(type, x);
}

static void fill(void *matrix, MatrixType type, int count, int of_a_row) {
    const Family all = some_family(type == MATRIX_F16);
    const bool differ = !below(3); // rows, each of a family
    Family family = all;
    for (int i = 0; i < count; i++) {
        if (differ && i % of_a_row == 0) family = some_family(type == MATRIX_F16);
        set_element(matrix, type, i, some_number(&family));
    }
}

// Sums that their products cancel, or almost.
static void cancel(const MatrixForm *form, const void *a, const void *b, void *c) {
    const int m = form->shape.m, n = form->shape.n, k = form->shape.k;
    for (int i = 0; i < m * n; i++) {
        double sum = 0;
        for (int at = 0; at < k; at++)
            sum += decoded(form->a_type, a, i / n * k + at) * decoded(form->b_type, b, i % n * k + at);
        if (below(2)) sum *= 1 + ldexp(below(16) - 8, -below(26));
        set_element(c, form->c_type, i, (float)-sum);
    }
}

// ---- Fragments --------------------------------------------------------------------------------------------

typedef uint32_t Registers[FRAGMENT_REGISTERS][WARP_SIZE];

// To registers, or from them.
static void move(const MatrixFragment *f, void *matrix, Registers registers, bool is_back) {
    for (int r = 0; r < f->registers; r++)
        for (unsigned lane = 0; lane < WARP_SIZE; lane++)
            for (unsigned e = 0; e < (unsigned)f->per_register; e++) {
                const unsigned bytes = f->bits / 8, at = f->first[r][lane] + e * (unsigned)f->step;
                unsigned char *element = (unsigned char *)matrix + at * bytes,
                              *part = (unsigned char *)&registers[r][lane] + e * bytes;
                memcpy(is_back ? element : part, is_back ? part : element, bytes);
            }
}

typedef struct {
    int k;
    MatrixType factors, given, result;
} Kind;

static const Kind kinds[] = {
    {16, MATRIX_BF16, MATRIX_F32, MATRIX_F32}, {8, MATRIX_BF16, MATRIX_F32, MATRIX_F32},
    {16, MATRIX_F16, MATRIX_F32, MATRIX_F32},  {8, MATRIX_F16, MATRIX_F32, MATRIX_F32},
    {16, MATRIX_F16, MATRIX_F16, MATRIX_F16},  {8, MATRIX_F16, MATRIX_F16, MATRIX_F16},
    {16, MATRIX_F16, MATRIX_F16, MATRIX_F32},  {16, MATRIX_F16, MATRIX_F32, MATRIX_F16},
    {8, MATRIX_TF32, MATRIX_F32, MATRIX_F32},  {4, MATRIX_TF32, MATRIX_F32, MATRIX_F32},
};
enum { KINDS = sizeof kinds / sizeof *kinds, M = 16, N = 8 };

static MatrixForm form_of(const Kind *kind) {
    MatrixForm form = {.shape = {.m = M, .n = N, .k = (uint16_t)kind->k},
                       .a_type = kind->factors,
                       .b_type = kind->factors,
                       .c_type = kind->given,
                       .d_type = kind->result};
    matrix_fragment(&form.a, &form.shape, MATRIX_A, form.a_type, false);
    matrix_fragment(&form.b, &form.shape, MATRIX_B, form.b_type, false);
    matrix_fragment(&form.c, &form.shape, MATRIX_C, form.c_type, false);
    matrix_fragment(&form.d, &form.shape, MATRIX_C, form.d_type, false);
    return form;
}

// False, and says so: they differ. Adds to `by_tiles` what the tiles could compute.
static bool are_same(const MatrixForm *form, MatrixFactors *factors, long *by_tiles) {
    _Alignas(64) unsigned char a[MATRIX_BYTES], b[MATRIX_BYTES], c[MATRIX_BYTES], d[MATRIX_BYTES] = {0},
                                                                                  want[MATRIX_BYTES] = {0};
    _Alignas(64) static Registers of_a, of_b, of_c, of_d;
    const int k = form->shape.k;
    fill(a, form->a_type, M * k, k);
    fill(b, form->b_type, N * k, k);
    if (below(3))
        fill(c, form->c_type, M * N, N);
    else
        cancel(form, a, b, c);
    move(&form->a, a, of_a, false);
    move(&form->b, b, of_b, false);
    move(&form->c, c, of_c, false);
    const void *given[3][FRAGMENT_REGISTERS];
    void *taken[FRAGMENT_REGISTERS];
    for (int r = 0; r < FRAGMENT_REGISTERS; r++) {
        given[0][r] = of_a[r];
        given[1][r] = of_b[r];
        given[2][r] = of_c[r];
        taken[r] = of_d[r];
    }
    if (!matrix_multiply_fragments(form, &(MatrixRegisters){given[0], given[1], given[2], taken}, factors))
        return true;
    *by_tiles += 1;
    move(&form->d, d, of_d, true);
    matrix_multiply_packed(form, a, b, c, want);
    const int bytes = form->d.bits / 8;
    for (int i = 0; i < M * N; i++) {
        uint32_t x = 0, y = 0;
        memcpy(&x, d + i * bytes, (size_t)bytes);
        memcpy(&y, want + i * bytes, (size_t)bytes);
        if (x == y) continue;
        printf("types %d %d %d, k %d: element %d is %08" PRIx32 ", not %08" PRIx32 "; c is %a\n",
               form->a_type, form->c_type, form->d_type, k, i, x, y, decoded(form->c_type, c, i));
        for (int at = 0; at < k; at++)
            printf("  %a * %a\n", decoded(form->a_type, a, i / N * k + at),
                   decoded(form->b_type, b, i % N * k + at));
        return false;
    }
    return true;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    state = strtoull(arguments[1], NULL, 10);
    const long rounds = strtol(arguments[2], NULL, 10);
    MatrixFactors *factors = matrix_factors_new();
    if (!factors) return 2;
    int status = 0;
    for (int i = 0; i < KINDS && !status; i++) {
        const MatrixForm form = form_of(&kinds[i]);
        long by_tiles = 0;
        for (long round = 0; round < rounds && !status; round++)
            if (!are_same(&form, factors, &by_tiles)) status = 1;
        printf("types %d %d %d, k %d: %ld of %ld by tiles\n", form.a_type, form.c_type, form.d_type,
               form.shape.k, by_tiles, rounds);
    }
    matrix_factors_free(factors);
    return status;
}
