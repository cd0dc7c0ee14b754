// The headers that a source includes, preprocessed and kept beside its build: an edit leaves the includes as
// they are, and then neither the headers nor nvcc's own steps need be gone through again.
#pragma once

#include "support/process.h"
#include "driver/build/state.h"

// Runs the steps of nvcc on kernel.cu with the headers that are kept, or, from the second compilation into a
// folder on, makes what is to be kept; of the headers, cicc gets what is used.
typedef enum {
    KEPT_NO_WAY,  // for this source or with this nvcc; or something in it is wrong, which nvcc itself has to
                  // say
    KEPT_REFUSES, // the same, if the request has a headers_directory: `result` has what cicc printed
    KEPT_COMPILES // raw.ptx is there, and `result` has what cicc printed
} KeptEnd;
KeptEnd compile_with_kept_headers(Build *build, ProcessResult *result);
// The bytes up to the end of the last include, where nothing but comments and blank lines comes before it:
// what is kept serves all texts that begin so.
size_t source_head_bytes(const char *text);
