#include "emulator/machine/beside.h"

#include <stdlib.h>

#define PAGE ((uint64_t)EMULATOR_PAGE)

typedef struct Beside {
    Memory memory; // all of the page
    struct Beside *next;
} Beside;

// Also the page before the object's first: there the driver has its own memory. On an H200 the first
// cudaMalloc() is at the beginning of a page, and what a kernel reads before it is there.
static bool is_mapped(const Memory *memory, uint64_t page) {
    return memory->base < page + 2 * PAGE && memory->base + memory->bytes > page;
}

Memory *memory_beside(Machine *m, const Memory *near, uint64_t address, uint64_t bytes, uint64_t *offset) {
    const uint64_t page = address / PAGE * PAGE;
    *offset = address - page;
    if (!near || near->space != PTX_SPACE_GLOBAL || near->heap || !is_mapped(near, page) ||
        *offset + bytes > PAGE)
        return NULL;
    for (Beside *b = m->beside; b; b = b->next)
        if (b->memory.base == page) return &b->memory;
    Beside *made = calloc(1, sizeof *made);
    unsigned char *data = made ? calloc(1, PAGE) : NULL;
    if (!data) {
        free(made);
        return NULL;
    }
    *made = (Beside){.memory = {.name = "the rest of a page",
                                .space = PTX_SPACE_GLOBAL,
                                .base = page,
                                .bytes = PAGE,
                                .data = data,
                                .allocation = data,
                                .in_use = true,
                                .all_initialised = true},
                     .next = m->beside};
    m->beside = made;
    return &made->memory;
}

void beside_close(Machine *m) {
    for (Beside *b = m->beside, *next; b; b = next) {
        next = b->next;
        free(b->memory.allocation);
        free(b);
    }
    m->beside = NULL;
}
