#include "driver/plan/expected_rows.h"

#include <math.h>
#include <stdlib.h>

#include "driver/plan/elements.h"

void expect_row(const Task *task, long long columns, double chain, const double *row,
                const double *const others[MAX_ROW_OTHERS], double *values, double *bounds) {
    RowView view = {.columns = columns, .in = row, .chain = chain};
    for (int k = 0; k < MAX_ROW_OTHERS; k++) view.others[k] = others[k];
    task->row(&view, values, bounds);
}

// What all rows share, as numbers. False when memory ran out.
static bool take_others(const Task *task, const void *const inputs[], const long long counts[],
                        double *others[MAX_ROW_OTHERS]) {
    int used = 0;
    for (int b = 0; b < task_buffer_count(task) && used < MAX_ROW_OTHERS; b++) {
        if (task->buffers[b].role != INPUT || b == task_input(task)) continue;
        others[used] = malloc(((size_t)counts[b] + 1) * sizeof(double));
        if (!others[used]) return false;
        elements_get(inputs[b], task->buffers[b].type, 0, counts[b], others[used++]);
    }
    return true;
}

bool expect_rows(const Task *task, const CaseShape *shape, double chain,
                 const void *const inputs[MAX_BUFFERS], const long long counts[MAX_BUFFERS], double *values,
                 double *bounds) {
    enum { WORTH_ALL_CORES = 1 << 18 };
    const int in = task_input(task);
    const long long rows = shape->size.rows, columns = shape->size.columns;
    double *others[MAX_ROW_OTHERS] = {0};
    bool has_room = take_others(task, inputs, counts, others);
#pragma omp parallel for if (counts[in] > WORTH_ALL_CORES)
    for (long long r = 0; r < rows; r++) {
        double *row = has_room ? malloc(((size_t)columns + 1) * sizeof(double)) : NULL;
        if (row) {
            elements_get(inputs[in], task->buffers[in].type, r * columns, columns, row);
            expect_row(task, columns, chain, row, (const double *const *)others, values + r * columns,
                       bounds + r * columns);
        } else {
#pragma omp atomic write
            has_room = false;
        }
        free(row);
    }
    for (int k = 0; k < MAX_ROW_OTHERS; k++) free(others[k]);
    return has_room;
}

static double rounded(ElementType type, double value) {
    uint64_t bits = 0;
    element_set(&bits, type, 0, value);
    return element_get(&bits, type, 0);
}

bool is_near(ElementType type, double value, double bound, double got) {
    if (fabs(got - value) <= bound || isinf(bound)) return true; // `got` is itself such a number
    if (isnan(value)) return isnan(got);
    return rounded(type, value - bound) <= got && got <= rounded(type, value + bound);
}

double farthest_near(ElementType type, double value, double bound) {
    const double least = rounded(type, value - bound), most = rounded(type, value + bound);
    if (!isfinite(value) || !isfinite(least) || !isfinite(most)) return 0;
    return fmax(value - least, most - value);
}
