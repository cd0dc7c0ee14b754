// What a program can do wrong on the host, by the names that the runtime library and `./warpbook check` use,
// and the verdicts of pages that report it.
#pragma once

#include "driver/plan/verdict.h"

typedef struct {
    const char *name;     // "LEAK"
    Verdict verdict;      // the verdict of a page that reports it
    const char *headline; // "does not free what it allocates"
    const char *why;
} HostKind;

// NULL: there is none of that name.
const HostKind *host_kind(const char *name);
