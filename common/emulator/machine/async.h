// Asynchronous copies in flight. The handlers are declared in handlers.h.
#pragma once

#include "emulator/machine/machine.h"

void async_forget(AsyncCopies *copies); // what a block that ended never waited for
void async_free(AsyncCopies *copies);
