// Suppositions about work that is known already. Others are made while a launch is followed (WHAT_IF_* of
// launch.h), or by another ModelShape: fewer registers, less shared memory.
#pragma once

#include "emulator/model/work.h"

// Loads from memory that a thread has in flight at a time, on average; 0: there are none.
double model_loads_in_flight(const ModelWork *work);
// As if it had that many; not fewer than it has.
void model_with_loads_in_flight(ModelWork *work, double loads);
// As if the arrays of its threads were in registers. The instructions that access them are still issued.
void model_without_local_memory(ModelWork *work);
// As if no block waited until another one has waited.
void model_without_chain(ModelWork *work);
// As if words that other blocks poll were stored by atomics.
void model_told_by_atomics(ModelWork *work);
// As if a block that collects what the others have left loaded all of it at once.
void model_collected_at_once(ModelWork *work);
