// One case on a runner: what to ask, and what the answer means.
#ifndef WARPBOOK_EXECUTE_H
#define WARPBOOK_EXECUTE_H

#include "driver/build/image.h"
#include "driver/judge/judgement.h"
#include "driver/plan/prepared.h"
#include "driver/run/runner.h"

// The shapes of a task at one size: what its LAUNCH kernels answered, or why there is none.
typedef struct {
    int task;
    CaseSize size;
    Verdict verdict; // PASS: `shape` holds
    CaseShape shape;
    bool ended_runner; // it had to be started anew
    char kernel[128];
    char words[512];
    bool has_finding;
    Finding finding;
} TaskShape;

// Asks the LAUNCH kernels of a task, one after the other, on a runner that is idle, of the image in that
// slot. False when the runner is lost (why stands in `shape`).
bool ask_shape(Runner *runner, int image, const Task *task, int index, const ImageKernel kernels[],
               CaseSize size, TaskShape *shape);

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

#endif
