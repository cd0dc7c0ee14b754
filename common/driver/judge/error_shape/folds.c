// How a warp or a block brings its values together: lanes, levels of a fold, levels of a tree.
#include "driver/judge/error_shape/shape_group.h"

SHAPE(upper_half_warp_lost) {
    UNUSED(v);
    return i % 32 < 16;
}

SHAPE(lower_half_warp_twice) {
    UNUSED(v);
    return i % 32 < 16 ? 2 : 0;
}

// A fold in which levels are left out: lane 0 meets those whose number is made of the other distances.
#define LEVELS_LOST(name, distances)                                                                         \
    SHAPE(name) {                                                                                            \
        UNUSED(v);                                                                                           \
        return (i & (distances)) == 0;                                                                       \
    }
LEVELS_LOST(level_2_lost, 2)
LEVELS_LOST(level_4_lost, 4)
LEVELS_LOST(level_8_lost, 8)
LEVELS_LOST(level_64_lost, 64)
LEVELS_LOST(levels_1_2_lost, 1 | 2)
LEVELS_LOST(levels_1_4_lost, 1 | 4)
LEVELS_LOST(levels_1_16_lost, 1 | 16)
LEVELS_LOST(levels_2_4_lost, 2 | 4)
LEVELS_LOST(levels_2_8_lost, 2 | 8)
LEVELS_LOST(levels_4_8_lost, 4 | 8)
LEVELS_LOST(levels_4_16_lost, 4 | 16)
LEVELS_LOST(levels_8_16_lost, 8 | 16)
SHAPE(upper_half_block_lost) { return i % v->block < v->block / 2; }
SHAPE(second_32_of_64_lost) {
    UNUSED(v);
    return i % 64 < 32;
}

SHAPE(powers_of_two_only) {
    const long long own = i % v->block; // of 0 and 1, 2, 4, 8 ... one bit is set at most
    return (own & (own - 1)) == 0;
}

SHAPE(odd_tree) { return v->tree ? v->tree[i % v->block] : 1; }

// A tree that is at `left` values when 32 of its slots are added up. Slot t holds what lies 2^(k+1) apart,
// where 2^k <= t < 2^(k+1): what is in it is in the slots below `left` too.
static long long added_behind_a_tree(long long i, long long left) {
    return 1 + __builtin_popcountll((unsigned long long)(i % 32 / left));
}

#define BEHIND_A_TREE(left)                                                                                  \
    SHAPE(tree_of_##left##_and_fold) { return added_behind_a_tree(i % v->block, left); }
BEHIND_A_TREE(1)
BEHIND_A_TREE(2)
BEHIND_A_TREE(4)
BEHIND_A_TREE(8)
BEHIND_A_TREE(16)
SHAPE(tree_and_all_slots) { // the same with every slot of the block
    return 1 + __builtin_popcountll((unsigned long long)(i % v->block));
}

SHAPE(lane_31_only) {
    UNUSED(v);
    return i % 32 == 31;
}

SHAPE(lane_31_by_32) {
    UNUSED(v);
    return i % 32 == 31 ? 32 : 0;
}

SHAPE(named_lanes) { // lane 0 asks lanes 16, 8, 4, 2, 1 for what they have so far, and not those beside it
    UNUSED(v);
    const long long lane = i % 32;
    return lane < 2 ? 1 : (lane & (lane - 1)) == 0 ? lane : 0;
}

SHAPE(lane_0_only) {
    UNUSED(v);
    return i % 32 == 0;
}

SHAPE(lane_0_by_32) {
    UNUSED(v);
    return i % 32 == 0 ? 32 : 0;
}

SHAPE(last_thread_only) { return i % v->block == v->block - 1; }
SHAPE(first_thread_only) { return i % v->block == 0; }

static const ErrorShape shapes[] = {
    {"upper-half-warp-lost", upper_half_warp_lost, "What lanes 16 to 31 of each warp hold is left out."},
    {"level-lost", level_2_lost, "Of every 4 lanes 2 and 3 are left out."},
    {"level-lost", level_4_lost, "Of every 8 lanes 4 to 7 are left out."},
    {"level-lost", level_8_lost, "Of every 16 lanes 8 to 15 are left out."},
    {"level-lost", level_64_lost, "Of every 128 threads 64 to 127 are left out."},
    {"two-levels-lost", levels_1_2_lost, "Of every 4 lanes only the first is in the sum."},
    {"two-levels-lost", levels_1_4_lost, "Of every 8 lanes only 0 and 2 are in the sum."},
    {"two-levels-lost", levels_1_16_lost, "Of every warp only lanes 0, 2, 4 ... 14 are in the sum."},
    {"two-levels-lost", levels_2_4_lost, "Of every 8 lanes only 0 and 1 are in the sum."},
    {"two-levels-lost", levels_2_8_lost, "Of every 16 lanes only 0, 1, 4 and 5 are in the sum."},
    {"two-levels-lost", levels_4_8_lost, "Of every 16 lanes only 0 to 3 are in the sum."},
    {"two-levels-lost", levels_4_16_lost, "Of every warp only lanes 0 to 3 and 8 to 11 are in the sum."},
    {"two-levels-lost", levels_8_16_lost, "Of every warp only lanes 0 to 7 are in the sum."},
    {"upper-half-block-lost", upper_half_block_lost,
     "What the second half of the threads of each block hold is left out."},
    {"lower-half-warp-twice", lower_half_warp_twice,
     "What lanes 0 to 15 of each warp hold is counted twice, and lanes 16 to 31 are left out."},
    {"second-32-of-64-lost", second_32_of_64_lost,
     "Of every 64 values side by side in a block the last 32 are left out."},
    {"powers-of-two-only", powers_of_two_only,
     "Of each block only what threads 0, 1, 2, 4, 8 and so on hold is in the sum."},
    {"added-behind-a-tree", tree_of_16_and_fold,
     "Of every 32 values side by side in a block the last 16 are counted twice."},
    {"added-behind-a-tree", tree_of_8_and_fold,
     "Some values are counted up to three times: those that slots 8 to 31 hold when 32 slots are added up."},
    {"added-behind-a-tree", tree_of_4_and_fold,
     "Some values are counted up to four times: those that slots 4 to 31 hold when 32 slots are added up."},
    {"added-behind-a-tree", tree_of_2_and_fold,
     "Some values are counted up to five times: those that slots 2 to 31 hold when 32 slots are added up."},
    {"added-behind-a-tree", tree_of_1_and_fold,
     "Some values are counted up to six times: those that slots 1 to 31 hold when 32 slots are added up."},
    {"added-behind-a-tree", tree_and_all_slots,
     "Slot 0 holds the sum, and what the other slots still hold is counted once more."},
    {"odd-tree", odd_tree,
     "What is missing are the values that are left over when an odd number of them is halved."},
    {"lane-31-only", lane_31_only, "The result is what lane 31 of each warp began with, and nothing else."},
    {"lane-31-by-32", lane_31_by_32, "The result is 32 times what lane 31 of each warp began with."},
    {"named-lanes", named_lanes,
     "Of each warp only what lanes 0, 1, 2, 4, 8 and 16 hold is in the sum, once to 16 times."},
    {"lane-0-only", lane_0_only, "The result is what lane 0 of each warp began with, and nothing else."},
    {"lane-0-by-32", lane_0_by_32, "The result is 32 times what lane 0 of each warp began with."},
    {"last-thread-only", last_thread_only,
     "The result is what the last thread of each block began with, and nothing else."},
    {"first-thread-only", first_thread_only,
     "The result is what the first thread of each block began with, and nothing else."},
};
const ShapeGroup shapes_of_folds = SHAPE_GROUP(shapes);
