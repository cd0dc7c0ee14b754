// What a test gives the fake Gpu: its kernels.
#ifndef WARPBOOK_FAKE_GPU_H
#define WARPBOOK_FAKE_GPU_H

#include "gpu/gpu.h"

typedef struct {
    const char *name;
    const char *parameters; // "ppl": a letter each, 'p' pointer, 'l' long long, 'i' int
    // Runs the whole grid. A finding whose kind is set is reported; one that is fatal stops the launch.
    void (*run)(const GpuLaunch *launch, EmulatorResult *result, Finding *finding);
} FakeKernel;

extern const FakeKernel fake_kernels[]; // ends with a NULL name

// Whether this process opened the fake as a GPU.
extern bool is_fake_gpu;

#endif
