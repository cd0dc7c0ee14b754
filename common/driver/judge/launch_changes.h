// The sizes at which a LAUNCH changes its mind: from one block to several, or to blocks of another size. A
// kernel often computes in another way from there on, and no list of sizes hits the last one before.
#pragma once

#include "driver/judge/state.h"

// Adds a case at either side of each change that lies between two sizes of the plan, four of either kind a
// task; one at which there are more blocks than a block has threads, and one at which the blocks of a GPU of
// few SMs take several rounds. On the emulator, for tasks whose size is a number of elements. False when the
// run cannot continue.
bool judge_add_changes(Judge *judge);
