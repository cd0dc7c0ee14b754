// Which changes may repair a kernel, the likeliest and smallest first.
#pragma once

#include "driver/judge/repair/change.h"
#include "driver/plan/verdict.h"

typedef struct {
    Verdict verdict;
    const Finding *finding; // NULL: none
    bool is_weak;           // only weak schedules fail
    const char *source;     // the text of kernel.cu; NULL: not known
} Symptoms;

// Adds proposals for the function with that number in `lines`.
void propose(const PtxLines *lines, int function, const Symptoms *symptoms, Changes *changes);
