// A few blocks of a launch at its whole size, for the time model: a kernel may take another way there than at
// the smaller sizes from which modelled_runs.h extrapolates.
#pragma once

#include "driver/judge/modelled_runs.h"

typedef struct {
    ModelWork works[MAX_LAUNCHES]; // of the blocks that ran; all 0: nothing is known of the launch
    bool has_ended[MAX_LAUNCHES];  // all of them
} ModelledSample;

// False if nothing can be said: the blocks wait for others, or the system has no room for the outputs.
bool modelled_sample(ModelledTask *modelled, const CaseShape *whole, ModelledSample *sample);
// The part of the instructions that are others than `extrapolated` has, 0 to 1.
double modelled_other_instructions(const ModelWork *sampled, const ModelWork *extrapolated);
