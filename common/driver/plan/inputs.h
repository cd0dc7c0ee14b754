// The inputs: families of values, each of which reveals certain mistakes. The same seed gives the same values
// on every machine, in any order of generation.
#pragma once

#include "driver/plan/chapter.h"

// "integers", "one NaN": for the page; "integers", "nan": for JSON.
// `has_several`: several sums, or elements that are results, each have their own special values.
const char *family_words(Family family, bool has_several);
const char *family_name(Family family);
// Whether there are such values of that type.
bool family_suits(Family family, ElementType type);
// Whether it is made row by row, for EXPECT_ROWS.
bool family_is_of_rows(Family family);

// Fills `count` elements. `terms` is the length of the sums that the elements go into (n, or the columns of a
// row): the integers are so small that any `terms` of them add up to at most 2^24 in magnitude. `stream`
// distinguishes the buffers of one case.
void fill_inputs(void *array, ElementType type, long long count, long long terms, Family family,
                 uint64_t seed, unsigned stream);

// Makes whole stretches of a long array zero, with other values before and after them: a zero does not tell
// what follows. Of sums, which no missing zero changes, it would hide mistakes.
void place_zeros(void *array, ElementType type, long long count, uint64_t seed, unsigned stream);

// The largest magnitude in the integer family for sums of that many terms.
long long integer_range(long long terms);

// 64 random bits that depend on nothing but the three numbers.
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);
