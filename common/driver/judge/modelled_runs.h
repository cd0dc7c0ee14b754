// The runs on the emulator from which a task of any size is modelled. Each is a complete case: a smaller
// size, a launch shape that LAUNCH gives, random inputs, and results that are checked like any other's.
#pragma once

#include "driver/judge/state.h"

typedef struct {
    Judge *judge;
    Runner *runner; // idle
    const Image *image;
    const Task *task;
    int index;       // of the task
    char why[320];   // if there are no works: why
    bool has_failed; // a case with LAUNCH's shape on this GPU is not right: `failed`
    CaseReport failed;
} ModelledTask;

// What each launch of `whole` does. False, with `why`, if a run is not right or does not represent the whole.
bool modelled_works(ModelledTask *modelled, const CaseShape *whole, ModelWork works[MAX_LAUNCHES]);
