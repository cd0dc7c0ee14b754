// What a program did wrong on the host, as the runtime library found it in the program's own process.
#pragma once

#include "driver/plan/host_kind.h"
#include "emulator/status.h"

typedef struct {
    const HostKind *kind; // NULL: nothing was found
    SourcePlace place;
    char message[512];     // safe on a terminal
    bool is_after_failure; // of a call (WARPBOOK_MEMORY, WARPBOOK_FAIL)
    int count;             // of all findings ...
    int kernel_count;      // ... and of those of kernels
} HostFindings;

// The first call that failed where one is meant to.
typedef struct {
    SourcePlace place;
    char text[64];    // of its error
    bool continues;   // the program made another call after it, which is not part of giving up,
    SourcePlace next; // here
} Failure;

// Looks for it in what the program printed. False: there is none.
bool failure_read(const char *printed, const char *source, Failure *failure);
// Reads the text of a findings file and takes the worst finding of the host. `source` is kernel.cu as people
// know it, which findings name by its last part only. What is not such a file holds no findings.
void host_findings_read(const char *text, size_t bytes, const char *source, HostFindings *findings);
