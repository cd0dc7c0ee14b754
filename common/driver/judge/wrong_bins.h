// What a wrong histogram says by itself: how many elements its bins count, and which bins are wrong.
#pragma once

#include "driver/plan/expected.h"

// `bins`: the output of `type`, of which at least one is wrong. `n`: elements of the input.
void explain_wrong_bins(const Expected *expected, const void *bins, ElementType type, long long n, char *why,
                        size_t bytes);
