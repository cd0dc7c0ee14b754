// One end of the array is lost or counted twice: the first and the last element, the head before the first
// multiple of 16 bytes, and what remains after whole groups, warps, blocks, rounds and chunks.
#include "driver/judge/error_shape/shape_group.h"

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
SHAPE(
    tail_behind_no_head) { // as many elements as the tail has, from where the groups would end without a head
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

static const ErrorShape shapes[] = {
    {"first-lost", first_lost, "Every wrong sum lacks element 0 and nothing else."},
    {"last-only", last_only, "The result is the last element, at every size."},
    {"last-lost", last_lost, "Every wrong sum lacks the last element and nothing else."},
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
    {"last-round-lost", last_round_lost,
     "Every wrong sum lacks the last element of every thread: each stops one round too early."},
    {"chunk-borders-twice", chunk_borders_twice,
     "The first element of every chunk but the first is counted twice."},
};
const ShapeGroup shapes_of_ends = SHAPE_GROUP(shapes);
