// ptxas in a process beside this one, which runs the PTX meanwhile.
#pragma once

#include "driver/build/state.h"

// Calls `work` with the build in that process, and hands build->result over to assembly_end(). False: there
// is no such process, and nothing has begun.
bool assembly_begin(Build *build, void (*work)(Build *build));
// Waits for it where there is one, and takes over what it found. True if the result's status is COMPILE_OK.
bool assembly_end(CompileResult *result);
// Gives it up.
void assembly_stop(CompileResult *result);
