#include "driver/judge/repair_cost.h"

#include <math.h>
#include <string.h>

#include "driver/judge/points.h"

enum {
    PATIENCE = 2, // Rerun
    SKEW = 16,    // times the usual block, which no right kernel of the chapters needs for its longest
    SKEWED = 4,   // times as much as without the change
};
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
static double skew_of(const RunCost *cost) {
    double most = 1;
    for (int l = 0; l < MAX_LAUNCHES; l++) {
        const ModelWork *work = &cost->works[l];
        if (!(work->blocks > 0)) continue;
        const double usual = cycles_of(&work->block_time) / work->blocks;
        if (usual > 0) most = fmax(most, cycles_of(&work->block_most) / usual);
    }
    return most;
}

// False: nothing is known.
static bool run(const TaskPtx *ptx, const Case *one, const Change *const changes[], int count, double *work,
                RunCost *cost, CaseReport *report) {
    Text text = {0};
    Worker worker;
    *cost = (RunCost){0};
    bool was_run = false;
    if (task_ptx_start(ptx, changes, count, &text, &worker)) {
        was_run = task_ptx_run(ptx, &worker, one, changes, count, PATIENCE, false, cost, report);
        *work -= work_of_timing * judge_work_of(report);
        runner_stop(worker.runner);
    }
    text_free(&text);
    return was_run;
}

// Whether a count is twice what its goal allows, or half of what it asks for: then the same is done again and
// again. A kernel may miss a goal by less for another reason.
static bool is_far_off(const GoalResult *result) {
    const double limit = result->goal->limit, twice = 2;
    if (result->state != GOAL_MISSED || goal_is_of_shape(result->goal) || !(limit > 0)) return false;
    return (result->goal->bound != AT_LEAST && result->value >= twice * limit) ||
           (result->goal->bound != AT_MOST && result->value <= limit / twice);
}

// Bandwidth and the launch shape are left out: neither is counted.
static bool repeats_work(const TaskPtx *ptx, const Case *one, const CaseShape *shape, const RunCost *cost) {
    static Measured measured[MAX_TASKS];
    const Judge *judge = ptx->judge;
    memset(measured, 0, sizeof measured);
    Measured *of_task = &measured[ptx->task];
    judge_measure_shape(judge, one, shape, of_task);
    memcpy(of_task->counters, cost->counters, sizeof of_task->counters);
    of_task->is_counted = true;
    for (int g = 0; g < chapter_goal_count(judge->of); g++) {
        GoalResult result;
        goal_evaluate(judge->of, &judge->of->goals[g], measured, &judge->judgement->device, &result);
        if (result.task == ptx->task && is_far_off(&result)) return true;
    }
    return false;
}

bool repair_keeps_the_cost(const TaskPtx *ptx, const Change *const changes[], int count, double *work) {
    static RunCost now, before;
    CaseReport report;
    const Case *one = counted_case(ptx);
    const TaskShape *shape = one ? judge_case_shape(ptx->judge, one) : NULL;
    if (!shape || !run(ptx, one, changes, count, work, &now, &report)) return true;
    if (report.verdict != VERDICT_PASS || repeats_work(ptx, one, &shape->shape, &now)) return false;
    const double skew = skew_of(&now);
    return skew <= SKEW ||
           (run(ptx, one, NULL, 0, work, &before, &report) && skew <= SKEWED * skew_of(&before));
}
