#include "emulator/observers/asynccheck.h"

#include "emulator/machine/copies.h"
#include "emulator/machine/findings.h"
#include "emulator/observers/wording.h"

// What a load reads too early is undefined, and initcheck's.
static void access_checked(void *self, const Access *a) {
    Machine *m = self;
    if (a->kind == ACCESS_LOAD || a->memory->space != PTX_SPACE_SHARED) return;
    FOR_LANES(lane, a->mask) {
        bool is_source;
        const Instruction *copy = unfinished(a->memory, a->offsets[lane], a->bytes, &is_source);
        if (!copy) continue;
        Finding *finding = add_finding(m, FINDING_RACE, a->warp, (int)lane, a->in, copy, false);
        if (!finding) continue;
        uint64_t index;
        name_object(m, a->warp, a->memory, a->offsets[lane], finding->object, &index, &finding->object_bytes);
        word_copy_race(finding, finding->object, index, is_source);
        finding->index = (int64_t)index;
        finding->bytes = a->bytes;
        finding->is_store = true;
    }
}

static void bad_copy_met(void *self, const Warp *w, int lane, const Instruction *in, CopyFault fault,
                         uint32_t bytes) {
    Machine *m = self;
    static const FindingKind kinds[] = {
        [COPY_SIZE] = FINDING_MISALIGNED,       [COPY_LEFT] = FINDING_RACE,
        [COPY_NOWHERE] = FINDING_OUT_OF_BOUNDS, [COPY_UNREAD] = FINDING_RACE,
        [COPY_MAP] = FINDING_BAD_CALL,          [COPY_RANK] = FINDING_BAD_CALL,
        [COPY_PLACE] = FINDING_MISALIGNED,      [COPY_BEFORE] = FINDING_OUT_OF_BOUNDS,
        [COPY_TYPE] = FINDING_BAD_CALL,         [COPY_ALIGN] = FINDING_MISALIGNED};
    const FindingKind kind = kinds[fault];
    const bool is_fatal = kind != FINDING_RACE;
    if (!is_fatal && !(m->launch->checks & CHECK_RACE)) return;
    Finding *finding = add_finding(m, kind, w, lane, in, NULL, is_fatal);
    if (finding) word_bad_copy(finding, fault, bytes);
}

static void unfenced_wgmma_met(void *self, const Warp *w, const Instruction *in) {
    Machine *m = self;
    if (!(m->launch->checks & CHECK_RACE)) return;
    Finding *finding = add_finding(m, FINDING_RACE, w, 0, in, NULL, false);
    if (finding) word_unfenced_wgmma(finding);
}

void asynccheck_observe(Machine *m, Observer *observer) {
    *observer = (Observer){.self = m, .bad_copy = bad_copy_met, .unfenced_wgmma = unfenced_wgmma_met};
    if (m->launch->checks & CHECK_RACE) observer->access = access_checked;
}
