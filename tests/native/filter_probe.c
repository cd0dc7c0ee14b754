// common/driver/plan/filter.c and common/driver/judge/image_subset.c for the tests.
//   filter_probe sums RADIUS ROWS COLUMNS PERIOD   coefficients, then an image, as floats on standard input;
//   for each place the sum and the magnitude that its budget scales with filter_probe places ROWS COLUMNS
//   bytes on standard input; the places whose byte is not 0, in words
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/image_subset.h"
#include "driver/plan/filter.h"

static void *read_input(size_t bytes) {
    void *content = calloc(1, bytes + 1);
    if (!content || fread(content, 1, bytes, stdin) != bytes) exit(3);
    return content;
}

static int print_sums(char **a) {
    const Task task = {
        .buffers = {{.name = "in", .role = INPUT}, {.name = "weights", .role = INPUT}},
        .filter = {.radius = atoi(a[0]), .coefficients = "weights"},
    };
    const int taps = filter_taps(&task);
    const long long rows = atoll(a[1]), columns = atoll(a[2]), period = atoll(a[3]);
    float *coefficients = read_input((size_t)taps * sizeof(float));
    float *image = read_input((size_t)period * sizeof(float));
    FilterWeights weights;
    filter_weights(&task, coefficients, &weights);
    const FilterImage view = {image, F32, rows, columns, period};
    const double unit = filter_unit(image, F32, period);
    for (long long i = 0; i < rows * columns; i++) {
        const FilterSum sum = filter_at(&weights, &view, unit, i / columns, i % columns);
        printf("%.17g %.17g\n", sum.value, sum.magnitude);
    }
    free(coefficients);
    free(image);
    return 0;
}

static int print_places(char **a) {
    const long long rows = atoll(a[0]), columns = atoll(a[1]);
    unsigned char *bytes = read_input((size_t)(rows * columns));
    bool *is_in = calloc((size_t)(rows * columns), sizeof *is_in);
    if (!is_in) return 3;
    for (long long i = 0; i < rows * columns; i++) is_in[i] = bytes[i] != 0;
    Text words = {0};
    const long long count = image_subset_describe(is_in, rows, columns, &words);
    printf("%lld %s\n", count, text_chars(&words));
    text_free(&words);
    free(is_in);
    free(bytes);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "sums") == 0) return print_sums(argv + 2);
    if (argc == 4 && strcmp(argv[1], "places") == 0) return print_places(argv + 2);
    return 3;
}
