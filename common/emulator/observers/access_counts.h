// What a GPU's memory pipeline would count for one access: requests, sectors, wavefronts.
#pragma once

#include "emulator/counters.h"
#include "emulator/machine/machine.h"

// Adds what one access counts for to `counters`; of one that is retried only what the program's instructions
// say.
void counters_add_access(Counters *counters, const Access *access);
// Keeps how lanes meet in banks if this access of shared memory, which takes `extra` wavefronts more than
// without conflicts, is worse than those before.
void note_bank_conflict(BankConflict *worst, uint32_t extra, const Access *access);
// Keeps how lanes lie in sectors if this load or store of global memory touches more `sectors` beyond what
// its bytes fill than those before, and counts those of lanes side by side.
void note_scatter(Scatter *worst, uint32_t sectors, const Access *access);
// Whether ptxas makes a loop of compare-and-swap of an atomic: an addition in shared memory that has no
// instruction, of floats or of 64 bits. What the loop counts for is in observers/retried.h.
bool is_retried(const Access *access);
// Adds what an LDS of the machine code counts for that no instruction of the PTX is.
void counters_add_shared_load(Counters *counters, const Access *access);
// Whether an atomic on shared memory is ptxas's ATOMS.POPC.INC, which serves all lanes on one word at once.
bool is_increment(const Access *access);
// Wavefronts of one access to shared memory.
uint32_t shared_wavefronts(const Access *access);
// The same if lanes of a load or store did not meet in banks.
uint32_t shared_wavefronts_at_best(const Access *access);
