// Memory of a device: its objects, and the heap of malloc() in kernels.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"
#include "emulator/machine/heap.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"
#include "emulator/objects.h"
#include "emulator/observers/race_shadow.h"

bool emulator_fail(EmulatorError *error, EmulatorStatus status, const char *format, ...) {
    *error = (EmulatorError){.status = status};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

// ---- Memory -----------------------------------------------------------------------------------------------

enum { BUFFER_ALIGN = 256, MAX_OBJECTS = 1 << 20 };
enum { ROOM = 1 << 16 };  // for objects of a program; what is not used takes no memory
enum { MAX_KEPT = 4096 }; // addresses that come into use again only after so many others

// Makes room for objects up to `index`. False when memory ran out, or they would have to move while a launch
// pauses.
static bool reserve_object(Emulator *e, uint64_t index) {
    if (index >= MAX_OBJECTS) return false;
    if (index >= e->object_capacity) {
        if (e->paused) return false;
        uint64_t capacity = e->object_capacity * 2;
        while (capacity <= index) capacity *= 2;
        Memory *grown = realloc(e->objects, capacity * sizeof *grown);
        if (!grown) return false;
        e->objects = grown;
        e->object_capacity = capacity;
    }
    while (e->object_count <= index) e->objects[e->object_count++] = (Memory){0};
    return true;
}

static bool is_taken(const Emulator *e, uint64_t index) {
    return e->objects[index].in_use || e->objects[index].part_count;
}

// The index of an object that is not in use, or 0.
static uint64_t free_object(Emulator *e) {
    uint64_t index = e->next_object > e->first_object ? e->next_object : e->first_object;
    while (index < e->object_count && is_taken(e, index)) index++;
    if (e->keeps_freed && index >= e->first_object + MAX_KEPT) {
        index = e->first_object;
        while (index < e->object_count && is_taken(e, index)) index++;
    }
    if (!reserve_object(e, index)) return 0;
    if (e->keeps_freed) e->next_object = index + 1;
    return index;
}

// The address is in the middle of the object's range, so that negative indices stay in it too.
uint64_t object_new(Emulator *e, PtxSpace space, size_t bytes, unsigned misalignment, const char *name,
                    bool track, void *adopted) {
    if (bytes + misalignment > (size_t)1 << (ADDRESS_SHIFT - 1))
        return 0; // beyond half an object's range of addresses
    const uint64_t index = free_object(e);
    if (!index) return 0;
    Memory memory = {.space = space,
                     .bytes = bytes,
                     .data = adopted,
                     .in_use = true,
                     .all_initialised = !track,
                     .base = (index << ADDRESS_SHIFT) + (1ull << (ADDRESS_SHIFT - 1)) + misalignment};
    if (!adopted) {
        // Host memory has the device's misalignment, so that a value that is aligned there is aligned here.
        misalignment %= BUFFER_ALIGN;
        size_t room = (bytes + misalignment + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
        memory.allocation = aligned_alloc(BUFFER_ALIGN, room ? room : BUFFER_ALIGN);
        memory.data = memory.allocation ? (unsigned char *)memory.allocation + misalignment : NULL;
    }
    memory.initialised = track ? calloc(bytes / 64 + 1, sizeof(uint64_t)) : NULL;
    if (!memory.data || (track && !memory.initialised)) {
        free(memory.allocation);
        free(memory.initialised);
        return 0;
    }
    snprintf(memory.name, sizeof memory.name, "%s", name);
    e->objects[index] = memory;
    return index;
}

void object_free(Memory *memory) {
    free(memory->allocation);
    free(memory->initialised);
    shadow_free(memory->race);
    free(memory->parts);
    *memory = (Memory){0};
}

uint64_t emulator_allocate(Emulator *e, size_t bytes, unsigned misalignment, const char *name,
                           EmulatorError *error) {
    if (misalignment >= EMULATOR_PAGE) {
        emulator_fail(error, EMULATOR_BAD_ARGUMENT,
                      "a buffer can be misaligned by less than 2 MiB, not by %u bytes", misalignment);
        return 0;
    }
    uint64_t index =
        object_new(e, PTX_SPACE_GLOBAL, bytes, misalignment, name ? name : "a buffer", true, NULL);
    if (!index) {
        emulator_fail(error, EMULATOR_NO_MEMORY, "no memory for %s of %zu bytes", name ? name : "a buffer",
                      bytes);
        return 0;
    }
    return e->objects[index].base;
}

uint64_t emulator_adopt(Emulator *e, void *memory, size_t bytes, size_t period, const char *name,
                        EmulatorError *error) {
    const uint64_t index = object_new(e, PTX_SPACE_GLOBAL, bytes, 0, name, false, memory);
    if (!index) {
        emulator_fail(error, EMULATOR_NO_MEMORY, "no memory for %s of %zu bytes", name, bytes);
        return 0;
    }
    e->objects[index].period = period;
    e->objects[index].read_only = period != 0;
    return e->objects[index].base;
}

bool emulator_move(Emulator *e, uint64_t address, void *memory, EmulatorError *error) {
    Memory *buffer = memory_near(e, address);
    if (!buffer || buffer->base != address || !buffer->allocation)
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT, "0x%llx is not a buffer that can be moved",
                             (unsigned long long)address);
    memcpy(memory, buffer->data, buffer->bytes);
    free(buffer->allocation);
    buffer->allocation = NULL;
    buffer->data = memory;
    buffer->all_initialised = true;
    return true;
}

void emulator_leave_host_addresses(Emulator *e) {
    e->first_object = HOST_ADDRESSES >> ADDRESS_SHIFT;
    e->keeps_freed = true;
    Memory *grown = realloc(e->objects, ROOM * sizeof *grown); // so that they need not move
    if (!grown) return;
    e->objects = grown;
    e->object_capacity = ROOM;
}

// An index for an object whose addresses are not those of its index, or 0.
static uint64_t free_part(Emulator *e) {
    uint64_t index = HOST_ADDRESSES >> ADDRESS_SHIFT;
    while (index < e->object_count && is_taken(e, index)) index++;
    return reserve_object(e, index) ? index : 0;
}

// Enters object `part` among those that share range `index`. False when memory ran out.
static bool add_part(Emulator *e, uint64_t index, uint64_t part) {
    Memory *range = &e->objects[index];
    uint32_t *grown = realloc(range->parts, (range->part_count + 1) * sizeof *grown), at = range->part_count;
    if (!grown) return false;
    range->parts = grown;
    for (; at && e->objects[grown[at - 1]].base > e->objects[part].base; at--) grown[at] = grown[at - 1];
    grown[at] = (uint32_t)part;
    range->part_count++;
    return true;
}

static void remove_part(Emulator *e, uint64_t address) {
    Memory *range = &e->objects[address >> ADDRESS_SHIFT];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < range->part_count; i++)
        if (e->objects[range->parts[i]].base != address) range->parts[kept++] = range->parts[i];
    range->part_count = kept;
    if (!kept) object_free(range);
}

// Whether a part that ends at or before `address`, or begins at or after its end, is all there is.
static bool is_free_range(const Emulator *e, uint64_t address, size_t bytes) {
    const Memory *range = &e->objects[address >> ADDRESS_SHIFT];
    for (uint32_t i = 0; i < range->part_count; i++) {
        const Memory *part = &e->objects[range->parts[i]];
        if (address < part->base + part->bytes && part->base < address + bytes) return false;
    }
    return true;
}

bool emulator_adopt_at(Emulator *e, uint64_t address, void *memory, size_t bytes, const char *name,
                       EmulatorError *error) {
    const uint64_t index = address >> ADDRESS_SHIFT;
    if (index < FIRST_OBJECT || (address + bytes) >> ADDRESS_SHIFT != index)
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT, "no buffer can be at 0x%llx",
                             (unsigned long long)address);
    const uint64_t part = reserve_object(e, index) ? free_part(e) : 0;
    if (!part || e->objects[index].in_use || !is_free_range(e, address, bytes))
        return emulator_fail(error, EMULATOR_NO_MEMORY, "no addresses for %s of %zu bytes", name, bytes);
    e->objects[part] = (Memory){.space = PTX_SPACE_GLOBAL,
                                .bytes = bytes,
                                .data = memory,
                                .in_use = true,
                                .all_initialised = true,
                                .base = address};
    if (!add_part(e, index, part)) {
        e->objects[part] = (Memory){0};
        return emulator_fail(error, EMULATOR_NO_MEMORY, "no memory for %s of %zu bytes", name, bytes);
    }
    snprintf(e->objects[part].name, sizeof e->objects[part].name, "%s", name);
    return true;
}

// The object whose range holds all of [address, address + bytes); an empty range at its end counts.
static Memory *object_with(Emulator *e, uint64_t address, size_t bytes, EmulatorError *error) {
    Memory *memory = memory_near(e, address);
    if (memory) {
        uint64_t offset = address - memory->base;
        if (offset <= memory->bytes && memory->bytes - offset >= bytes) return memory;
    }
    if (error)
        emulator_fail(error, EMULATOR_BAD_ARGUMENT, "%zu bytes at 0x%llx are not in any buffer", bytes,
                      (unsigned long long)address);
    return NULL;
}

bool emulator_free(Emulator *e, uint64_t address, EmulatorError *error) {
    Memory *memory = object_with(e, address, 0, error);
    if (!memory) return false;
    if (memory->base != address || memory->variable || memory->heap)
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT, "0x%llx is not the start of a buffer",
                             (unsigned long long)address);
    if (e->objects[address >> ADDRESS_SHIFT].part_count) remove_part(e, address);
    object_free(memory);
    return true;
}

bool emulator_write(Emulator *e, uint64_t address, const void *from, size_t bytes, EmulatorError *error) {
    Memory *memory = object_with(e, address, bytes, error);
    if (!memory) return false;
    if (bytes) memcpy(memory->data + (address - memory->base), from, bytes);
    return emulator_mark_written(e, address, bytes, error);
}

bool emulator_mark_written(Emulator *e, uint64_t address, size_t bytes, EmulatorError *error) {
    Memory *memory = object_with(e, address, bytes, error);
    if (!memory) return false;
    if (bytes == memory->bytes)
        memory->all_initialised = true;
    else
        mark_initialised(memory, address - memory->base, bytes);
    return true;
}

bool emulator_read(Emulator *e, void *to, uint64_t address, size_t bytes, EmulatorError *error) {
    const Memory *memory = object_with(e, address, bytes, error);
    if (!memory) return false;
    if (bytes) memcpy(to, memory->data + (address - memory->base), bytes);
    return true;
}

bool emulator_fill(Emulator *e, uint64_t address, uint32_t pattern, size_t bytes, bool initialised,
                   EmulatorError *error) {
    Memory *memory = object_with(e, address, bytes, error);
    if (!memory) return false;
    uint64_t offset = address - memory->base;
    unsigned char *to = memory->data + offset;
    for (size_t i = 0; i < bytes; i += 4) memcpy(to + i, &pattern, bytes - i < 4 ? bytes - i : 4);
    if (initialised) {
        if (bytes == memory->bytes)
            memory->all_initialised = true;
        else
            mark_initialised(memory, offset, bytes);
        return true;
    }
    if (memory->all_initialised && memory->initialised) {
        memset(memory->initialised, 0xff, (memory->bytes / 64 + 1) * sizeof(uint64_t));
        memory->all_initialised = false;
    }
    for (uint64_t at = offset; at < offset + bytes && memory->initialised; at++)
        if (at % 64 == 0 && offset + bytes - at >= 64) {
            memory->initialised[at / 64] = 0;
            at += 63;
        } else
            memory->initialised[at / 64] &= ~(1ull << (at % 64));
    return true;
}

bool emulator_set_read_only(Emulator *e, uint64_t address, bool read_only, EmulatorError *error) {
    Memory *memory = object_with(e, address, 0, error);
    if (!memory) return false;
    memory->read_only = read_only;
    return true;
}

void *emulator_host_pointer(Emulator *e, uint64_t address, size_t bytes) {
    Memory *memory = object_with(e, address, bytes, NULL);
    return memory ? memory->data + (address - memory->base) : NULL;
}

// ---- The heap of kernels ----------------------------------------------------------------------------------

bool emulator_set_heap(Emulator *e, size_t bytes, EmulatorError *error) {
    if (e->heap || bytes > UINT32_MAX / 2)
        return emulator_fail(error, EMULATOR_BAD_ARGUMENT,
                             "the heap has its size from the first launch that uses it, and at most 2 GiB");
    e->heap_bytes = (bytes + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
    return true;
}

bool emulator_has_heap(const Emulator *e) { return e->heap != NULL; }

bool heap_open(Emulator *e) {
    Heap *heap = calloc(1, sizeof *heap);
    if (!heap) return false;
    heap->bytes = (uint32_t)e->heap_bytes;
    heap->owner = calloc(heap->bytes / HEAP_UNIT + 1, sizeof *heap->owner);
    heap->object =
        heap->owner ? object_new(e, PTX_SPACE_GLOBAL, heap->bytes, 0, "the heap of malloc()", true, NULL) : 0;
    if (!heap->object) {
        heap_close(heap);
        return false;
    }
    e->heap = e->objects[heap->object].heap = heap;
    return true;
}
