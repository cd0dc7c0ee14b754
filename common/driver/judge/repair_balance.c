#include "driver/judge/repair_balance.h"

#include <math.h>
#include <string.h>

enum {
    PATIENCE = 2, // Rerun
    SKEW = 16,    // times the usual block, which no right kernel of the chapters needs for its longest
    SKEWED = 4,   // times as much as without the change
};
// Loads of the usual sector with the change, times those without it: if more, elements are loaded again in
// place of others that are left out, as by half the step where half of a tile is used.
static const double few_repeats = 1.2;
static const double work_of_timing = 2; // times that of a run that is not followed for the time model

static const Case *counted_case(const TaskPtx *ptx) {
    const Plan *plan = &ptx->judge->plan;
    for (int i = 0; i < plan->count; i++) {
        const Case *one = &plan->cases[i];
        if (one->task == ptx->task && one->is_counted && one->recount == 0 && !one->is_large) return one;
    }
    return NULL;
}

// In cycles, of chains of dependent operations. How long memory takes is roughly enough: loads are what most
// chains consist of.
static double cycles_of(const ModelTime *time) {
    const double of_l2 = 250, of_dram = 500;
    return time->cycles + of_l2 * time->l2_trips + of_dram * time->dram_trips;
}

// How many times the usual block the slowest one of a launch takes.
static double skew_of(const ModelWork works[MAX_LAUNCHES]) {
    double most = 1;
    for (int l = 0; l < MAX_LAUNCHES; l++) {
        const ModelWork *work = &works[l];
        if (!(work->blocks > 0)) continue;
        const double usual = cycles_of(&work->block_time) / work->blocks;
        if (usual > 0) most = fmax(most, cycles_of(&work->block_most) / usual);
    }
    return most;
}

// How often the usual sector that is loaded is loaded. What the launch has stored itself, as partial sums
// of a tree, is not an input: a change may let blocks work on it that did not before.
static double repeats_of(const ModelWork works[MAX_LAUNCHES]) {
    double loads = 0, first = 0;
    for (int l = 0; l < MAX_LAUNCHES; l++) {
        loads += works[l].load_sectors - works[l].loads_stored;
        first += works[l].first;
    }
    return first > 0 ? loads / first : 0;
}

// False: nothing is known.
static bool run(const TaskPtx *ptx, const Case *one, const Change *const changes[], int count, double *work,
                ModelWork works[MAX_LAUNCHES], CaseReport *report) {
    Worker worker;
    memset(works, 0, MAX_LAUNCHES * sizeof works[0]);
    bool was_run = false;
    if (task_ptx_start(ptx, changes, count, &worker)) {
        was_run = task_ptx_run(ptx, &worker, one, changes, count, PATIENCE, false, works, report);
        *work -= work_of_timing * judge_work_of(report);
        task_ptx_stop(ptx, &worker);
    }
    return was_run;
}

bool repair_keeps_balance(const TaskPtx *ptx, const Change *const changes[], int count, double *work) {
    ModelWork works[MAX_LAUNCHES];
    CaseReport report;
    const Case *one = counted_case(ptx);
    if (!one || !run(ptx, one, changes, count, work, works, &report)) return true;
    if (report.verdict != VERDICT_PASS) return false;
    const double skew = skew_of(works), repeats = repeats_of(works);
    if (skew <= SKEW && repeats <= few_repeats) return true;
    if (!run(ptx, one, NULL, 0, work, works, &report)) return skew <= SKEW;
    const bool does_others_work = skew > SKEW && skew > SKEWED * skew_of(works);
    const bool ended = report.verdict == VERDICT_WRONG || report.verdict == VERDICT_PASS;
    return !does_others_work && (!ended || repeats <= few_repeats * repeats_of(works));
}
