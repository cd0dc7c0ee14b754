// Loads and stores: values between registers and memory. The handlers are declared in handlers.h.
#pragma once

#include "emulator/machine/machine.h"

// A load at another time than its turn: deferred.c. `mask` is never 0.
void execute_load(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);
// Before the lanes of `mask` execute `in`, a selection that takes or drops what its loads returned: tells the
// observer whose values it takes.
void choose_loads(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);
// The lanes of `active` come to a branch that those of `mask` take, and after which ptxas puts loads: tells
// the observers which lanes load then.
void sink_loads(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask,
                uint32_t active);
// A store that is not an instruction of the program: what an asynchronous copy brings. `mask` is never 0.
void execute_store(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);
