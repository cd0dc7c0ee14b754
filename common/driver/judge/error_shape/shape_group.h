// What the files of error shapes share: each is one idea of what goes wrong with a sum, a function for each
// shape and a table of them.
//
//   whole.c    a multiple of the sum, or nothing of it
//   ends.c     the head, the tail, the first and the last element
//   threads.c  which threads, warps, blocks and rounds add
//   groups.c   elements of every two, three or four side by side
//   folds.c    lanes of a warp, levels of a fold, levels of a tree
//   rounds.c   strides, rounds of several elements, several sums, a size built in
#pragma once

#include "driver/judge/error_shape/error_shape.h"

typedef struct {
    const ErrorShape *shapes;
    int count;
} ShapeGroup;

#define SHAPE_GROUP(table)                                                                                   \
    { .shapes = (table), .count = sizeof(table) / sizeof(table)[0] }

extern const ShapeGroup shapes_of_whole, shapes_of_ends, shapes_of_threads, shapes_of_groups, shapes_of_folds,
    shapes_of_rounds;

// SHAPE(name) { return how often element i is added; }
#define SHAPE(name) static long long name(const ShapeView *v, long long i)
#define UNUSED(argument) (void)(argument)

static inline long long at_most(long long value, long long limit) { return value < limit ? value : limit; }

// ---- Groups of four: where the whole ones end, and which one an element is in -----------------------------

static inline long long groups_end(const ShapeView *v) { return v->head + (v->count - v->head) / 4 * 4; }
static inline bool is_in_group(const ShapeView *v, long long i) { return i >= v->head && i < groups_end(v); }
static inline long long group_round(const ShapeView *v, long long i) {
    return (i - v->head) / 4 / v->threads;
}
