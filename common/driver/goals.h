// Goals: a chapter's measures, evaluated over what a run counted.
#ifndef WARPBOOK_GOALS_H
#define WARPBOOK_GOALS_H

#include "../gpu/gpu.h"
#include "chapter.h"

// What is known of one task at its counted size. NaN stands for what is not known on this device.
typedef struct {
    bool is_counted; // counters below hold
    Counters counters[MAX_LAUNCHES];
    CaseShape shape;
    int registers[MAX_LAUNCHES];     // a thread; 0 unknown
    int static_shared[MAX_LAUNCHES]; // bytes a block
    long long partials;              // elements of .output
    double bandwidth, bandwidth_ratio;
} Measured;

typedef enum {
    GOAL_MET,
    GOAL_MISSED,
    GOAL_NOT_COUNTED, // no value here yet: earns nothing and fails nothing
    GOAL_BROKEN,      // the chapter's expression or names are wrong
} GoalState;

typedef struct {
    const Goal *goal;
    int task; // index
    GoalState state;
    double value;   // NaN unless met or missed
    char words[96]; // why it is broken, or the name that has no value
} GoalResult;

// `measured` has one entry a task. `info` is the device that the shapes were made for.
void goal_evaluate(const Chapter *of, const Goal *goal, const Measured *measured, const GpuInfo *info,
                   GoalResult *result);

const char *goal_state_word(GoalState state); // "met", "missed", "not yet counted", "broken"

#endif
