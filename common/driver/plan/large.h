// Large sizes at small cost: more elements and bytes than 32-bit numbers count, of which only a few blocks
// run.
#pragma once

#include "driver/plan/chapter.h"

// The size of a task beyond 2^31 bytes, and where its numbers allow it beyond 2^32 elements. `choice`, 1 to
// LARGE_CHOICE, is the part of it that no submission can foresee. False: the task has none.
enum { LARGE_CHOICE = 1 << 20 };
bool large_size(const Task *task, long long choice, CaseSize *size);

// The number of elements after which the work of a grid repeats: a whole number of rounds of all its threads
// with up to 64 elements each, or, if `n` has too few rounds for that, of one block.
long long large_round(uint64_t blocks, uint64_t block_threads, long long n);
// A size near `n`, below it, with a few elements, 3 to 59, after the last whole round: the first or the last
// block of most grids has them, so that two blocks show whether they are left out.
long long large_with_rest(uint64_t blocks, uint64_t block_threads, long long n, long long choice);

// A size from 2^21 to 2^24, mostly near the lower end: `choice` is from 1 to LARGE_CHOICE, any as likely as
// another.
long long drawn_size(long long choice);

// Which `most` of `blocks` to run: the first, the last, those whose elements an index that wraps would reach
// instead, random ones, and as far as there is room those around 2^31 and 2^32 bytes and elements of `bytes`
// each. In ascending order; returns how many.
int large_sample(uint64_t blocks, uint64_t block_threads, long long elements, size_t bytes, int most,
                 uint64_t seed, uint64_t sample[]);
