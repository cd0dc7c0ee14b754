// Goals: a chapter's measures, evaluated over what a run counted; and occupancy, one of them.
#pragma once

#include "gpu/gpu.h"
#include "driver/judge/bandwidth.h"
#include "driver/judge/timeline.h"

// What is known of one task: counted at its counted size, and how fast it is.
typedef struct {
    bool is_counted; // counters below hold
    bool is_small;   // at a size below the one that the goals are about
    bool is_moved;   // at a size and a base that the run draws
    Counters counters[MAX_LAUNCHES];
    CaseShape shape;
    unsigned misalignment;           // bytes past a multiple of 16 of the buffers that may begin there
    int registers[MAX_LAUNCHES];     // a thread; 0 unknown
    int static_shared[MAX_LAUNCHES]; // bytes a block
    int spilled[MAX_LAUNCHES];       // bytes of stores for which ptxas had no register; 0 unknown
    long long partials;              // elements of .output
    long long output_bytes;          // of all outputs together
    const Bandwidth *bandwidth;      // NULL: nothing known
    const Timeline *timeline;        // of a program; NULL: none
} Measured;

typedef enum {
    GOAL_MET,
    GOAL_MISSED,
    GOAL_TOO_NOISY,   // the limit lies within the interval of what was measured: earns what is certain
    GOAL_NOT_COUNTED, // no value here: earns nothing and fails nothing
    GOAL_NOT_JUDGED,  // not met at a size below the one it is about: earns nothing and fails nothing
    GOAL_BROKEN,      // the chapter's expression or names are wrong
} GoalState;

typedef struct {
    const Goal *goal;
    int task; // index
    GoalState state;
    double value;     // NaN where it has none
    double low, high; // the interval of the value where it was measured with noise; else both are the value
    double share;     // of the goal's points: 1 where met
    CaseSize size;    // where the value was counted, or the bandwidth is stated
    unsigned misalignment;  // of the base there, in bytes past a multiple of 16
    char device[64];        // for which GPU, if not the run's
    const Technique *lacks; // the first of goal->needs that is missing, of which there is `used`
    double used;
    double tolerance; // by how much the value may pass the limit
    bool is_within;   // the value is within its limit; then `lacks` or `partial` says why the goal is missed
    double partial;   // barriers, of those that it counts, that not all threads of a block executed
    char words[96];   // why it is broken, or the name that has no value
} GoalResult;

// Whether the measure depends on nothing but the launch shape and the device.
bool goal_is_of_shape(const Goal *goal);
// Whether the measure is a share of the reference's bandwidth.
bool goal_is_of_bandwidth(const Goal *goal);

// `measured` has one entry a task. `info` is the device that the shapes were made for.
void goal_evaluate(const Chapter *of, const Goal *goal, const Measured *measured, const GpuInfo *info,
                   GoalResult *result);

// The value of the measure for one task, of which `measured` is known; NaN: there is none. Bandwidth has
// none.
double goal_value(const Chapter *of, const Goal *goal, int task, const Measured *measured,
                  const GpuInfo *info);

// The one of `results` that misses a goal of bandwidth by most, and of several the first; NULL: none does.
const GoalResult *goals_missed_bandwidth(const GoalResult *results, int count);

const char *goal_state_word(GoalState state); // "met", "missed", "too noisy to decide", ...

// Blocks of that shape that one SM holds at a time, limited by threads, blocks, registers and shared memory
// (CUDA C++ Programming Guide, "Hardware Multithreading"; the granularities are those of cuda_occupancy.h:
// registers by warp in units of 256, shared memory in units of 128 bytes plus what the system reserves).
// 0 when not even one fits. `static_shared` is in bytes a block.
int resident_blocks(const GpuInfo *info, int block_threads, int registers, long long static_shared,
                    long long dynamic_shared);

typedef struct {
    int blocks;                // on an SM
    const char *first_used_up; // what an SM alone has too little of for one more; NULL: several things
} Residence;
Residence residence_of(const GpuInfo *info, int block_threads, int registers, long long shared);
