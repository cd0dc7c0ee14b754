// Matrix products: EXPECT_PRODUCT. The left matrix has rows x depth elements, the right one depth x columns,
// and their product rows x columns, all of them floats, row after row.
#pragma once

#include "driver/plan/chapter.h"

// The INPUT that is the right matrix, by index: the one after the left, which is the task's input; -1: none.
int product_right(const Task *task);

// Every element of the product in double precision, whose error is far below any budget used here: its
// relative part is 2^-53 for each of `depth` products. `magnitudes` gets the sum of the products' magnitudes;
// 0 where no order of operations rounds in float, and where the element is not finite.
void product_of(const CaseSize *size, const float *left, const float *right, double *values,
                double *magnitudes);

// What products that are subnormal lose at most, in all: half of float's smallest number each.
double product_underflow(const CaseSize *size);

// Makes some of the finite elements of an input zero: 0 times an infinity is a NaN, and no product may be
// left out.
void product_place_zeros(float *matrix, long long count, uint64_t seed, unsigned stream);

// The number of terms for which whole numbers are made (inputs.h), so that `depth` products of two of them
// add up to at most 2^24.
long long product_terms(long long depth);
