// One case: the places of its buffers, the request to the runner, and the meaning of the answer.
#pragma once

#include "driver/build/image.h"
#include "driver/judge/judgement.h"
#include "driver/plan/prepared.h"
#include "driver/run/runner.h"

// The places of a case's parts in the arena, and its launches.
typedef struct {
    long long counts[MAX_BUFFERS];
    size_t offsets[MAX_BUFFERS];
    size_t bytes;                   // of arena in all
    int launch_index[MAX_LAUNCHES]; // of the request's launches, in the task
    int launch_count;
} CaseLayout;

// Elements and places of a task's buffers. False, with a sentence in `why`, if a count is not valid or all
// together need more than `limit` bytes.
bool case_layout(const Task *task, const CaseShape *shape, size_t limit, CaseLayout *layout, char *why,
                 size_t why_bytes);

// What the runner must do in one run of the case: buffers, arguments, launches.
void case_program(const Task *task, const Case *one, const CaseShape *shape, const CaseLayout *layout,
                  const ImageKernel kernels[], RunProgram *program);
// The finding or fault that decides the case, with its words. False: there is none.
bool case_has_failed(const Task *task, const CaseLayout *layout, const RunReply *reply, CaseReport *report);
void case_write_inputs(const Task *task, const CaseLayout *layout, const Prepared *prepared,
                       unsigned char *arena);
// Both together as a RUN.
void case_request(const Task *task, const Case *one, const CaseShape *shape, const CaseLayout *layout,
                  const Prepared *prepared, const ImageKernel kernels[], unsigned char *arena,
                  Request *request);

// Judges the answer. True if the case is decided; false if the runner failed in a way that another try may
// avoid.
bool case_judge(const Task *task, const CaseShape *shape, const CaseLayout *layout, const Prepared *prepared,
                const RunReply *reply, const unsigned char *arena, bool is_gpu, CaseReport *report);

// Wall-clock seconds a runner may take over a case: on a GPU its kernels' limit; on the emulator, which
// counts steps, only a guard against the emulator itself.
double case_seconds(bool is_gpu, long long n);
// How many steps (EmulatorLaunch.max_steps) a launch may take before it counts as endless: far above what a
// kernel needs. An element costs about 100 where one thread does all the work and 10 where whole warps share
// it, a tree 100 a thread, and a barrier of the grid 50,000 a block. With many elements it is fewer per
// element, so that an endless loop is found within seconds. The same kernel gets the same verdict on every
// machine.
uint64_t case_step_limit(long long n, long long threads);
long long case_threads(const CaseShape *shape); // of all its launches

// The most informative finding: the first one with the worst verdict. NULL: there is only information.
const Finding *worst_finding(const RunReply *reply, Verdict *verdict, int *count);
