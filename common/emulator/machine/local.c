#include "emulator/machine/local.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/budget.h"
#include "emulator/machine/findings.h"

bool grow_local(Machine *m, Warp *w, uint32_t bytes, const Instruction *in) {
    uint32_t capacity = w->local_capacity ? w->local_capacity : 64;
    while (capacity < bytes) capacity *= 2;
    if (capacity == w->local_capacity) return true;
    size_t total = (size_t)capacity * WARP_SIZE;
    if (!budget_take(m, w, total - (size_t)w->local_capacity * WARP_SIZE, "the local memory of a warp"))
        return false;
    unsigned char *data = malloc(total);
    uint64_t *initialised = calloc(total / 64, sizeof *initialised);
    if (!data || !initialised) {
        free(data);
        free(initialised);
        report(m, FINDING_STACK_OVERFLOW, w, -1, in,
               "%u bytes of local memory per thread do not fit in this machine's memory", bytes);
        return false;
    }
    memset(data, 0xee, total); // recognisable garbage
    for (size_t lane = 0; lane < WARP_SIZE && w->local_capacity; lane++) {
        memcpy(data + lane * capacity, w->local.data + lane * w->local_capacity, w->local_capacity);
        memcpy(initialised + lane * capacity / 64, w->local.initialised + lane * w->local_capacity / 64,
               w->local_capacity / 8);
    }
    free(w->local.allocation);
    free(w->local.initialised);
    w->local = (Memory){.name = "local memory",
                        .space = PTX_SPACE_LOCAL,
                        .base = LOCAL_WINDOW,
                        .bytes = total,
                        .data = data,
                        .allocation = data,
                        .initialised = initialised,
                        .in_use = true};
    w->local_capacity = capacity;
    return true;
}
