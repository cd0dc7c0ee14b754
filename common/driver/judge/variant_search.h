// Looks for a repair in the source: kernel.cu is compiled once more, with many small changes of its text, of
// which one at a time is chosen when it runs. It finds what the PTX no longer shows, as a line that the
// compiler has joined with others, and it costs a compilation.
#pragma once

#include "driver/judge/repair_attempt.h"

// Looks for one repair with at most that work, beside the compilation. The judgement has it then, unless two
// places of the source repair the kernel: which of them is the mistake is not known. Does nothing where the
// source or the compiler is not known.
void variant_search(const Search *of, double work);
