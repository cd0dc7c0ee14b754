// What the wrong elements of a scan have in common.
#pragma once

#include "driver/plan/expected.h"

// Fills `why`: which elements are wrong and, if the inputs are exact in any order, by which rule.
void explain_wrong_scan(const Expected *expected, const void *scan, ElementType type, Family family,
                        char *why, size_t bytes);
