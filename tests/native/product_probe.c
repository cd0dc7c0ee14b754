// common/driver/plan/product.c for the tests.
//   product_probe ROWS COLUMNS DEPTH   the left and the right matrix as floats on standard input; for each
//   element of the product its value and the magnitude that its budget scales with product_probe terms DEPTH
//   how many terms whole numbers are made for
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/product.h"

static float *read_matrix(long long count) {
    float *matrix = calloc((size_t)count + 1, sizeof *matrix);
    if (!matrix || fread(matrix, sizeof *matrix, (size_t)count, stdin) != (size_t)count) exit(3);
    return matrix;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "terms") == 0) {
        printf("%lld\n", product_terms(atoll(argv[2])));
        return 0;
    }
    if (argc != 4) return 3;
    const CaseSize size = {.rows = atoll(argv[1]), .columns = atoll(argv[2]), .depth = atoll(argv[3])};
    const long long count = size.rows * size.columns;
    float *left = read_matrix(size.rows * size.depth), *right = read_matrix(size.depth * size.columns);
    double *values = calloc((size_t)count + 1, sizeof *values);
    double *magnitudes = calloc((size_t)count + 1, sizeof *magnitudes);
    if (!values || !magnitudes) return 3;
    product_of(&size, left, right, values, magnitudes);
    for (long long i = 0; i < count; i++) printf("%.17g %.17g\n", values[i], magnitudes[i]);
    free(left);
    free(right);
    free(values);
    free(magnitudes);
    return 0;
}
