// One operation of a warp, *.sync, by lanes that may be at several places of the program. Internal to
// common/emulator.
#pragma once

#include "emulator/machine/machine.h"

typedef struct {
    Fragment *fragment;
    const Instruction *in;
    uint32_t lanes;
} Part;

typedef struct {
    Part parts[WARP_SIZE];
    int count;
    uint32_t lanes;   // of all parts together
    uint32_t members; // that the mask names
} Gathering;

// Carries the operation out for all parts: results into their registers, findings, observers.
void exchange(Machine *machine, Warp *warp, const Gathering *gathering);
// A shuffle of a full warp with one distance for all lanes, which is what nearly all are, without anybody who
// listens. False when it is none of these, and nothing is done.
bool exchange_quickly(Fragment *fragment, const Instruction *in, uint32_t mask);
