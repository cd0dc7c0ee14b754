// Kernels that launch kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"): the functions of the
// runtime for device code that nvcc makes launches of. A thread asks for a buffer for the parameters, stores
// them there and launches; EmulatorLaunch.child receives the launch. A kernel cannot wait for what it
// launches.
#pragma once

#include "emulator/machine/machine.h"

// The call `in` of such a function, by the lanes `mask`.
void execute_child_call(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in,
                        uint32_t mask);
// At the end of a launch.
void children_close(Machine *machine);
