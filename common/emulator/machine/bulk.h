// Bulk copies. The handlers are declared in handlers.h.
#pragma once

#include "emulator/machine/machine.h"

// Delivers one of the copies, or arrivals behind cp.async, that the mbarrier at `offset` of the block waits
// for; false: there is none. `fragment` is the one that runs.
bool bulk_deliver(Machine *machine, Block *block, Fragment *fragment, uint64_t offset);
// All threads of the block have ended: what is still in flight was never waited for.
void bulk_end(Machine *machine, Block *block);
