// What a wrong histogram says by itself: how many elements its bins count, and which bins are wrong.
#pragma once

#include "driver/plan/expected.h"

// `bins`: the output of `type`, of which at least one is wrong. `n`: elements of the input.
void explain_wrong_bins(const Expected *expected, const void *bins, ElementType type, long long n, char *why,
                        size_t bytes);

// The bits of the counters with which every wrong bin is explained, 8 or 16: one that overflows begins at 0
// again, and *carry: adds 1 to the next one in its word. 0: neither explains them.
int wrong_bins_counter_bits(const Expected *expected, const void *bins, ElementType type, bool *carry);
