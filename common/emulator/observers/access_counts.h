// What a GPU's memory pipeline would count for one access: requests, sectors, wavefronts.
#pragma once

#include "emulator/counters.h"
#include "emulator/machine/machine.h"

// Adds what one access counts for to `counters`.
void counters_add_access(Counters *counters, const Access *access);
// Whether an atomic on shared memory is ptxas's ATOMS.POPC.INC, which serves all lanes on one word at once.
bool is_increment(const Access *access);
// Wavefronts of one access to shared memory.
uint32_t shared_wavefronts(const Access *access);
// The same if lanes of a load or store did not meet in banks.
uint32_t shared_wavefronts_at_best(const Access *access);
