// What the wrong elements of EXPECT_ROWS have in common.
#pragma once

#include "driver/plan/expected.h"

// Which rows and columns are wrong, and of the first wrong row: whether all its elements are wrong by one
// factor, and what they add up to if they should add up to 1. Facts only.
void explain_wrong_rows(const Expected *expected, const void *output, ElementType type, char *why,
                        size_t bytes);
