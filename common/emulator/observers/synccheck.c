#include "emulator/observers/synccheck.h"

#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/sync.h"
#include "emulator/observers/wording.h"

// ---- Barriers ---------------------------------------------------------------------------------------------

// Threads of one warp that wait at one barrier but at different instructions of it.
static void check_aligned(Machine *m, const Warp *w, int id) {
    const Instruction *first = NULL;
    for (int i = 0; i < w->fragment_count; i++) {
        const Fragment *f = &w->fragments[i];
        if (!f->mask || f->state != WAIT_BARRIER || f->barrier != id) continue;
        const Instruction *in = instruction_of(f);
        if (!(in->flags & IS_ALIGNED)) continue;
        if (!first)
            first = in;
        else if (first != in) {
            Finding *finding =
                add_finding(m, FINDING_DIVERGENT_BARRIER, w, __builtin_ctz(f->mask), in, first, false);
            if (finding) word_divergent_barrier(finding);
            return;
        }
    }
}

// A barrier does not wait for threads that have ended: that some have is worth knowing, and no mistake. Warps
// that pass it at different places of the source break the rule of the CUDA C++ Programming Guide that a
// barrier in a branch is for all threads or none; compute-sanitizer's synccheck says so too.
static void check_whole(Machine *m, const Block *b, int id) {
    BarrierPart found = barrier_part(b, id);
    if (found.part == BARRIER_WHOLE || (found.part == BARRIER_SEPARATE && found.warp == found.waiting))
        return;
    uint32_t lanes = lanes_at_barrier(found.waiting, id);
    const FindingKind kind =
        found.part == BARRIER_ENDED ? FINDING_PARTIAL_BARRIER : FINDING_DIVERGENT_BARRIER;
    Finding *finding =
        add_finding(m, kind, found.waiting, __builtin_ctz(lanes), found.in, found.other, false);
    if (!finding) return;
    char thread[96];
    thread_words(thread, found.warp, found.lane);
    if (found.part == BARRIER_ENDED)
        word_partial_barrier(finding, found.threads, b->thread_count, thread);
    else
        word_separate_barriers(finding, found.threads, b->thread_count, thread, finding->other_place.line);
}

static void barrier_passed(void *self, Block *b, int id) {
    check_whole(self, b, id);
    for (int k = 0; k < b->warp_count; k++)
        if (b->warps[k].fragment_count > 1) check_aligned(self, &b->warps[k], id);
}

static void bad_barrier_met(void *self, const Warp *w, int lane, const Instruction *in, uint32_t id,
                            uint32_t threads) {
    Finding *finding = add_finding(self, FINDING_BAD_CALL, w, lane, in, NULL, true);
    if (finding) word_bad_barrier(finding, id, threads);
}

static void bad_mbarrier_met(void *self, const Warp *w, int lane, const Instruction *in, MbarrierFault fault,
                             const MbarrierFacts *facts) {
    const Instruction *init = facts->init ? in_another_line(self, in, facts->init) : NULL;
    Finding *finding = add_finding(self, FINDING_BAD_BARRIER, w, lane, in, init, true);
    if (finding) word_bad_mbarrier(finding, fault, facts);
}

static void bad_cluster_barrier_met(void *self, const Warp *w, int lane, const Instruction *in,
                                    ClusterFault fault) {
    Finding *finding = add_finding(self, FINDING_BAD_BARRIER, w, lane, in, NULL, true);
    if (finding) word_bad_cluster_barrier(finding, fault);
}

static void mbarrier_deadlock_met(void *self, const Warp *w, int lane, const Instruction *in,
                                  const MbarrierFacts *facts) {
    const Instruction *init = facts->init ? in_another_line(self, in, facts->init) : NULL;
    Finding *finding = add_finding(self, FINDING_DEADLOCK, w, lane, in, init, true);
    if (finding) word_mbarrier_deadlock(finding, facts);
}

// ---- Masks ------------------------------------------------------------------------------------------------

static void report_mask(Machine *m, const Warp *w, uint32_t callers, const Instruction *in, uint32_t members,
                        MaskFault fault, int lane, uint32_t other_members) {
    Finding *finding = add_finding(m, FINDING_BAD_MASK, w, __builtin_ctz(callers), in, NULL, false);
    if (!finding) return;
    word_mask(finding, fault, in, members, lane, other_members);
    if (fault == MASK_OF_EXITED || fault == MASK_EXITED_MEANWHILE) finding->index = lane;
}

static void members_met(void *self, const Warp *w, const Instruction *in, const uint32_t *masks,
                        uint32_t group, uint32_t mask) {
    uint32_t members = masks[__builtin_ctz(group)], outside = group & ~members,
             differ = members & mask & ~group, exited = members & w->exited;
    if (outside)
        report_mask(self, w, outside, in, members, MASK_WITHOUT_CALLER, 0, 0);
    else if (differ)
        report_mask(self, w, group, in, members, MASK_OF_OTHERS, __builtin_ctz(differ),
                    masks[__builtin_ctz(differ)]);
    else if (exited && in->kind != KIND_WARP_BARRIER)
        report_mask(self, w, group, in, members, MASK_OF_EXITED, __builtin_ctz(exited), 0);
}

static void deserted(void *self, const Warp *w, const Instruction *in, uint32_t mask, uint32_t members) {
    if (in->kind == KIND_WARP_BARRIER) return;
    report_mask(self, w, mask, in, members, MASK_EXITED_MEANWHILE, __builtin_ctz(members & w->exited), 0);
}

static void undefined_used_by(void *self, const Warp *w, int lane, const Instruction *in, UndefinedUse use,
                              const UndefinedOrigin *origin) {
    if (!origin || origin->source != UNDEFINED_LANE) return;
    Machine *m = self;
    uint32_t reader = origin->lanes >> lane & 1 ? (uint32_t)lane : (uint32_t)__builtin_ctz(origin->lanes),
             wanted = (uint32_t)origin->at[reader];
    AbsentSource why = origin->exited >> wanted & 1       ? SOURCE_EXITED
                       : !(w->exists >> wanted & 1)       ? SOURCE_NOT_IN_BLOCK
                       : !(origin->members >> wanted & 1) ? SOURCE_NOT_IN_MASK
                                                          : SOURCE_ELSEWHERE;
    const Instruction *shuffle = m->program->by_number[origin->number];
    Finding *finding = add_finding(m, FINDING_SHUFFLE_INACTIVE, w, (int)reader, shuffle,
                                   in_another_line(m, shuffle, in), false);
    if (!finding) return;
    word_absent_source(finding, (int)wanted, why);
    word_use(finding, use);
    finding->index = wanted;
}

// ---- Deadlock ---------------------------------------------------------------------------------------------

// A fragment that waits, the first of the block; *warp is its warp. NULL: none does.
static const Fragment *first_waiting(const Block *b, const Warp **warp) {
    for (int k = 0; k < b->warp_count; k++)
        for (int i = 0; i < b->warps[k].fragment_count; i++) {
            const Fragment *f = &b->warps[k].fragments[i];
            if (!f->mask || f->state == READY) continue;
            *warp = &b->warps[k];
            return f;
        }
    return NULL;
}

// Where the block's threads are: at the instruction of `facts`, at other places, the first of which is
// *other, or nowhere: *absent is the first warp that has such lanes, *absent_lanes.
static void find_threads(const Block *b, DeadlockFacts *facts, const Instruction **other, const Warp **absent,
                         uint32_t *absent_lanes) {
    for (int k = 0; k < b->warp_count; k++) {
        const Warp *w = &b->warps[k];
        uint32_t seen = w->exited;
        for (int i = 0; i < w->fragment_count; i++) {
            const Fragment *f = &w->fragments[i];
            if (!f->mask || f->state == READY) continue;
            const Instruction *at = instruction_of(f);
            seen |= f->mask;
            *(at == facts->in ? &facts->here : &facts->elsewhere) += (unsigned)__builtin_popcount(f->mask);
            if (at != facts->in && !*other) *other = at;
        }
        uint32_t rest = w->exists & ~seen;
        if (rest && !*absent) {
            *absent = w;
            *absent_lanes = rest;
        }
        facts->absent += (unsigned)__builtin_popcount(rest);
    }
}

static void deadlock_met(void *self, const Block *b) {
    Machine *m = self;
    const Warp *warp = NULL, *absent = NULL;
    const Fragment *first = first_waiting(b, &warp);
    if (!first) {
        Finding *finding = add_finding(m, FINDING_DEADLOCK, NULL, -1, NULL, NULL, true);
        if (finding) word_stuck(finding, b->id);
        return;
    }
    DeadlockFacts facts = {.in = instruction_of(first)};
    const Instruction *other = NULL;
    uint32_t absent_lanes = 0;
    find_threads(b, &facts, &other, &absent, &absent_lanes);
    char thread[96] = "";
    int lane = absent ? __builtin_ctz(absent_lanes) : 0;
    if (other) facts.elsewhere_line = place_of(m->program, other).line;
    if (absent) facts.absent_thread = thread_words(thread, absent, lane);
    Finding *finding =
        add_finding(m, FINDING_DEADLOCK, warp, __builtin_ctz(first->mask), facts.in, other, true);
    if (!finding) return;
    word_deadlock(finding, &facts);
    if (!absent) return;
    finding->other_thread[0] = absent->thread_x[lane];
    finding->other_thread[1] = absent->thread_y[lane];
    finding->other_thread[2] = absent->thread_z[lane];
    memcpy(finding->other_block, b->id, sizeof finding->other_block);
}

void synccheck_observe(Machine *m, Observer *observer) {
    *observer = (Observer){.self = m,
                           .bad_barrier = bad_barrier_met,
                           .bad_mbarrier = bad_mbarrier_met,
                           .bad_cluster_barrier = bad_cluster_barrier_met,
                           .mbarrier_deadlock = mbarrier_deadlock_met,
                           .deadlock = deadlock_met};
    if (!(m->launch->checks & CHECK_SYNC)) return;
    observer->barrier = barrier_passed;
    observer->members = members_met;
    observer->deserted = deserted;
    observer->undefined_use = undefined_used_by;
}
