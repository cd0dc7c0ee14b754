// The registers that a decoded instruction reads and writes.
#pragma once

#include "emulator/alu/instruction.h"

enum { MOST_READ = 6 + MOST_MORE_SRC, MOST_WRITTEN = 4 + MOST_MORE_DST };

// Their offsets, the guard's among those that are read; returns how many.
int registers_read(const Instruction *in, int32_t offsets[MOST_READ]);
int registers_written(const Instruction *in, int32_t offsets[MOST_WRITTEN]);
