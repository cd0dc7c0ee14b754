// The kernels of one task with changes: loaded into another worker, and run in cases of the plan.
#pragma once

#include "driver/judge/repair/change.h"
#include "driver/judge/rerun.h"
#include "driver/judge/state.h"

typedef struct {
    Judge *judge;
    const Image *image; // PTX
    int task;
    PtxLines lines;      // of the whole image; the kernels of other tasks are left out of what is loaded
    size_t ptx_bytes;    // that are loaded
    uint64_t most_steps; // of a launch; 0: as `patience` says
} TaskPtx;

enum {
    VARIANT_PATIENCE = 4
}; // Rerun: times that of a kernel without variants, each of which is a comparison

// The image must outlive `ptx`. `source`: as ptx_lines_make(). False when memory runs out; it has to be freed
// then, too.
bool task_ptx_make(Judge *judge, const Image *image, int task, const char *source, TaskPtx *ptx);
void task_ptx_free(TaskPtx *ptx);

// A worker whose image has these changes, to be stopped. False if the PTX cannot be loaded with them: there
// is no runner then.
bool task_ptx_start(const TaskPtx *ptx, const Change *const changes[], int count, Worker *worker);
// Loading it takes that of the page's work.
double task_ptx_start_work(const TaskPtx *ptx);
// The same for changes that have been loaded just now, for no work.
bool task_ptx_start_again(const TaskPtx *ptx, const Change *const changes[], int count, Worker *worker);
void task_ptx_stop(const TaskPtx *ptx, Worker *worker);
// A worker that each process that shares trials starts for itself, and again if it is lost.
typedef struct {
    Worker worker;
    pid_t process; // whose worker it is; 0: of none yet
    bool is_started;
} OwnWorker;

// This process's, with these changes. NULL: the PTX cannot be loaded with them.
Worker *own_worker(const TaskPtx *ptx, const Change *const changes[], int count, OwnWorker *own);
void own_worker_stop(const TaskPtx *ptx, OwnWorker *own);

// judge_rerun() with what the changes ask of a run besides their edits. `patience`, `is_of_the_end`, `works`:
// as Rerun.
bool task_ptx_run(const TaskPtx *ptx, Worker *worker, const Case *one, const Change *const changes[],
                  int count, int patience, bool is_of_the_end, ModelWork works[], CaseReport *report);
// The same, and the judgement keeps what each line counted.
bool task_ptx_count(const TaskPtx *ptx, Worker *worker, const Case *one, const Change *const changes[],
                    int count, int patience, CaseReport *report);
