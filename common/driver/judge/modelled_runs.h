// The runs on the emulator from which a task of any size is modelled. Each is a complete case: a smaller
// size, a launch shape that LAUNCH gives, random inputs, and results that are checked like any other's.
#pragma once

#include "driver/judge/state.h"

// What is supposed of the kernel beside what its runs show. All 0: nothing.
typedef struct {
    unsigned timing;          // of WHAT_IF_*
    double loads;             // in flight for each thread
    bool needs_few_registers; // so that they limit the blocks of an SM no more
    int more_registers;       // of a thread, so that none is spilled; 0: as many as it has
    bool needs_little_shared; // likewise
    bool has_no_local_memory; // the arrays of its threads are in registers
    bool has_no_chain;        // no block waits until another one has waited
    bool tells_by_atomics;    // words that other blocks poll are stored by atomics
    bool collects_at_once;    // a block that collects what others have stored loads it in a few trips
    OtherShape shape;
} WhatIf;

typedef struct {
    Judge *judge;
    Runner *runner; // idle
    const Image *image;
    const Task *task;
    int index; // of the task
    WhatIf what_if;
    char why[320];           // if there are no works: why
    double steps_of_element; // the most of a launch, for each element; 0: as many as a case may take
    long long elements;      // that runs have had, all together
    bool has_failed;         // a case with LAUNCH's shape on this GPU is not right: `failed`
    CaseReport failed;
} ModelledTask;

// What each launch of `whole` does. False, with `why`, if a run is not right or does not represent the whole.
bool modelled_works(ModelledTask *modelled, const CaseShape *whole, ModelledWorks *done);
// Whether a size is so small that all of it runs.
bool modelled_runs_whole(const CaseSize *size);
// Whether blocks of a launch wait for one another, other than in a chain: for how long, the model knows in
// part.
bool modelled_waits_for_blocks(const ModelledWorks *done);
// The time of all launches that have a block. False if there is none.
bool modelled_estimate(const ModelledTask *modelled, const ModelledWorks *done, const ModelDevice *device,
                       ModelEstimate *sum);
