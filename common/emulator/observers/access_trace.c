// Records a launch: listens to accesses, shuffles and barriers, and keeps those of the first warps that fit
// into a bound. A warp is kept completely or not at all, so that the events can be counted: if there is no
// more room, the last warp is removed.
#include "emulator/observers/access_trace.h"

#include <stdlib.h>
#include <string.h>

#include "support/text.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/sync.h"
#include "emulator/observers/access_counts.h"
#include "emulator/observers/access_trace_json.h"
#include "emulator/observers/access_trace_record.h"
#include "emulator/observers/access_trace_writers.h"

// About what the parts take as JSON. What they come to is looked at in the end.
enum {
    INSTRUCTION_BYTES = 190,
    OBJECT_BYTES = 160,
    WARP_BYTES = 60,
    EVENT_BYTES = 80,
    ACCESS_BYTES = 50, // more than another event
    OFFSET_BYTES = 6,
    LANE_BYTES = 3,
    MASK_BYTES = 11,
    SOURCE_BYTES = 18,
    FINDING_BYTES = 900, // besides its message
    OTHER_BYTES = 2500,  // counters, shape
};

// ---- Growing lists ---------------------------------------------------------------------------------------

// Room for one more in *list; NULL when memory ran out.
static void *one_more(AccessTrace *t, void *list, size_t *count, size_t *capacity, size_t each) {
    void **items = list;
    if (*count == *capacity) {
        size_t wanted = *capacity ? 2 * *capacity : 64;
        void *grown = realloc(*items, wanted * each);
        if (!grown) {
            t->failed = true;
            return NULL;
        }
        *items = grown;
        *capacity = wanted;
    }
    return (char *)*items + each * (*count)++;
}

static void free_event(TraceEvent *event) {
    free(event->lanes);
    free(event->sources);
}

// ---- What is kept ----------------------------------------------------------------------------------------

static uint64_t number_of(const Block *b, int warp) {
    return b->number * (uint64_t)b->warp_count + (uint64_t)warp;
}

static TraceWarp *kept_warp(AccessTrace *t, uint64_t number) {
    if (number >= t->limit) return NULL;
    // Blocks start in order under schedule 0.
    size_t low = 0, high = t->warp_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->warps[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->warp_count && t->warps[low].number == number ? &t->warps[low] : NULL;
}

// Leaves out the last `count` events of a warp.
static void forget_events(AccessTrace *t, uint64_t warp, size_t count) {
    size_t of_warp = 0, kept = 0;
    for (size_t i = 0; i < t->event_count; i++) of_warp += t->events[i].warp == warp;
    size_t stay = of_warp > count ? of_warp - count : 0, seen = 0;
    for (size_t i = 0; i < t->event_count; i++) {
        TraceEvent *event = &t->events[i];
        if (event->warp == warp && seen++ >= stay) {
            t->bytes -= event->bytes;
            free_event(event);
        } else
            t->events[kept++] = *event;
    }
    t->event_count = kept;
}

// Makes room by leaving out the last warp. When it is the only one, half of its events go.
static void drop_last(AccessTrace *t) {
    if (t->warp_count < 2) {
        if (!t->warp_count) return;
        t->warps[0].is_complete = false;
        forget_events(t, t->warps[0].number, (t->event_count + 1) / 2);
        t->limit = 0;
        return;
    }
    const TraceWarp *last = &t->warps[t->warp_count - 1];
    t->limit = last->number;
    forget_events(t, last->number, SIZE_MAX);
    t->bytes -= WARP_BYTES;
    t->warp_count--;
}

static void charge(AccessTrace *t, size_t bytes) {
    t->bytes += bytes;
    while (t->bytes > t->max_bytes && t->limit) {
        if (t->warp_count < 2) { // stays as it is so far
            if (t->warp_count) t->warps[0].is_complete = false;
            t->limit = 0;
        } else
            drop_last(t);
    }
}

// ---- Tables ----------------------------------------------------------------------------------------------

static uint32_t instruction_index(AccessTrace *t, const Instruction *in, TraceKind kind, PtxSpace space,
                                  uint32_t bytes) {
    for (size_t i = 0; i < t->instruction_count; i++) {
        const TraceInstruction *there = &t->instructions[i];
        if (there->number == in->number && there->kind == kind && there->space == space &&
            there->bytes == bytes)
            return (uint32_t)i;
    }
    TraceInstruction *row = one_more(t, &t->instructions, &t->instruction_count, &t->instruction_capacity,
                                     sizeof *t->instructions);
    if (!row) return 0;
    *row = (TraceInstruction){kind, in->number, space, bytes, place_of(t->machine->program, in)};
    t->bytes += INSTRUCTION_BYTES + strlen(row->place.file);
    return (uint32_t)t->instruction_count - 1;
}

static uint32_t object_index(AccessTrace *t, const Memory *memory) {
    for (size_t i = 0; i < t->object_count; i++)
        if (t->objects[i].base == memory->base && t->objects[i].space == memory->space) return (uint32_t)i;
    TraceObject *object = one_more(t, &t->objects, &t->object_count, &t->object_capacity, sizeof *t->objects);
    if (!object) return 0;
    *object = (TraceObject){.base = memory->base, .space = memory->space, .bytes = memory->bytes};
    memcpy(object->name, memory->name, sizeof object->name);
    if (memory->space == PTX_SPACE_LOCAL)
        object->bytes = 0;
    else
        object->misalignment = (unsigned)(memory->base % 256);
    t->bytes += OBJECT_BYTES;
    return (uint32_t)t->object_count - 1;
}

// ---- Events ----------------------------------------------------------------------------------------------

// A new event of a kept warp, or NULL. charge_event() must follow.
static TraceEvent *new_event(AccessTrace *t, uint64_t warp, const Instruction *in, TraceKind kind,
                             PtxSpace space, uint32_t bytes, uint32_t mask) {
    t->events_seen++;
    if (t->failed || !kept_warp(t, warp)) return NULL;
    uint32_t at = instruction_index(t, in, kind, space, bytes);
    TraceEvent *event = one_more(t, &t->events, &t->event_count, &t->event_capacity, sizeof *t->events);
    if (!event) return NULL;
    *event = (TraceEvent){.id = ++t->last_id, .at = at, .warp = warp, .mask = mask};
    return event;
}

static void charge_event(AccessTrace *t, TraceEvent *event, size_t more) {
    event->bytes = EVENT_BYTES + more + (size_t)event->source_count * SOURCE_BYTES;
    charge(t, event->bytes);
}

static uint64_t *new_lanes(AccessTrace *t, size_t count) {
    uint64_t *lanes = calloc(count, sizeof *lanes);
    if (!lanes) t->failed = true;
    return lanes;
}

// Offsets of lanes are mostly evenly spaced.
static void keep_offsets(AccessTrace *t, TraceEvent *event, const int64_t offsets[WARP_SIZE]) {
    uint32_t first = (uint32_t)__builtin_ctz(event->mask), rest = event->mask & (event->mask - 1);
    int64_t step = 0;
    if (rest) {
        uint32_t second = (uint32_t)__builtin_ctz(rest);
        step = (offsets[second] - offsets[first]) / (int64_t)(second - first);
    }
    event->step = step;
    event->offset = offsets[first] - (int64_t)first * step;
    event->is_affine = true;
    FOR_LANES(lane, event->mask)
    event->is_affine = event->is_affine && offsets[lane] == event->offset + (int64_t)lane * step;
    if (!event->is_affine && (event->lanes = new_lanes(t, WARP_SIZE)))
        memcpy(event->lanes, offsets, WARP_SIZE * sizeof *offsets);
}

static void charge_access(AccessTrace *t, TraceEvent *event) {
    charge_event(t, event, ACCESS_BYTES + (event->lanes ? WARP_SIZE * OFFSET_BYTES : 0));
}

static const TraceKind access_kinds[] = {TRACE_LOAD, TRACE_STORE, TRACE_ATOM, TRACE_RED};

static void trace_access(void *self, const Access *a) {
    AccessTrace *t = self;
    const PtxSpace space = a->memory->space;
    if (space == PTX_SPACE_PARAM) return;
    TraceEvent *event = new_event(t, number_of(a->warp->block, a->warp->index), a->in, access_kinds[a->kind],
                                  space, a->bytes, a->mask);
    if (event) {
        event->object = object_index(t, a->memory);
        counters_add_access(&event->counts, a);
        const uint64_t each = space == PTX_SPACE_LOCAL ? a->warp->local_capacity : UINT64_MAX;
        int64_t offsets[WARP_SIZE] = {0};
        FOR_LANES(lane, a->mask) offsets[lane] = (int64_t)(a->offsets[lane] % each);
        keep_offsets(t, event, offsets);
    }
    if (!trace_writers_follow(t->writers, a, event)) t->failed = true;
    if (event) charge_access(t, event);
}

static const int64_t FAR_AWAY = 1LL << ADDRESS_SHIFT;

// Where a lane of an access meant to go; NULL: nowhere near any memory.
static const Memory *meant(const AccessTrace *t, const Access *a, uint64_t address, int64_t *offset) {
    const uint64_t window = address >> ADDRESS_SHIFT;
    const Memory *memory = NULL;
    if (a->in->space == PTX_SPACE_SHARED || window == SHARED_WINDOW >> ADDRESS_SHIFT)
        memory = &a->warp->block->shared;
    else
        memory = memory_near(t->machine->emulator, address);
    if (!memory || !memory->in_use) return NULL;
    *offset = (int64_t)(address - (a->in->space == PTX_SPACE_SHARED ? 0 : memory->base));
    return *offset < -FAR_AWAY || *offset > FAR_AWAY ? NULL : memory;
}

// The access that ends a kernel, as far as it goes to the object that the refused lane is nearest to.
static void observe_fault(void *self, const Fault *fault) {
    AccessTrace *t = self;
    const Access *a = fault->access;
    if (fault->kind == FAULT_READ_ONLY || a->in->space == PTX_SPACE_LOCAL) return;
    int64_t offsets[WARP_SIZE] = {0};
    uint32_t mask = 0;
    const uint64_t *addresses = fault->addresses;
    const Memory *memory = meant(t, a, addresses[fault->lane], &offsets[fault->lane]);
    if (!memory) return; // the finding tells
    FOR_LANES(lane, a->mask)
    if (meant(t, a, addresses[lane], &offsets[lane]) == memory) mask |= 1u << lane;
    TraceEvent *event = new_event(t, number_of(a->warp->block, a->warp->index), a->in, access_kinds[a->kind],
                                  memory->space, a->bytes, mask);
    if (!event) return;
    event->is_failed = true;
    event->object = object_index(t, memory);
    keep_offsets(t, event, offsets);
    charge_access(t, event);
}

static void observe_exchange(void *self, Warp *w, const Instruction *in, uint32_t mask,
                             const uint32_t *from) {
    AccessTrace *t = self;
    const TraceKind kind = in->kind == KIND_SHUFFLE ? TRACE_SHUFFLE
                           : in->kind == KIND_VOTE  ? TRACE_VOTE
                           : in->kind == KIND_MATCH ? TRACE_MATCH
                           : in->kind == KIND_REDUX ? TRACE_REDUX
                           : in->kind == KIND_ELECT ? TRACE_ELECT
                                                    : TRACE_WARP_BARRIER;
    TraceEvent *event = new_event(t, number_of(w->block, w->index), in, kind, PTX_SPACE_NONE, 0, mask);
    if (!event) return;
    if (from && (event->lanes = new_lanes(t, WARP_SIZE)))
        FOR_LANES(lane, mask) event->lanes[lane] = from[lane];
    charge_event(t, event, from ? WARP_SIZE * LANE_BYTES : 0);
}

static void observe_fence(void *self, Warp *w, uint32_t mask, const Instruction *in) {
    AccessTrace *t = self;
    TraceEvent *event = new_event(t, number_of(w->block, w->index), in, TRACE_FENCE, PTX_SPACE_NONE, 0, mask);
    if (event) charge_event(t, event, 0);
}

// A barrier of the block belongs to its first warp: it goes when that goes.
static void add_barrier(AccessTrace *t, const Block *b, int id, bool is_failed) {
    TraceEvent *event =
        new_event(t, number_of(b, 0), b->barriers[id].in, TRACE_BARRIER, PTX_SPACE_NONE, 0, 0);
    if (!event) return;
    event->is_failed = is_failed;
    event->lanes = new_lanes(t, (size_t)b->warp_count);
    for (int i = 0; i < b->warp_count && event->lanes; i++)
        event->lanes[i] = lanes_at_barrier(&b->warps[i], id);
    charge_event(t, event, MASK_BYTES * (size_t)b->warp_count);
}

static void observe_barrier(void *self, Block *b, int id) { add_barrier(self, b, id, false); }

// Barriers that threads still wait at: a deadlock, or something else stopped the machine.
static void observe_end(void *self, Block *b) {
    for (int id = 0; id < BARRIER_COUNT; id++)
        if (b->barriers[id].arrived) add_barrier(self, b, id, true);
}

static void observe_start(void *self, Block *b) {
    AccessTrace *t = self;
    t->warps_started += (uint64_t)b->warp_count;
    for (int i = 0; i < b->warp_count; i++) {
        uint64_t number = number_of(b, i);
        if (number >= t->limit) return;
        TraceWarp *warp = one_more(t, &t->warps, &t->warp_count, &t->warp_capacity, sizeof *t->warps);
        if (!warp) return;
        *warp = (TraceWarp){.number = number, .lanes = b->warps[i].exists, .is_complete = true};
        charge(t, WARP_BYTES);
    }
}

// ---- The whole -------------------------------------------------------------------------------------------

static void access_trace_free(AccessTrace *t) {
    for (size_t i = 0; i < t->event_count; i++) free_event(&t->events[i]);
    trace_writers_free(t->writers);
    free(t->instructions);
    free(t->objects);
    free(t->events);
    free(t->warps);
    free(t);
}

AccessTrace *access_trace_new(Machine *m, Observer *observer) {
    AccessTrace *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->machine = m;
    t->max_bytes = m->launch->trace_bytes;
    t->bytes = OTHER_BYTES;
    t->limit = UINT64_MAX;
    t->writers = trace_writers_new();
    if (!t->writers) {
        access_trace_free(t);
        return NULL;
    }
    *observer = (Observer){.access = trace_access,
                           .fault = observe_fault,
                           .block_start = observe_start,
                           .block_end = observe_end,
                           .barrier = observe_barrier,
                           .exchange = observe_exchange,
                           .fence = observe_fence,
                           .self = t};
    return t;
}

bool access_trace_finish(AccessTrace *t, EmulatorResult *result) {
    for (int i = 0; i < result->finding_count && !t->failed; i++)
        charge(t, FINDING_BYTES + strlen(result->findings[i].message));
    char *text = NULL;
    size_t bytes = 0;
    while (!t->failed) {
        text = access_trace_json(t, result, &bytes);
        if (!text) break;
        if (bytes <= t->max_bytes || (!t->event_count && t->warp_count < 2)) break;
        free(text);
        text = NULL;
        drop_last(t);
    }
    result->trace = text;
    result->trace_bytes = text ? bytes : 0;
    access_trace_free(t);
    return text != NULL;
}
