// What single lanes stored in global memory that the place held before: another thread that waits there for a
// change does not see it. Internal to common/emulator.
#pragma once

#include "emulator/machine/machine.h"

// Before lane `lane` of a store leaves these bytes.
void unseen_note(Machine *machine, const Access *access, unsigned lane, const void *value);
// The instruction that stored at `at` what was there; NULL: none is known, or the place has changed since.
const Instruction *unseen_at(const Machine *machine, const unsigned char *at, uint32_t width);
