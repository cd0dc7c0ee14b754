// Work that repeats what was done already: programs that measure launch the same kernels hundreds of times.
// A launch, a fill or a copy within device memory that was seen to turn one content of memory into another
// does so again. It is put off when it comes again, and left out when what follows brings memory back to
// where it was: a kernel that leaves memory as it is, or a sequence that ends where it began.
#pragma once

#include <stdbool.h>

#include "runtime/op.h"

// From now on everything runs: what each operation reads and writes matters.
void repeat_forbid(void);
// Memory changes in a way that no operation says, or what a kernel may use of it does.
void repeat_forget(void);
// True if the operation, a launch or a copy, is left out or put off; `seconds` receives the modelled time of
// the last launch like it. False: what was put off runs first (repeat_take()), then the operation.
bool repeat_skips(const Op *op, double *seconds);
// The next operation of those that were put off, which the caller runs and releases. False: there is none.
bool repeat_take(Op *op);
// Around an operation that runs, when nothing is put off.
void repeat_before(const Op *op);
void repeat_after(const Op *op, Ran ran);
