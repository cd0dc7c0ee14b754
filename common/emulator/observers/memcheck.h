// memcheck: accesses out of bounds, misaligned, of another space than the instruction's, or to read-only
// memory.
#ifndef WARPBOOK_MEMCHECK_H
#define WARPBOOK_MEMCHECK_H

#include "emulator/machine/machine.h"

void memcheck_observe(Machine *machine, Observer *observer);

#endif
