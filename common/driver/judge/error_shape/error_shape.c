#include "driver/judge/error_shape/error_shape.h"

#include <math.h>
#include <string.h>

#include "driver/plan/elements.h"
#include "driver/judge/error_shape/shape_group.h"

// ---- All shapes, and sets of them -------------------------------------------------------------------------

static const ShapeGroup *const groups[] = {&shapes_of_whole,  &shapes_of_ends,  &shapes_of_threads,
                                           &shapes_of_groups, &shapes_of_folds, &shapes_of_rounds};
enum { GROUPS = sizeof groups / sizeof groups[0] };

int error_shape_count(void) {
    int count = 0;
    for (int g = 0; g < GROUPS; g++) count += groups[g]->count;
    return (int)at_most(count, MAX_SHAPES); // a test checks that none is left out
}

const ErrorShape *error_shape(int shape) {
    int g = 0;
    for (; shape >= groups[g]->count; g++) shape -= groups[g]->count;
    return &groups[g]->shapes[shape];
}

static void add_shape(ShapeSet *set, int shape) { set->bits[shape / 64] |= (uint64_t)1 << shape % 64; }

bool has_shape(const ShapeSet *set, int shape) { return set->bits[shape / 64] >> shape % 64 & 1; }

ShapeSet only_shape(int shape) {
    ShapeSet set = {0};
    add_shape(&set, shape);
    return set;
}

ShapeSet all_shapes(void) {
    ShapeSet set;
    memset(&set, 0xff, sizeof set);
    return set;
}

// ---- Which of them fit ------------------------------------------------------------------------------------

enum { MAX_TREE = 1024 };

// How often each thread's value reaches slot 0 in a tree whose strides are half the block, half of that and
// so on, rounded down: always once if the block size is a power of two; otherwise some values are lost.
static void tree_weights(long long block, int tree[MAX_TREE]) {
    int levels = 0;
    long long strides[16];
    for (long long stride = block / 2; stride > 0; stride /= 2) strides[levels++] = stride;
    memset(tree, 0, MAX_TREE * sizeof *tree);
    tree[0] = 1;
    while (levels-- >
           0) // from the last level back: a value that slot t adds counts as often as slot t itself
        for (long long t = 0; t < strides[levels]; t++) tree[t + strides[levels]] += tree[t];
}

static ShapeView view_of(long long count, unsigned misalignment, const CaseShape *shape, int tree[MAX_TREE]) {
    const ShapeOfLaunch *launch = &shape->launches[0];
    ShapeView view = {.count = count,
                      .head = at_most((4 - misalignment / 4 % 4) % 4, count),
                      .threads = launch->threads,
                      .block = launch->block_threads,
                      .blocks = launch->blocks};
    if (shape->launch_count > 1) view.second_block = shape->launches[1].block_threads;
    if (view.block <= MAX_TREE) {
        tree_weights(view.block, tree);
        view.tree = tree;
    }
    return view;
}

ShapeSet shapes_that_fit(ShapeSet candidates, const void *array, ElementType type, long long count,
                         unsigned misalignment, const CaseShape *shape, double expected, double got) {
    if (shape->launch_count < 1 || shape->launches[0].threads < 1) return candidates;
    int tree[MAX_TREE];
    const ShapeView view = view_of(count, misalignment, shape, tree);
    const int shapes = error_shape_count();
    ShapeSet fit = {0};
    for (int s = 0; s < shapes; s++) {
        if (!has_shape(&candidates, s)) continue;
        const ErrorShape *shape_of_error = error_shape(s);
        double sum = expected, magnitude = 0; // whole numbers below 2^53: exact
        for (long long i = 0; i < count; i++) {
            const double times = (double)shape_of_error->times(&view, i);
            const double value = element_get(array, type, i);
            sum += (times - 1) * value;
            magnitude += fabs(times * value);
        }
        // The device adds floats: above 2^24 even whole numbers are rounded at every addition.
        const double rounding = magnitude > 0x1p24 ? magnitude * 0x1p-16 : 0;
        if (fabs(sum - got) <= rounding) add_shape(&fit, s);
    }
    return fit;
}
