// The x-ray of a launch: every memory access, shuffle and barrier of its first warps, in order, with who
// wrote what each load reads; as JSON, for pictures (docs/trace.schema.json). Internal to common/emulator.
//
//   access_trace.c          listens, and keeps the first warps that fit
//   access_trace_writers.c  who wrote each word last
//   access_trace_json.c     writes it
#ifndef WARPBOOK_XRAY_H
#define WARPBOOK_XRAY_H

#include "emulator/machine/machine.h"

typedef enum {
    XRAY_LOAD,
    XRAY_STORE,
    XRAY_ATOM,
    XRAY_RED,
    XRAY_SHUFFLE,
    XRAY_VOTE,
    XRAY_MATCH,
    XRAY_REDUX,
    XRAY_ELECT,
    XRAY_BARRIER,
    XRAY_WARP_BARRIER,
    XRAY_FENCE,
} XrayKind;

// An instruction that events belong to.
typedef struct {
    XrayKind kind;
    int32_t number; // of the instruction in the program
    PtxSpace space; // of accesses: that of the memory
    uint32_t bytes; // of accesses, per lane
    SourcePlace place;
} XrayInstruction;

// The lanes l of `mask` take what lane l + shift of that event wrote.
typedef struct {
    uint32_t event; // its id
    uint32_t mask;
    int shift;
} XraySource;

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
    XraySource *sources; // owned
    int source_count;
    size_t bytes; // of JSON, about
} XrayEvent;

typedef struct {
    char name[128];
    uint64_t base;
    PtxSpace space;
    uint64_t bytes;
    unsigned misalignment;
} XrayObject;

typedef struct {
    uint64_t number; // block * warps of a block + warp
    uint32_t lanes;
    bool is_complete;
} XrayWarp;

typedef struct XrayWriters XrayWriters;

struct Xray {
    const Machine *machine;
    size_t max_bytes, bytes; // of JSON; so far, about
    XrayInstruction *instructions;
    XrayObject *objects;
    XrayEvent *events;
    XrayWarp *warps;
    size_t instruction_count, object_count, event_count, warp_count;
    size_t instruction_capacity, object_capacity, event_capacity, warp_capacity;
    XrayWriters *writers;
    uint32_t last_id;
    uint64_t limit; // warps from this number on are not kept
    uint64_t warps_started, events_seen;
    bool failed; // out of memory
};

// Starts to record; machine->launch->xray_bytes bounds it. The Observer does not own the Xray: xray_finish()
// does. NULL when memory ran out.
Xray *xray_new(Machine *machine, Observer *observer);
// Ends: the JSON goes to the result, and `xray` is no more. False when memory ran out.
bool xray_finish(Xray *xray, EmulatorResult *result);

// ---- access_trace_writers.c
// --------------------------------------------------------------------------------------

XrayWriters *xray_writers_new(void); // NULL when memory ran out
void xray_writers_free(XrayWriters *writers);
// Puts into `event` (NULL: none is kept of this access) what its lanes take from other threads, and remembers
// what they write. False when memory ran out.
bool xray_writers_follow(XrayWriters *writers, const Access *access, XrayEvent *event);

// ---- access_trace_json.c
// -----------------------------------------------------------------------------------------

// The members of a kernel's JSON object as text to be freed; NULL when memory ran out.
char *xray_json(const Xray *xray, const EmulatorResult *result, size_t *bytes);

#endif
