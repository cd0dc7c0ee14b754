// Whether the last element of an array that is too large to run is left out.
//
// A number of 32 bits or a float that holds the end of the array loses its last few elements or takes others
// in their place. The sample of large_case.h does not show that: all its blocks do their share. So, at a size
// with a few elements after the last whole round of the grid, the first block runs. If it does not reach the
// last element, the last block and the one that should reach it run, too. Which one that is follows from what
// the first block reaches, and it is a rule only if it holds at a small size too, where the kernel is known
// to be right.
#pragma once

#include "driver/judge/state.h"

// Judges a large case, which passes so far, at size `n`. A report that fails is then that of a case of this
// size. False: the runner is lost, and the report is as before.
bool large_end_judge(const Judge *judge, long long n, const ImageKernel kernels[], Runner *runner,
                     CaseReport *report);
// Whether the first or the last block of a launch of this shape reaches the last element. `report` has what
// their run took.
bool large_ends_reach(const Task *task, const CaseShape *shape, const ImageKernel kernels[], uint64_t seed,
                      Runner *runner, bool *is_lost, CaseReport *report);
