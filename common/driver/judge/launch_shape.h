// Asking LAUNCH: its kernels run on the device, and their answers are compared with the device's limits.
#pragma once

#include "driver/judge/case.h"

// What a LAUNCH kernel fills in: a mirror of warpbook.cuh's struct, field by field.
typedef struct {
    int64_t grid[3], block[3], shared;
} LaunchShapeImage;

// The shapes of a task at one size: what its LAUNCH kernels answered, or why there is none.
typedef struct {
    int task;
    CaseSize size;
    int figures;     // as a case's
    Verdict verdict; // PASS: `shape` holds
    CaseShape shape;
    bool ended_runner; // the runner had to be restarted
    char kernel[128];
    char words[512];
    bool has_finding;
    Finding finding;
} TaskShape;

// A shape for the launches over all elements in place of LAUNCH's, if that has one dimension; 0: LAUNCH's,
// and as many threads in all, or, if `keeps_blocks`, as many blocks.
typedef struct {
    int blocks_per_sm, block_threads;
    int share;        // with a thread for so many elements, or at least one block for each row
    int more_blocks;  // besides LAUNCH's
    int times_blocks; // as many as LAUNCH's
    bool keeps_blocks;
} OtherShape;

// Whether it is another one than LAUNCH's.
bool is_other_shape(OtherShape other);

// Asks the LAUNCH kernels of a task, one after the other, on a runner that is idle, of the image in that
// slot, for the runner's device. False if the runner is lost (`shape` has the reason).
bool ask_shape(Runner *runner, int image, const Task *task, int index, const ImageKernel kernels[],
               CaseSize size, TaskShape *shape);
// The same for another device, whose figures LAUNCH is given and whose limits hold.
bool ask_shape_for(Runner *runner, int image, const Task *task, int index, const ImageKernel kernels[],
                   CaseSize size, const GpuInfo *device, OtherShape other, TaskShape *shape);
// What a case is whose LAUNCH failed.
void launch_refuses(const TaskShape *shape, CaseReport *report);
