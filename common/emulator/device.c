// A device from its opening to its end.
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"
#include "emulator/machine/heap.h"
#include "emulator/objects.h"

enum { DEFAULT_HEAP = 8 << 20 }; // CUDA C++ Programming Guide, dynamic global memory allocation

// NVIDIA H200: what cuDeviceGetAttribute answers on one (compute capability 9.0).
const EmulatorDevice emulator_h200 = {
    .name = "H200",
    .compute_major = 9,
    .compute_minor = 0,
    .sm_count = 132,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 2048,
    .max_blocks_per_sm = 32,
    .registers_per_sm = 65536,
    .registers_per_block = 65536,
    .registers_per_thread = 255,
    .shared_per_sm = 228 << 10,
    .shared_per_block = 48 << 10,
    .shared_per_block_optin = 227 << 10,
    .shared_reserved_per_block = 1 << 10,
    .max_grid = {2147483647, 65535, 65535},
    .max_block = {1024, 1024, 64},
    .clock_khz = 1980000,
    .global_bytes = (size_t)141 << 30,
};

uint64_t workspace_new(Emulator *e) {
    const uint64_t index =
        object_new(e, PTX_SPACE_GLOBAL, WORKSPACE_BYTES, 0, "the grid barrier's workspace", false, NULL);
    if (!index) return 0;
    memset(e->objects[index].data, 0, WORKSPACE_BYTES);
    return e->objects[index].base;
}

Emulator *emulator_open(const EmulatorDevice *device) {
    Emulator *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->device = device ? *device : emulator_h200;
    e->object_count = e->first_object = FIRST_OBJECT;
    e->heap_bytes = DEFAULT_HEAP;
    e->object_capacity = 64;
    e->objects = calloc(e->object_capacity, sizeof *e->objects);
    e->workspace = e->objects ? workspace_new(e) : 0;
    if (e->workspace) return e;
    emulator_close(e);
    return NULL;
}

void emulator_close(Emulator *e) {
    if (!e) return;
    while (e->images) emulator_remove_image(e->images);
    for (uint64_t i = FIRST_OBJECT; i < e->object_count && e->objects; i++) object_free(&e->objects[i]);
    free(e->objects);
    free(e->textures);
    heap_close(e->heap);
    free(e);
}

const EmulatorDevice *emulator_device(const Emulator *e) { return &e->device; }
