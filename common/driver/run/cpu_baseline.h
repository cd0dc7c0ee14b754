// The time of a CPU for the same work, as context for a GPU's figures: one thread, and all threads with
// OpenMP.
#pragma once

#include "driver/plan/chapter.h"

typedef struct {
    bool is_measured;
    const char *work; // "sum of 16,777,216 floats"
    double one_thread_gb_per_s;
    double all_threads_gb_per_s; // 0 where built without OpenMP
    int threads;
} Baselines;

// Takes about a tenth of a second. Nothing is measured for chapters whose work is not streaming over memory.
void baselines_measure(const Chapter *of, Baselines *baselines);
