// Which loops ptxas unrolls, and which rounds that are left over it puts under a predicate.
#pragma once

#include "emulator/program/program.h"

// Bits of Instruction.unrolled, of the branch that closes such a loop.
enum {
    UNROLLED = 1,       // four rounds at a time, then two, then one
    ONE_PREDICATED = 2, // the last round is issued by every warp, whether a lane needs it or not
    TWO_PREDICATED = 4, // likewise, two rounds
    PEEL_PREDICATED =
        8, // likewise, a round before the loop, for an unsigned counter that starts past its end
};

// Fills Instruction.unrolled and to_round_end of a function. It needs what find_predicated() has found. False
// if there is no memory.
bool find_unrolled_loops(Function *function);
// Whether a pragma forbids to unroll the loop that begins at instruction `head`.
bool is_nounroll(const Function *function, int32_t head);
