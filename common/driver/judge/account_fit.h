// Where the stretches of elements that results lack, or have too often, begin and end: as formulas of n and
// of the launch that hold for accounts of several sizes.
#pragma once

#include "driver/judge/account.h"
#include "support/text.h"

enum { FIT_LEAST = 3, FIT_MOST = 5 }; // accounts that a formula needs, and that are taken

typedef struct {
    long long n;
    ShapeOfLaunch launch;
    CountedStretch stretch;
} FitPoint;

typedef struct {
    int begin, end; // numbers of formulas
} StretchFit;

// The simplest formulas that give the stretches of all accounts. False: none do, or they say nothing.
bool account_fit(const FitPoint *points, int count, StretchFit *fit);
// The elements that they name for another size.
long long account_fit_count(const StretchFit *fit, long long n, const ShapeOfLaunch *launch);
// "elements n % 4 to n - n % 4 - 1"
void account_fit_say(const StretchFit *fit, Text *words);
