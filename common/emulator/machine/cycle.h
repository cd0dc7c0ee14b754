// A thread that has used up the launch's steps in a loop: whether it can ever leave it.
#pragma once

#include "emulator/machine/machine.h"

// The steps of the launch were used up at `in`, by lanes of `fragment`, which is the last finding. Lets the
// machine run on for a while, in which no other finding is kept, and follows a lane of the warp: if
// everything on which the end of its loop depends is as it was before, the finding is marked as endless. That
// holds for every schedule: nothing of it can be changed by another thread.
void search_cycle(Machine *machine, Warp *warp, const Fragment *fragment, const Instruction *in);

// Whether `warp` is to be left out for now, during the search: the warp that is searched, of the same block,
// does not wait for it.
bool is_passed_over(const Machine *machine, const Warp *warp);
