// Some of n elements, in words: a stretch, a remainder, or a list. A rule is stated if no element contradicts
// it.
#pragma once

#include "driver/plan/chapter.h"

typedef struct {
    const unsigned char *kinds; // of all elements
    long long n;
    unsigned wanted; // which of them belong to it, as bits
    const ShapeOfLaunch *launch;
    long long columns; // of a matrix, or the length of its rows; 0: there is none
} Subset;

bool subset_has(const Subset *subset, long long i);
long long subset_count(const Subset *subset);
// "all elements", "elements 5 to 9", "elements 4k + 3", "of every 64 elements those from 32 to 63",
// "17 elements: 3, 9, 12, 40, 41, 60 ..."; "" if there are none. Returns how many.
long long subset_describe(const Subset *subset, char *words, size_t bytes);
