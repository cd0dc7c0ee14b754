#include "emulator/observers/race_report.h"

#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/observers/race_clock.h"
#include "emulator/observers/wording.h"
#include "emulator/program/flow.h"

// The slot of a pair of places; *is_new tells whether it was just made. NULL: the table is full.
static Reported *reported(RaceReports *r, uint64_t pair, bool *is_new) {
    uint32_t slot = (uint32_t)((pair * 0x9e3779b97f4a7c15ull) >> 32) % REPORTED_SLOTS;
    while (r->reported[slot].pair && r->reported[slot].pair != pair) slot = (slot + 1) % REPORTED_SLOTS;
    *is_new = !r->reported[slot].pair;
    if (!*is_new) return &r->reported[slot];
    if (r->count >= REPORTED_SLOTS * 3 / 4) return NULL;
    r->count++;
    r->reported[slot] = (Reported){pair, -1};
    return &r->reported[slot];
}

// What would have ordered the two.
static RaceOrderMissing missing(const Race *race, const Site *site, const Instruction *other) {
    if (race->is_read_only) return RACE_BY_READ_ONLY_PATH;
    if (block_of(race->other) != block_of(race->me))
        return race->is_pending ? RACE_OF_BLOCK_THAT_READS : RACE_OF_BLOCKS;
    if (other && other->kind == KIND_CP_ASYNC) return RACE_OF_COPY;
    if (thread_of(race->other) / WARP_SIZE != thread_of(race->me) / WARP_SIZE) return RACE_OF_WARPS;
    if (race->other_code == race->code && site->kind == RACE_WRITE && race->is_one_access)
        return RACE_IN_ONE_INSTRUCTION;
    return site->is_volatile && !site->is_atomic ? RACE_OF_VOLATILE_LANES : RACE_OF_LANES;
}

static RaceAccess access_of(const Site *site) {
    return (RaceAccess){.is_write = site->kind >= RACE_STRONG_WRITE, .is_atomic = site->is_atomic};
}

// Whether the blocks use one place alike, so that an order of these two accesses would not help.
static bool is_shared_alike(const Finding *f, RaceAccess one, RaceAccess other) {
    const bool is_one_line = f->place.line > 0 && f->place.line == f->other_place.line;
    return is_one_line || (one.is_write && other.is_write);
}

typedef struct {
    const Program *program;
    int line;
} SourceLine;

static bool accesses_in_line(void *context, const Instruction *in) {
    const SourceLine *at = context;
    return (in->kind == KIND_LOAD || in->kind == KIND_STORE) && place_of(at->program, in).line == at->line;
}

// Whether a load and a store of one line race within one round of a loop: a thread that has stored there
// passes a barrier of the block before it reaches that line again, so no round overlaps the next.
static bool is_in_one_round(const Program *p, const Instruction *one, const Instruction *other) {
    if (one->kind == KIND_STORE && other->kind == KIND_LOAD) return is_in_one_round(p, other, one);
    if (one->kind != KIND_LOAD || other->kind != KIND_STORE) return false;
    SourceLine line = {p, place_of(p, one).line};
    if (!line.line || place_of(p, other).line != line.line) return false;
    for (int i = 0; i < p->module->function_count; i++) {
        const Function *f = &p->functions[i];
        if (!f->lowered || one < f->code || one >= f->code + f->count) continue;
        if (!f->ptx->is_entry || other < one || other >= f->code + f->count) return false;
        for (const Instruction *in = one; in < other; in++)
            if (in->kind == KIND_BRANCH || in->kind == KIND_BRANCH_TABLE || in->kind == KIND_CALL)
                return false;
        return always_meets_before(f, other->index, accesses_in_line, &line);
    }
    return false;
}

void report_race(RaceReports *r, const Race *race) {
    Machine *m = r->machine;
    if (!race->same_value) r->races++;
    const Site *site = site_at(r->sites, race->code), *before = site_at(r->sites, race->other_code);
    bool is_new;
    Reported *slot = reported(
        r, 1ull << 63 | (uint64_t)race->code << 32 | (uint64_t)race->other_code << 1 | race->same_value,
        &is_new);
    if (!slot || !is_new) {
        m->result->findings_total++;
        if (slot && slot->finding >= 0) m->result->findings[slot->finding].count++;
        return;
    }
    const Access *a = race->access;
    const Instruction *other_in =
        before->instruction >= 0 ? m->program->by_number[before->instruction] : NULL;
    Finding *f = add_finding(m, race->same_value ? FINDING_RACE_SAME_VALUE : FINDING_RACE, a->warp,
                             (int)race->lane, a->in, other_in, false);
    if (!f) return;
    slot->finding = m->result->finding_count - 1;
    const EmulatorLaunch *launch = m->launch;
    uint32_t thread = thread_of(race->other), block = block_of(race->other), size = a->in->width;
    bool is_foreign = block != block_of(race->me);
    bool one_round =
        !is_foreign && !site->is_volatile && other_in && is_in_one_round(m->program, a->in, other_in);
    f->other_thread[0] = thread % launch->block[0];
    f->other_thread[1] = thread / launch->block[0] % launch->block[1];
    f->other_thread[2] = thread / launch->block[0] / launch->block[1];
    memcpy(f->other_block, f->block, sizeof f->block);
    if (is_foreign) {
        f->other_block[0] = block % launch->grid[0];
        f->other_block[1] = block / launch->grid[0] % launch->grid[1];
        f->other_block[2] = block / launch->grid[0] / launch->grid[1];
    }
    uint64_t index;
    name_object(m, a->warp, a->memory, race->offset, f->object, &index, &f->object_bytes);
    f->index = (int64_t)index;
    f->address = a->memory->base + race->offset;
    f->bytes = size;
    f->is_store = a->kind != ACCESS_LOAD;
    f->is_atomic = site->is_atomic;
    const RaceAccess access = access_of(site), other = access_of(before);
    RaceOrderMissing order = one_round ? RACE_IN_ONE_ROUND : missing(race, site, other_in);
    if (order == RACE_OF_BLOCKS && is_shared_alike(f, access, other)) order = RACE_OF_BLOCKS_THAT_SHARE;
    word_race(f, &(RaceFacts){.access = access,
                              .other = other,
                              .missing = order,
                              .object = f->object,
                              .index = index,
                              .width = size,
                              .other_thread = f->other_thread,
                              .other_block = is_foreign ? f->other_block : NULL,
                              .other_line = f->other_place.line,
                              .same_value = race->same_value});
}
