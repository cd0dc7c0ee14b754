// Atomic additions of floats, whose order is that in which they arrive.
#pragma once

#include "driver/judge/state.h"

// The only line of kernel.cu in which a task's kernels add floats atomically; 0: there is none, there are
// several, or it is unknown.
int line_of_float_atomics(Judge *judge, int task);
