// Which cases a run goes through: sizes, families, base offsets and schedules, chosen so that every kind of
// mistake fails some case, and the run takes at most a second on the emulator.
#pragma once

#include "driver/plan/chapter.h"
#include "driver/plan/seeds.h"

// How often goals are counted: at the chapter's size, and at sizes and addresses that no kernel can know.
enum { COUNTS = 3 };

enum { EMULATED_MOST = 1 << 26 }; // elements that the emulator runs in reasonable time

typedef struct {
    int task;
    CaseSize size;
    Family family;
    unsigned misalignment; // bytes past a 256-byte boundary, for the buffers that may be misaligned
    bool is_staggered;     // each such buffer 4 bytes further than the one before
    uint64_t schedule;
    bool is_counted;
    int recount;        // goals: 0 for the chapter's size, 1 and further for sizes of the run's own
    unsigned shift;     // bytes that all buffers lie further, a multiple of 256
    int figures;        // whose figures LAUNCH is given: 0 the device's, p + 1 those of gpu_profiles[p]
    bool is_beside;     // on the emulator, beside a GPU
    bool is_unforeseen; // of a size that the run chose
    int failing;        // of a program: the place whose first call fails (WARPBOOK_FAIL); 0: none
    bool is_drawn;      // of a size that the run draws: only its result is checked, neither races nor
                        // initialisation
    bool is_large;      // a few blocks out of many, on the emulator: large.h
    long long end_n;    // is_large: the size at which the blocks that have the last elements run besides;
                        // 0: none
} Case;

typedef struct {
    Case *cases;
    int count, capacity;
    bool failed; // out of memory
} Plan;

typedef struct {
    bool is_gpu;
    long long n;          // only this size; -1: all
    const CaseSize *also; // in addition, if they suit the task
    int also_count;
    const Seeds *seeds;
    int schedules; // besides schedule 0; -1: as the task says
    bool has_schedule;
    uint64_t schedule;    // only this one
    const CaseSize *only; // one case at each of these sizes, in place of all others
    int only_count;       // 0: all others
} PlanOptions;

// Cases of all tasks, small ones first, those that share their inputs together.
bool plan_make(const Chapter *of, const PlanOptions *options, Plan *plan);
// Adds to a GPU's plan the cases that the emulator runs beside it: small sizes, and the counted size, which
// is then counted there.
bool plan_add_beside(const Chapter *of, const PlanOptions *options, Plan *plan);
// Adds a case that the plan does not have yet; false when memory ran out. plan_sort() puts it in its place.
bool plan_add(Plan *plan, Case one);
void plan_sort(Plan *plan);
void plan_free(Plan *plan);

// Whether two cases differ by their schedules alone.
bool case_is_of_other_schedule(const Case *a, const Case *b);

// The k-th weak schedule behind `first`; k from 1.
uint64_t weak_schedule(uint64_t first, int k);

// The size of a task's goals: the counted size of a complete run.
CaseSize plan_goal_size(const Task *task);

// The k-th size and base, from 0 on, that may tell apart what agrees in every case of a plan, as n * m and n
// * k: few elements, each extent odd, a multiple of 4 or one of 16, in all combinations. False: there are no
// more.
bool plan_draw_apart(const Task *task, int index, const Seeds *seeds, int k, Case *one);

// Whether a task can be run at a size given on the command line: rows and columns where it has them, and not
// above its limit.
bool plan_suits(const Task *task, const CaseSize *size);
