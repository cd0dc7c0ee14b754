#include "emulator/observers/initcheck.h"

#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/initialised.h"
#include "emulator/observers/wording.h"

// An atomic stores what it computes from the memory that it reads. Loads are followed until a value is used.
static void access_checked(void *self, const Access *access) {
    Machine *m = self;
    const Memory *memory = access->memory;
    if (access->kind == ACCESS_STORE || access->kind == ACCESS_LOAD || memory->all_initialised) return;
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
        finding->is_atomic = true;
        const uint32_t ended = access->warp->block->exited_early;
        if (ended) word_ended(finding, ended);
    }
}

// The warp that read the value: what it stored in shared memory another warp, of the same cluster, may use.
static const Warp *reader_of(const Warp *user, const UndefinedOrigin *origin) {
    const Cluster *cluster = user->block->cluster;
    for (uint32_t rank = 0; origin && rank < cluster->size; rank++) {
        const Block *block = cluster->blocks[rank];
        if (memcmp(block->id, origin->block, sizeof origin->block) == 0) return &block->warps[origin->warp];
    }
    return user;
}

static void undefined_used_by(void *self, const Warp *w, int lane, const Instruction *in, UndefinedUse use,
                              const UndefinedOrigin *origin) {
    Machine *m = self;
    if (origin && origin->source == UNDEFINED_LANE) return; // synccheck's
    const Instruction *from = origin ? m->program->by_number[origin->number] : in;
    w = reader_of(w, origin);
    // The thread that read it: a shuffle may have passed it on.
    if (origin && !(origin->lanes >> lane & 1)) lane = __builtin_ctz(origin->lanes);
    Finding *finding =
        add_finding(m, FINDING_UNINITIALISED, w, lane, from, in_another_line(m, from, in), false);
    if (!finding) return;
    if (origin && origin->source == UNDEFINED_MEMORY) {
        uint64_t index, offset = origin->at[lane];
        name_object(m, w, origin->memory, offset, finding->object, &index, &finding->object_bytes);
        if (origin->copy >= 0)
            word_undelivered(finding, origin->bytes, index, finding->object,
                             m->program->by_number[origin->copy],
                             place_of(m->program, m->program->by_number[origin->copy]).line);
        else if (origin->is_unsure)
            word_undefined(finding, origin->bytes, index, finding->object);
        else
            word_uninitialised(finding, origin->bytes, index, finding->object);
        finding->index = (int64_t)index;
        finding->address = origin->memory->base + offset;
        finding->bytes = origin->bytes;
    } else if (origin && origin->source == UNDEFINED_PENDING)
        word_pending(finding);
    else if (origin)
        word_unset(finding);
    else
        word_unknown_undefined(finding);
    word_use(finding, use);
    if (origin && origin->source == UNDEFINED_MEMORY && origin->ended) word_ended(finding, origin->ended);
}

void initcheck_observe(Machine *m, Observer *observer) {
    *observer = (Observer){.self = m, .access = access_checked, .undefined_use = undefined_used_by};
}
