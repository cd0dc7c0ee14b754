// initcheck: reads of memory that nothing has written.
#pragma once

#include "emulator/machine/machine.h"

void initcheck_observe(Machine *machine, Observer *observer);
