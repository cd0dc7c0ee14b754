// Accesses of whole warps at once, in the simple cases; race_granule.c has the rest.
#pragma once

#include "emulator/observers/race_granule.h"

// Checks and records an access of 32 lanes to granules one after the other, if all are ordered in the simple
// ways: by the block's barrier, or their own. False (and nothing is recorded) when some granule needs a
// closer look.
bool check_contiguous(const RaceCheck *check);

// The lanes of an access by place. Returns the highest lane of every place; together[l] of such a lane l are
// all lanes at its place.
uint32_t lanes_by_place(const Access *access, uint32_t together[WARP_SIZE]);
