// What the driver's code for printf accesses.
#pragma once

#include "emulator/counters.h"
#include "emulator/machine/machine.h"

// Adds what one call by the lanes of `mask` counts for to `counters`.
void counters_add_printf(Counters *counters, uint32_t mask, const Printed *what);
