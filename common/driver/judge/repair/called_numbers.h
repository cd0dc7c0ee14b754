// Numbers that a line of kernel.cu does not say, but a function that it calls.
#pragma once

#include <stddef.h>

// The only line from `first` to `last` that calls a function of `source` whose body says `said`, and that
// function's name; 0: there is none, or more than one. `source` may be NULL.
int line_that_calls(const char *source, int first, int last, const char *said, char *name, size_t bytes);
