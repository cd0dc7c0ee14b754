// Launches that repeat what was done already: programs that measure launch a kernel hundreds of times. A
// launch that left memory as it was does so again, as long as nothing else changes memory.
#pragma once

#include <stdbool.h>

#include "emulator/launch.h"
#include "runtime/launch.h"

// From now on every launch runs: what each reads and writes matters.
void repeat_forbid(void);
// Something other than a kernel changes memory, or what a kernel may use of it.
void repeat_forget(void);
// True if the launch would change nothing; `seconds` receives the modelled time of the last like it.
bool repeat_is_known(const Launch *launch, double *seconds);
// Around a launch that runs.
void repeat_before(const Launch *launch);
void repeat_after(const Launch *launch, const EmulatorResult *result, double seconds);
