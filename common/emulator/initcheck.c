// initcheck: reads of memory that nobody has written.
#include <stdio.h>

#include "machine.h"

static void access_checked(void *self, const Access *access) {
    Machine *m = self;
    const Memory *memory = access->memory;
    if (access->kind == ACCESS_STORE || memory->all_initialised) return;
    if (access->contiguous && is_initialised(memory, access->offsets[0], (uint64_t)access->bytes * WARP_SIZE)) return;
    FOR_LANES(lane, access->mask) {
        uint64_t offset = access->offsets[lane];
        if (is_initialised(memory, offset, access->bytes)) continue;
        const char *what = memory->name;
        uint64_t index = offset, size = memory->bytes;
        char text[128];
        if (memory->space == PTX_SPACE_LOCAL) index = offset % access->warp->local_capacity;
        for (int i = 0; i < m->shared_variable_count && memory->space == PTX_SPACE_SHARED; i++) {
            const SharedVariable *v = &m->shared_variables[i];
            if (offset - v->offset < v->bytes) {
                snprintf(text, sizeof text, "shared %s", v->name);
                what = text;
                index = offset - v->offset;
                size = v->bytes;
            }
        }
        Finding *finding = report(m, FINDING_UNINITIALISED, access->warp, (int)lane, access->in, NULL, false,
                                  "reads %u bytes at byte %llu of %s, which nothing has written", access->bytes, (unsigned long long)index, what);
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
