// At which elements the stretches begin and end that results lack, or have too often: as formulas of n
// and of the launch that hold for accounts of several sizes.
#pragma once

#include "driver/judge/account.h"
#include "support/text.h"

enum { FIT_LEAST = 3, FIT_MOST = 6 }; // accounts that a formula needs, and that are taken

typedef struct {
    long long n;
    ShapeOfLaunch launch;
    CountedStretch stretch;
} FitPoint;

typedef struct {
    int begin, end; // numbers of formulas
} StretchFit;

// The next formulas that give the stretches of all accounts, the simplest ones first: begin with
// NO_STRETCH_FIT. False: none are left.
#define NO_STRETCH_FIT ((StretchFit){-1, -1})
bool account_fit(const FitPoint *points, int count, StretchFit *fit);
// Whether they name all elements, of any size.
bool account_fit_is_all(const StretchFit *fit);
// The elements that they name for another size.
long long account_fit_count(const StretchFit *fit, long long n, const ShapeOfLaunch *launch);
// "elements n % 4 to n - n % 4 - 1"
void account_fit_say(const StretchFit *fit, Text *words);
