// Runs a case once more, outside of the plan.
#pragma once

#include "driver/judge/page_work.h"

typedef struct {
    const ImageKernel *kernels; // of the task, in the image that the worker has loaded
    unsigned checks;
    bool zeroes_output;  // and all else that no case fills, before the first launch
    void *const *inputs; // by buffer, instead of the case's; NULL, or one of them: those. Results are then
                         // not compared with any
    OtherShape shape;    // of the launches over all elements
    int guarded_line;    // of kernel.cu, whose accesses outside of all memory are left out; 0: none
    int variant;         // VARIANT_CHOICE, which the image has; 0: the kernel as it is
    ModelWork *works;    // by launch of the task: follows the run for the time model; NULL: does not
    bool keeps_lines;    // counts, and keeps what each line counted in the judgement
    bool is_of_the_end;  // of a large case only its first and its last block, one of which has to reach the
                         // last element
    int patience;        // how many times few_steps() a launch may take; 0: as many as in a case
    uint64_t most_steps; // that it may take in any case; 0: no other limit
    bool is_of_search;   // takes from the page's work, and nothing can be said when that is over
} Rerun;

// On an emulator. False when nothing can be said, as with a lost worker. A large case heeds only
// `kernels`, `shape` and `is_of_the_end`.
bool judge_rerun(Judge *judge, Worker *worker, const Case *one, const Rerun *how, CaseReport *report);
