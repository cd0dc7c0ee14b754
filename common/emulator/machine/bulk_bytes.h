// The bytes of a bulk copy: out of where they are, into where they go. Internal to common/emulator.
#pragma once

#include "emulator/machine/copies.h"

enum { BULK_UNIT = 16 }; // ISA, cp.async.bulk: sizes and addresses are multiples of it

// Keeps what the copy moves in flight->data; false when memory ran out, which stops the machine.
bool flight_read(Machine *machine, Flight *flight);
// Writes that, and marks those bytes as defined that are defined where they come from. Observers hear of what
// goes to global memory.
void flight_write(Machine *machine, const Flight *flight);
// Until a copy has landed nothing can be said of its bytes.
void flight_garbage(Machine *machine, const Flight *flight);
