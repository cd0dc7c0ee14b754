// The memory beside an object: what a GPU maps, in pages of 2 MiB, and no object has.
#pragma once

#include "emulator/machine/machine.h"

// The rest of the page that [address, address + bytes) lies in, if the object `near` it (memory_near()) lies
// in that page too, and the offset there; its bytes are 0 at first. NULL: it does not, or memory ran out.
Memory *memory_beside(Machine *machine, const Memory *near, uint64_t address, uint64_t bytes,
                      uint64_t *offset);
void beside_close(Machine *machine);
