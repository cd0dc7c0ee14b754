// How undefined values spread through matrix instructions.
#pragma once

#include "emulator/machine/exchange.h"

// Before the destinations are written; nothing is done where no lane has an undefined value.
// A result of a product is undefined if an element of its row of a, its column of b, or its own of c is.
void undefined_multiply(Machine *machine, const Warp *warp, const Gathering *gathering);
void undefined_move(Machine *machine, const Warp *warp, const Gathering *gathering);
