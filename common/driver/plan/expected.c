#include "driver/plan/expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/elements.h"
#include "driver/plan/filter.h"
#include "driver/plan/product.h"
#include "driver/plan/expected_rows.h"

// One step of Neumaier's summation.
static inline void add_compensated(double *sum, double *rest, double x) {
    double next = *sum + x;
    *rest += fabs(*sum) >= fabs(x) ? (*sum - next) + x : (x - next) + *sum;
    *sum = next;
}

// The parts of a sum, each with its rounding error.
typedef struct {
    double sum, rest, magnitude, special;
} PartialSum;

static inline void add_element(PartialSum *part, double x) {
    if (isfinite(x)) {
        add_compensated(&part->sum, &part->rest, x);
        part->magnitude += fabs(x);
    } else {
        part->special += x; // Inf, -Inf and NaN follow the rules of addition by themselves
    }
}

static inline double value_of(const PartialSum *part) {
    return part->special == 0 ? part->sum + part->rest : part->special;
}

static PartialSum sum_of_part(const void *array, ElementType type, long long start, long long count) {
    PartialSum part = {0};
    for (long long i = start; i < start + count; i++)
        add_element(&part, type == F32 ? (double)((const float *)array)[i] : element_get(array, type, i));
    return part;
}

ExactSum exact_sum(const void *array, ElementType type, long long start, long long count) {
    enum { PARTS = 256 };
    static const long long least = 1 << 22; // below it one core is as fast
    PartialSum parts[PARTS] = {0}, all = {0};
    const int used = count < least ? 1 : PARTS;
    const long long each = (count + used - 1) / used;
#pragma omp parallel for schedule(dynamic) if (used > 1)
    for (int p = 0; p < used; p++) {
        const long long from = p * each, left = count - from;
        if (left > 0) parts[p] = sum_of_part(array, type, start + from, left < each ? left : each);
    }
    for (int p = 0; p < used; p++) {
        add_compensated(&all.sum, &all.rest, parts[p].sum);
        all.rest += parts[p].rest;
        all.magnitude += parts[p].magnitude;
        all.special += parts[p].special;
    }
    return (ExactSum){.sum = value_of(&all), .magnitude = all.magnitude};
}

static double log2_up(double value) { return value <= 1 ? 0 : ceil(log2(value)); }

// The additions of one thread of `threads` if n elements are divided evenly. Reading four at a time and the
// tail after the last four add up to 6 more.
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
    case CHAIN_SCAN: {
        const double neighbours = 64; // that a thread adds one after the other, whatever n is
        return over_block(n, first) + ceil(n / fmax(1, first->block_threads)) + fmin(n, neighbours);
    }
    case CHAIN_ROW: {
        double threads = first->block_threads < 32 ? first->block_threads : 32; // at least one warp per row
        return per_thread((double)shape->size.columns, threads) + log2_up(first->block_threads) + 1;
    }
    case CHAIN_FILTER: return filter_taps(task);
    case CHAIN_PRODUCT: return (double)shape->size.depth;
    case CHAIN_FUNCTION: return task->chain_function ? task->chain_function(shape) : n;
    }
    return n;
}

double error_budget(ElementType type, double chain, double magnitude, double sum) {
    if (!element_is_float(type)) return 0;
    double u = type == F64 ? 0x1p-53 : type == BF16 ? 0x1p-8 : 0x1p-24;
    double hu = chain * u;
    double gamma = hu < 0.5 ? hu / (1 - hu) : 1; // beyond that the bound is not better than sum|x|
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
    double sum = -0.0; // adding it changes nothing, not even the sign of a zero
    for (int i = 0; i < count; i++) sum += inputs[i];
    return sum;
}

// An element of the output from the inputs' elements at its place.
static double combine(const Task *task, const double *inputs, int count) {
    return task->element ? task->element(inputs, count) : add_all(inputs, count);
}

static bool suits_elementwise(const Task *task, const long long counts[], Expected *expected) {
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == INPUT && counts[b] < expected->count)
            return fail(expected, "an input has fewer elements than the output");
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

// Counts the input's elements by their value.
static bool make_histogram(const Task *task, const void *input, long long count, Expected *expected) {
    if (task->buffers[task_input(task)].type != U8 || expected->count != HISTOGRAM_BINS)
        return fail(expected, "a histogram needs an input of bytes and an output of 256 elements");
    if (!make_arrays(expected, HISTOGRAM_BINS, false)) return false;
    const unsigned char *bytes = input;
    long long bins[HISTOGRAM_BINS] = {0};
#pragma omp parallel for reduction(+ : bins) if (count > 1 << 22)
    for (long long i = 0; i < count; i++) bins[bytes[i]]++;
    for (int v = 0; v < HISTOGRAM_BINS; v++) expected->values[v] = (double)bins[v];
    return true;
}

// Whether no order of additions rounds: integers whose magnitudes add up to at most 2^24.
static bool are_exact_in_any_order(const void *input, ElementType type, long long count) {
    if (!element_is_float(type)) return true;
    double magnitude = 0;
    for (long long i = 0; i < count; i++) {
        const double x = element_get(input, type, i);
        magnitude += fabs(x);
        if (!(magnitude <= 0x1p24) || x != floor(x)) return false;
    }
    return true;
}

// The sums of the elements up to each one, or before each one.
static bool make_scan(const Task *task, const void *input, long long count, Expected *expected) {
    const ElementType type = task->buffers[task_input(task)].type;
    if (expected->count != count) return fail(expected, "the output and the input have different sizes");
    const bool is_exact = are_exact_in_any_order(input, type, count);
    if (!make_arrays(expected, count, !is_exact)) return false;
    PartialSum sum = {0};
    double exact = 0; // nothing to compensate for
    for (long long i = 0; i < count && is_exact; i++) {
        const double before = exact;
        exact += element_get(input, type, i);
        expected->values[i] = task->is_exclusive ? before : exact;
    }
    for (long long i = 0; i < count && !is_exact; i++) {
        if (!task->is_exclusive) add_element(&sum, element_get(input, type, i));
        expected->values[i] = value_of(&sum);
        if (expected->magnitudes) expected->magnitudes[i] = sum.magnitude;
        if (task->is_exclusive) add_element(&sum, element_get(input, type, i));
    }
    return true;
}

static bool make_filter(const Task *task, const CaseShape *shape, const void *const inputs[],
                        const long long counts[], Expected *expected) {
    const int in = task_input(task), coefficients = filter_coefficients(task);
    const long long columns = shape->size.columns;
    const ElementType type = task->buffers[in].type;
    if (expected->count != counts[in] || counts[in] != shape->size.rows * columns)
        return fail(expected, "the input and the output are not images of rows times columns elements");
    FilterWeights weights;
    filter_weights(task, coefficients < 0 ? NULL : inputs[coefficients], &weights);
    const FilterImage image = {inputs[in], type, shape->size.rows, columns, counts[in]};
    const double unit = filter_unit(inputs[in], type, counts[in]);
    if (!make_arrays(expected, counts[in], true)) return false;
    expected->underflow = filter_underflow(task);
#pragma omp parallel for if (counts[in] > 1 << 18)
    for (long long i = 0; i < counts[in]; i++) {
        const FilterSum sum = filter_at(&weights, &image, unit, i / columns, i % columns);
        expected->values[i] = sum.value;
        expected->magnitudes[i] = sum.magnitude;
    }
    return true;
}

static bool make_product(const Task *task, const CaseShape *shape, const void *const inputs[],
                         const long long counts[], Expected *expected) {
    const CaseSize *size = &shape->size;
    const int left = task_input(task), right = product_right(task);
    if (right < 0 || task->buffers[left].type != F32 || task->buffers[right].type != F32 ||
        counts[left] != size->rows * size->depth || counts[right] != size->depth * size->columns ||
        expected->count != size->rows * size->columns)
        return fail(expected,
                    "a product needs two float inputs of rows x depth and depth x columns elements");
    if (!make_arrays(expected, expected->count, true)) return false;
    expected->underflow = product_underflow(size);
    product_of(size, inputs[left], inputs[right], expected->values, expected->magnitudes);
    return true;
}

static bool make_rows(const Task *task, const CaseShape *shape, const void *const inputs[],
                      const long long counts[], Expected *expected) {
    if (!task->row) return fail(expected, "EXPECT_ROWS without a function for a row");
    if (expected->count != counts[task_input(task)])
        return fail(expected, "the output and the input have different sizes");
    if (!make_arrays(expected, expected->count, false)) return false;
    expected->bounds = calloc((size_t)expected->count + 1, sizeof(double));
    return (expected->bounds && expect_rows(task, shape, longest_chain(task, shape), inputs, counts,
                                            expected->values, expected->bounds)) ||
           fail(expected, "out of memory for the expected rows");
}

static bool make_tables(Expected *expected, const long long counts[MAX_BUFFERS]) {
    for (int b = 0; b < task_buffer_count(expected->task); b++) {
        const Buffer *buffer = &expected->task->buffers[b];
        if ((buffer->role != OUTPUT && buffer->role != OUTPUT_ZEROED) || !(buffer->data || buffer->make))
            continue;
        const size_t bytes = (size_t)counts[b] * element_bytes(buffer->type);
        void *table = expected->tables[b] = malloc(bytes + 1);
        if (!table) return fail(expected, "out of memory for the expected table");
        const TableView view = {.seed = expected->seed, .count = counts[b], .inputs = expected->inputs};
        if (buffer->make)
            buffer->make(&view, table);
        else
            memcpy(table, buffer->data, bytes);
    }
    return true;
}

bool expected_make(const Task *task, const CaseShape *shape, const void *const inputs[MAX_BUFFERS],
                   const long long counts[MAX_BUFFERS], uint64_t seed, Expected *expected) {
    *expected = (Expected){.task = task, .size = shape->size, .seed = seed};
    memcpy(expected->inputs, inputs, sizeof expected->inputs);
    if (task->expect == EXPECT_TABLE) return make_tables(expected, counts);
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
    expected->count = counts[out];
    if (task->expect == EXPECT_ELEMENTWISE) return suits_elementwise(task, counts, expected);
    if (task->expect == EXPECT_HISTOGRAM) return make_histogram(task, inputs[in], counts[in], expected);
    if (task->expect == EXPECT_SCAN) return make_scan(task, inputs[in], counts[in], expected);
    if (task->expect == EXPECT_FILTER) return make_filter(task, shape, inputs, counts, expected);
    if (task->expect == EXPECT_PRODUCT) return make_product(task, shape, inputs, counts, expected);
    if (task->expect == EXPECT_REFERENCE)
        return make_arrays(expected, counts[out], true) &&
               make_by_reference(task, shape, inputs, counts, expected);

    if (rows * columns != counts[in])
        return fail(expected, "the input does not have rows times columns elements");
    if (task->expect == EXPECT_ROWS) return make_rows(task, shape, inputs, counts, expected);
    if (task->expect == EXPECT_TRANSPOSE)
        return counts[out] == counts[in] || fail(expected, "the output and the input have different sizes");
    if (counts[out] != rows) return fail(expected, "the output does not have one element per row");
    if (!make_arrays(expected, rows, true)) return false;
#pragma omp parallel for if (counts[in] > 1 << 22)
    for (long long row = 0; row < rows; row++) {
        ExactSum sum = exact_sum(inputs[in], type, row * columns, columns);
        expected->values[row] = sum.sum;
        expected->magnitudes[row] = sum.magnitude;
    }
    return true;
}

double expected_value(const Expected *expected, long long index) {
    if (expected->values) return expected->values[index];
    const Task *task = expected->task;
    if (task->expect == EXPECT_TRANSPOSE) {
        const int in = task_input(task);
        const long long column = index / expected->size.rows, row = index % expected->size.rows;
        return element_get(expected->inputs[in], task->buffers[in].type,
                           row * expected->size.columns + column);
    }
    double values[MAX_BUFFERS];
    int used = 0;
    for (int b = 0; b < MAX_BUFFERS && task->buffers[b].name; b++)
        if (task->buffers[b].role == INPUT)
            values[used++] = element_get(expected->inputs[b], task->buffers[b].type, index);
    return combine(task, values, used);
}

bool expected_is_met(const Expected *expected, const void *output, ElementType type, long long index) {
    const double value = expected_value(expected, index);
    const size_t bytes = element_bytes(type);
    const char *got = (const char *)output + (size_t)index * bytes;
    uint64_t rounded = 0;
    element_set(&rounded, type, 0, value);
    if (memcmp(&rounded, got, bytes) == 0) return true;
    return element_is_float(type) && isnan(value) && isnan(element_get(got, type, 0));
}

// A square of a matrix: how many of its elements are not, bit for bit, at the transposed place.
#define COUNT_MOVED(name, bits)                                                                              \
    static long long name(const bits *from, const bits *to, long long rows, long long columns,               \
                          long long top, long long left, long long side) {                                   \
        const long long bottom = top + side < rows ? top + side : rows;                                      \
        const long long right = left + side < columns ? left + side : columns;                               \
        long long wrong = 0;                                                                                 \
        for (long long column = left; column < right; column++)                                              \
            for (long long row = top; row < bottom; row++)                                                   \
                wrong += from[row * columns + column] != to[column * rows + row];                            \
        return wrong;                                                                                        \
    }
COUNT_MOVED(moved_16, uint16_t)
COUNT_MOVED(moved_32, uint32_t)
COUNT_MOVED(moved_64, uint64_t)

// By squares, so that neither side is read across its cache lines.
static bool is_transposed(const Expected *expected, const void *output, ElementType type) {
    enum { SIDE = 64 };
    const void *input = expected->inputs[task_input(expected->task)];
    const long long rows = expected->size.rows, columns = expected->size.columns;
    const size_t bytes = element_bytes(type);
    long long wrong = 0;
#pragma omp parallel for reduction(+ : wrong) if (rows * columns > 1 << 20)
    for (long long top = 0; top < rows; top += SIDE) {
        for (long long left = 0; left < columns; left += SIDE)
            wrong += bytes == 2   ? moved_16(input, output, rows, columns, top, left, SIDE)
                     : bytes == 4 ? moved_32(input, output, rows, columns, top, left, SIDE)
                                  : moved_64(input, output, rows, columns, top, left, SIDE);
    }
    return wrong == 0;
}

enum { PIECE = 1024 };

// What up to PIECE elements of an element-wise output should be.
static void expected_piece(const Expected *expected, long long first, long long count, double values[]) {
    double inputs[MAX_BUFFERS][PIECE];
    const Task *task = expected->task;
    int used = 0;
    for (int b = 0; b < MAX_BUFFERS && task->buffers[b].name; b++)
        if (task->buffers[b].role == INPUT)
            elements_get(expected->inputs[b], task->buffers[b].type, first, count, inputs[used++]);
    for (long long i = 0; i < count; i++) {
        double of_element[MAX_BUFFERS];
        for (int k = 0; k < used; k++) of_element[k] = inputs[k][i];
        values[i] = combine(task, of_element, used);
    }
}

// Whether a piece of the output is right, bit for bit: a NaN of other bits, which is right too, is not.
static bool piece_is_equal(const Expected *expected, const void *output, ElementType type, long long first,
                           long long count) {
    double computed[PIECE], rounded[PIECE];
    const size_t bytes = element_bytes(type);
    const double *values = expected->values ? expected->values + first : computed;
    if (!expected->values) expected_piece(expected, first, count, computed);
    elements_set(rounded, type, 0, count, values);
    return memcmp(rounded, (const char *)output + (size_t)first * bytes, (size_t)count * bytes) == 0;
}

bool expected_are_all_met(const Expected *expected, const void *output, ElementType type) {
    if (!expected->values && expected->task->expect == EXPECT_TRANSPOSE)
        return is_transposed(expected, output, type);
    long long wrong = 0;
#pragma omp parallel for reduction(+ : wrong) if (expected->count > 1 << 20)
    for (long long first = 0; first < expected->count; first += PIECE) {
        const long long rest = expected->count - first, count = rest < PIECE ? rest : PIECE;
        if (piece_is_equal(expected, output, type, first, count)) continue;
        for (long long i = first; i < first + count; i++)
            wrong += !expected_is_met(expected, output, type, i);
    }
    return wrong == 0;
}

void expected_free(Expected *expected) {
    free(expected->values);
    free(expected->magnitudes);
    free(expected->bounds);
    for (int b = 0; b < MAX_BUFFERS; b++) free(expected->tables[b]);
    *expected = (Expected){0};
}
