// The program's device code: its fat binaries, kernels and variables, as the program registers them before
// main.
#pragma once

#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "emulator/emulator.h"
#include "runtime/allocation.h"

// A kernel of one device as the host knows it: by the address of its stub.
typedef struct Function {
    const void *stub;
    char *name; // in the PTX
    struct Binary *binary;
    int device;
    struct Function *elsewhere;   // the same kernel of another device; NULL: of no other, so far
    const EmulatorKernel *kernel; // NULL until its binary is loaded
    int dynamic_shared;           // the most that cudaFuncSetAttribute allowed; 0: the device's default
    int carveout;
    bool is_non_portable_cluster;
} Function;

// The current device's kernel of a stub, or the kernel of the handle that such a call has returned, ready to
// run. On failure NULL, and the reason in `error`; what is wrong with the PTX is reported.
Function *module_function(const void *stub, cudaError_t *error);
// The same by the kernel and its device, for a launch that a kernel asks for. NULL: the host has no stub of
// it.
Function *module_function_of(const EmulatorKernel *kernel, int device);
// The current device's variable that a host symbol stands for; a managed one is that of all devices.
Allocation *module_variable(const void *symbol, cudaError_t *error);
