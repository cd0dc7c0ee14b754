// Why an array of a thread is in local memory.
#pragma once

#include "driver/judge/state.h"

// The line of the loop that an index of the accesses to local memory in `line` follows, if nothing but that
// loop keeps the index from being a constant: it counts from a constant on, no other loop is around the
// accesses, and nothing that is loaded is part of the index. 0: it does not, or is unknown.
int local_index_loop(const Judge *judge, int task, int launch, int line);
