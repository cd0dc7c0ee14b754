// An array of texels, as programs hold it.
#pragma once

#include <cuda_runtime_api.h>

#include "emulator/texture.h"
#include "runtime/copy.h"

struct cudaArray {
    Allocation *memory;
    EmulatorTexels texels;
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent;
    unsigned flags;
};

// One side of a copy of slices: an array, whose positions count texels, or memory, whose positions count
// bytes.
typedef struct {
    char *start;
    size_t pitch, slice, unit; // `unit` bytes of a position along a row
} ArraySide;
ArraySide array_side(cudaArray_const_t array, struct cudaPitchedPtr memory, struct cudaPos at);
// What cudaMemcpy3D copies.
Copy array_copy(const struct cudaMemcpy3DParms *p, const char *call);
