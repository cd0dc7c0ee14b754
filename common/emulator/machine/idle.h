// Threads that only poll: recognised so that their polls need not all run, and where nothing can end them.
#pragma once

#include "emulator/machine/machine.h"

// The words in which a launch that does not end says how far it came.
const char *blocks_words(const Machine *machine, char text[160]);

// Notes that `fragment` has polled at `in`. True when it did so before with the same registers, and nothing
// has changed since: then it does the same until another thread changes what it polls.
bool poll_repeats(const Machine *machine, Fragment *fragment, const Instruction *in);

// The same is so, and in a round of its loop, of so many instructions and lanes, the fragment looks at
// nothing but what it polls at `in`. From now on its next poll there tells if it repeats.
void poll_is_all(Fragment *fragment, const Instruction *in, uint64_t ran, uint64_t lanes);

// Instructions are counted, followed or timed, and so each poll runs, as on a GPU.
static inline bool runs_every_poll(const Machine *machine) {
    return machine->tally || machine->of_instructions || machine->launch->timing;
}

// Whether all threads of the block that could run poll, and will do nothing else until another block, or
// someone beside the launch, changes what they poll.
bool block_waits(const Machine *machine, const Block *block);

// Unless others may change what is polled (pause.h): reports that no thread of these blocks, which are all
// that run, can ever leave the loop in which it polls; false where one may.
bool waits_for_ever(Machine *machine, Block *const blocks[], uint64_t count);
