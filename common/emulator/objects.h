// Memory objects of an emulator: what its calls, its images and its textures make them with. Internal to
// common/emulator.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/status.h"

enum { WORKSPACE_BYTES = 256 };

// Fills `error`. Always false.
bool emulator_fail(EmulatorError *error, EmulatorStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// A new memory object of `bytes` whose address is `misalignment` past the beginning of a page; its index,
// or 0. The bytes are those at `adopted`, or new ones; whether they were written is kept if `track`.
uint64_t object_new(Emulator *emulator, PtxSpace space, size_t bytes, unsigned misalignment, const char *name,
                    bool track, void *adopted);
void object_free(Memory *memory);
// The address of a new workspace for the grid barriers of a launch, or 0.
uint64_t workspace_new(Emulator *emulator);
// Makes the heap of malloc() in kernels; false when memory ran out.
bool heap_open(Emulator *emulator);
