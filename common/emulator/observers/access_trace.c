// Records a launch: listens to accesses, shuffles and barriers, and keeps those of the first warps that fit
// into a bound. A warp is kept whole or not at all, so that what is there can be counted: when there is no
// more room, the last warp goes.
#include "emulator/observers/access_trace.h"

#include <stdlib.h>
#include <string.h>

#include "support/text.h"

// About what the parts take as JSON. What they come to is looked at in the end.
enum {
    INSTRUCTION_BYTES = 150,
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
static void *one_more(Xray *x, void *list, size_t *count, size_t *capacity, size_t each) {
    void **items = list;
    if (*count == *capacity) {
        size_t wanted = *capacity ? 2 * *capacity : 64;
        void *grown = realloc(*items, wanted * each);
        if (!grown) {
            x->failed = true;
            return NULL;
        }
        *items = grown;
        *capacity = wanted;
    }
    return (char *)*items + each * (*count)++;
}

static void free_event(XrayEvent *event) {
    free(event->lanes);
    free(event->sources);
}

// ---- What is kept ----------------------------------------------------------------------------------------

static uint64_t number_of(const Block *b, int warp) {
    return b->number * (uint64_t)b->warp_count + (uint64_t)warp;
}

static XrayWarp *kept_warp(Xray *x, uint64_t number) {
    if (number >= x->limit) return NULL;
    // Blocks start in order under schedule 0.
    size_t low = 0, high = x->warp_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (x->warps[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->warp_count && x->warps[low].number == number ? &x->warps[low] : NULL;
}

// Leaves out the last `count` events of a warp.
static void forget_events(Xray *x, uint64_t warp, size_t count) {
    size_t of_warp = 0, kept = 0;
    for (size_t i = 0; i < x->event_count; i++) of_warp += x->events[i].warp == warp;
    size_t stay = of_warp > count ? of_warp - count : 0, seen = 0;
    for (size_t i = 0; i < x->event_count; i++) {
        XrayEvent *event = &x->events[i];
        if (event->warp == warp && seen++ >= stay) {
            x->bytes -= event->bytes;
            free_event(event);
        } else
            x->events[kept++] = *event;
    }
    x->event_count = kept;
}

// Makes room by leaving out the last warp. When it is the only one, half of its events go.
static void drop_last(Xray *x) {
    if (x->warp_count < 2) {
        if (!x->warp_count) return;
        x->warps[0].is_complete = false;
        forget_events(x, x->warps[0].number, (x->event_count + 1) / 2);
        x->limit = 0;
        return;
    }
    const XrayWarp *last = &x->warps[x->warp_count - 1];
    x->limit = last->number;
    forget_events(x, last->number, SIZE_MAX);
    x->bytes -= WARP_BYTES;
    x->warp_count--;
}

static void charge(Xray *x, size_t bytes) {
    x->bytes += bytes;
    while (x->bytes > x->max_bytes && x->limit) {
        if (x->warp_count < 2) { // stays as it is so far
            if (x->warp_count) x->warps[0].is_complete = false;
            x->limit = 0;
        } else
            drop_last(x);
    }
}

// ---- Tables ----------------------------------------------------------------------------------------------

static uint32_t instruction_index(Xray *x, const Instruction *in, XrayKind kind, PtxSpace space,
                                  uint32_t bytes) {
    for (size_t i = 0; i < x->instruction_count; i++) {
        const XrayInstruction *there = &x->instructions[i];
        if (there->number == in->number && there->kind == kind && there->space == space &&
            there->bytes == bytes)
            return (uint32_t)i;
    }
    XrayInstruction *row = one_more(x, &x->instructions, &x->instruction_count, &x->instruction_capacity,
                                    sizeof *x->instructions);
    if (!row) return 0;
    *row = (XrayInstruction){kind, in->number, space, bytes, place_of(x->machine->program, in)};
    x->bytes += INSTRUCTION_BYTES + strlen(row->place.file);
    return (uint32_t)x->instruction_count - 1;
}

static uint32_t object_index(Xray *x, const Memory *memory) {
    for (size_t i = 0; i < x->object_count; i++)
        if (x->objects[i].base == memory->base && x->objects[i].space == memory->space) return (uint32_t)i;
    XrayObject *object = one_more(x, &x->objects, &x->object_count, &x->object_capacity, sizeof *x->objects);
    if (!object) return 0;
    *object = (XrayObject){.base = memory->base, .space = memory->space, .bytes = memory->bytes};
    memcpy(object->name, memory->name, sizeof object->name);
    if (memory->space == PTX_SPACE_LOCAL)
        object->bytes = 0;
    else
        object->misalignment = (unsigned)(memory->base % 256);
    x->bytes += OBJECT_BYTES;
    return (uint32_t)x->object_count - 1;
}

// ---- Events ----------------------------------------------------------------------------------------------

// A new event of a kept warp, or NULL. charge_event() must follow.
static XrayEvent *new_event(Xray *x, uint64_t warp, const Instruction *in, XrayKind kind, PtxSpace space,
                            uint32_t bytes, uint32_t mask) {
    x->events_seen++;
    if (x->failed || !kept_warp(x, warp)) return NULL;
    uint32_t at = instruction_index(x, in, kind, space, bytes);
    XrayEvent *event = one_more(x, &x->events, &x->event_count, &x->event_capacity, sizeof *x->events);
    if (!event) return NULL;
    *event = (XrayEvent){.id = ++x->last_id, .at = at, .warp = warp, .mask = mask};
    return event;
}

static void charge_event(Xray *x, XrayEvent *event, size_t more) {
    event->bytes = EVENT_BYTES + more + (size_t)event->source_count * SOURCE_BYTES;
    charge(x, event->bytes);
}

static uint64_t *new_lanes(Xray *x, size_t count) {
    uint64_t *lanes = calloc(count, sizeof *lanes);
    if (!lanes) x->failed = true;
    return lanes;
}

// Offsets of lanes are mostly evenly spaced.
static void keep_offsets(Xray *x, XrayEvent *event, const int64_t offsets[WARP_SIZE]) {
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
    if (!event->is_affine && (event->lanes = new_lanes(x, WARP_SIZE)))
        memcpy(event->lanes, offsets, WARP_SIZE * sizeof *offsets);
}

static void charge_access(Xray *x, XrayEvent *event) {
    charge_event(x, event, ACCESS_BYTES + (event->lanes ? WARP_SIZE * OFFSET_BYTES : 0));
}

static const XrayKind access_kinds[] = {XRAY_LOAD, XRAY_STORE, XRAY_ATOM, XRAY_RED};

static void observe_access(void *self, const Access *a) {
    Xray *x = self;
    const PtxSpace space = a->memory->space;
    if (space == PTX_SPACE_PARAM) return;
    XrayEvent *event = new_event(x, number_of(a->warp->block, a->warp->index), a->in, access_kinds[a->kind],
                                 space, a->bytes, a->mask);
    if (event) {
        event->object = object_index(x, a->memory);
        counters_add_access(&event->counts, a);
        const uint64_t each = space == PTX_SPACE_LOCAL ? a->warp->local_capacity : UINT64_MAX;
        int64_t offsets[WARP_SIZE] = {0};
        FOR_LANES(lane, a->mask) offsets[lane] = (int64_t)(a->offsets[lane] % each);
        keep_offsets(x, event, offsets);
    }
    if (!xray_writers_follow(x->writers, a, event)) x->failed = true;
    if (event) charge_access(x, event);
}

static const int64_t FAR_AWAY = 1LL << ADDRESS_SHIFT;

// Where a lane of an access meant to go; NULL: nowhere near any memory.
static const Memory *meant(const Xray *x, const Access *a, uint64_t address, int64_t *offset) {
    const uint64_t window = address >> ADDRESS_SHIFT;
    const Memory *memory = NULL;
    if (a->in->space == PTX_SPACE_SHARED || window == SHARED_WINDOW >> ADDRESS_SHIFT)
        memory = &a->warp->block->shared;
    else if (window >= FIRST_OBJECT && window < x->machine->emulator->object_count)
        memory = &x->machine->emulator->objects[window];
    if (!memory || !memory->in_use) return NULL;
    *offset = (int64_t)(address - (a->in->space == PTX_SPACE_SHARED ? 0 : memory->base));
    return *offset < -FAR_AWAY || *offset > FAR_AWAY ? NULL : memory;
}

// The access that ends a kernel, as far as it goes to the object that the refused lane is nearest to.
static void observe_fault(void *self, const Access *a, const uint64_t *addresses, unsigned refused) {
    Xray *x = self;
    int64_t offsets[WARP_SIZE] = {0};
    uint32_t mask = 0;
    const Memory *memory = meant(x, a, addresses[refused], &offsets[refused]);
    if (!memory) return; // the finding tells
    FOR_LANES(lane, a->mask)
    if (meant(x, a, addresses[lane], &offsets[lane]) == memory) mask |= 1u << lane;
    XrayEvent *event = new_event(x, number_of(a->warp->block, a->warp->index), a->in, access_kinds[a->kind],
                                 memory->space, a->bytes, mask);
    if (!event) return;
    event->is_failed = true;
    event->object = object_index(x, memory);
    keep_offsets(x, event, offsets);
    charge_access(x, event);
}

static void observe_exchange(void *self, Warp *w, const Instruction *in, uint32_t mask,
                             const uint32_t *from) {
    Xray *x = self;
    const XrayKind kind = in->kind == KIND_SHUFFLE ? XRAY_SHUFFLE
                          : in->kind == KIND_VOTE  ? XRAY_VOTE
                          : in->kind == KIND_MATCH ? XRAY_MATCH
                          : in->kind == KIND_REDUX ? XRAY_REDUX
                          : in->kind == KIND_ELECT ? XRAY_ELECT
                                                   : XRAY_WARP_BARRIER;
    XrayEvent *event = new_event(x, number_of(w->block, w->index), in, kind, PTX_SPACE_NONE, 0, mask);
    if (!event) return;
    if (from && (event->lanes = new_lanes(x, WARP_SIZE)))
        FOR_LANES(lane, mask) event->lanes[lane] = from[lane];
    charge_event(x, event, from ? WARP_SIZE * LANE_BYTES : 0);
}

static void observe_fence(void *self, Warp *w, uint32_t mask, const Instruction *in) {
    Xray *x = self;
    XrayEvent *event = new_event(x, number_of(w->block, w->index), in, XRAY_FENCE, PTX_SPACE_NONE, 0, mask);
    if (event) charge_event(x, event, 0);
}

// A barrier of the block belongs to its first warp: it goes when that goes.
static void add_barrier(Xray *x, const Block *b, int id, bool is_failed) {
    XrayEvent *event = new_event(x, number_of(b, 0), b->barriers[id].in, XRAY_BARRIER, PTX_SPACE_NONE, 0, 0);
    if (!event) return;
    event->is_failed = is_failed;
    event->lanes = new_lanes(x, (size_t)b->warp_count);
    for (int i = 0; i < b->warp_count && event->lanes; i++)
        event->lanes[i] = lanes_at_barrier(&b->warps[i], id);
    charge_event(x, event, MASK_BYTES * (size_t)b->warp_count);
}

static void observe_barrier(void *self, Block *b, int id) { add_barrier(self, b, id, false); }

// Barriers that threads still wait at: a deadlock, or something else stopped the machine.
static void observe_end(void *self, Block *b) {
    for (int id = 0; id < BARRIER_COUNT; id++)
        if (b->barriers[id].arrived) add_barrier(self, b, id, true);
}

static void observe_start(void *self, Block *b) {
    Xray *x = self;
    x->warps_started += (uint64_t)b->warp_count;
    for (int i = 0; i < b->warp_count; i++) {
        uint64_t number = number_of(b, i);
        if (number >= x->limit) return;
        XrayWarp *warp = one_more(x, &x->warps, &x->warp_count, &x->warp_capacity, sizeof *x->warps);
        if (!warp) return;
        *warp = (XrayWarp){.number = number, .lanes = b->warps[i].exists, .is_complete = true};
        charge(x, WARP_BYTES);
    }
}

// ---- The whole -------------------------------------------------------------------------------------------

static void xray_free(Xray *x) {
    for (size_t i = 0; i < x->event_count; i++) free_event(&x->events[i]);
    xray_writers_free(x->writers);
    free(x->instructions);
    free(x->objects);
    free(x->events);
    free(x->warps);
    free(x);
}

Xray *xray_new(Machine *m, Observer *observer) {
    Xray *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->machine = m;
    x->max_bytes = m->launch->xray_bytes;
    x->bytes = OTHER_BYTES;
    x->limit = UINT64_MAX;
    x->writers = xray_writers_new();
    if (!x->writers) {
        xray_free(x);
        return NULL;
    }
    *observer = (Observer){.access = observe_access,
                           .fault = observe_fault,
                           .block_start = observe_start,
                           .block_end = observe_end,
                           .barrier = observe_barrier,
                           .exchange = observe_exchange,
                           .fence = observe_fence,
                           .self = x};
    return x;
}

bool xray_finish(Xray *x, EmulatorResult *result) {
    for (int i = 0; i < result->finding_count && !x->failed; i++)
        charge(x, FINDING_BYTES + strlen(result->findings[i].message));
    char *text = NULL;
    size_t bytes = 0;
    while (!x->failed) {
        text = xray_json(x, result, &bytes);
        if (!text) break;
        if (bytes <= x->max_bytes || (!x->event_count && x->warp_count < 2)) break;
        free(text);
        text = NULL;
        drop_last(x);
    }
    result->xray = text;
    result->xray_bytes = text ? bytes : 0;
    xray_free(x);
    return text != NULL;
}
