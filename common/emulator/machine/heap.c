#include "emulator/machine/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/initialised.h"

// ---- What lies where --------------------------------------------------------------------------------------

const HeapAllocation *heap_allocation(const Heap *heap, uint64_t offset) {
    const uint32_t owner = offset < heap->bytes ? heap->owner[offset / HEAP_UNIT] : 0;
    return owner ? &heap->allocations[owner - 1] : NULL;
}

bool heap_owns(const Heap *heap, uint64_t offset, uint64_t bytes) {
    const HeapAllocation *a = heap_allocation(heap, offset);
    return a && !a->is_free && offset >= a->offset && offset + bytes <= (uint64_t)a->offset + a->bytes;
}

static uint32_t room_of(uint64_t bytes) {
    return (uint32_t)((bytes + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT + HEAP_GAP);
}

// A free stretch of `room` bytes, looked for from the end of the last allocation on, so that what was freed
// stays recognisable for as long as possible; UINT32_MAX: there is none.
static uint32_t find_room(const Heap *heap, uint32_t room) {
    for (int pass = 0; pass < 2; pass++) {
        uint32_t start = pass ? 0 : heap->next;
        for (uint32_t at = start; at < heap->bytes && at - start < room;) {
            const HeapAllocation *a = heap_allocation(heap, at);
            const bool is_taken = a && !a->is_free;
            at = is_taken ? a->offset + room_of(a->bytes) : at + HEAP_UNIT;
            if (is_taken) start = at;
        }
        if (start <= heap->bytes && heap->bytes - start >= room) return start;
    }
    return UINT32_MAX;
}

static HeapAllocation *new_allocation(Heap *heap) {
    if (heap->count == heap->capacity) {
        const uint32_t capacity = heap->capacity ? 2 * heap->capacity : 64;
        HeapAllocation *grown = realloc(heap->allocations, capacity * sizeof *grown);
        if (!grown) return NULL;
        heap->allocations = grown;
        heap->capacity = capacity;
    }
    return &heap->allocations[heap->count++];
}

// ---- malloc() and free() ----------------------------------------------------------------------------------

uint64_t heap_malloc(Machine *m, const Instruction *in, uint64_t bytes) {
    Heap *heap = m->emulator->heap;
    if (!heap || !bytes || bytes > heap->bytes) return 0;
    const uint32_t room = room_of(bytes), offset = find_room(heap, room);
    HeapAllocation *a = offset == UINT32_MAX ? NULL : new_allocation(heap);
    if (!a) return 0;
    *a = (HeapAllocation){.offset = offset, .bytes = (uint32_t)bytes, .number = in->number, .made = m};
    for (uint32_t unit = 0; unit < room / HEAP_UNIT; unit++)
        heap->owner[offset / HEAP_UNIT + unit] = heap->count;
    heap->next = offset + room;
    Memory *memory = &m->emulator->objects[heap->object];
    mark_undefined(memory, offset, bytes);
    return memory->base + offset;
}

void heap_release(Machine *m, const Warp *w, int lane, const Instruction *in, uint64_t address) {
    Heap *heap = m->emulator->heap;
    if (!address) return;
    const uint64_t base = heap ? m->emulator->objects[heap->object].base : 0, offset = address - base;
    const HeapAllocation *found = heap && address >= base ? heap_allocation(heap, offset) : NULL;
    if (!found || found->offset != offset) {
        report(m, FINDING_BAD_FREE, w, lane, in, "frees 0x%llx, which malloc() in a kernel did not return",
               (unsigned long long)address);
        return;
    }
    if (found->is_free) {
        report(m, FINDING_BAD_FREE, w, lane, in, "frees an allocation of %u bytes that is free already",
               found->bytes);
        return;
    }
    heap->allocations[heap->owner[offset / HEAP_UNIT] - 1].is_free = true;
}

void heap_report_leaks(Machine *m) {
    Heap *heap = m->emulator->heap;
    for (uint32_t i = 0; heap && i < heap->count; i++) {
        HeapAllocation *a = &heap->allocations[i];
        if (a->made != m) continue;
        a->made = NULL;
        if (a->is_free || m->stopped) continue;
        Finding *f = add_finding(m, FINDING_LEAK, NULL, -1, m->program->by_number[a->number], NULL, false);
        if (f)
            snprintf(f->message, sizeof f->message,
                     "%u bytes that malloc() returned here are not freed when the kernel ends", a->bytes);
    }
}

void heap_close(Heap *heap) {
    if (!heap) return;
    free(heap->owner);
    free(heap->allocations);
    free(heap);
}
