// Loads that run late: load buffering, under weak schedules.
//
// A GPU does not wait for a load before it is used. In between, later stores to other addresses may already
// be visible, and the load may return what another thread stored after seeing them. Here a load may be put
// aside (run_load() of memory.c) until an instruction needs its result, accesses its address, or orders
// memory.
#pragma once

#include "emulator/machine/machine.h"

// Before the lanes `active` execute `in`: executes the load of the warp that was put aside, if it may not be
// later than `in`. False when that has stopped the machine.
bool pass_deferred(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t active);
