// memcheck: accesses out of bounds, misaligned, of another space than the instruction's, or to read-only
// memory.
#pragma once

#include "emulator/machine/machine.h"

void memcheck_observe(Machine *machine, Observer *observer);
