// The inputs: thirteen families of values, each of which reveals certain mistakes. The same seed gives the
// same values on every machine, in any order of generation.
#pragma once

#include "driver/plan/chapter.h"

typedef enum {
    FAMILY_INTEGERS,   // integers, sum of magnitudes at most 2^24: every order of float additions is exact
    FAMILY_ONES,       // and one half in every sum
    FAMILY_CONSTANTS,  // one value that is not a power of two, and one other in every sum
    FAMILY_UNIFORM,    // in [-1, 1)
    FAMILY_NORMAL,     // mean 4, standard deviation 1
    FAMILY_CANCELLING, // large values that cancel with their neighbours, small ones between
    FAMILY_TEN_ORDERS, // magnitudes from 1e-5 to 1e5, both signs
    FAMILY_NAN,        // uniform, with one NaN
    FAMILY_INFINITY,   // uniform, with +Inf first, last and at one place between
    FAMILY_INFINITIES, // uniform, with one +Inf and one -Inf: their sum is a NaN
    FAMILY_NEGATIVE_ZEROS, // and one 1 in every sum
    FAMILY_SUBNORMALS,
    FAMILY_HUGE, // uniform, with one value in every sum of which twice as much is infinite
    FAMILIES,
} Family;

// "integers", "one NaN": for the page; "integers", "nan": for JSON.
const char *family_words(Family family);
const char *family_name(Family family);

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
