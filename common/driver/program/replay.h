// Carries out what a program's record says (runtime/record.h), on an emulator that the program never had to
// do with: what the kernels do wrong, how long everything takes, and whether the results are the work of
// kernels.
//
// The record comes from the process of the program, which can write into it what it likes. It is therefore
// read with suspicion, in a process that has given up everything but memory; and nothing is believed of it
// but what a device that gets these calls really does.
#pragma once

#include "driver/judge/timeline.h"
#include "driver/run/runner.h"
#include "emulator/launch.h"
#include "gpu/profiles.h"

typedef struct {
    const char *record; // the file's content
    size_t record_bytes;
    const char *ptx;
    size_t ptx_bytes;
    const GpuProfile *device;
    uint64_t schedule;
    bool wants_times;   // else all seconds are 0
    uint64_t max_steps; // of a launch
    // What the program delivered.
    const float *c;
    long long n;
    float total;
    double total_slack; // by how much rounding may move it under another schedule
} ReplayPlan;

typedef enum {
    REPLAY_DONE,
    REPLAY_BROKEN,      // no device could have been asked for this: `words` says what
    REPLAY_UNSUPPORTED, // it uses what a record has no form for
    REPLAY_ENDLESS,     // it takes too long
    REPLAY_LOST,        // the process that carries it out was lost
} ReplayState;

typedef struct {
    ReplayState state;
    char words[256];
    int exit_status; // the program's own; -1: it left no end
    bool has_finding;
    Finding finding; // the worst
    int finding_count;
    char kernel[128]; // its kernel
    bool is_c_from_kernels, is_total_from_kernels;
    bool is_total_shared; // it lies in memory that the host reaches without a copy
    int leaks;            // allocations that were never freed
    uint64_t lane_instructions;
    Timeline timeline;
} ReplayResult;

void replay(const ReplayPlan *plan, ReplayResult *result);
