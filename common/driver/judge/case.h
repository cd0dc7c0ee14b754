// One case: where its buffers lie, what the runner is asked to do, and what the answer means.
#ifndef WARPBOOK_CASE_H
#define WARPBOOK_CASE_H

#include "driver/build/image.h"
#include "driver/judge/judgement.h"
#include "driver/plan/prepared.h"
#include "driver/run/runner.h"

// Where the parts of a case lie in the arena, and which launches it has.
typedef struct {
    long long counts[MAX_BUFFERS];
    size_t offsets[MAX_BUFFERS];
    size_t bytes;                   // of arena in all
    int launch_index[MAX_LAUNCHES]; // of the request's launches, in the task
    int launch_count;
} CaseLayout;

// Elements and places of a task's buffers. False, with a sentence in `why`, when a count makes no sense or
// all together need more than `limit` bytes.
bool case_layout(const Task *task, const CaseShape *shape, size_t limit, CaseLayout *layout, char *why,
                 size_t why_bytes);

// What the runner shall do in one run of the case: buffers, arguments, launches.
void case_program(const Task *task, const Case *one, const CaseShape *shape, const CaseLayout *layout,
                  const ImageKernel kernels[], RunProgram *program);
void case_write_inputs(const Task *task, const CaseLayout *layout, const Prepared *prepared,
                       unsigned char *arena);
// Both together as a RUN.
void case_request(const Task *task, const Case *one, const CaseShape *shape, const CaseLayout *layout,
                  const Prepared *prepared, const ImageKernel kernels[], unsigned char *arena,
                  Request *request);

// Judges the answer. True when the case is decided; false when the runner failed in a way that another try
// may mend.
bool case_judge(const Task *task, const CaseShape *shape, const CaseLayout *layout, const Prepared *prepared,
                const RunReply *reply, const unsigned char *arena, bool is_gpu, CaseReport *report);

// Wall-clock seconds a runner may take over a case: on a GPU its kernels' limit; on the emulator, which
// counts steps, only a guard against the emulator itself.
double case_seconds(bool is_gpu, long long n);
// How many instructions of lanes a launch may take before it counts as endless: far above what any solution
// needs (a serial loop takes about ten an element, a tree a few hundred a thread). Of many elements fewer
// each, or an endless loop would take a minute to be seen.
uint64_t case_step_limit(long long n, long long threads);

// The finding that explains most: of the worst verdict, the first met. NULL: nothing but informations.
const Finding *worst_finding(const RunReply *reply, Verdict *verdict, int *count);

#endif
