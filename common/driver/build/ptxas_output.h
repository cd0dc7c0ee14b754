// What ptxas printed: the resources of each kernel, and why it refused one.
#pragma once

#include "support/text.h"
#include "driver/build/outcome.h"

// Reads what `ptxas -v` printed into result->kernels. False when memory runs out.
bool read_ptxas_log(const char *output, CompileResult *result);
// A sentence for each kernel that ptxas found to need too much; false when it complained of no such thing.
bool explain_resources(const char *output, const CompileResult *result, Text *into);
// nvcc hands inline asm on unread, so mistakes in it are ptxas's to find. Adds at most `lines` lines of its
// output, with the learner's places before them.
void explain_assembly(const char *output, const char *ptx, const char *label, const CompileResult *result,
                      int lines, Text *into);
// The same of a kernel that was not assembled: it declares more static shared memory than a block may have.
void explain_shared(const CompiledKernel *kernel, const char *source, Text *into);
