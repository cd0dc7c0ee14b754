// The heap of malloc() and free() in device code. It lasts as long as the device; so do its allocations.
#pragma once

#include "emulator/machine/machine.h"

enum {
    HEAP_UNIT = 16,
    HEAP_GAP = 16
}; // every allocation begins at a multiple of the first; the second follows it

typedef struct {
    uint32_t offset, bytes;
    int32_t number;      // of the instruction that called malloc()
    const Machine *made; // the launch, while it lasts
    bool is_free;
} HeapAllocation;

typedef struct Heap {
    uint64_t object; // its index among the emulator's
    uint32_t bytes, next;
    uint32_t *owner; // of each unit: the allocation that has or last had it, from 1; 0: none yet
    HeapAllocation *allocations;
    uint32_t count, capacity;
} Heap;

// The allocation that has or last had that byte; NULL: none.
const HeapAllocation *heap_allocation(const Heap *heap, uint64_t offset);
// True if all of the bytes belong to one allocation that is not free.
bool heap_owns(const Heap *heap, uint64_t offset, uint64_t bytes);
// For one lane. malloc() gives 0 when the heap is full; free() stops the machine at an address that malloc()
// did not give or that is free already.
uint64_t heap_malloc(Machine *machine, const Instruction *in, uint64_t bytes);
void heap_release(Machine *machine, const Warp *warp, int lane, const Instruction *in, uint64_t address);
// At the end of a launch: reports what it has not freed.
void heap_report_leaks(Machine *machine);
void heap_close(Heap *heap);
