// Mbarriers (ISA, "mbarrier"): barriers in shared memory, on which threads arrive and wait separately. The
// handlers are declared in handlers.h.
#pragma once

#include "emulator/alu/mbarrier.h"
#include "emulator/machine/machine.h"

// The mbarrier at `offset` of the block's shared memory; NULL: none is initialised there.
Mbarrier *mbarrier_at(const Block *block, uint64_t offset);
MbarrierState mbarrier_state(const Block *block, const Mbarrier *mbarrier);
// `count` arrivals and `bytes` bytes come to the current phase, which ends with the last of them.
void mbarrier_complete(Machine *machine, Block *block, Mbarrier *mbarrier, uint32_t count, int32_t bytes);
// `lane` of another instruction than mbarrier.* arrives, or names an mbarrier that is not there.
void mbarrier_arrive(Machine *machine, Warp *warp, unsigned lane, const Instruction *in, Block *block,
                     Mbarrier *mbarrier);
void mbarrier_absent(Machine *machine, const Warp *warp, unsigned lane, const Instruction *in,
                     const Block *block, uint64_t offset);
// The phase waits for `count` arrivals more.
void mbarrier_await(Block *block, const Mbarrier *mbarrier, uint32_t count);
// The block and the offset of the mbarrier that `lane` names; false when the machine was stopped.
bool mbarrier_find(Machine *machine, Warp *warp, const Instruction *in, unsigned lane,
                   const uint64_t addresses[WARP_SIZE], Block **block, uint64_t *offset);
// What can be said of the mbarrier at `offset`, or of what is there if it is NULL; `name` gets its place.
MbarrierFacts mbarrier_facts(const Machine *machine, const Warp *warp, const Block *block,
                             const Mbarrier *mbarrier, uint64_t offset, char name[128]);
