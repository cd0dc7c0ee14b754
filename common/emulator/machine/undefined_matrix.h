// How undefined values spread through matrix instructions.
#pragma once

#include "emulator/machine/wgmma_tile.h"
#include "emulator/machine/exchange.h"

// Before the destinations are written; nothing is done where no lane has an undefined value.
// A result of a product is undefined if an element of its row of a, its column of b, or its own of c is.
void undefined_multiply(Machine *machine, const Warp *warp, const Gathering *gathering);
// Of wgmma, whose factors in shared memory are `a` and `b`.
void undefined_wgmma(Machine *machine, Warp *warp, const Gathering *gathering, bool reads_sums,
                     const TilePieces *a, const TilePieces *b);
void undefined_move(Machine *machine, const Warp *warp, const Gathering *gathering);
