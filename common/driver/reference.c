#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "shape.h"

// One step of Neumaier's summation.
static inline void add_compensated(double *sum, double *rest, double x) {
    double next = *sum + x;
    *rest += fabs(*sum) >= fabs(x) ? (*sum - next) + x : (x - next) + *sum;
    *sum = next;
}

ExactSum exact_sum(const void *array, ElementType type, long long start, long long count) {
    double sum = 0, rest = 0, magnitude = 0, special = 0;
    for (long long i = start; i < start + count; i++) {
        double x = type == F32 ? (double)((const float *)array)[i] : element_get(array, type, i);
        if (isfinite(x)) {
            add_compensated(&sum, &rest, x);
            magnitude += fabs(x);
        } else {
            special += x; // Inf, -Inf and NaN follow the rules of addition by themselves
        }
    }
    return (ExactSum){.sum = special == 0 ? sum + rest : special, .magnitude = magnitude};
}

static double log2_up(double value) { return value <= 1 ? 0 : ceil(log2(value)); }

// What one thread of `threads` adds when n elements are shared out evenly. Reading four at a time and the
// tail behind the last four add up to 6 more.
static double per_thread(double n, double threads) { return threads > 0 ? ceil(n / threads) + 6 : n; }

static double over_block(double n, const ShapeOfLaunch *launch) {
    // A tree over warps first has two levels that each round up: one addition more than log2 of the whole.
    return per_thread(n, (double)launch->threads) + log2_up(launch->block_threads) + 1;
}

double longest_chain(const Task *task, const CaseShape *shape) {
    double n = (double)shape->size.n;
    const ShapeOfLaunch *first = &shape->launches[0], *second = &shape->launches[1];
    switch (task->chain) {
    case CHAIN_SERIAL: return n;
    case CHAIN_PER_THREAD: return per_thread(n, (double)first->threads);
    case CHAIN_WARP: return per_thread(n, (double)first->threads) + 5;
    case CHAIN_BLOCK: return over_block(n, first);
    case CHAIN_ATOMIC: return over_block(n, first) + (double)first->blocks;
    case CHAIN_TWO_PASS: return over_block(n, first) + over_block((double)first->blocks, second);
    case CHAIN_ROW: {
        double threads = first->block_threads < 32 ? first->block_threads : 32; // a warp a row at the least
        return per_thread((double)shape->size.columns, threads) + log2_up(first->block_threads) + 1;
    }
    case CHAIN_FUNCTION: return task->chain_function ? task->chain_function(shape) : n;
    }
    return n;
}

double error_budget(ElementType type, double chain, double magnitude, double sum) {
    if (!element_is_float(type)) return 0;
    double u = type == F64 ? 0x1p-53 : type == BF16 ? 0x1p-9 : 0x1p-24;
    double hu = chain * u;
    double gamma = hu < 0.5 ? hu / (1 - hu) : 1; // beyond that the bound says nothing better than sum|x|
    return gamma * magnitude + (isfinite(sum) ? u * fabs(sum) : 0);
}

static bool fail(Expected *expected, const char *words) {
    snprintf(expected->error, sizeof expected->error, "%s", words);
    return false;
}

static bool make_arrays(Expected *expected, long long count, bool with_magnitudes) {
    size_t elements = count > 0 ? (size_t)count : 1;
    expected->count = count;
    expected->values = calloc(elements, sizeof(double));
    if (with_magnitudes) expected->magnitudes = calloc(elements, sizeof(double));
    if (!expected->values || (with_magnitudes && !expected->magnitudes))
        return fail(expected, "out of memory for the expected values");
    return true;
}

static double add_all(const double *inputs, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += inputs[i];
    return sum;
}

static bool make_elementwise(const Task *task, const void *const inputs[], const long long counts[],
                             Expected *expected) {
    double (*element)(const double *, int) = task->element ? task->element : add_all;
    for (long long i = 0; i < expected->count; i++) {
        double values[MAX_BUFFERS];
        int used = 0;
        for (int b = 0; b < task_buffer_count(task); b++) {
            if (task->buffers[b].role != INPUT) continue;
            if (i >= counts[b]) return fail(expected, "an input has fewer elements than the output");
            values[used++] = element_get(inputs[b], task->buffers[b].type, i);
        }
        expected->values[i] = element(values, used);
    }
    return true;
}

static bool make_by_reference(const Task *task, const CaseShape *shape, const void *const inputs[],
                              const long long counts[], Expected *expected) {
    if (!task->reference) return fail(expected, "EXPECT_REFERENCE without a reference function");
    ReferenceView view = {.shape = *shape};
    for (int b = 0; b < task_buffer_count(task); b++) {
        if (task->buffers[b].role != INPUT) continue;
        view.inputs[view.input_count] = inputs[b];
        view.types[view.input_count] = task->buffers[b].type;
        view.counts[view.input_count++] = counts[b];
    }
    task->reference(&view, expected->values, expected->magnitudes, expected->count);
    return true;
}

bool expected_make(const Task *task, const CaseShape *shape, const void *const inputs[MAX_BUFFERS],
                   const long long counts[MAX_BUFFERS], Expected *expected) {
    *expected = (Expected){0};
    if (task->expect == EXPECT_TABLE) return true;
    int in = task_input(task), out = task_output(task);
    if (out < 0 || (in < 0 && task->expect != EXPECT_REFERENCE))
        return fail(expected, "the chapter names no input or output");
    const ElementType type = in < 0 ? F32 : task->buffers[in].type;
    const long long rows = shape->size.rows, columns = shape->size.columns;

    if (task->expect == EXPECT_SUM) {
        expected->is_one_sum = true;
        if (!make_arrays(expected, 1, true)) return false;
        ExactSum sum = exact_sum(inputs[in], type, 0, counts[in]);
        expected->values[0] = sum.sum;
        expected->magnitudes[0] = sum.magnitude;
        return true;
    }
    if (!make_arrays(expected, counts[out],
                     task->expect == EXPECT_ROW_SUMS || task->expect == EXPECT_REFERENCE))
        return false;
    if (task->expect == EXPECT_ELEMENTWISE) return make_elementwise(task, inputs, counts, expected);
    if (task->expect == EXPECT_REFERENCE) return make_by_reference(task, shape, inputs, counts, expected);

    if (rows * columns != counts[in]) return fail(expected, "the input is not rows times columns");
    if (task->expect == EXPECT_ROW_SUMS) {
        if (counts[out] != rows) return fail(expected, "the output has not one element a row");
        for (long long row = 0; row < rows; row++) {
            ExactSum sum = exact_sum(inputs[in], type, row * columns, columns);
            expected->values[row] = sum.sum;
            expected->magnitudes[row] = sum.magnitude;
        }
    } else {
        if (counts[out] != counts[in]) return fail(expected, "the output is not as large as the input");
        for (long long row = 0; row < rows; row++)
            for (long long column = 0; column < columns; column++)
                expected->values[column * rows + row] = element_get(inputs[in], type, row * columns + column);
    }
    return true;
}

void expected_free(Expected *expected) {
    free(expected->values);
    free(expected->magnitudes);
    *expected = (Expected){0};
}
