// The loop that times one or two programs on a GPU, with alternating samples. It is independent of chapters:
// two functions queue a program's work.
#pragma once

#include "driver/run/sweep.h"
#include "driver/run/statistics.h"

typedef struct {
    void *context;
    // Both queue on the device and do not wait. `copy` says on which copy of the program's buffers.
    bool (*restore)(void *context, int copy, GpuError *error); // before a sample, untimed: outputs poisoned
    bool (*run)(void *context, int copy, GpuError *error);     // all that the result needs, zeroing included
} TimedProgram;

typedef struct {
    Gpu *gpu;
    Sweep *sweep;
    const TimedProgram *programs[2]; // the second may be NULL
    int copies;                      // runs in one sample, each on a separate copy
} TimingPlan;

typedef struct {
    double *seconds[2]; // of one run; room for rule->most each, the caller's
    int count, dropped; // pairs; dropped where one sample of it cannot be used
    char throttle[128]; // why the clocks could not be watched, else ""
    char why[96];       // of the last that was dropped: "the clocks were throttled by heat"
} Timing;

// Warms the device up on the first copies, and says how long one run of the faster program takes.
bool timing_estimate(const TimingPlan *plan, double *seconds, GpuError *error);
// How many runs a sample needs so that the clock's step and the marks are small beside it.
int timing_copies(double seconds, int most);
// Takes samples until the rule is content.
bool timing_take(const TimingPlan *plan, const StopRule *rule, Timing *timing, GpuError *error);
