// Schedules that hold a block back: one that has just changed global memory gets no turn until all others in
// flight wait, as if its SM were the slowest. What others do with half of its results then shows.
#pragma once

#include "emulator/machine/machine.h"

enum { HELD_IN_FLIGHT = 48 }; // blocks at a time, at most

typedef struct {
    Block *block;       // that is held; NULL: none
    uint64_t published; // of Machine, after the last turn
    uint64_t quiet;     // turns since then without another
    uint64_t turns;     // since the block has been held
    uint64_t left;      // changes of memory until the next block is held
    int held;           // how many have been
} Hold;

// Which of the blocks in flight has the next turn: one that is not held, if there is one.
uint64_t hold_choose(Machine *m, Hold *hold, Block *const flight[], uint64_t count);
// After a turn of `b`: holds it, or lets the one that is held continue.
void hold_update(Machine *m, Hold *hold, Block *b, uint64_t count);
