// Whole lines of global memory that lanes of one warp access, one lane after the other: what racecheck
// remembers of their granules is then the same, with one lane after the other, and is kept once.
#pragma once

#include "emulator/observers/race_granule.h"

// Checks and remembers an access by its lines. False where one of them is not accessed whole, was accessed in
// another way, or has something that the access may race with: nothing is done, and it is up to the granules.
bool lines_take(const RaceCheck *check);
// The granules that an access touches are remembered one by one from here on.
void lines_split(const RaceCheck *check);
