// Launch shapes and the quantities that follow from them: how many blocks, warps and threads a LAUNCH asked
// for, whether a GPU and the chapter allow that, and how many elements a buffer then has.
#ifndef WARPBOOK_SHAPE_H
#define WARPBOOK_SHAPE_H

#include "gpu/gpu.h"
#include "driver/plan/chapter.h"

// Mirrors of the two structs of warpbook.cuh, field by field.
typedef struct {
    int64_t grid[3], block[3], shared;
} LaunchShapeImage;

typedef struct {
    int32_t sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm, registers_per_sm,
        shared_per_sm, shared_per_block, warp_size;
} GpuFiguresImage;

void gpu_figures(const GpuInfo *info, GpuFiguresImage *figures);

// Turns what LAUNCH of `launch` wrote into a shape. False, with a sentence in `why`, when the device or the
// chapter does not allow it. A grid of 0 blocks is allowed for n = 0 only.
bool shape_from_image(const LaunchShapeImage *image, const Launch *launch, long long n, const GpuInfo *info,
                      ShapeOfLaunch *shape, char *why, size_t why_bytes);

// The number that a quantity of the task stands for, once the launches it speaks of have their shapes.
// Negative when it speaks of a buffer, kernel or function that is not there.
long long quantity_value(const Task *task, const Quantity *quantity, const CaseShape *shape);

int task_buffer_count(const Task *task);
int task_launch_count(const Task *task);
int task_find_buffer(const Task *task, const char *name); // -1: no such buffer
int task_find_launch(const Task *task, const char *kernel);
// Whether it is a table of which the right answers are not shown.
bool task_hides_answers(const Task *task);
int task_input(const Task *task);  // the index of .input, or of the first INPUT; -1: none
int task_output(const Task *task); // the index of .output, or of the first output; -1: none
int chapter_task_count(const Chapter *of);
int chapter_goal_count(const Chapter *of);

// Blocks of that shape that one SM holds at a time, limited by threads, blocks, registers and shared memory
// (CUDA C++ Programming Guide, "Hardware Multithreading"; the granularities are those of cuda_occupancy.h:
// registers by warp in units of 256, shared memory in units of 128 bytes plus what the system reserves).
// 0 when not even one fits. `static_shared` is in bytes a block.
int resident_blocks(const GpuInfo *info, int block_threads, int registers, long long static_shared,
                    long long dynamic_shared);

#endif
