// Where in a page of 2 MiB an allocation of the device begins. It decides which lanes of an atomic the L1
// takes for one address (emulator/observers/access_counts.c).
#pragma once

#include <stddef.h>
#include <stdint.h>

// As the driver packs them: in the first gap that is large enough, at a multiple of 512 bytes, within a page.
// What is larger than half a page begins one. The place counts from the beginning of the first page; `owner`
// has it until it gives it back, if it has one.
uint64_t packing_take(const void *owner, size_t bytes);
void packing_give(const void *owner);
