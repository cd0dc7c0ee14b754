// Whether the last element of an array that is too large to run is left out.
//
// A number of 32 bits or a float that holds the end of the array loses its last few elements or takes others
// in their place. The sample does not show that: all its blocks do their share. So, if none of them reaches
// the last element, the blocks that should are found and run. Which these are follows from what the first
// block reaches, and it is a rule only if it holds at a small size too, where the kernel is known to be
// right.
#pragma once

#include "driver/judge/large_case.h"

// Judges a case that passes so far, and whose sample does not reach the last element, again. False: the
// runner is lost, and the report is as before.
bool large_end_judge(const Task *task, const CaseShape *shape, const ImageKernel kernels[], uint64_t seed,
                     Runner *runner, const LargeCase *large, CaseReport *report);
