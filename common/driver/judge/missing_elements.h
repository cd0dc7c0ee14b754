// Finds from a wrong sum of distinct whole numbers which elements are missing or were counted twice.
//
// A claim is made only when chance could hardly produce it: the values are uniform in [-range, range] without
// 0, so that one candidate fits by accident with a probability of about 1 in 2 * range; with fewer than
// `range / 25` candidates in all, a wrong claim is rarer than 1 in 50.
#pragma once

#include "driver/plan/chapter.h"

// What a sum that is off by `difference` (expected minus got, whole numbers) tells about the elements that
// were left out or counted twice, as a sentence in `words`; "" when the numbers allow no such claim.
void explain_difference(const void *array, ElementType type, long long count, long long range,
                        double expected, double got, const CaseShape *shape, char *words, size_t bytes);
