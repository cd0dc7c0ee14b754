// Counts what every instruction of a launch does.
#pragma once

#include "emulator/machine/machine.h"

typedef struct Counting Counting;

// Starts to count; the Observer does not own the Counting: counting_finish() does. NULL when memory ran out.
Counting *counting_new(Machine *machine, Observer *observer);
// Ends: the sums go to the result, in all and by source line, and `counting` is no more. False when memory
// ran out.
bool counting_finish(Counting *counting, EmulatorResult *result);
