// Threads that only poll: recognised so that their polls need not all run, and where nothing can end them.
#pragma once

#include "emulator/machine/machine.h"

// The words in which a launch that does not end says how far it came.
const char *blocks_words(const Machine *machine, char text[160]);

// Notes that `fragment` has polled at `in`. True when it did so before with the same registers, and nothing
// has changed since: then it does the same until another thread changes what it polls.
bool poll_repeats(const Machine *machine, Fragment *fragment, const Instruction *in);

// Unless others may change what is polled (pause.h): reports that no thread of these blocks, which are all
// that run, can ever leave the loop in which it polls; false where one may.
bool waits_for_ever(Machine *machine, Block *const blocks[], uint64_t count);
