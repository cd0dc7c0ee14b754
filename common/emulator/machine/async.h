// Asynchronous copies in flight. The handlers are declared in handlers.h.
#pragma once

#include "emulator/machine/machine.h"

void async_forget(AsyncCopies *copies); // what a block that ended never waited for
// The lanes' copies that are older than the copy of that number land; `fragment` is one of any warp.
void async_land(Machine *machine, Warp *warp, Fragment *fragment, uint32_t lanes, uint64_t serial);
uint64_t async_started(const Warp *warp); // copies so far
void async_free(AsyncCopies *copies);
