// The access trace of a launch (--trace): every memory access, shuffle and barrier of its first warps, in
// order, and which store each load reads from; as JSON, for pictures (docs/trace.schema.json). Internal to
// common/emulator.
//
//   access_trace.c          listens, and keeps the first warps that fit
//   access_trace_writers.c  who wrote each word last
//   access_trace_json.c     writes it
#ifndef WARPBOOK_ACCESS_TRACE_H
#define WARPBOOK_ACCESS_TRACE_H

#include "emulator/machine/machine.h"

typedef enum {
    TRACE_LOAD,
    TRACE_STORE,
    TRACE_ATOM,
    TRACE_RED,
    TRACE_SHUFFLE,
    TRACE_VOTE,
    TRACE_MATCH,
    TRACE_REDUX,
    TRACE_ELECT,
    TRACE_BARRIER,
    TRACE_WARP_BARRIER,
    TRACE_FENCE,
} TraceKind;

// An instruction that events belong to.
typedef struct {
    TraceKind kind;
    int32_t number; // of the instruction in the program
    PtxSpace space; // of accesses: that of the memory
    uint32_t bytes; // of accesses, per lane
    SourcePlace place;
} TraceInstruction;

// The lanes l of `mask` take what lane l + shift of that event wrote.
typedef struct {
    uint32_t event; // its id
    uint32_t mask;
    int shift;
} TraceSource;

typedef struct {
    uint32_t id; // rises from event to event, with gaps where a warp was dropped
    uint32_t at; // index of its instruction
    uint64_t warp;
    uint32_t mask;
    bool is_failed; // an access that was refused, a barrier that others never came to
    // Of accesses
    uint32_t object; // index
    Counters counts; // that this access alone adds
    bool is_affine;  // lane l is at offset + l * step, and `lanes` is NULL
    int64_t offset, step;
    // Byte offsets of an access, source lanes of a shuffle (32 each), masks of a barrier (one a warp); owned.
    uint64_t *lanes;
    TraceSource *sources; // owned
    int source_count;
    size_t bytes; // of JSON, about
} TraceEvent;

typedef struct {
    char name[128];
    uint64_t base;
    PtxSpace space;
    uint64_t bytes;
    unsigned misalignment;
} TraceObject;

typedef struct {
    uint64_t number; // block * warps of a block + warp
    uint32_t lanes;
    bool is_complete;
} TraceWarp;

typedef struct TraceWriters TraceWriters;

typedef struct {
    const Machine *machine;
    size_t max_bytes, bytes; // of JSON; so far, about
    TraceInstruction *instructions;
    TraceObject *objects;
    TraceEvent *events;
    TraceWarp *warps;
    size_t instruction_count, object_count, event_count, warp_count;
    size_t instruction_capacity, object_capacity, event_capacity, warp_capacity;
    TraceWriters *writers;
    uint32_t last_id;
    uint64_t limit; // warps from this number on are not kept
    uint64_t warps_started, events_seen;
    bool failed; // out of memory
} AccessTrace;

// Starts to record; machine->launch->trace_bytes bounds it. The Observer does not own the AccessTrace:
// access_trace_finish() does. NULL when memory ran out.
AccessTrace *access_trace_new(Machine *machine, Observer *observer);
// Ends: the JSON goes to the result, and `trace` is no more. False when memory ran out.
bool access_trace_finish(AccessTrace *trace, EmulatorResult *result);

// ---- access_trace_writers.c -------------------------------------------------------------------------------

TraceWriters *trace_writers_new(void); // NULL when memory ran out
void trace_writers_free(TraceWriters *writers);
// Puts into `event` (NULL: none is kept of this access) what its lanes take from other threads, and remembers
// what they write. False when memory ran out.
bool trace_writers_follow(TraceWriters *writers, const Access *access, TraceEvent *event);

// ---- access_trace_json.c ----------------------------------------------------------------------------------

// The members of a kernel's JSON object as text to be freed; NULL when memory ran out.
char *access_trace_json(const AccessTrace *trace, const EmulatorResult *result, size_t *bytes);

#endif
