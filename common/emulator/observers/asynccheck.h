// asynccheck: stores to shared memory that a bulk copy still reads or writes, and copies that nothing waits
// for.
#pragma once

#include "emulator/machine/machine.h"

void asynccheck_observe(Machine *machine, Observer *observer);
