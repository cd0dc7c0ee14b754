// synccheck: barriers that threads of a warp reach at different places, masks that name the wrong lanes,
// shuffles from lanes that take no part, and deadlock.
#pragma once

#include "emulator/machine/machine.h"

// Deadlock and impossible barriers end a launch whatever it checks; the rest is looked for where it checks
// CHECK_SYNC.
void synccheck_observe(Machine *machine, Observer *observer);
