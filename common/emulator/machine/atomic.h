// Atomics. The handler is declared in handlers.h.
#pragma once

#include "emulator/program/program.h"

// PTX ISA, atom: the value to store, given the old one.
uint64_t atomic_updated(const Instruction *in, uint64_t old, uint64_t b, uint64_t c);
