// What an access trace keeps of a launch, before it is written.
#pragma once

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

typedef struct AccessTrace {
    const Machine *machine;
    size_t max_bytes, bytes; // of JSON; so far, about
    TraceInstruction *instructions;
    TraceObject *objects;
    TraceEvent *events;
    TraceWarp *warps;
    size_t instruction_count, object_count, event_count, warp_count;
    size_t instruction_capacity, object_capacity, event_capacity, warp_capacity;
    struct TraceWriters *writers;
    uint32_t last_id;
    uint64_t limit; // warps from this number on are not kept
    uint64_t warps_started, events_seen;
    bool failed; // out of memory
} AccessTrace;
