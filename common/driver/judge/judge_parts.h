// What the parts of the judge share: one run under way.
//   judge.c    starts it, and comes to the verdict and the points
//   workers.c  starts the runners, each with the images it needs
//   cases.c    asks for launch shapes and runs the cases on the runners
//   measure.c  times the kernel beside the reference on a GPU
//   modelled.c estimates on the emulator what a GPU would take, and the reference on it
//   replay.c   looks for a schedule that shows a race
#ifndef WARPBOOK_JUDGE_PARTS_H
#define WARPBOOK_JUDGE_PARTS_H

#include "driver/judge/case.h"
#include "driver/judge/judge.h"

enum { MAX_RUNNERS = 3 };

typedef struct {
    Runner *runner;
    bool is_beside; // an emulator beside a GPU: for the cases that are beside, and for them alone
    bool is_lost;
    int job; // index of the case under way; -1: idle
    Prepared *prepared;
    CaseLayout layout;
} Worker;

// What is known of a task's cases so far: those of the device, and those beside it.
typedef struct {
    int tries, failures, restarts;
    bool gave_up;
    ShapeSet candidates; // shapes of error that no case so far speaks against
    int wrong_sums;      // of whole numbers
} Progress;

typedef struct {
    const Chapter *of;
    const Subjects *subjects;
    const Options *options;
    Judgement *judgement;
    JudgeProgress progress;
    Plan plan;
    Worker workers[MAX_RUNNERS]; // the first is the device's
    int worker_count;
    bool is_gpu;
    TaskShape *shapes;
    int shape_count, shape_capacity;
    PreparedCache cache;
    Progress tasks[2][MAX_TASKS]; // [is_beside]
} Judge;

// Ends the run without a case that could tell.
void judge_fail(Judge *judge, Verdict verdict, const char *words);

// Starts the runners for the cases that the options ask for, and plans those. False with the judgement's
// words.
bool judge_start_workers(Judge *judge);
// The image that a worker runs.
const Image *judge_image(const Judge *judge, bool is_beside);

// The shapes of a task at one size; NULL where they were not asked for.
TaskShape *judge_shape(const Judge *judge, int task, const CaseSize *size);
// Asks for them where they are not known. False when the device is of no more use: the judgement says why.
bool judge_ask_shape(Judge *judge, int task, CaseSize size);

// Shapes of all cases, then the cases themselves. False when the device is of no more use.
bool judge_ask_shapes(Judge *judge);
void judge_run_cases(Judge *judge);
// A case that turned out wrong only beside others.
void judge_note_failure(Judge *judge, const CaseReport *report);

// A race is believed when it is seen: judgement->replay says under which schedule it gives a wrong value.
void judge_show_race(Judge *judge);

// Fills in judgement->bandwidth of every task, measured on the device; or judgement->timings with --time.
void judge_measure(Judge *judge);
// The same, modelled.
void judge_model(Judge *judge);

#endif
