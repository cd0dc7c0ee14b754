// Clusters: their barrier, and addresses of shared memory of other blocks. The handlers are declared in
// handlers.h.
#pragma once

#include "emulator/machine/machine.h"

// After threads of the block have exited: the barrier of its cluster may be complete.
void cluster_recheck(Machine *machine, Block *block);
