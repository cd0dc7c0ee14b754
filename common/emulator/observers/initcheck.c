#include "emulator/observers/initcheck.h"

#include "emulator/machine/findings.h"
#include "emulator/machine/initialised.h"
#include "emulator/observers/wording.h"

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
        Finding *finding =
            add_finding(m, FINDING_UNINITIALISED, access->warp, (int)lane, access->in, NULL, false);
        if (!finding) continue;
        uint64_t index;
        name_object(m, access->warp, memory, offset, finding->object, &index, &finding->object_bytes);
        word_uninitialised(finding, access->bytes, index, finding->object);
        finding->index = (int64_t)index;
        finding->address = memory->base + offset;
        finding->bytes = access->bytes;
        finding->is_atomic = access->kind != ACCESS_LOAD;
    }
}

void initcheck_observe(Machine *m, Observer *observer) {
    *observer = (Observer){.self = m, .access = access_checked};
}
