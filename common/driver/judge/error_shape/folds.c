// How a warp or a block combines its values: lanes, levels of a fold, levels of a tree.
#include "driver/judge/error_shape/shape_group.h"

SHAPE(upper_half_warp_lost) {
    UNUSED(v);
    return i % 32 < 16;
}

SHAPE(lower_half_warp_twice) {
    UNUSED(v);
    return i % 32 < 16 ? 2 : 0;
}

// A fold with missing levels: lane 0 receives the lanes whose numbers are sums of the other distances.
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
    const long long own = i % v->block; // 0, 1, 2, 4, 8 ...: at most one bit is set
    return (own & (own - 1)) == 0;
}

SHAPE(odd_tree) { return v->tree ? v->tree[i % v->block] : 1; }

// A tree that has `left` values when 32 of its slots are added. Slot t holds values that are 2^(k+1) apart,
// where 2^k <= t < 2^(k+1), and these are also in the slots below `left`.
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

SHAPE(named_lanes) { // lane 0 receives the partial sums of lanes 16, 8, 4, 2, 1, but not of those beside them
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
    {"upper-half-warp-lost", upper_half_warp_lost, "The values of lanes 16 to 31 of each warp are left out."},
    {"level-lost", level_2_lost, "In every 4 lanes, lanes 2 and 3 are left out."},
    {"level-lost", level_4_lost, "In every 8 lanes, lanes 4 to 7 are left out."},
    {"level-lost", level_8_lost, "In every 16 lanes, lanes 8 to 15 are left out."},
    {"level-lost", level_64_lost, "In every 128 threads, threads 64 to 127 are left out."},
    {"two-levels-lost", levels_1_2_lost, "Only the first of every 4 lanes is in the sum."},
    {"two-levels-lost", levels_1_4_lost, "In every 8 lanes, only lanes 0 and 2 are in the sum."},
    {"two-levels-lost", levels_1_16_lost, "In every warp, only lanes 0, 2, 4 ... 14 are in the sum."},
    {"two-levels-lost", levels_2_4_lost, "In every 8 lanes, only lanes 0 and 1 are in the sum."},
    {"two-levels-lost", levels_2_8_lost, "In every 16 lanes, only lanes 0, 1, 4 and 5 are in the sum."},
    {"two-levels-lost", levels_4_8_lost, "In every 16 lanes, only lanes 0 to 3 are in the sum."},
    {"two-levels-lost", levels_4_16_lost, "In every warp, only lanes 0 to 3 and 8 to 11 are in the sum."},
    {"two-levels-lost", levels_8_16_lost, "In every warp, only lanes 0 to 7 are in the sum."},
    {"upper-half-block-lost", upper_half_block_lost,
     "The values of the second half of the threads of each block are left out."},
    {"lower-half-warp-twice", lower_half_warp_twice,
     "Lanes 0 to 15 of each warp are counted twice, and lanes 16 to 31 are left out."},
    {"second-32-of-64-lost", second_32_of_64_lost,
     "In every 64 neighbouring values of a block, the last 32 are left out."},
    {"powers-of-two-only", powers_of_two_only,
     "In each block, only the values of threads 0, 1, 2, 4, 8 and so on are in the sum."},
    {"added-behind-a-tree", tree_of_16_and_fold,
     "In every 32 neighbouring values of a block, the last 16 are counted twice."},
    {"added-behind-a-tree", tree_of_8_and_fold,
     "Some values are counted up to three times: those in slots 8 to 31 when 32 slots are added."},
    {"added-behind-a-tree", tree_of_4_and_fold,
     "Some values are counted up to four times: those in slots 4 to 31 when 32 slots are added."},
    {"added-behind-a-tree", tree_of_2_and_fold,
     "Some values are counted up to five times: those in slots 2 to 31 when 32 slots are added."},
    {"added-behind-a-tree", tree_of_1_and_fold,
     "Some values are counted up to six times: those in slots 1 to 31 when 32 slots are added."},
    {"added-behind-a-tree", tree_and_all_slots,
     "Slot 0 has the sum, and the values left in the other slots are added again."},
    {"odd-tree", odd_tree, "The missing values are those left over when an odd number of values is halved."},
    {"lane-31-only", lane_31_only, "The result is only the initial value of lane 31 of each warp."},
    {"lane-31-by-32", lane_31_by_32, "The result is 32 times the initial value of lane 31 of each warp."},
    {"named-lanes", named_lanes,
     "In each warp, only the values of lanes 0, 1, 2, 4, 8 and 16 are in the sum, once to 16 times."},
    {"lane-0-only", lane_0_only, "The result is only the initial value of lane 0 of each warp."},
    {"lane-0-by-32", lane_0_by_32, "The result is 32 times the initial value of lane 0 of each warp."},
    {"last-thread-only", last_thread_only,
     "The result is only the initial value of the last thread of each block."},
    {"first-thread-only", first_thread_only,
     "The result is only the initial value of the first thread of each block."},
};
const ShapeGroup shapes_of_folds = SHAPE_GROUP(shapes);
