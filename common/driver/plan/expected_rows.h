// What the rows of EXPECT_ROWS should be, and which numbers are near enough.
#pragma once

#include "driver/plan/chapter.h"

// One row of the task: `columns` values and bounds, zeroed before. `others`: the INPUTs beside the task's
// input, as numbers. `chain`: longest_chain().
void expect_row(const Task *task, long long columns, double chain, const double *row,
                const double *const others[MAX_ROW_OTHERS], double *values, double *bounds);

// All rows of a case; both arrays are zeroed before. False when memory ran out.
bool expect_rows(const Task *task, const CaseShape *shape, double chain,
                 const void *const inputs[MAX_BUFFERS], const long long counts[MAX_BUFFERS], double *values,
                 double *bounds);

// Whether `got` is some number at most `bound` from `value`, rounded to `type`; any NaN for a NaN. Rounding
// keeps the order of numbers, so that these are the ones between the two ends, each rounded.
bool is_near(ElementType type, double value, double bound, double got);
// How far from `value` such a number is at most.
double farthest_near(ElementType type, double value, double bound);
