#include "driver/judge/repair_use.h"

#include "driver/judge/repair/proposals.h"

enum {
    PATIENCE = 2,     // Rerun
    MOST_CHANGES = 8, // those of a repair, and one for each kernel of the task
};

// Runs the case with some changes while those threads are idle, or end the kernel if they load. False:
// nothing can be said.
static bool run_idle(const TaskPtx *ptx, const CaseReport *failed, const Change *const changes[], int count,
                     int who, bool ends, double *work, CaseReport *report) {
    const Task *task = &ptx->judge->of->tasks[ptx->task];
    const Change *all[MOST_CHANGES];
    Changes idle = {0};
    int used = 0, done[MAX_LAUNCHES], done_count = 0;
    bool is_known = false;
    for (int l = 0; l < task_launch_count(task); l++) {
        const int function = ptx_find_function(&ptx->lines, ptx->image->kernels[ptx->task][l].symbol);
        bool is_done = function < 0;
        for (int d = 0; d < done_count; d++) is_done |= done[d] == function;
        if (is_done) continue;
        done[done_count++] = function;
        is_known |= propose_idle(&ptx->lines, function, who, ends, &idle);
    }
    for (int c = 0; c < count && used < MOST_CHANGES; c++) all[used++] = changes[c];
    for (int c = 0; c < idle.count && used < MOST_CHANGES; c++) all[used++] = &idle.all[c];
    Worker worker;
    Case one = failed->settings;
    one.is_counted = false;
    if (is_known && (is_known = task_ptx_start(ptx, all, used, &worker))) {
        is_known = task_ptx_run(ptx, &worker, &one, all, used, PATIENCE, false, NULL, report);
        *work -= judge_work_of(report);
        task_ptx_stop(ptx, &worker);
    }
    changes_free(&idle);
    return is_known;
}

bool repair_drops_results(const TaskPtx *ptx, const CaseReport *failed, const Change *const changes[],
                          int count, double *work) {
    if (!failed->has_check || !failed->check.has_numbers || failed->settings.is_large) return false;
    for (int who = 0; who < IDLE_KINDS; who++) {
        CaseReport now;
        if (!run_idle(ptx, failed, changes, count, who, false, work, &now) || now.verdict != VERDICT_PASS ||
            !run_idle(ptx, failed, changes, count, who, true, work, &now) || now.verdict == VERDICT_PASS ||
            !run_idle(ptx, failed, NULL, 0, who, false, work, &now))
            continue; // they are needed, or do not load
        const bool is_same = now.has_check && now.check.has_numbers &&
                             now.check.index == failed->check.index && now.check.got == failed->check.got;
        if (!is_same) return true;
    }
    return false;
}
