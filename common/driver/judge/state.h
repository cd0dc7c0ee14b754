// The state of a run, which all parts of the judge share.
#pragma once

#include "driver/build/builds.h"
#include "driver/judge/large_case.h"
#include "driver/judge/launch_shape.h"
#include "driver/plan/options.h"

enum { MAX_RUNNERS = 3 };

// A runner has room for what the model runs, which is more than most cases are.
static const size_t least_arena_bytes = (size_t)256 << 20;

typedef struct {
    Runner *runner;
    bool is_beside; // an emulator beside a GPU: for the cases that are beside, and for them alone
    bool is_lost;
    int job; // index of the case under way; -1: idle
    Prepared *prepared;
    CaseLayout layout;
    LargeCase large; // where the job is one
} Worker;

// What is known of a task's cases so far: those of the device, and those beside it.
typedef struct {
    int tries, failures, restarts;
    bool gave_up;
    bool is_explained;   // a case failed in the plain order or with a finding: weak ones show nothing new
    ShapeSet candidates; // shapes of error that no case so far speaks against
    int wrong_sums;      // of whole numbers
} Progress;

// What the launches of a task do at the size that is modelled. No launches: nothing is known.
typedef struct {
    CaseShape whole;
    ModelWork works[MAX_LAUNCHES];
} ModelledWorks;

typedef struct {
    const Chapter *of;
    const Subjects *subjects;
    const Options *options;
    Judgement *judgement;
    void (*progress)(int done, int total); // NULL: not reported
    Seeds seeds;
    Plan plan;
    Worker workers[MAX_RUNNERS]; // the first is the device's
    int worker_count;
    bool is_gpu;
    TaskShape *shapes;
    int shape_count, shape_capacity;
    PreparedCache cache;
    Progress tasks[2][MAX_TASKS]; // [is_beside]
    ModelledWorks modelled[MAX_TASKS];
    ModelledWorks large[MAX_TASKS]; // only the blocks that ran of a large case at the size that is modelled
    Runner *changed;  // an emulator without work, into which kernels with changes are loaded; NULL: none
    double work_left; // page_work.h
    struct VariantSearch *proved; // the last text of kernel.cu that repairs a task; NULL: none
} Judge;

// Ends the run without a case that could tell.
void judge_fail(Judge *judge, Verdict verdict, const char *words);
// Adds a case that the plan does not have, and that failed.
void judge_add_failed(Judge *judge, const CaseReport *report, CaseOrigin origin);
// The image that a worker runs.
const Image *judge_image(const Judge *judge, bool is_beside);

// The shapes of a task at one size; NULL where they were not asked for.
TaskShape *judge_shape(const Judge *judge, int task, const CaseSize *size);
TaskShape *judge_case_shape(const Judge *judge, const Case *one);
// Asks for them if they are not known. False when the device is of no more use: the judgement says why.
bool judge_ask_shape(Judge *judge, int task, CaseSize size);
bool judge_ask_case_shape(Judge *judge, const Case *one);
