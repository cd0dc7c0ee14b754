// From a learner's kernel.cu to PTX, and to what ptxas knows of it (registers, spills, shared memory).
//
// Nothing is believed of the source: it is checked before the compiler sees it, the compiler runs in a
// separate process group with limits on time, memory and output, in a clean environment and a private folder
// for temporary files. Each result is written to a new file that is renamed into place, so no file is ever
// incomplete.
//
// One output folder holds the results of one set of options:
//   kernel.ptx    the image (`.file` names the learner's file relative to the working folder)
//   kernel.cubin  machine code, only where asked for
//   build.json    everything in CompileResult; written last, so that it vouches for the other two
#pragma once

#include "driver/build/outcome.h"

// True when result->status is COMPILE_OK. Fills `result` in any case; release with compile_result_free().
bool compile_kernel(const CompileRequest *request, CompileResult *result);

// Reads build.json of an output folder back, without asking whether it is up to date. False (status
// COMPILE_INFRA and a message) when there is none or it is damaged; else as compile_kernel().
bool compile_load(const char *output_directory, CompileResult *result);
