// Looks for a repair in the source: kernel.cu is compiled once more, with many small changes of its text, of
// which one at a time is chosen when it runs. It finds what the PTX no longer shows, as a line that the
// compiler has joined with others, and it costs a compilation.
#pragma once

#include "driver/judge/repair_attempt.h"

typedef struct VariantSearch VariantSearch;

// The search for the failure that `search` is about. NULL: the source or the compiler is not known, or memory
// runs out. `search` must outlive it; release with variant_search_free().
VariantSearch *variant_search_new(const Search *search);
// Leaves out all variants but those of a line.
void variant_search_keep_line(VariantSearch *of, int line);
// Tries the texts that repair other tasks, in one of them alone. False: none repairs this one.
bool variant_search_try_known(VariantSearch *of);
// What the text of kernel.cu says of a change of its PTX.
typedef enum {
    TEXT_SILENT, // nothing: it has no place for the change, or several of which none will do
    TEXT_AGREES, // written into the text it repairs the kernel, too: the judgement has it as the text has it
    TEXT_REFUTES // written into the text it does not
} TextVerdict;

// Tries the change that the judgement has, which is of that kind, in the text: one more compilation. The
// judgement's change stays as it is unless the text agrees.
TextVerdict variant_search_try_said(const Search *search, ChangeKind kind);
// Begins to compile, beside this process; or leaves that off.
void variant_search_begin(VariantSearch *of);
void variant_search_leave_off(VariantSearch *of);

// Tries the variants, the likeliest before all others, with at most that work; has
// them compiled if that was not begun. The judgement gets the one that repairs the kernel; none if several do
// in different places, since it is not known then which of them is the mistake.
void variant_search_run(VariantSearch *of, double work);
void variant_search_free(VariantSearch *of);
// The same; but if one of its texts repairs the kernel, it stays for the judge's other tasks.
void variant_search_keep(VariantSearch *of);
// Tries the text that was kept, if a kernel of this search's task has the function that it changes: nothing
// is compiled for that. False: there is none, or it does not repair this task.
bool variant_search_try_proved(const Search *search);
