// initcheck: reads of memory that nothing has written.
#ifndef WARPBOOK_INITCHECK_H
#define WARPBOOK_INITCHECK_H

#include "emulator/machine/machine.h"

void initcheck_observe(Machine *machine, Observer *observer);

#endif
