// The lines of kernel.cu in which a missed goal is missed.
#pragma once

#include "driver/judge/judgement.h"

// What an SM holds of the launch that a goal of waves or of occupancy is about, and the bytes of shared
// memory of its blocks. False if that is not known at the counted size.
bool goal_residence(const Chapter *of, const Judgement *judgement, const GoalResult *result, int *launch,
                    Residence *residence);

enum { MOST_GOAL_LINES = 3 };

typedef struct {
    int line;     // of kernel.cu
    double value; // of the goal's measure, had the kernel no other line
} GoalLine;

typedef struct {
    int count; // 0: nothing is said
    GoalLine lines[MOST_GOAL_LINES];
    bool is_rest; // their values add up to that of the kernel, together with those of lines that are not here
} GoalLines;

// If the values of all lines add up to that of the kernel, those with the most of it; else those that miss
// the goal alone. None of a goal that counts nothing in lines, or that is missed elsewhere than at the
// counted size.
GoalLines goal_lines(const Chapter *of, const Judgement *judgement, const GoalResult *result);

// Whether what that goal counts with `sectors` is more than its limit, as "global_ld_sectors" of loads.
bool goal_exceeds_sectors(const GoalResult *result, const char *sectors);
// Whether that goal is missed because sectors are more than its limit, and for no technique that it asks for.
bool goal_misses_by_sectors(const Judgement *judgement, const GoalResult *result);
// What the measure would be, as far as it is of sectors, if no access touched more than its bytes fill.
double goal_value_by_bytes(const Chapter *of, const Judgement *judgement, const GoalResult *result);

// Whether requests of global memory have 16 bytes for each lane of a warp, or little less on average: some
// are of fewer lanes.
bool requests_are_full(double bytes, double requests);
// Lines whose requests of global memory have less than 16 bytes for each lane, with the bytes of one on
// average. None unless a goal of requests is missed.
GoalLines goal_narrow_lines(const Judgement *judgement, const GoalResult *result);

// How lanes meet in banks, and how they lie in sectors, in that line of kernel.cu: the worst of its requests.
LineCounters goal_line_requests(const Judgement *judgement, int task, int line);

// Where time may go, as counted.
typedef enum {
    COST_NONE,
    COST_SECTORS,    // that are touched beyond what the bytes fill
    COST_CONFLICTS,  // in banks
    COST_DIVERGENCE, // branches
    COST_LOCAL,      // memory of a thread
} Cost;

// The lines that have most of a cost, with their shares in percent; none if each has little.
GoalLines goal_cost_lines(const Judgement *judgement, int task, Cost cost);
