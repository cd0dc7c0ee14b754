// The memory beside an object: what a GPU maps, in pages of 2 MiB, and no object has.
#pragma once

#include "emulator/machine/machine.h"

// The rest of the page that [address, address + bytes) lies in, if a global object lies in it too, and the
// offset there; its bytes are 0 at first. NULL: there is no object near, or no memory.
Memory *memory_beside(Machine *machine, uint64_t address, uint64_t bytes, uint64_t *offset);
void beside_close(Machine *machine);
