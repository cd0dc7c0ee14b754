// A runner on the emulator reads PTX that nobody vouches for. What it needs of the system from then on is
// memory, and its socket to the driver; everything else it gives up, so that not even a mistake in the
// emulator that lets a kernel take the runner over would give it a file, a process or a network.
#pragma once

#include <stdbool.h>

// From here on every other system call of this process answers EPERM, for good. False, with nothing changed,
// where the system cannot do it, or where a sanitizer needs more.
bool confine_runner(void);
