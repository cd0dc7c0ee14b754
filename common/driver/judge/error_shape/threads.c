// Which threads work: only the first round, block or warp adds, or each of them adds what one of them should.
#include "driver/judge/error_shape/shape_group.h"

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

static const ErrorShape shapes[] = {
    {"first-round-only", first_round_only,
     "Only as many elements as the grid has threads are added; all later ones are left out."},
    {"first-round-of-groups-only", first_round_of_groups_only,
     "Only as many groups of 4 as the grid has threads are added; all later ones are left out."},
    {"first-partials-only", first_partials_only,
     "Only as many partials are added as a block of the second launch has threads."},
    {"first-warp-only", first_warp_only, "Only the elements of the first warp of each block are in the sum."},
    {"first-warp-twice", first_warp_twice, "The elements of the first warp of each block are counted twice."},
    {"first-warp-by-each-warp", first_warp_by_each_warp,
     "The elements of the first warp of each block are counted once for every warp, and the others are left "
     "out."},
    {"other-warps-twice", other_warps_twice,
     "The elements of all warps of a block except the first are counted twice."},
    {"groups-same-in-each-block", groups_same_in_each_block,
     "The groups of 4 of the first block are added once by every block, and the other groups are left out."},
    {"first-thread-of-second-only", first_thread_of_second_only,
     "Only the partials that thread 0 of the second launch added are in the sum."},
    {"first-block-folded", first_block_folded,
     "The first block is complete, but of every other block only the initial value of its first thread is in "
     "the sum."},
    {"same-in-each-block", same_in_each_block,
     "The elements of the first block are added once by every block, and the rest is left out."},
    {"same-in-each-warp", same_in_each_warp,
     "The elements of the first warp are added once by every warp, and the rest is left out."},
    {"same-in-each-thread", same_in_each_thread,
     "In every round only as many elements as there are blocks are added, each by a whole block."},
    {"first-block-only", first_block_only, "Only the elements of the first block are in the sum."},
    {"last-block-only", last_block_only, "Only the elements of the last block are in the sum."},
    {"last-warp-lost", last_warp_lost, "The elements of the last warp of each block are missing."},
};
const ShapeGroup shapes_of_threads = SHAPE_GROUP(shapes);
