// A compilation in another process, while this one works on. compile_kernel() with the same request then
// waits for it, and takes over what it made.
#pragma once

#include <sys/types.h>

#include "driver/build/compile.h"

// The process; 0: there is none, and nothing has begun. The request's texts are copied.
pid_t compile_begin(const CompileRequest *request);
// Ends it, if it has not ended by itself, and with it the compiler.
void compile_stop(pid_t process);
