#define _GNU_SOURCE // memfd_create, MAP_FIXED_NOREPLACE
#include "runtime/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/packing.h"
#include "runtime/recording.h"
#include "runtime/report.h"
#include "runtime/state.h"

static Allocation **allocations; // in the order of allocation
static int count, capacity, numbered, freed;
static unsigned long changed; // how often there was another, or one less
enum { MOST_FREED = 1000 };   // remembered
static size_t in_use;

static Allocation *add(MemoryKind kind, size_t size) {
    if (count == capacity) {
        const int more = capacity ? capacity * 2 : 64;
        Allocation **grown = realloc(allocations, (size_t)more * sizeof(Allocation *));
        if (!grown) return NULL;
        allocations = grown;
        capacity = more;
    }
    Allocation *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (Allocation){.kind = kind, .size = size, .owner = device_current()};
    changed++;
    if (kind != MEMORY_VARIABLE) {
        a->number = ++numbered;
        place_here(&a->made);
    }
    return allocations[count++] = a;
}

static void forget(const Allocation *a) {
    for (int i = count; i-- > 0;) {
        if (allocations[i] != a) continue;
        memmove(allocations + i, allocations + i + 1, (size_t)(--count - i) * sizeof(Allocation *));
        free((void *)(uintptr_t)a);
        return;
    }
}

// ---- Memory that the host shares with kernels -------------------------------------------------------------

// The first and last TiB of a process hold the program and its libraries; a shared allocation gets the
// middle of another one, so that a kernel that leaves it hits nothing. Once none is left, allocations share
// the last one, with a gap between any two.
enum {
    TIB_SHIFT = 40,
    FIRST_TIB = 17,
    TIB_END = 126,
    SHARED_TIB = TIB_END,
    GAP_SHIFT = 24,
    MOST_TRIES = 1 << 16
};

// The address to try after `address`, 0 to start with, for `room` bytes.
static uint64_t next_address(uint64_t address, size_t room) {
    const uint64_t half = 1ull << (TIB_SHIFT - 1), shared = (uint64_t)SHARED_TIB << TIB_SHIFT;
    if (!address) return ((uint64_t)FIRST_TIB << TIB_SHIFT) + half;
    if (address >> TIB_SHIFT < TIB_END - 1) return address + (1ull << TIB_SHIFT);
    static uint64_t next;
    const uint64_t gap = 1ull << GAP_SHIFT, taken = (room + 2 * gap - 1) / gap * gap;
    if (!next || next + taken >= shared + 2 * half) next = shared + gap;
    const uint64_t found = next;
    next += taken;
    return found;
}

// The pages are mapped twice: at the address that the program gets, which can be protected while work is
// pending, and for this library. False when there is no memory, or no TiB is left.
static bool map_shared(Allocation *a) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (a->size + page) / page * page;
    const int file = memfd_create("warpbook", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)room)) {
        if (file >= 0) close(file);
        return false;
    }
    void *mine = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    uint64_t address = 0;
    for (int tries = 0; mine != MAP_FAILED && tries < MOST_TRIES && !a->host; tries++) {
        address = next_address(address, room);
        char name[64];
        snprintf(name, sizeof name, "allocation %d", a->number);
        void *theirs =
            mmap((void *)address, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
        EmulatorError error;
        if (theirs == MAP_FAILED) continue;
        if ((uint64_t)theirs != address ||
            !emulator_adopt_at(device_emulator(), address, mine, a->size, name, &error)) {
            munmap(theirs, room);
            continue;
        }
        a->host = theirs;
        a->device = address;
        a->bytes = mine;
    }
    close(file);
    if (!a->host && mine != MAP_FAILED) munmap(mine, room);
    return a->host != NULL;
}

// What new memory of the host holds is not defined. Linux clears it; with a seed it holds numbers that no
// program takes for 0, as in memory that was used before. The first MiB is enough: nobody sets only the rest.
static void fill_with_anything(const Allocation *a) {
    enum { MOST_WORDS = 1 << 18 };
    const uint32_t seed = (uint32_t)options()->seed * 0x9e3779b1u;
    for (uint32_t i = 0; i < a->size / sizeof i && i < MOST_WORDS; i++) {
        const uint32_t word = 0x4a000000u | ((seed + i * 0x85ebca6bu) >> 8); // as a float, some millions
        memcpy(a->bytes + i * sizeof word, &word, sizeof word);
    }
}

static void unmap_shared(const Allocation *a) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (a->size + page) / page * page;
    munmap(a->host, room);
    munmap(a->bytes, room);
}

size_t allocation_capacity(void) {
    return options()->memory ? options()->memory : device_profile()->info.memory_bytes;
}

// ---- Making and freeing -----------------------------------------------------------------------------------

Allocation *allocation_new(MemoryKind kind, size_t size) {
    Allocation *a = add(kind, size);
    if (!a) return NULL;
    if (kind == MEMORY_DEVICE) {
        char name[64];
        EmulatorError error;
        snprintf(name, sizeof name, "allocation %d", a->number);
        const bool fits = size <= allocation_capacity() - in_use;
        const unsigned in_page = (unsigned)(packing_take(a, size) % EMULATOR_PAGE);
        a->device = fits ? emulator_allocate(device_emulator(), size, in_page, name, &error) : 0;
        if (a->device) {
            a->bytes = emulator_host_pointer(device_emulator(), a->device, size);
            in_use += size;
            recording_allocation(a);
            return a;
        }
    } else if (map_shared(a)) {
        if (options()->seed) fill_with_anything(a);
        recording_allocation(a);
        return a;
    }
    packing_give(a);
    forget(a);
    return NULL;
}

Allocation *allocation_register(void *host, size_t size) {
    Allocation *a = add(MEMORY_REGISTERED, size);
    if (!a) return NULL;
    char name[64];
    EmulatorError error;
    snprintf(name, sizeof name, "allocation %d", a->number);
    a->host = a->bytes = host;
    a->device = emulator_adopt(device_emulator(), host, size, 0, name, &error);
    if (a->device) {
        recording_allocation(a);
        return a;
    }
    forget(a);
    return NULL;
}

Allocation *allocation_array(const EmulatorTexels *texels) {
    const size_t size = texels->width * texel_rows(texels) * texel_slices(texels) * texel_bytes(texels);
    Allocation *a = add(MEMORY_ARRAY, size);
    if (!a) return NULL;
    char name[64];
    EmulatorError error;
    snprintf(name, sizeof name, "allocation %d", a->number);
    a->device = emulator_create_array(device_emulator(), texels, name, &error);
    if (!a->device) {
        forget(a);
        return NULL;
    }
    a->bytes = emulator_host_pointer(device_emulator(), a->device, size);
    return a;
}

Allocation *allocation_variable(uint64_t device, size_t size, const char *name) {
    Allocation *a = add(MEMORY_VARIABLE, size);
    if (!a) return NULL;
    a->variable = name;
    a->device = device;
    a->bytes = emulator_host_pointer(device_emulator(), device, size);
    return a;
}

// ---- Memory that other processes use ----------------------------------------------------------------------

static size_t whole_pages(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page) / page * page;
}

static void *map_file(int file, size_t size) {
    void *mine = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return mine == MAP_FAILED ? NULL : mine;
}

int allocation_share(Allocation *a) {
    if (a->file) return a->file - 1;
    EmulatorError error;
    const int file = memfd_create("warpbook", MFD_CLOEXEC);
    void *mine = file >= 0 && !ftruncate(file, (off_t)whole_pages(a->size)) ? map_file(file, a->size) : NULL;
    if (!mine || !emulator_move(device_emulator(), a->device, mine, &error)) {
        if (mine) munmap(mine, whole_pages(a->size));
        if (file >= 0) close(file);
        return -1;
    }
    a->bytes = mine;
    a->file = file + 1;
    return file;
}

Allocation *allocation_import(int file, size_t size) {
    Allocation *a = add(MEMORY_DEVICE, size);
    if (!a) return NULL;
    char name[64];
    EmulatorError error;
    snprintf(name, sizeof name, "allocation %d", a->number);
    a->bytes = map_file(file, size);
    a->device = a->bytes ? emulator_adopt(device_emulator(), a->bytes, size, 0, name, &error) : 0;
    if (a->device) {
        a->file = file + 1;
        in_use += size;
        return a;
    }
    if (a->bytes) munmap(a->bytes, whole_pages(size));
    forget(a);
    return NULL;
}

static void unmap_file(const Allocation *a) {
    munmap(a->bytes, whole_pages(a->size));
    close(a->file - 1);
}

// The oldest of those that were freed.
static void forget_freed(void) {
    for (int i = 0; i < count; i++) {
        if (!allocations[i]->is_freed) continue;
        freed--;
        forget(allocations[i]);
        return;
    }
}

void allocation_free(Allocation *a) {
    recording_free(a);
    if (freed == MOST_FREED) forget_freed();
    EmulatorError error;
    emulator_free(device_emulator(), a->device, &error);
    if (a->kind == MEMORY_PINNED || a->kind == MEMORY_MANAGED) unmap_shared(a);
    if (a->kind == MEMORY_DEVICE) in_use -= a->size;
    packing_give(a);
    if (a->file) unmap_file(a);
    a->is_freed = true;
    freed++;
    changed++;
    a->bytes = NULL;
    place_here(&a->released);
}

// ---- Finding ----------------------------------------------------------------------------------------------

static bool holds(const Allocation *a, uint64_t address) {
    return (a->device && address - a->device <= a->size) ||
           (a->host && address - (uint64_t)a->host <= a->size);
}

Allocation *allocation_live_at(const void *pointer) {
    Allocation *at_end = NULL;
    for (int i = count; i-- > 0;) {
        Allocation *a = allocations[i];
        if (a->is_freed || !holds(a, (uint64_t)pointer)) continue;
        const uint64_t start =
            a->host && (uint64_t)pointer - (uint64_t)a->host <= a->size ? (uint64_t)a->host : a->device;
        if ((uint64_t)pointer - start < a->size || !a->size) return a;
        at_end = a;
    }
    return at_end;
}

Allocation *allocation_at(const void *pointer) {
    Allocation *live = allocation_live_at(pointer);
    for (int i = count; !live && i-- > 0;)
        if (holds(allocations[i], (uint64_t)pointer)) return allocations[i];
    return live;
}

size_t allocation_offset(const Allocation *a, const void *pointer) {
    const size_t of_host = (size_t)((const char *)pointer - (const char *)a->host);
    return a->host && of_host <= a->size ? of_host : (size_t)((uint64_t)pointer - a->device);
}
uint64_t allocation_device_address(const Allocation *a, const void *pointer) {
    return a->device + allocation_offset(a, pointer);
}

Allocation *allocation_by_index(int index) { return index < count ? allocations[index] : NULL; }
unsigned long allocation_changes(void) { return changed; }
size_t allocation_in_use(void) { return in_use; }

const char *allocation_kind_name(const Allocation *a) {
    static const char *const names[] = {
        [MEMORY_DEVICE] = "device",         [MEMORY_PINNED] = "pinned host", [MEMORY_MANAGED] = "managed",
        [MEMORY_REGISTERED] = "registered", [MEMORY_VARIABLE] = "device",    [MEMORY_ARRAY] = "array",
    };
    return names[a->kind];
}

void allocation_words(const Allocation *a, char *words, size_t words_bytes) {
    char where[4200];
    if (a->kind == MEMORY_VARIABLE) {
        snprintf(words, words_bytes, "the variable %s of %zu bytes", a->variable, a->size);
        return;
    }
    place_text(&a->made, where, sizeof where);
    snprintf(words, words_bytes, "allocation %d, %zu bytes of %s memory, made at %s", a->number, a->size,
             allocation_kind_name(a), where);
}
