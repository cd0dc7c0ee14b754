// What the outputs of a scan hold besides the elements that they should, or in place of them, and its words.
#pragma once

#include "driver/judge/judgement.h"
#include "driver/plan/chapter.h"

typedef enum { SCAN_RIGHT, SCAN_UNWRITTEN, SCAN_LACKING, SCAN_ADDING, SCAN_MIXED, SCAN_KINDS } ScanKind;

// `times` the elements from `first` to `first + count - 1`, too many or, if it is negative, too few.
typedef struct {
    long long first, count;
    int times;
} Stretch;

typedef struct {
    long long n; // elements, and outputs
    bool is_exclusive;
    unsigned char *kinds;     // ScanKind of each output: SCAN_UNWRITTEN, or not yet known
    Stretch *stretches;       // of each output; NULL: `differences` instead
    signed char *differences; // how often an output holds each element, less how often it should
    const ShapeOfLaunch *launch;
} ScanDifferences;

// How many elements belong to an output.
static inline long long scan_own_count(const ScanDifferences *scan, long long i) {
    return i + (scan->is_exclusive ? 0 : 1);
}

// How often output i holds element j, less how often it should.
static inline int scan_difference(const ScanDifferences *scan, long long i, long long j) {
    if (scan->differences) return scan->differences[i * scan->n + j];
    if (!scan->stretches) return 0;
    const Stretch *stretch = &scan->stretches[i];
    return j >= stretch->first && j < stretch->first + stretch->count ? stretch->times : 0;
}

// Fills `kinds`, and `out` with a rule for the outputs of each kind or with two examples; false if all are
// right.
bool scan_differences_say(ScanDifferences *scan, Accounting *out);
