// The whole result: a multiple of the sum, or nothing of it.
#include "driver/judge/error_shape/shape_group.h"

SHAPE(nothing) {
    UNUSED(v), UNUSED(i);
    return 0;
}
SHAPE(everything_twice) {
    UNUSED(v), UNUSED(i);
    return 2;
}
SHAPE(everything_32_times) {
    UNUSED(v), UNUSED(i);
    return 32;
}
SHAPE(everything_by_each_thread) {
    UNUSED(i);
    return v->block;
}
SHAPE(everything_by_each_warp) {
    UNUSED(i);
    return v->block / 32;
}
SHAPE(everything_by_each_block) {
    UNUSED(i);
    return v->blocks;
}
SHAPE(everything_by_all_warps) {
    UNUSED(i);
    return v->threads / 32;
}
SHAPE(everything_by_all_threads) {
    UNUSED(i);
    return v->threads;
}
SHAPE(everything_taken_away) {
    UNUSED(v), UNUSED(i);
    return -1;
}

static const ErrorShape shapes[] = {
    {"nothing", nothing, "The result is 0 at every size: nothing was added, or the sum was not stored."},
    {"everything-twice", everything_twice, "The result is exactly twice the sum at every size."},
    {"everything-32-times", everything_32_times, "The result is exactly 32 times the sum at every size."},
    {"everything-by-each-thread", everything_by_each_thread,
     "The result is the sum times the number of threads in a block."},
    {"everything-by-each-warp", everything_by_each_warp,
     "The result is the sum times the number of warps in a block."},
    {"everything-by-each-block", everything_by_each_block,
     "The result is the sum times the number of blocks in the grid."},
    {"everything-by-all-warps", everything_by_all_warps,
     "The result is the sum times the number of warps in the grid."},
    {"everything-by-all-threads", everything_by_all_threads,
     "The result is the sum times the number of threads in the grid."},
    {"everything-taken-away", everything_taken_away, "The result is the sum with the opposite sign."},
};
const ShapeGroup shapes_of_whole = SHAPE_GROUP(shapes);
