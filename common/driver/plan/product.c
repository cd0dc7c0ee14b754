#include "driver/plan/product.h"

#include <math.h>
#include <string.h>

#include "driver/plan/filter.h"
#include "driver/plan/inputs.h"

int product_right(const Task *task) {
    for (int b = task_input(task) + 1; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == INPUT) return b;
    return -1;
}

double product_underflow(const CaseSize *size) { return (double)size->depth * 0x1p-150; }

// Numbers of at most 2^24 / terms, of which `depth` squares are at most 2^24.
long long product_terms(long long depth) { return (long long)ceil(sqrt(0x1p24 * (double)depth)); }

void product_place_zeros(float *matrix, long long count, uint64_t seed, unsigned stream) {
    enum { STREAM_ZEROS = 701, ONE_IN = 5 };
    for (long long i = 0; i < count; i++)
        if (isfinite(matrix[i]) && random_bits(seed, STREAM_ZEROS + stream, (uint64_t)i) % ONE_IN == 0)
            matrix[i] = 0;
}

static void row_of(const CaseSize *size, const float *left, const float *right, double *values,
                   double *magnitudes) {
    for (long long d = 0; d < size->depth; d++) {
        const double factor = (double)left[d];
        const float *row = right + d * size->columns;
        for (long long c = 0; c < size->columns; c++) {
            const double product = factor * (double)row[c];
            values[c] += product;
            magnitudes[c] += fabs(product);
        }
    }
}

void product_of(const CaseSize *size, const float *left, const float *right, double *values,
                double *magnitudes) {
    const double unit = filter_unit(left, F32, size->rows * size->depth) *
                        filter_unit(right, F32, size->depth * size->columns);
    memset(values, 0, (size_t)(size->rows * size->columns) * sizeof *values);
    memset(magnitudes, 0, (size_t)(size->rows * size->columns) * sizeof *magnitudes);
#pragma omp parallel for if (size->rows * size->columns > 1 << 16)
    for (long long r = 0; r < size->rows; r++) {
        double *of_row = magnitudes + r * size->columns;
        row_of(size, left + r * size->depth, right, values + r * size->columns, of_row);
        for (long long c = 0; c < size->columns; c++)
            if (of_row[c] <= 0x1p24 * unit || !isfinite(of_row[c])) of_row[c] = 0;
    }
}
