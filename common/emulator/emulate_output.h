// What build/bin/emulate prints and writes.
#pragma once

#include "emulator/emulator.h"

// The verdict of all findings together: that of the finding which explains the others.
const char *overall_verdict(const EmulatorResult *result);
// The verdicts that findings lead to, in the order in which one explains the others.
void print_verdicts(void);

void print_findings(const EmulatorResult *result);
// Counters, in all and per source line.
void print_profile(const EmulatorResult *result);

// Kernels with their parameters, and the variables of module scope.
void print_contents(const Emulator *emulator);

// Each returns false, after a message on standard error, when the file cannot be written.
bool write_result(const char *path, const EmulatorResult *result);
// A trace like a chapter's (docs/trace.schema.json), with one kernel, `name`, and no chapter.
bool write_trace(const char *path, const char *name, const EmulatorDevice *device,
                 const EmulatorResult *result);
