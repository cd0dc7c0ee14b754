// One end of the array is lost or counted twice: the first and the last element, the head before the first
// multiple of 16 bytes, what remains after whole groups, warps, blocks, rounds and chunks, and where two ends
// meet.
#include "driver/judge/error_shape/shape_group.h"

SHAPE(first_lost) {
    UNUSED(v);
    return i != 0;
}

SHAPE(last_only) { return i == v->count - 1; }
SHAPE(last_lost) { return i != v->count - 1; }
// Two ends move towards each other, and what they meet at is of neither.
SHAPE(middle_lost) { return v->count % 2 == 0 || i != v->count / 2; }
SHAPE(middle_twice) { return 1 + (v->count % 2 == 1 && i == v->count / 2); }
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
SHAPE(
    tail_behind_no_head) { // as many elements as the tail has, from where the groups would end without a head
    const long long end = groups_end(v), from = end - v->head;
    return (i < end) + (i >= from && i < from + v->count - end);
}

SHAPE(last_group_twice) { return 1 + (is_in_group(v, i) && i >= groups_end(v) - 4); }
SHAPE(tail_of_warp_lost) { return i < v->count / 32 * 32; }
SHAPE(tail_of_block_lost) { return i < v->count / v->block * v->block; }
SHAPE(tail_of_round_lost) { return i < v->count / v->threads * v->threads; }
// What remains if each block, or each warp of the grid, takes an equal share of all elements or groups.
SHAPE(rest_of_blocks_lost) { return i < v->count / v->blocks * v->blocks; }
SHAPE(rest_of_warps_lost) {
    const long long warps = v->threads / 32;
    return v->block % 32 != 0 || i < v->count / warps * warps;
}
SHAPE(groups_of_blocks_lost) {
    return !is_in_group(v, i) || (i - v->head) / 4 < (v->count - v->head) / 4 / v->blocks * v->blocks;
}
SHAPE(groups_of_round_lost) {
    return !is_in_group(v, i) || (i - v->head) / 4 < (v->count - v->head) / 4 / v->threads * v->threads;
}

// Each block takes an equal share, rounded up; it leaves out what does not fill all its threads.
SHAPE(rest_of_shares_lost) {
    const long long share = (v->count + v->blocks - 1) / v->blocks, first = i / share * share;
    const long long length = at_most(share, v->count - first);
    return i - first < length / v->block * v->block;
}

SHAPE(last_round_lost) { return i + v->threads < v->count; }
static long long borders_twice(const ShapeView *v, long long i, long long shares) {
    const long long chunk = (v->count + shares - 1) / shares;
    return 1 + (i > 0 && i % chunk == 0);
}
SHAPE(chunk_borders_twice) { return borders_twice(v, i, v->threads); }
SHAPE(block_borders_twice) { return borders_twice(v, i, v->blocks); }

static const ErrorShape shapes[] = {
    {"first-lost", first_lost, "Every wrong sum lacks element 0 and nothing else."},
    {"last-only", last_only, "The result is the last element, at every size."},
    {"last-lost", last_lost, "Every wrong sum lacks the last element and nothing else."},
    {"middle-lost", middle_lost, "Only sums of an odd number of elements are wrong."},
    {"middle-twice", middle_twice, "Only sums of an odd number of elements are wrong."},
    {"head-lost", head_lost,
     "Every wrong sum lacks the elements before the first multiple of 16 bytes and nothing else."},
    {"head-but-first-lost", head_but_first_lost,
     "Only the first of the elements before the first multiple of 16 bytes is in the sum."},
    {"tail-but-first-lost", tail_but_first_lost,
     "Only the first of the elements after the groups of 4 is in the sum."},
    {"tail-but-last-lost", tail_but_last_lost,
     "Only the last of the elements after the groups of 4 is in the sum."},
    {"head-twice", head_twice, "The elements before the first multiple of 16 bytes are counted twice."},
    {"head-by-each-block", head_by_each_block,
     "The elements before the first multiple of 16 bytes are counted once by every block."},
    {"tail-of-4-lost", tail_of_4_lost,
     "Every wrong sum lacks the elements that are left after the whole groups of 4."},
    {"tail-of-4-twice", tail_of_4_twice,
     "The elements that are left after the whole groups of 4 are counted twice."},
    {"tail-by-each-block", tail_by_each_block,
     "The elements that are left after the whole groups of 4 are counted once by every block."},
    {"tail-by-each-thread", tail_by_each_thread,
     "The elements that are left after the whole groups of 4 are counted once by every thread."},
    {"tail-without-head", tail_without_head,
     "The last n % 4 elements are added as the tail, but the groups end elsewhere, because they begin after "
     "the head."},
    {"tail-behind-no-head", tail_behind_no_head,
     "The tail begins where the groups would end without a head: the last elements are left out, and others "
     "are counted twice."},
    {"last-group-twice", last_group_twice, "The last whole group of 4 is counted twice at every size."},
    {"tail-of-warp-lost", tail_of_warp_lost, "Every wrong sum lacks the last n % 32 elements."},
    {"tail-of-block-lost", tail_of_block_lost,
     "Every wrong sum lacks the elements that do not fill a whole block of threads."},
    {"tail-of-round-lost", tail_of_round_lost,
     "Every wrong sum lacks the last elements, which are too few for all threads of the grid."},
    {"rest-of-shares-lost", rest_of_blocks_lost,
     "Every wrong sum lacks the last n % blocks elements, where blocks is the number of blocks."},
    {"rest-of-shares-lost", rest_of_warps_lost,
     "Every wrong sum lacks the last n % warps elements, where warps is the number of warps of the grid."},
    {"rest-of-shares-lost", groups_of_blocks_lost,
     "Of the whole groups of 4 every wrong sum lacks the last ones: as many as remain after a division by "
     "the number of blocks."},
    {"rest-of-shares-lost", groups_of_round_lost,
     "Of the whole groups of 4 every wrong sum lacks the last ones, which are too few for all threads of the "
     "grid."},
    {"rest-in-shares-lost", rest_of_shares_lost,
     "If every block takes an equal stretch, each lacks what does not fill a whole round of its "
     "threads."},
    {"last-round-lost", last_round_lost, "Every wrong sum lacks the last element of every thread."},
    {"chunk-borders-twice", chunk_borders_twice,
     "The first element of every chunk but the first is counted twice."},
    {"chunk-borders-twice", block_borders_twice,
     "If every block takes an equal stretch, the first element of each but the first is counted twice."},
};
const ShapeGroup shapes_of_ends = SHAPE_GROUP(shapes);
