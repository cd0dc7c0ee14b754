#include "driver/plan/filter.h"

#include <math.h>

#include "driver/plan/elements.h"

enum { WEIGHT_STEPS = 16 }; // coefficients are multiples of 1/16 where sums shall be exact

int filter_coefficients(const Task *task) {
    return task->filter.coefficients ? task_find_buffer(task, task->filter.coefficients) : -1;
}

static int side_of(const Task *task) { return 2 * task->filter.radius + 1; }

int filter_taps(const Task *task) {
    const int all = side_of(task) * side_of(task);
    int taps = 0;
    for (int k = 0; k < all; k++) taps += !task->filter.fixed || task->filter.fixed[k] != 0;
    return taps;
}

long long filter_terms(const Task *task) { return (long long)WEIGHT_STEPS * filter_taps(task); }

double filter_underflow(const Task *task) { return filter_taps(task) * 0x1p-150; }

// 2^e if x is an odd multiple of it; infinity for 0, which every power of two divides.
static double unit_of(double x) {
    if (x == 0) return (double)INFINITY;
    int exponent;
    double rest = fabs(frexp(x, &exponent));
    while (rest != floor(rest)) {
        rest *= 2;
        exponent--;
    }
    while (fmod(rest, 2) == 0) {
        rest /= 2;
        exponent++;
    }
    return ldexp(1, exponent);
}

double filter_unit(const void *array, ElementType type, long long count) {
    const double finest = 0x1p-40;
    double unit = 1;
    for (long long i = 0; i < count; i++) {
        const double x = element_get(array, type, i);
        if (!isfinite(x)) return 0;
        while (x / unit != floor(x / unit)) {
            unit /= 2;
            if (unit < finest) return 0;
        }
    }
    return unit;
}

void filter_weights(const Task *task, const void *coefficients, FilterWeights *weights) {
    const int b = filter_coefficients(task), all = side_of(task) * side_of(task);
    *weights = (FilterWeights){.radius = task->filter.radius, .unit = (double)INFINITY};
    for (int k = 0; k < all; k++) {
        const double w =
            b < 0 ? (double)task->filter.fixed[k] : element_get(coefficients, task->buffers[b].type, k);
        weights->weights[k] = w;
        weights->counts[k] = b >= 0 || w != 0;
        weights->taps += weights->counts[k];
        weights->unit = fmin(weights->unit, unit_of(w));
    }
}

static double image_at(const FilterImage *image, long long row, long long column) {
    long long at = row * image->columns + column;
    if (at >= image->period) at %= image->period;
    return image->type == F32 ? (double)((const float *)image->image)[at]
                              : element_get(image->image, image->type, at);
}

FilterSum filter_at(const FilterWeights *weights, const FilterImage *image, double unit, long long row,
                    long long column) {
    const int radius = weights->radius, side = 2 * radius + 1;
    const int first = column < radius ? -(int)column : -radius;
    const int last = image->columns - 1 - column < radius ? (int)(image->columns - 1 - column) : radius;
    FilterSum sum = {0};
    for (int dy = -radius; dy <= radius; dy++) {
        if (row + dy < 0 || row + dy >= image->rows) continue;
        for (int dx = first; dx <= last; dx++) {
            const int k = (dy + radius) * side + dx + radius;
            if (!weights->counts[k]) continue;
            const double product = weights->weights[k] * image_at(image, row + dy, column + dx);
            sum.value += product;
            sum.magnitude += fabs(product);
        }
    }
    if (sum.magnitude <= 0x1p24 * unit * weights->unit) sum.magnitude = 0;
    if (!isfinite(sum.magnitude)) sum.magnitude = 0;
    return sum;
}
