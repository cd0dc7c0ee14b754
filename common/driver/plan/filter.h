// Weighted sums of the elements around a place of an image: EXPECT_FILTER.
#pragma once

#include "driver/plan/chapter.h"

// The value at one place, in double precision, whose error is far below any budget used here: its relative
// part is 2^-53 for each of at most 225 products.
typedef struct {
    double value;
    double magnitude; // the sum of the products' magnitudes; 0 if no order of operations rounds in float
} FilterSum;

// Where the image comes from: all of it, or a part that repeats.
typedef struct {
    const void *image;
    ElementType type;
    long long rows, columns;
    long long period; // elements after which the image repeats; its size or more: never
} FilterImage;

typedef struct {
    int radius;
    double weights[(2 * MAX_FILTER_RADIUS + 1) * (2 * MAX_FILTER_RADIUS + 1)]; // row by row
    bool counts[(2 * MAX_FILTER_RADIUS + 1) * (2 * MAX_FILTER_RADIUS + 1)];    // whether there is one
    int taps;                                                                  // so many are there
    double unit; // the largest power of two that divides every weight
} FilterWeights;

// The weights of a task: fixed, or those that `coefficients` holds (a host copy of the INPUT that it names).
void filter_weights(const Task *task, const void *coefficients, FilterWeights *weights);
// The INPUT with the coefficients, by index; -1: they are fixed.
int filter_coefficients(const Task *task);
int filter_taps(const Task *task);

// `unit`: a power of two that divides every element of the image; 0 if that is not known, so that nothing is
// taken for exact.
FilterSum filter_at(const FilterWeights *weights, const FilterImage *image, double unit, long long row,
                    long long column);
// The largest power of two up to 1 that divides all `count` elements, down to 2^-40; 0: there is none.
double filter_unit(const void *array, ElementType type, long long count);

// How many terms the whole numbers of the image are made for, so that no order of operations rounds if
// coefficients are multiples of 1/16 from -1 to 1.
long long filter_terms(const Task *task);

// What products that are subnormal lose at most, in all: half of float's smallest number each.
double filter_underflow(const Task *task);
