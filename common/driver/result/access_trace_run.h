// --trace: what the chapter's kernels do at a small size, access by access, as JSON for pictures
// (docs/trace.schema.json). Always on the emulator, schedule 0, all checks.
#pragma once

#include "support/file.h"
#include "driver/judge/judge.h"

// Of one kernel's JSON.
enum { TRACE_KERNEL_BYTES = 256 << 10 };

// The largest --n that can be traced.
#define TRACE_MAX_N (1LL << 22)

typedef struct {
    const Chapter *of;
    const Options *options;
    const char *source_sha256; // of the kernel's text
    const Image *image;        // PTX, opened for the chapter; NULL: there is none
    const char *message;       // why there is none, else ""
    const char *source;        // kernel.cu as shown to people, and its content; NULL: not known
    const char *source_text;
    const Judgement
        *judgement; // of a whole run: says which tasks need no search for a case that fails; or NULL
} TracePlan;

// Records and writes the file. False with the reason in `error`, which is not about the kernels: their errors
// are in the file.
bool access_trace_write(const char *path, const TracePlan *plan, FileError *error);
