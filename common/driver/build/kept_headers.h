// The headers that a source includes, preprocessed and kept beside its build: an edit leaves the includes as
// they are, and then neither the headers nor nvcc's own steps need be gone through again.
#pragma once

#include "support/process.h"
#include "driver/build/state.h"

// Runs the steps of nvcc on kernel.cu with the headers that are kept, or, from the second compilation into a
// folder on, makes what is to be kept; of the headers, cicc gets what is used. True: raw.ptx is there, and
// `result` has what cicc printed. False: there is no such way for this source or with this nvcc, or something
// in it is wrong, which nvcc itself has to say.
bool compile_with_kept_headers(Build *build, ProcessResult *result);
