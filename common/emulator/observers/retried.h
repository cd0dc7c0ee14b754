// What the loops count for that ptxas makes of additions in shared memory: LDS, an addition, ATOMS.CAST.SPIN,
// and a branch back for the lanes that have not won.
#pragma once

#include "emulator/counters.h"
#include "emulator/machine/machine.h"

typedef struct Retried Retried;

// `counts`: of each instruction, by number. NULL without memory.
Retried *retried_new(Counters *counts);
void retried_free(Retried *retried);
// Notes an access of which is_retried() is true.
void retried_note(Retried *retried, const Access *access);
// The block has passed a barrier or has ended: counts what its warps have done since the last.
void retried_count(Retried *retried, const Block *block);
// Counts everything that is left.
void retried_finish(Retried *retried);
