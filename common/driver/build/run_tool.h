// Running one program of the compile step, within the limits of the step.
#pragma once

#include "support/process.h"
#include "driver/build/state.h"

// In the folder `inner` of the private folder, or in that itself where it is "". `environment` as
// ProcessRequest has it. True when it ended with status 0.
bool run_tool_in(Build *build, const char *inner, const char *const *arguments,
                 const char *const *environment, ProcessResult *result);
// In the private folder and with the compilers' environment.
bool run_tool(Build *build, const char *const *arguments, ProcessResult *result);
// The largest file that it may write, in bytes.
extern const size_t tool_file_limit;
