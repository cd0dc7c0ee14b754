// What ptxas reports about a kernel, without ptxas: registers by the pressure of the PTX, and static shared
// memory.
#pragma once

#include "driver/build/outcome.h"
#include "emulator/ptx/ptx.h"

// Adds every kernel of `module` to `result`: name, registers (an estimate) and bytes of static shared memory
// (exact). False when memory runs out.
bool estimate_kernels(const PtxModule *module, CompileResult *result);
// The most bytes of static shared memory that a block may have on any device (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability").
enum { MOST_STATIC_SHARED = 48 * 1024 };
