// What a program did wrong on the host, as the runtime library found it in the program's own process.
#pragma once

#include "driver/plan/host_kind.h"
#include "emulator/status.h"

typedef struct {
    const HostKind *kind; // NULL: nothing was found
    SourcePlace place;
    char message[512]; // safe on a terminal
    int count;         // of all findings ...
    int kernel_count;  // ... and of those of kernels
} HostFindings;

// Reads the text of a findings file and takes the worst finding of the host. `source` is kernel.cu as people
// know it, which findings name by its last part only. What is not such a file holds no findings.
void host_findings_read(const char *text, size_t bytes, const char *source, HostFindings *findings);
