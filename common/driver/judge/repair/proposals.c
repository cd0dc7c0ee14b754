#include "driver/judge/repair/proposals.h"

#include <string.h>

#include "driver/judge/repair/kernel.h"

void propose(const PtxLines *lines, int function, const Symptoms *symptoms, Changes *changes) {
    Kernel kernel = {.lines = lines, .symptoms = symptoms, .changes = changes, .first = -1};
    for (int i = 0; i < lines->count; i++) {
        if (lines->lines[i].function != function) continue;
        if (kernel.first < 0 && lines->lines[i].is_instruction) kernel.first = i;
        kernel.end = i + 1;
    }
    if (kernel.first < 0) return;
    kernel.declared = kernel.first;
    while (kernel.declared > 0 && lines->lines[kernel.declared - 1].function == function &&
           lines->lines[kernel.declared - 1].text[0] != '{')
        kernel.declared--;
    const bool may_race = symptoms->verdict == VERDICT_RACE || symptoms->verdict == VERDICT_WRONG ||
                          symptoms->verdict == VERDICT_UNINIT || symptoms->verdict == VERDICT_SYNC;
    const Finding *finding = symptoms->finding;
    const bool is_in_warp = finding && finding->kind == FINDING_RACE && finding->warp >= 0 &&
                            finding->thread[0] / 32 == finding->other_thread[0] / 32;
    const bool has_two_sides =
        finding && (finding->kind == FINDING_RACE || finding->kind == FINDING_STALE_READ);
    const bool is_between_blocks =
        has_two_sides && memcmp(finding->block, finding->other_block, sizeof finding->block) != 0;
    const bool is_sync = symptoms->verdict == VERDICT_SYNC, is_uninit = symptoms->verdict == VERDICT_UNINIT;
    propose_waits(&kernel);
    if (is_sync || is_uninit || symptoms->verdict == VERDICT_WRONG) propose_full_masks(&kernel);
    if (is_uninit || symptoms->verdict == VERDICT_WRONG) {
        propose_zero_registers(&kernel);
        propose_zero_output(&kernel);
        propose_zero_shared(&kernel);
    }
    if (symptoms->is_weak || is_between_blocks) propose_fences(&kernel);
    if (may_race && is_in_warp) propose_barriers(&kernel, CHANGE_WARP_BARRIER, true);
    if (may_race && !is_between_blocks) propose_barriers(&kernel, CHANGE_BARRIER, true);
    if (is_sync && finding) propose_moved_barrier(&kernel);
    if (is_sync || is_uninit) propose_staying(&kernel);
    if (symptoms->verdict == VERDICT_RACE && is_in_warp) propose_warp_barriers_everywhere(&kernel);
    if (may_race && !is_in_warp && !is_between_blocks) propose_barriers(&kernel, CHANGE_WARP_BARRIER, true);
    if (may_race) propose_atomics(&kernel);
    if (may_race) propose_one_writer(&kernel);
    propose_numbers(&kernel);
    propose_comparisons(&kernel);
    if (symptoms->verdict == VERDICT_OOB) {
        propose_more_shared(&kernel);
        propose_guard(&kernel);
    }
    if (symptoms->verdict == VERDICT_OOB || symptoms->verdict == VERDICT_MISALIGNED)
        propose_single_accesses(&kernel);
    if (may_race) propose_additions(&kernel);
    if (may_race && !is_between_blocks) propose_barriers(&kernel, CHANGE_BARRIER, false);
    if (may_race && !is_between_blocks) propose_barriers(&kernel, CHANGE_WARP_BARRIER, false);
    propose_constants(&kernel);
}
