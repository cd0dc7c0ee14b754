// How many floating-point operations lie between one and the last that it needs: what can be computed at the
// same time.
#pragma once

#include "emulator/program/program.h"

// The distance beyond which more does not matter: an SM starts one operation a cycle for a warp, and a result
// takes about four.
enum { FLOAT_DISTANCE_MOST = 8 };

// Sets `float_distance` of a lowered function's instructions: 1 if an operation needs the one before it, and
// FLOAT_DISTANCE_MOST if it needs none of its stretch of straight code, or of the round before if that is a
// loop.
void set_float_distances(Function *function);
