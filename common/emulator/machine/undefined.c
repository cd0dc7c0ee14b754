#include "emulator/machine/undefined.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/initialised.h"
#include "emulator/machine/wgmma.h"

enum { ORIGINS = 4096, STORED = 8192 };

// ---- Registers --------------------------------------------------------------------------------------------

static void no_memory(Machine *m) { m->out_of_memory = m->stopped = true; }

UndefinedRegister *undefined_make(Machine *m, Frame *frame, int32_t offset) {
    UndefinedValues *values = frame->undefined;
    if (!values) {
        values = calloc(1, sizeof *values);
        if (values) values->at = calloc(frame->function->register_bytes / 4 + 1, sizeof *values->at);
        if (!values || !values->at) {
            free(values);
            no_memory(m);
            return NULL;
        }
        frame->undefined = values;
    }
    UndefinedRegister **at = &values->at[offset / 4];
    if (*at) return *at;
    UndefinedRegister *made = calloc(1, sizeof *made);
    if (!made) {
        no_memory(m);
        return NULL;
    }
    made->next = values->all;
    return values->all = *at = made;
}

void undefined_end(Frame *frame) {
    UndefinedValues *values = frame->undefined;
    if (!values) return;
    for (UndefinedRegister *r = values->all, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    free(values->at);
    free(values);
    frame->undefined = NULL;
}

uint64_t undefined_garbage(const Machine *m, uint64_t salt) {
    Random random = {m->launch->schedule * 0x9e3779b97f4a7c15ull ^ salt};
    return random_next(&random);
}

void undefined_start(Machine *m, const Warp *w, Frame *frame) {
    const Function *function = frame->function;
    uint64_t warp = w->block->number << 5 | (uint64_t)w->index;
    for (int i = 0; i < function->unset_count; i++) {
        int32_t offset = function->unset[i].offset;
        uint32_t width = function->unset[i].width, bytes = width ? width * WARP_SIZE : 4;
        uint64_t garbage = undefined_garbage(m, warp << 32 ^ (uint64_t)offset << 8);
        for (uint32_t at = 0; at < bytes; at += 4) {
            garbage = garbage * 6364136223846793005u + 1442695040888963407u; // D. Knuth's, for MMIX
            const uint32_t upper = (uint32_t)(garbage >> 32);                // the lower bits repeat soon
            memcpy(frame->registers + offset + at, &upper, 4);
        }
        UndefinedRegister *r = m->follows_undefined ? undefined_make(m, frame, offset) : NULL;
        for (uint32_t b = 0; r && b < (width ? width : 1); b++) r->bytes[b] = FULL_MASK;
    }
}

// ---- Origins ----------------------------------------------------------------------------------------------

// A word of shared or local memory in which an undefined value was stored.
typedef struct {
    const Memory *memory;
    uint64_t block, word, origin;
} StoredOrigin;

// A ring: origin n is at n % ORIGINS, until origin n + ORIGINS takes its place. Likewise a word, by its hash.
struct UndefinedOrigins {
    uint64_t count;
    UndefinedOrigin ring[ORIGINS];
    StoredOrigin stored[STORED];
    bool has_forgotten; // one of these
};

static bool has_origins(Machine *m) {
    if (!m->origins && !(m->origins = calloc(1, sizeof *m->origins))) no_memory(m);
    return m->origins != NULL;
}

uint64_t undefined_origin(Machine *m, const UndefinedOrigin *origin) {
    if (!has_origins(m)) return 0;
    uint64_t number = ++m->origins->count;
    m->origins->ring[number % ORIGINS] = *origin;
    return number;
}

static StoredOrigin *stored_slot(const Machine *m, const StoredOrigin *key) {
    uint64_t hash = (key->word ^ key->block << 20 ^ (uintptr_t)key->memory >> 4) * 0x9e3779b97f4a7c15ull;
    return &m->origins->stored[(hash >> 32) % STORED];
}

static bool is_key(const StoredOrigin *a, const StoredOrigin *b) {
    return a->memory == b->memory && a->block == b->block && a->word == b->word;
}

void undefined_stored(Machine *m, const Block *b, const Memory *memory, uint64_t offset, uint32_t bytes,
                      uint64_t origin) {
    if (!has_origins(m)) return;
    for (uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++) {
        StoredOrigin key = {memory, b->number, word, origin}, *slot = stored_slot(m, &key);
        if (slot->memory && !is_key(slot, &key)) m->origins->has_forgotten = true;
        *slot = key;
    }
}

uint64_t undefined_stored_at(const Machine *m, const Block *b, const Memory *memory, uint64_t offset,
                             bool *is_unsure) {
    *is_unsure = m->origins && m->origins->has_forgotten;
    if (!m->origins) return 0;
    StoredOrigin key = {memory, b->number, offset / 4, 0};
    const StoredOrigin *slot = stored_slot(m, &key);
    if (!is_key(slot, &key)) return 0;
    *is_unsure = false;
    return slot->origin;
}

void undefined_close(Machine *m) { free(m->origins); }

// The highest bit, the number of the instruction, the group.
#define PENDING (1ull << 63)

uint64_t undefined_pending(const Instruction *in, uint32_t group) {
    return PENDING | (uint64_t)in->number << 32 | group;
}

bool undefined_is_pending(uint64_t origin) { return origin & PENDING; }

bool undefined_has_ended(const Warp *w, uint64_t origin) {
    return origin & PENDING && (!w->wgmmas || (uint32_t)origin < w->wgmmas->completed);
}

// 1 and the lane that read the value, above the number of its origin.
enum { LANE_SHIFT = 56 };
#define NUMBER ((1ull << LANE_SHIFT) - 1)

uint64_t undefined_of_lane(uint64_t origin, uint32_t lane) {
    return origin ? origin | (uint64_t)(lane + 1) << LANE_SHIFT : 0; // 0: memory ran out
}

// NULL: of a register that nothing has read since it was made, or forgotten. `room`: for one that is pending,
// or of one lane.
static const UndefinedOrigin *remembered(const Machine *m, const Warp *w, uint64_t number,
                                         UndefinedOrigin *room) {
    if (number & PENDING) {
        *room = (UndefinedOrigin){.source = UNDEFINED_PENDING,
                                  .number = (int32_t)(number >> 32 & INT32_MAX),
                                  .warp = w->index,
                                  .lanes = FULL_MASK};
        memcpy(room->block, w->block->id, sizeof room->block);
        return room;
    }
    const uint64_t at = number & NUMBER;
    if (!at || !m->origins || m->origins->count - at >= ORIGINS) return NULL;
    *room = m->origins->ring[at % ORIGINS];
    const uint32_t lane = (uint32_t)(number >> LANE_SHIFT);
    if (lane) room->lanes = 1u << (lane - 1);
    return room;
}

void undefined_used(Machine *m, const Warp *w, const Instruction *in, UndefinedRegister *r, uint32_t lanes,
                    UndefinedUse use) {
    lanes &= undefined_lanes(r);
    if (!lanes) return;
    UndefinedOrigin room;
    FOR_LANES(lane, lanes)
    TELL_OBSERVERS(m, undefined_use, w, (int)lane, in, use, remembered(m, w, r->origin[lane], &room));
    for (int b = 0; b < 8; b++) r->bytes[b] &= ~lanes;
}

void undefined_printed(Machine *m, const Warp *w, int lane, const Instruction *in, const Memory *memory,
                       uint64_t offset, uint64_t bytes) {
    if (!m->follows_undefined || is_initialised(memory, offset, bytes)) return;
    while (is_initialised(memory, offset, 1)) offset++;
    bool is_unsure;
    UndefinedOrigin room;
    TELL_OBSERVERS(m, undefined_use, w, lane, in, USE_PRINT,
                   remembered(m, w, undefined_stored_at(m, w->block, memory, offset, &is_unsure), &room));
}
