// How a thread iterates over its elements: strides, rounds of several elements, several sums, and a constant
// size.
#include "driver/judge/error_shape/shape_group.h"

SHAPE(stride_of_a_block) { return 1 + at_most(i / v->block, v->blocks - 1); }
SHAPE(two_a_round_old_stride) { return at_most(i / v->threads, 1) + 1; }
SHAPE(four_a_round_old_stride) { return at_most(i / v->threads, 3) + 1; }
SHAPE(two_groups_old_stride) { return is_in_group(v, i) ? at_most(group_round(v, i), 1) + 1 : 1; }
SHAPE(every_fourth_round_only) { return i / v->threads % 4 == 0; }
SHAPE(every_fourth_round_of_groups_only) { return !is_in_group(v, i) || group_round(v, i) % 4 == 0; }

// A thread takes `deep` of its elements, a grid apart, in each whole round, and the rest one by one. Its
// elements are 0, 1, 2 ...; the first `in_rounds` of them are in whole rounds.
typedef struct {
    long long element, count, in_rounds;
} Own;

static Own own_element(const ShapeView *v, long long i, long long deep) {
    const long long thread = i % v->threads, count = (v->count - thread + v->threads - 1) / v->threads;
    return (Own){.element = i / v->threads, .count = count, .in_rounds = count / deep * deep};
}

// Rounds begin one element apart, up to the last whole one; the rest begins where they end.
static long long rounds_old_stride(const ShapeView *v, long long i, long long deep) {
    const Own own = own_element(v, i, deep);
    const long long rounds = own.count >= deep ? own.count - deep + 1 : 0;
    const long long first = own.element >= deep ? own.element - deep + 1 : 0;
    const long long last = at_most(own.element, rounds - 1);
    return (last >= first ? last - first + 1 : 0) + (own.element >= rounds);
}

// The sums of a round in the mask `kept` are added to the result; the rest is added to the first.
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

static long long rest_but_first_lost(const ShapeView *v, long long i, long long deep) {
    const Own own = own_element(v, i, deep);
    return own.element <= own.in_rounds;
}

SHAPE(rest_of_4_but_first_lost) { return rest_but_first_lost(v, i, 4); }
SHAPE(rest_of_8_but_first_lost) { return rest_but_first_lost(v, i, 8); }

// Rounds that are counted for the whole grid: each thread takes `deep` elements in each of them.
static long long whole_rounds(const ShapeView *v, long long deep) {
    return v->count / (deep * v->threads) * (deep * v->threads);
}
#define GRID_ROUNDS(deep)                                                                                    \
    SHAPE(rest_of_grid_##deep##_lost) { return i < whole_rounds(v, deep); }                                  \
    SHAPE(rest_of_grid_##deep##_but_first_lost) { return i < whole_rounds(v, deep) + v->threads; }
SHAPE(rest_of_grid_2_lost) { return i < whole_rounds(v, 2); }
GRID_ROUNDS(4)
GRID_ROUNDS(8)
GRID_ROUNDS(16)

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

// Common test sizes as a constant bound of the loop.
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

static const ErrorShape shapes[] = {
    {"stride-of-a-block", stride_of_a_block,
     "Elements are added once by every block that starts before them: the more blocks, the more often."},
    {"two-a-round-old-stride", two_a_round_old_stride,
     "The elements after the first round of the grid are counted twice."},
    {"four-a-round-old-stride", four_a_round_old_stride,
     "The elements after the first round of the grid are counted several times, up to four times."},
    {"two-groups-old-stride", two_groups_old_stride,
     "The groups of 4 after the first round of the grid are counted twice."},
    {"every-fourth-round-only", every_fourth_round_only,
     "Three out of four rounds of the grid are left out."},
    {"every-fourth-round-of-groups-only", every_fourth_round_of_groups_only,
     "Three out of four rounds of the grid over the groups are left out."},
    {"rounds-of-4-old-stride", rounds_of_4_old_stride,
     "Each thread's rounds of 4 elements begin only one of its elements apart, so elements are counted up to "
     "four times."},
    {"rounds-of-8-old-stride", rounds_of_8_old_stride,
     "Each thread's rounds of 8 elements begin only one of its elements apart, so elements are counted up to "
     "eight times."},
    {"rest-of-2-lost", rest_of_2_lost, "The elements of each thread after its whole pairs are missing."},
    {"rest-of-4-lost", rest_of_4_lost,
     "The elements after the whole rounds, in which each thread takes 4, are missing."},
    {"rest-of-8-lost", rest_of_8_lost,
     "The elements after the whole rounds, in which each thread takes 8, are missing."},
    {"rest-but-first-lost", rest_of_4_but_first_lost,
     "After its whole rounds of 4 elements, each thread adds only the first of its remaining elements."},
    {"rest-but-first-lost", rest_of_8_but_first_lost,
     "After its whole rounds of 8 elements, each thread adds only the first of its remaining elements."},
    {"rest-of-grid-lost", rest_of_grid_2_lost,
     "The elements after the last whole round, in which each thread takes 2, are missing."},
    {"rest-of-grid-lost", rest_of_grid_4_lost,
     "The elements after the last whole round, in which each thread takes 4, are missing."},
    {"rest-of-grid-lost", rest_of_grid_8_lost,
     "The elements after the last whole round, in which each thread takes 8, are missing."},
    {"rest-of-grid-lost", rest_of_grid_16_lost,
     "The elements after the last whole round, in which each thread takes 16, are missing."},
    {"rest-but-first-lost", rest_of_grid_4_but_first_lost,
     "After the last whole round, in which each thread takes 4 elements, each thread adds only its first."},
    {"rest-but-first-lost", rest_of_grid_8_but_first_lost,
     "After the last whole round, in which each thread takes 8 elements, each thread adds only its first."},
    {"rest-but-first-lost", rest_of_grid_16_but_first_lost,
     "After the last whole round, in which each thread takes 16 elements, each thread adds only its first."},
    {"first-of-2-sums-only", first_of_2_sums_only,
     "Only the first of each thread's 2 sums is in the result."},
    {"first-of-4-sums-only", first_of_4_sums_only,
     "Only the first of each thread's 4 sums is in the result."},
    {"half-of-4-sums-only", half_of_4_sums_only,
     "Only the first 2 of each thread's 4 sums are in the result."},
    {"even-of-4-sums-only", even_of_4_sums_only,
     "Only sums 0 and 2 of each thread's sums 0 to 3 are in the result."},
    {"last-of-4-sums-lost", last_of_4_sums_lost, "The last of each thread's 4 sums is not in the result."},
    {"even-of-8-sums-only", even_of_8_sums_only,
     "Only sums 0, 2, 4 and 6 of each thread's sums 0 to 7 are in the result."},
    {"pairs-of-8-sums-only", pairs_of_8_sums_only,
     "Only sums 0, 1, 4 and 5 of each thread's sums 0 to 7 are in the result."},
    {"last-of-8-sums-lost", last_of_8_sums_lost, "The last of each thread's 8 sums is not in the result."},
    {"first-of-8-sums-only", first_of_8_sums_only,
     "Only the first of each thread's 8 sums is in the result."},
    {"half-of-8-sums-only", half_of_8_sums_only,
     "Only the first 4 of each thread's 8 sums are in the result."},
    {"fixed-size", fixed_256, "Only the first 256 elements are added, whatever n is."},
    {"fixed-size", fixed_1000, "Only the first 1,000 elements are added, whatever n is."},
    {"fixed-size", fixed_1024, "Only the first 1,024 elements are added, whatever n is."},
    {"fixed-size", fixed_4096, "Only the first 4,096 elements are added, whatever n is."},
    {"fixed-size", fixed_65536, "Only the first 65,536 elements are added, whatever n is."},
    {"fixed-size", fixed_1048576, "Only the first 1,048,576 elements are added, whatever n is."},
};
const ShapeGroup shapes_of_rounds = SHAPE_GROUP(shapes);
