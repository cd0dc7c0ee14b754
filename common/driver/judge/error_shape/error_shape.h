// Which elements a wrong sum left out or added too often, found from the exact integers of the inputs.
//
// A shape is a hypothesis such as "in every 32 elements the last 16 are left out". It predicts how often
// every element is added, so its sum is known to the bit for every case. A shape is named only if it explains
// every wrong sum of whole numbers and predicts that the correct ones are correct.
#pragma once

#include <stdint.h>

#include "driver/plan/chapter.h"

// A set of shapes by their numbers, one bit each. More shapes need only a larger limit.
enum { MAX_SHAPES = 192 };
typedef struct {
    uint64_t bits[MAX_SHAPES / 64];
} ShapeSet; // {0}: none
ShapeSet all_shapes(void);
ShapeSet only_shape(int shape);
bool has_shape(const ShapeSet *set, int shape);

// What a shape may depend on. `head` is the number of elements before the first multiple of 16 bytes.
typedef struct {
    long long count, head;
    long long threads, block, blocks; // of the first launch
    long long second_block;           // threads of a block of the second launch; 0: there is none
    const int *tree;                  // see tree_weights(); `block` entries
} ShapeView;

typedef struct {
    const char *name;                                   // "every-second-lost": for the catalogue of mistakes
    long long (*times)(const ShapeView *, long long i); // how often element i is added; 1 is right
    const char *words;                                  // one sentence for people
} ErrorShape;

// Number `shape`, from 0. If several match, the words of the first are used.
const ErrorShape *error_shape(int shape);
int error_shape_count(void);

// The shapes of `candidates` that predict exactly the sum `got` in place of `expected` for these elements.
// `misalignment` is the base's, in bytes.
ShapeSet shapes_that_fit(ShapeSet candidates, const void *array, ElementType type, long long count,
                         unsigned misalignment, const CaseShape *shape, double expected, double got);
