#include "error_shape.h"

#include <math.h>
#include <string.h>

#include "elements.h"

static long long at_most(long long value, long long limit) { return value < limit ? value : limit; }

// ---- Groups of four: where the whole ones end, and which one an element is in -----------------------------

static long long groups_end(const ShapeView *v) { return v->head + (v->count - v->head) / 4 * 4; }
static bool is_in_group(const ShapeView *v, long long i) { return i >= v->head && i < groups_end(v); }
static long long group_round(const ShapeView *v, long long i) { return (i - v->head) / 4 / v->threads; }

// ---- The shapes -------------------------------------------------------------------------------------------
// Each tells how often element i is added.

#define SHAPE(name) static long long name(const ShapeView *v, long long i)
#define UNUSED(argument) (void)(argument)

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

SHAPE(first_lost) {
    UNUSED(v);
    return i != 0;
}
SHAPE(last_only) { return i == v->count - 1; }
SHAPE(last_lost) { return i != v->count - 1; }
SHAPE(head_lost) { return i >= v->head; }
SHAPE(head_twice) { return 1 + (i < v->head); }
SHAPE(head_by_each_block) { return i < v->head ? v->blocks : 1; }
SHAPE(head_but_first_lost) { return i == 0 || i >= v->head; }
SHAPE(tail_but_first_lost) { return i <= groups_end(v); }
SHAPE(tail_but_last_lost) { return i < groups_end(v) || i == v->count - 1; }
SHAPE(tail_of_4_lost) { return i < groups_end(v); }
SHAPE(tail_of_4_twice) { return 1 + (i >= groups_end(v)); }
SHAPE(tail_by_each_block) { return i >= groups_end(v) ? v->blocks : 1; }
SHAPE(tail_by_each_thread) { return i >= groups_end(v) ? v->threads : 1; }
SHAPE(tail_without_head) { return (i < groups_end(v)) + (i >= v->count - v->count % 4); }
SHAPE(tail_behind_no_head) { // as many as the tail has, from where the groups would end without a head
    const long long end = groups_end(v), from = end - v->head;
    return (i < end) + (i >= from && i < from + v->count - end);
}
SHAPE(last_group_twice) { return 1 + (is_in_group(v, i) && i >= groups_end(v) - 4); }
SHAPE(tail_of_warp_lost) { return i < v->count / 32 * 32; }
SHAPE(tail_of_block_lost) { return i < v->count / v->block * v->block; }
SHAPE(tail_of_round_lost) { return i < v->count / v->threads * v->threads; }

SHAPE(last_round_lost) { return i + v->threads < v->count; }

SHAPE(chunk_borders_twice) {
    long long chunk = (v->count + v->threads - 1) / v->threads;
    return 1 + (i > 0 && i % chunk == 0);
}

SHAPE(first_round_only) { return i < v->threads; }
SHAPE(first_round_of_groups_only) { return !is_in_group(v, i) || group_round(v, i) == 0; }
SHAPE(first_partials_only) { return v->second_block == 0 || i % v->threads / v->block < v->second_block; }
SHAPE(first_warp_only) { return i % v->block < 32; }
SHAPE(first_warp_twice) { return 1 + (i % v->block < 32); }
SHAPE(first_block_only) { return i % v->threads < v->block; }
SHAPE(first_block_folded) { return i % v->threads < v->block || i % v->block == 0; }
SHAPE(same_in_each_block) { return i % v->threads < v->block ? v->blocks : 0; }
SHAPE(same_in_each_warp) { return i % v->threads < 32 ? v->threads / 32 : 0; }
SHAPE(same_in_each_thread) { return i % v->threads < v->blocks ? v->block : 0; }
SHAPE(last_block_only) { return i % v->threads >= v->threads - v->block; }
SHAPE(first_warp_by_each_warp) { return i % v->block < 32 ? v->block / 32 : 0; }
SHAPE(other_warps_twice) { return 1 + (i % v->block >= 32); }
SHAPE(groups_same_in_each_block) {
    if (!is_in_group(v, i)) return 1;
    return (i - v->head) / 4 % v->threads < v->block ? v->blocks : 0;
}
SHAPE(first_thread_of_second_only) {
    return v->second_block == 0 || i % v->threads / v->block % v->second_block == 0;
}
SHAPE(last_warp_lost) { return i % v->block < v->block - 32; }

SHAPE(every_second_lost) {
    UNUSED(v);
    return i % 2 == 0;
}
SHAPE(fourth_of_group_lost) { return !is_in_group(v, i) || (i - v->head) % 4 != 3; }
SHAPE(fourths_lost) {
    UNUSED(v);
    return i % 4 != 3;
}
SHAPE(groups_of_three) {
    long long groups = (v->count - v->head) / 4;
    return i < v->head + 3 * groups || i >= groups_end(v);
}
// A component of each float4 is named in the place of its neighbour.
#define TWICE(name, lost, twice)                                                                             \
    SHAPE(name) {                                                                                            \
        const long long component = is_in_group(v, i) ? (i - v->head) % 4 : -1;                              \
        return component == (lost) ? 0 : component == (twice) ? 2 : 1;                                       \
    }
TWICE(second_for_first, 0, 1)
TWICE(first_for_second, 1, 0)
TWICE(second_for_third, 2, 1)
TWICE(third_for_fourth, 3, 2)
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

SHAPE(stride_of_a_block) { return 1 + at_most(i / v->block, v->blocks - 1); }
SHAPE(two_a_round_old_stride) { return at_most(i / v->threads, 1) + 1; }
SHAPE(four_a_round_old_stride) { return at_most(i / v->threads, 3) + 1; }
SHAPE(two_groups_old_stride) { return is_in_group(v, i) ? at_most(group_round(v, i), 1) + 1 : 1; }
SHAPE(every_fourth_round_only) { return i / v->threads % 4 == 0; }
SHAPE(every_fourth_round_of_groups_only) { return !is_in_group(v, i) || group_round(v, i) % 4 == 0; }

// A thread takes `deep` of its elements a round, a grid apart, while all of them are there, and the rest of
// them one by one. Its elements are 0, 1, 2 ...; of them the first `in_rounds` are in whole rounds.
typedef struct {
    long long element, count, in_rounds;
} Own;

static Own own_element(const ShapeView *v, long long i, long long deep) {
    const long long thread = i % v->threads, count = (v->count - thread + v->threads - 1) / v->threads;
    return (Own){.element = i / v->threads, .count = count, .in_rounds = count / deep * deep};
}

// Rounds begin one element apart, up to the last that has room; the rest begins where they end.
static long long rounds_old_stride(const ShapeView *v, long long i, long long deep) {
    const Own own = own_element(v, i, deep);
    const long long rounds = own.count >= deep ? own.count - deep + 1 : 0;
    const long long first = own.element >= deep ? own.element - deep + 1 : 0;
    const long long last = at_most(own.element, rounds - 1);
    return (last >= first ? last - first + 1 : 0) + (own.element >= rounds);
}

// Of the sums of a round those of the mask `kept` are added to the result; the rest goes to the first.
static long long sums_kept(const ShapeView *v, long long i, long long deep, unsigned kept) {
    const Own own = own_element(v, i, deep);
    return own.element >= own.in_rounds || kept >> own.element % deep & 1;
}

SHAPE(rounds_of_4_old_stride) { return rounds_old_stride(v, i, 4); }
SHAPE(rounds_of_8_old_stride) { return rounds_old_stride(v, i, 8); }
static long long rest_lost(const ShapeView *v, long long i, long long deep) {
    const Own own = own_element(v, i, deep);
    return own.element < own.in_rounds;
}
SHAPE(rest_of_2_lost) { return rest_lost(v, i, 2); }
SHAPE(rest_of_4_lost) { return rest_lost(v, i, 4); }
SHAPE(rest_of_8_lost) { return rest_lost(v, i, 8); }

#define SUMS_KEPT(name, deep, kept)                                                                          \
    SHAPE(name) { return sums_kept(v, i, deep, kept); }
SUMS_KEPT(first_of_2_sums_only, 2, 1)
SUMS_KEPT(first_of_4_sums_only, 4, 1)
SUMS_KEPT(half_of_4_sums_only, 4, 3)
SUMS_KEPT(even_of_4_sums_only, 4, 5)
SUMS_KEPT(last_of_4_sums_lost, 4, 7)
SUMS_KEPT(first_of_8_sums_only, 8, 1)
SUMS_KEPT(half_of_8_sums_only, 8, 15)
SUMS_KEPT(even_of_8_sums_only, 8, 0x55)
SUMS_KEPT(pairs_of_8_sums_only, 8, 0x33)
SUMS_KEPT(last_of_8_sums_lost, 8, 0x7f)

// Sizes that people test with, built into a loop.
#define FIXED(size)                                                                                          \
    SHAPE(fixed_##size) {                                                                                    \
        UNUSED(v);                                                                                           \
        return i < size;                                                                                     \
    }
FIXED(256)
FIXED(1000)
FIXED(1024)
FIXED(4096)
FIXED(65536)
FIXED(1048576)

const ErrorShape error_shapes[] = {
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
    {"everything-taken-away", everything_taken_away, "The result is the sum with the other sign."},
    {"first-lost", first_lost, "Every wrong sum lacks element 0 and nothing else."},
    {"last-only", last_only, "The result is the last element, at every size."},
    {"last-lost", last_lost, "Every wrong sum lacks the last element and nothing else."},
    {"head-lost", head_lost,
     "Every wrong sum lacks the elements before the first multiple of 16 bytes and nothing else."},
    {"head-but-first-lost", head_but_first_lost,
     "Of the elements before the first multiple of 16 bytes only the first is in the sum."},
    {"tail-but-first-lost", tail_but_first_lost,
     "Of what is left over behind the groups of 4 only the first element is in the sum."},
    {"tail-but-last-lost", tail_but_last_lost,
     "Of what is left over behind the groups of 4 only the last element is in the sum."},
    {"head-twice", head_twice, "The elements before the first multiple of 16 bytes are counted twice."},
    {"head-by-each-block", head_by_each_block,
     "The elements before the first multiple of 16 bytes are counted once by every block."},
    {"tail-of-4-lost", tail_of_4_lost,
     "Every wrong sum lacks what is left over when the elements are taken in groups of 4."},
    {"tail-of-4-twice", tail_of_4_twice,
     "What is left over when the elements are taken in groups of 4 is counted twice."},
    {"tail-by-each-block", tail_by_each_block,
     "What is left over when the elements are taken in groups of 4 is counted once by every block."},
    {"tail-by-each-thread", tail_by_each_thread,
     "What is left over when the elements are taken in groups of 4 is counted once by every thread."},
    {"tail-without-head", tail_without_head,
     "The last n % 4 elements are added as the tail, and that is not where the groups end: they begin "
     "behind the head."},
    {"tail-behind-no-head", tail_behind_no_head,
     "The tail is taken from where the groups would end without a head: the last elements are left out, and "
     "others counted twice."},
    {"last-group-twice", last_group_twice, "The last whole group of 4 is counted twice at every size."},
    {"tail-of-warp-lost", tail_of_warp_lost, "Every wrong sum lacks the last n % 32 elements."},
    {"tail-of-block-lost", tail_of_block_lost,
     "Every wrong sum lacks the elements that fill no whole block of threads."},
    {"tail-of-round-lost", tail_of_round_lost,
     "Every wrong sum lacks the last elements: those that are too few for all threads of the grid."},
    {"last-round-lost", last_round_lost,
     "Every wrong sum lacks the last element of every thread: each stops one round too early."},
    {"chunk-borders-twice", chunk_borders_twice,
     "The first element of every chunk but the first is counted twice."},
    {"first-round-only", first_round_only,
     "Only as many elements as the grid has threads are added; all behind them are left out."},
    {"first-round-of-groups-only", first_round_of_groups_only,
     "Only as many groups of 4 as the grid has threads are added; all behind them are left out."},
    {"first-partials-only", first_partials_only,
     "Only as many partials are added as a block of the second launch has threads."},
    {"first-warp-only", first_warp_only, "Only what the first warp of each block adds is in the sum."},
    {"first-warp-twice", first_warp_twice, "What the first warp of each block adds is counted twice."},
    {"first-warp-by-each-warp", first_warp_by_each_warp,
     "What the first warp of each block adds is counted once for every warp, and the others are left out."},
    {"other-warps-twice", other_warps_twice,
     "What all warps of a block but the first one add is counted twice."},
    {"groups-same-in-each-block", groups_same_in_each_block,
     "The groups of 4 of the first block are added once by every block, and the other groups are left out."},
    {"first-thread-of-second-only", first_thread_of_second_only,
     "Of the partials only those that thread 0 of the second launch added are in the sum."},
    {"first-block-folded", first_block_folded,
     "The first block is whole, and of every other only what its first thread began with is in the sum."},
    {"same-in-each-block", same_in_each_block,
     "What the first block should add is added once by every block, and the rest is left out."},
    {"same-in-each-warp", same_in_each_warp,
     "What the first warp should add is added once by every warp, and the rest is left out."},
    {"same-in-each-thread", same_in_each_thread,
     "Of every round only as many elements as there are blocks are added, each by a whole block."},
    {"first-block-only", first_block_only, "Only what the first block adds is in the sum."},
    {"last-block-only", last_block_only, "Only what the last block adds is in the sum."},
    {"last-warp-lost", last_warp_lost, "What the last warp of each block adds is missing."},
    {"every-second-lost", every_second_lost, "Every second element is left out."},
    {"fourth-of-group-lost", fourth_of_group_lost, "The fourth element of every group of 4 is left out."},
    {"component-twice", second_for_first, "Of every group of 4 the second is counted for the first."},
    {"component-twice", first_for_second, "Of every group of 4 the first is counted for the second."},
    {"component-twice", second_for_third, "Of every group of 4 the second is counted for the third."},
    {"component-twice", third_for_fourth, "Of every group of 4 the third is counted for the fourth."},
    {"fourths-lost", fourths_lost, "Every fourth element is left out."},
    {"groups-of-three", groups_of_three,
     "The groups are read 12 bytes apart, so that those at the end are never reached."},
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
    {"stride-of-a-block", stride_of_a_block,
     "Elements are added once by every block that starts before them: the more blocks, the more often."},
    {"two-a-round-old-stride", two_a_round_old_stride,
     "What lies behind the first round of the grid is counted twice."},
    {"four-a-round-old-stride", four_a_round_old_stride,
     "What lies behind the first round of the grid is counted two, three and four times."},
    {"two-groups-old-stride", two_groups_old_stride,
     "The groups of 4 behind the first round of the grid are counted twice."},
    {"every-fourth-round-only", every_fourth_round_only, "Three of four rounds of the grid are left out."},
    {"every-fourth-round-of-groups-only", every_fourth_round_of_groups_only,
     "Three of four rounds of the grid over the groups are left out."},
    {"rounds-of-4-old-stride", rounds_of_4_old_stride,
     "Rounds of 4 elements begin one element apart, so that most are counted four times."},
    {"rounds-of-8-old-stride", rounds_of_8_old_stride,
     "Rounds of 8 elements begin one element apart, so that most are counted eight times."},
    {"rest-of-2-lost", rest_of_2_lost, "What each thread has left over behind its whole pairs is missing."},
    {"rest-of-4-lost", rest_of_4_lost,
     "What each thread has left over behind its whole rounds of 4 elements is missing."},
    {"rest-of-8-lost", rest_of_8_lost,
     "What each thread has left over behind its whole rounds of 8 elements is missing."},
    {"first-of-2-sums-only", first_of_2_sums_only,
     "Of each thread's 2 sums only the first is in the result."},
    {"first-of-4-sums-only", first_of_4_sums_only,
     "Of each thread's 4 sums only the first is in the result."},
    {"half-of-4-sums-only", half_of_4_sums_only,
     "Of each thread's 4 sums only the first 2 are in the result."},
    {"even-of-4-sums-only", even_of_4_sums_only,
     "Of each thread's sums 0 to 3 only 0 and 2 are in the result."},
    {"last-of-4-sums-lost", last_of_4_sums_lost, "The last of each thread's 4 sums is not in the result."},
    {"even-of-8-sums-only", even_of_8_sums_only,
     "Of each thread's sums 0 to 7 only 0, 2, 4 and 6 are in the result."},
    {"pairs-of-8-sums-only", pairs_of_8_sums_only,
     "Of each thread's sums 0 to 7 only 0, 1, 4 and 5 are in the result."},
    {"last-of-8-sums-lost", last_of_8_sums_lost, "The last of each thread's 8 sums is not in the result."},
    {"first-of-8-sums-only", first_of_8_sums_only,
     "Of each thread's 8 sums only the first is in the result."},
    {"half-of-8-sums-only", half_of_8_sums_only,
     "Of each thread's 8 sums only the first 4 are in the result."},
    {"fixed-size", fixed_256, "Nothing behind element 256 is added, whatever n is."},
    {"fixed-size", fixed_1000, "Nothing behind element 1,000 is added, whatever n is."},
    {"fixed-size", fixed_1024, "Nothing behind element 1,024 is added, whatever n is."},
    {"fixed-size", fixed_4096, "Nothing behind element 4,096 is added, whatever n is."},
    {"fixed-size", fixed_65536, "Nothing behind element 65,536 is added, whatever n is."},
    {"fixed-size", fixed_1048576, "Nothing behind element 1,048,576 is added, whatever n is."},
};
const int error_shape_count = sizeof error_shapes / sizeof error_shapes[0];

_Static_assert(sizeof error_shapes / sizeof error_shapes[0] <= 128, "a ShapeSet has a bit for each");

// ---- Which of them fit ------------------------------------------------------------------------------------

enum { MAX_TREE = 1024 };

// How often each thread's value reaches slot 0 in a tree whose strides are half the block, half of that and
// so on, rounded down: always once where the block is a power of two, else some are lost.
static void tree_weights(long long block, int tree[MAX_TREE]) {
    int levels = 0;
    long long strides[16];
    for (long long stride = block / 2; stride > 0; stride /= 2) strides[levels++] = stride;
    memset(tree, 0, MAX_TREE * sizeof *tree);
    tree[0] = 1;
    while (levels-- > 0) // from the last level back: what slot t takes in counts as often as t itself
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
    ShapeSet fit = 0;
    for (int s = 0; s < error_shape_count; s++) {
        if (!(candidates & (ShapeSet)1 << s)) continue;
        double sum = expected, magnitude = 0; // whole numbers below 2^53: exact
        for (long long i = 0; i < count; i++) {
            const double times = (double)error_shapes[s].times(&view, i);
            const double value = element_get(array, type, i);
            sum += (times - 1) * value;
            magnitude += fabs(times * value);
        }
        // The device adds floats: beyond 2^24 even whole numbers are rounded, at every addition.
        const double rounding = magnitude > 0x1p24 ? magnitude * 0x1p-16 : 0;
        if (fabs(sum - got) <= rounding) fit |= (ShapeSet)1 << s;
    }
    return fit;
}
