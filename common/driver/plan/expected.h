// What a case's outputs should be, computed on the host from the inputs, and how far rounding may move them.
#pragma once

#include "driver/plan/chapter.h"

// A sum in double precision with compensation (A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
// Summation endlicher Summen", ZAMM 54, 1974): its error is about 2^-53 |sum| + n^2 2^-106 sum|x|, far below
// any budget used here. NaN and infinities come out as any order of additions would give them.
typedef struct {
    double sum;
    double magnitude; // sum of |x| over the finite elements
} ExactSum;
ExactSum exact_sum(const void *array, ElementType type, long long start, long long count);

// h: the longest chain of additions, from the task's .chain and the shapes.
double longest_chain(const Task *task, const CaseShape *shape);

// gamma_h * magnitude + u |sum| with u = 2^-24 for float, 2^-53 for double, 2^-8 for bfloat16; 0 for integers
// (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 4.2, equation 4.4).
double error_budget(ElementType type, double chain, double magnitude, double sum);

// What every element of the task's .output should be. For EXPECT_SUM `count` is 1: the sum over all partials.
typedef struct {
    bool is_one_sum; // EXPECT_SUM
    long long count;
    double *values; // NULL for EXPECT_TABLE, and if each value depends on single inputs (EXPECT_ELEMENTWISE,
                    // EXPECT_TRANSPOSE): expected_value()
    void *tables[MAX_BUFFERS]; // EXPECT_TABLE: the right content of outputs; NULL for other buffers
    uint64_t seed;             // of the case
    double *magnitudes;        // of the error budget; 0: exact. NULL: all exact
    double underflow;          // what is added to each budget that is not 0
    double *bounds;            // EXPECT_ROWS: how far the number may be off that is rounded to the output
    char error[160]; // why it could not be made (out of memory, a description that does not fit), else ""
    const Task *task;
    CaseSize size;
    const void *inputs[MAX_BUFFERS]; // the caller's
} Expected;

// `inputs` are the host copies of the task's buffers, by index, NULL if a buffer is not an INPUT; `counts`
// the elements of all buffers. Both kinds must live as long as `expected`.
bool expected_make(const Task *task, const CaseShape *shape, const void *const inputs[MAX_BUFFERS],
                   const long long counts[MAX_BUFFERS], uint64_t seed, Expected *expected);
void expected_free(Expected *expected);

// The value of one element, before it is rounded to the output's type.
double expected_value(const Expected *expected, long long index);
// Whether an element of an exact output holds it: to the bit after one rounding, or any NaN for a NaN.
bool expected_is_met(const Expected *expected, const void *output, ElementType type, long long index);
// Whether all do, checked on all cores.
bool expected_are_all_met(const Expected *expected, const void *output, ElementType type);
