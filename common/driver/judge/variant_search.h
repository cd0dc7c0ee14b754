// Looks for a repair in the source: kernel.cu is compiled once more, with many small changes of its text, of
// which one at a time is chosen when it runs. It finds what the PTX no longer shows, as a line that the
// compiler has joined with others, and it costs a compilation.
#pragma once

#include "driver/judge/repair_attempt.h"

typedef struct VariantSearch VariantSearch;

// The search for the failure that `search` is about. NULL: the source or the compiler is not known, or memory
// runs out. `search` must outlive it; release with variant_search_free().
VariantSearch *variant_search_new(const Search *search);
// Tries the texts that repair other tasks, in one of them alone. False: none repairs this one.
bool variant_search_try_known(VariantSearch *of);
// Begins to compile, beside this process.
void variant_search_begin(VariantSearch *of);

// Tries the variants, the likeliest before all others, with at most that work; has
// them compiled if that was not begun. The judgement gets the one that repairs the kernel; none if several do
// in different places, since it is not known then which of them is the mistake.
void variant_search_run(VariantSearch *of, double work);
void variant_search_free(VariantSearch *of);
