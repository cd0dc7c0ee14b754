// Statistics of timing samples: their median, its uncertainty, and the comparison of two kernels.
#pragma once

#include <stdbool.h>

// The middle value; the mean of the two middle ones of an even count. 0 of none. The array stays as it is.
double median_of(const double *values, int count);

// The standard error of the mean as a share of the mean: s / (sqrt(n) * mean). Infinite below two values.
double relative_error(const double *values, int count);

typedef struct {
    double ratio;     // median of the reference's seconds over median of the kernel's: above 1 is faster
    double low, high; // where 99.9 of 100 such ratios lie
} Comparison;

// Compares times that were taken in turn: seconds[i] and reference[i] belong together, so that what slows
// both down for a while cancels. The interval is a percentile bootstrap of pairs (B. Efron, R. Tibshirani, An
// Introduction to the Bootstrap, 1993, chapters 8 and 13) with a generator of fixed seed, widened by what the
// clock cannot tell apart. False without samples or memory.
bool compare_times(const double *seconds, const double *reference, int count, Comparison *comparison);

// At least `least` samples, then until the mean of both is known to 0.2 %, or time is up.
typedef struct {
    int least, most;
    double error;   // relative, of the mean
    double seconds; // for all of it
} StopRule;
extern const StopRule usual_stop_rule;

// Whether enough was sampled; `reference` may be NULL. `elapsed` is in seconds since the first sample.
bool is_enough(const StopRule *rule, const double *seconds, const double *reference, int count,
               double elapsed);
