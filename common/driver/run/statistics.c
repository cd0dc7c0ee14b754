#include "driver/run/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/inputs.h"

enum { RESAMPLES = 4000 };
static const double outside_each_side = 0.0005; // of the resamples: an interval at 99.9 %

const StopRule usual_stop_rule = {.least = 30, .most = 2000, .error = 0.002, .seconds = 10};

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

// Reorders the values so that values[wanted] is the value that sorting would put there, with no larger value
// before it (C. Hoare, "Algorithm 65: find", CACM 4, 1961). This is faster than sorting for thousands of
// medians.
static void select_place(double *values, int count, int wanted) {
    int from = 0, to = count - 1;
    while (from < to) {
        const double pivot = values[wanted];
        int i = from, j = to;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i > j) break;
            const double kept = values[i];
            values[i++] = values[j];
            values[j--] = kept;
        }
        if (j < wanted) from = i;
        if (i > wanted) to = j;
    }
}

static double median_in_place(double *values, int count) {
    const int middle = count / 2;
    select_place(values, count, middle);
    if (count % 2) return values[middle];
    double below = values[0];
    for (int i = 1; i < middle; i++) below = fmax(below, values[i]);
    return 0.5 * (below + values[middle]);
}

double median_of(const double *values, int count) {
    double *copy = count > 0 ? malloc((size_t)count * sizeof *copy) : NULL;
    if (!copy) return 0;
    memcpy(copy, values, (size_t)count * sizeof *copy);
    const double median = median_in_place(copy, count);
    free(copy);
    return median;
}

double relative_error(const double *values, int count) {
    if (count < 2) return INFINITY;
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    const double mean = sum / count;
    for (int i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    return mean > 0 ? sqrt(squares / (count - 1) / count) / mean : (double)INFINITY;
}

// The smallest step between two different samples: a clock with such steps cannot distinguish closer times,
// however many samples are taken.
static double smallest_step(const double *sorted, int count) {
    double step = INFINITY;
    for (int i = 1; i < count; i++)
        if (sorted[i] > sorted[i - 1]) step = fmin(step, sorted[i] - sorted[i - 1]);
    return isfinite(step) ? step : 0;
}

static double step_of(const double *values, int count, double *room) {
    memcpy(room, values, (size_t)count * sizeof *room);
    const double middle = median_in_place(room, count);
    qsort(room, (size_t)count, sizeof *room, compare);
    return middle > 0 ? smallest_step(room, count) / middle : 0;
}

bool compare_times(const double *seconds, const double *reference, int count, Comparison *comparison) {
    if (count < 1) return false;
    double *room = malloc(((size_t)count * 2 + RESAMPLES) * sizeof *room);
    if (!room) return false;
    double *mine = room, *others = room + count, *ratios = room + 2 * (size_t)count;
    for (int r = 0; r < RESAMPLES; r++) {
        for (int i = 0; i < count; i++) {
            const int from = (int)(random_bits(1, (uint64_t)r, (uint64_t)i) % (uint64_t)count);
            mine[i] = seconds[from];
            others[i] = reference[from];
        }
        ratios[r] = median_in_place(others, count) / median_in_place(mine, count);
    }
    qsort(ratios, RESAMPLES, sizeof *ratios, compare);
    const int outside = (int)(outside_each_side * RESAMPLES);
    const double unsure = step_of(seconds, count, mine) + step_of(reference, count, others);
    comparison->ratio = median_of(reference, count) / median_of(seconds, count);
    comparison->low = fmin(ratios[outside] * (1 - unsure), comparison->ratio);
    comparison->high = fmax(ratios[RESAMPLES - 1 - outside] * (1 + unsure), comparison->ratio);
    free(room);
    return true;
}

bool is_enough(const StopRule *rule, const double *seconds, const double *reference, int count,
               double elapsed) {
    if (elapsed >= rule->seconds || count >= rule->most) return true;
    if (count < rule->least) return false;
    return relative_error(seconds, count) < rule->error &&
           (!reference || relative_error(reference, count) < rule->error);
}
