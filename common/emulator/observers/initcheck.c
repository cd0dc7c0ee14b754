// initcheck: reads of memory that nobody has written.
#include <stdio.h>

#include "emulator/machine/machine.h"

static void access_checked(void *self, const Access *access) {
    Machine *m = self;
    const Memory *memory = access->memory;
    if (access->kind == ACCESS_STORE || memory->all_initialised) return;
    // An exchange whose old value nobody looks at is a store.
    if (access->kind == ACCESS_ATOMIC && access->in->operation == ATOMIC_EXCH && access->in->dst[0] < 0)
        return;
    if (access->contiguous && is_initialised(memory, access->offsets[0], (uint64_t)access->bytes * WARP_SIZE))
        return;
    FOR_LANES(lane, access->mask) {
        uint64_t offset = access->offsets[lane];
        if (is_initialised(memory, offset, access->bytes)) continue;
        char what[128];
        uint64_t index, size;
        name_object(m, access->warp, memory, offset, what, &index, &size);
        Finding *finding = report(m, FINDING_UNINITIALISED, access->warp, (int)lane, access->in, NULL, false,
                                  "reads %u bytes at byte %llu of %s, which nothing has written",
                                  access->bytes, (unsigned long long)index, what);
        if (finding) {
            snprintf(finding->object, sizeof finding->object, "%s", what);
            finding->index = (int64_t)index;
            finding->object_bytes = size;
            finding->address = memory->base + offset;
            finding->bytes = access->bytes;
            finding->is_atomic = access->kind != ACCESS_LOAD;
        }
    }
}

bool initcheck_observe(Machine *m, Observer *observer) {
    *observer = (Observer){.access = access_checked, .self = m};
    return true;
}
