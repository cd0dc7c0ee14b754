// Whether the loads of a kernel are in a loop, and what else is in it.
#pragma once

#include "driver/judge/state.h"

// By the PTX of the kernel of that launch, and by what its lines counted. *meeting: the line of kernel.cu in
// which lanes or warps meet in the loop with most loads; 0: in none, or unknown. *unsigned_test: the line
// that compares an unsigned sum before each load of that loop, if it has no store, no exchange and no other
// test.
LoopLoads loop_loads_find(const Judge *judge, int task, int launch, int *meeting, int *unsigned_test);
