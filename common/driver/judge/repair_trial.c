#include "driver/judge/repair_trial.h"

#include <string.h>
#include <unistd.h>

// In milliseconds of a usual machine, as judge_work_of(): of loading an image, and each byte of it.
static const double work_of_start = 1, work_of_byte = 1.2e-4;

bool task_ptx_make(Judge *judge, const Image *image, int task, const char *source, TaskPtx *ptx) {
    *ptx = (TaskPtx){.judge = judge, .image = image, .task = task};
    if (!ptx_lines_make(&image->text, source, &ptx->lines)) return false;
    const char *symbols[2 * MAX_LAUNCHES];
    int count = 0;
    for (int l = 0; l < task_launch_count(&judge->of->tasks[task]); l++) {
        symbols[count++] = image->kernels[task][l].symbol;
        symbols[count++] = image->kernels[task][l].launch_symbol;
    }
    ptx->ptx_bytes = ptx_keep_kernels(&ptx->lines, symbols, count);
    return true;
}

void task_ptx_free(TaskPtx *ptx) { ptx_lines_free(&ptx->lines); }

double task_ptx_start_work(const TaskPtx *ptx) {
    return work_of_start + work_of_byte * (double)ptx->ptx_bytes;
}

// The one that has no work, or another. NULL if none can be started.
static Runner *take_runner(Judge *judge) {
    Runner *runner = judge->changed;
    judge->changed = NULL;
    if (runner) return runner;
    const Runner *like = judge->workers[0].runner;
    RunnerPlan plan = {.kind = GPU_EMULATOR,
                       .arena_bytes = runner_arena_bytes(like),
                       .address_bytes = runner_address_bytes(like)};
    memcpy(plan.profile, judge->options->profile, sizeof plan.profile);
    RunReply reply;
    return runner_start(&plan, &reply);
}

static void give_back(Judge *judge, Runner *runner) {
    if (judge->changed)
        runner_stop(runner);
    else
        judge->changed = runner;
}

bool task_ptx_start(const TaskPtx *ptx, const Change *const changes[], int count, Worker *worker) {
    *worker = (Worker){.job = -1};
    if (page_work_is_over(ptx->judge)) return false;
    page_work_take(ptx->judge, task_ptx_start_work(ptx));
    return task_ptx_start_again(ptx, changes, count, worker);
}

bool task_ptx_start_again(const TaskPtx *ptx, const Change *const changes[], int count, Worker *worker) {
    Text text = {0};
    RunReply reply;
    *worker = (Worker){.job = -1};
    changes_apply(&ptx->lines, changes, count, &text);
    Runner *runner = text.failed ? NULL : take_runner(ptx->judge);
    if (runner && runner_load(runner, &text, ptx->image->name, &reply))
        worker->runner = runner;
    else if (runner && reply.end == RUN_REPLIED)
        give_back(ptx->judge, runner);
    else
        runner_stop(runner);
    text_free(&text);
    return worker->runner != NULL;
}

void task_ptx_stop(const TaskPtx *ptx, Worker *worker) {
    if (worker->is_lost)
        runner_stop(worker->runner);
    else
        give_back(ptx->judge, worker->runner);
    worker->runner = NULL;
}

Worker *own_worker(const TaskPtx *ptx, const Change *const changes[], int count, OwnWorker *own) {
    if (own->process != getpid()) {
        own->process = getpid();
        own->is_started = task_ptx_start_again(ptx, changes, count, &own->worker);
    } else if (own->is_started && own->worker.is_lost) {
        task_ptx_stop(ptx, &own->worker);
        own->is_started = task_ptx_start(ptx, changes, count, &own->worker);
    }
    return own->is_started ? &own->worker : NULL;
}

void own_worker_stop(const TaskPtx *ptx, OwnWorker *own) {
    if (own->is_started && own->process == getpid()) task_ptx_stop(ptx, &own->worker);
    own->is_started = false;
}

static Rerun rerun_with(const TaskPtx *ptx, const Change *const changes[], int count, int patience) {
    Rerun how = {.kernels = ptx->image->kernels[ptx->task],
                 .checks = CHECK_ALL,
                 .patience = patience,
                 .most_steps = ptx->most_steps,
                 .is_of_search = true};
    for (int c = 0; c < count; c++) {
        how.zeroes_output |= changes[c]->zeroes_output;
        if (changes[c]->launch.share) how.shape.share = changes[c]->launch.share;
        if (changes[c]->launch.more_blocks) how.shape.more_blocks = changes[c]->launch.more_blocks;
        if (changes[c]->launch.times_blocks) how.shape.times_blocks = changes[c]->launch.times_blocks;
        if (changes[c]->launch.block_threads) how.shape.block_threads = changes[c]->launch.block_threads;
        if (changes[c]->launch.keeps_blocks) how.shape.keeps_blocks = true;
        if (changes[c]->variant)
            how.variant = changes[c]->variant, how.patience = patience * VARIANT_PATIENCE;
        if (changes[c]->guarded_line) how.guarded_line = changes[c]->guarded_line;
    }
    return how;
}

bool task_ptx_run(const TaskPtx *ptx, Worker *worker, const Case *one, const Change *const changes[],
                  int count, int patience, bool is_of_the_end, ModelWork works[], CaseReport *report) {
    Rerun how = rerun_with(ptx, changes, count, patience);
    how.works = works;
    how.is_of_the_end = is_of_the_end;
    return judge_rerun(ptx->judge, worker, one, &how, report);
}

bool task_ptx_count(const TaskPtx *ptx, Worker *worker, const Case *one, const Change *const changes[],
                    int count, int patience, CaseReport *report) {
    Rerun how = rerun_with(ptx, changes, count, patience);
    how.keeps_lines = true;
    return judge_rerun(ptx->judge, worker, one, &how, report);
}
