// build.json: everything in CompileResult, and what tells whether it is still true.
#pragma once

#include "support/file.h"
#include "driver/build/outcome.h"

typedef struct {
    char options[256];   // that shape the output, as text
    char compiler[1400]; // Toolchain.identity
    char ptx_sha256[65]; // of kernel.ptx; "" when there is none
    char cubin_sha256[65];
    bool is_self_contained; // the source includes nothing that may change unseen
} CompileKey;

bool write_record(const CompileResult *result, const CompileKey *key, FileError *error);
// Fills `result` and `key` from OUTPUT_DIRECTORY/build.json. False, with nothing to release, when there is
// none.
bool read_record(const char *output_directory, CompileResult *result, CompileKey *key);
// True if kernel.ptx and kernel.cubin are the files that the record describes.
bool record_files_intact(const CompileResult *result, const CompileKey *key);
