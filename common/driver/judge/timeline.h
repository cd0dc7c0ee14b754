// What a whole program let the device do, when, in which stream: copies to the device, kernels, and copies
// back.
#pragma once

#include <stdbool.h>

enum { MOST_TIMELINE = 256 };

typedef enum { ENGINE_KERNELS, ENGINE_IN, ENGINE_OUT, ENGINES } EngineKind;

typedef struct {
    int stream; // 0: the default stream; others from 1, in the order of their first work
    EngineKind engine;
    double start, end; // modelled seconds
    char name[64];     // of the kernel; "" of a copy
    long long bytes;   // of a copy
} TimelineWork;

typedef struct {
    long long n; // the size of the case; 0 without a timeline
    int count;
    TimelineWork work[MOST_TIMELINE];
    bool is_cut;      // there was more
    int stream_count; // besides the default stream
    double seconds;   // from the first start to the last end
    double busy[ENGINES];
    double overlap; // percent of the time that could be saved by working at the same time, as far as it was
                    // saved
    double timed;   // percent of the work between the two events whose time the program asked for
    double shared;  // totals that a kernel left in memory that both sides reach: 0 or 1
} Timeline;

// "kernel", "copy-in", "copy-out": for JSON.
const char *engine_name(EngineKind engine);
