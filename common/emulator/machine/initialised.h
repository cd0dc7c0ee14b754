// Which bytes of a memory object something has written: one bit a byte.
#pragma once

#include "emulator/machine/machine.h"

void mark_initialised(Memory *memory, uint64_t offset, uint64_t bytes);
// What the lanes of a store or an atomic wrote.
void mark_access_initialised(const Access *access);
// Takes that back: what is there now is not defined.
void mark_undefined(Memory *memory, uint64_t offset, uint64_t bytes);
// True when all of them are.
bool is_initialised(const Memory *memory, uint64_t offset, uint64_t bytes);
// The lanes of a load that read a byte which nothing has written.
uint32_t lanes_uninitialised(const Access *access);
