// When the work of a record would run on a device: each operation as soon as its stream, what it waits for
// and its engine are free, in the order in which the program asked for it.
#pragma once

#include "driver/judge/timeline.h"
#include "runtime/record.h"

enum { MOST_WORK = 4096, MOST_STREAMS = 64 };

typedef struct {
    uint64_t number;
    uint32_t stream;
    bool is_blocking;
    uint32_t work; // WorkKind
    uint64_t waits_for;
    EngineKind engine; // of copies and launches
    double seconds;    // how long it takes; filled in when it has run
    double start, end;
    char name[64];
    long long bytes;
} Work;

// What the program asked for, in order: work, and between it waits of the host.
typedef struct {
    Work work[MOST_WORK];
    int count;
    struct {
        int before; // the work that the program asked for next
        uint32_t kind, stream;
        uint64_t number;
    } waits[MOST_WORK];
    int wait_count;
    uint64_t timed_from, timed_to; // the events between which the program asked for the time; 0: it did not
} Schedule;

// NULL: there is none of that number.
Work *schedule_find(Schedule *schedule, uint64_t number);
void schedule_run(Schedule *schedule, Timeline *timeline);
