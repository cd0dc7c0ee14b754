// cp.async: copies from global to shared memory that land when they are waited for, never before. A
// kernel that forgets to wait reads what was there, and initcheck and racecheck see it.
#include "emulator/machine/async.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/copies.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/memory.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/undefined_step.h"

void async_forget(AsyncCopies *copies) {
    if (!copies) return;
    copies->count = 0;
    memset(copies->committed, 0, sizeof copies->committed);
}

void async_free(AsyncCopies *copies) {
    if (!copies) return;
    free(copies->copies);
    free(copies);
}

static AsyncCopies *copies_of(Machine *m, Warp *w, size_t more) {
    if (!w->copies) w->copies = calloc(1, sizeof *w->copies);
    AsyncCopies *copies = w->copies;
    if (copies && copies->count + more > copies->capacity) {
        size_t capacity = (copies->capacity + more) * 2;
        LaneCopy *grown = realloc(copies->copies, capacity * sizeof *grown);
        if (grown) {
            copies->copies = grown;
            copies->capacity = capacity;
        } else
            copies = NULL;
    }
    if (!copies) m->out_of_memory = m->stopped = true;
    return copies;
}

// Takes bytes out of global memory for the newest copy; resolve_access has checked them and will count the
// load.
static void async_body(Machine *m, Fragment *f, const Access *access) {
    (void)f;
    LaneCopy *copy = &access->warp->copies->copies[access->warp->copies->count - 1];
    observe_access(m, access);
    Access folded;
    uint64_t offsets[WARP_SIZE];
    if (access->memory->period) access = fold_access(access, &folded, offsets);
    uint32_t at = access->in->literal[0]; // the first of these bytes, among those of the copy
    FOR_LANES(lane, access->mask) {
        unsigned char bytes[16];
        for (int i = 0; i < 4; i++) memcpy(bytes + 4 * i, &copy->words[i][lane], 4);
        memcpy(bytes + at, access->memory->data + access->offsets[lane], access->bytes);
        for (int i = 0; i < 4; i++) memcpy(&copy->words[i][lane], bytes + 4 * i, 4);
        for (uint32_t b = 0; b < access->bytes && m->follows_undefined; b++)
            if (!is_initialised(access->memory, access->offsets[lane] + b, 1))
                copy->undefined[lane] |= (uint16_t)(1u << (at + b));
        if (copy->undefined[lane]) copy->origin[lane] = undefined_read(m, access, 1u << lane);
    }
}

// Reads the first `size` bytes of what `in` copies, in pieces that are powers of two.
static void take(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t lanes, uint32_t size) {
    uint32_t piece = size & -size;
    for (uint32_t at = 0; at < size && !m->stopped; at += piece) {
        Instruction load = *in;
        load.width = (uint8_t)piece;
        load.offset += at;
        load.literal[0] = at;
        resolve_access(m, w, f, &load, lanes, ACCESS_LOAD, piece, async_body);
    }
}

// Until a copy has landed nothing can be said of its bytes. One that will be refused is left alone.
static void scatter_garbage(Machine *m, Block *b, const LaneCopy *copy) {
    FOR_LANES(lane, copy->lanes) {
        uint64_t to = copy->to[lane];
        if (to > b->shared.bytes || b->shared.bytes - to < copy->in->width) continue;
        for (uint32_t at = 0; at < copy->in->width; at += 4) {
            uint64_t garbage = undefined_garbage(m, b->number << 20 ^ (to + at));
            memcpy(b->shared.data + to + at, &garbage, 4);
        }
        mark_undefined(&b->shared, to, copy->in->width);
        if (m->origins) undefined_stored(m, b, &b->shared, to, copy->in->width, 0);
    }
}

Step run_async_copy(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    AsyncCopies *copies = copies_of(m, w, 1);
    if (!copies) return STEP_TURN_ENDS;
    const unsigned char *registers = f->frame->registers, *shared = source(registers, in, 1);
    const uint32_t *sizes = in->src_count > 2 ? source(registers, in, 2) : NULL;
    LaneCopy *copy = &copies->copies[copies->count++];
    *copy = (LaneCopy){.in = in, .serial = copies->started++, .lanes = mask};
    FOR_LANES(lane, mask) {
        memcpy(&copy->to[lane], shared + lane * in->literal[1], in->literal[1]);
        copy->to[lane] += in->literal[0];
        copy->group[lane] = copies->committed[lane];
    }
    // Bytes beyond the size given are zeros, and are not read: a tail may lie past the end of a buffer.
    for (uint32_t left = mask; left && !m->stopped;) {
        uint32_t size = sizes ? sizes[__builtin_ctz(left)] : in->width, same = 0;
        FOR_LANES(lane, left) if (!sizes || sizes[lane] == size) same |= 1u << lane;
        take(m, w, f, in, same, size < in->width ? size : in->width);
        left &= ~same;
    }
    scatter_garbage(m, w->block, copy);
    return m->stopped ? STEP_TURN_ENDS : STEP_NEXT;
}

// Writes what `lanes` copied to shared memory, as a store by them: a store instruction made for the purpose,
// so that bounds, alignment and observers see it like any other.
static void land(Machine *m, Warp *w, Fragment *f, const LaneCopy *copy, uint32_t lanes) {
    Instruction store = *copy->in;
    store.kind = KIND_STORE;
    store.space = PTX_SPACE_SHARED;
    store.type = PTX_B32;
    store.elements = (uint8_t)(copy->in->width / 4);
    store.width = 4;
    store.flags = 0;
    store.offset = 0;
    store.literal[1] = 4;
    store.src[0] = (Operand){.constant = copy->to};
    for (int i = 0; i < store.elements; i++) store.src[1 + i] = (Operand){.constant = copy->words[i]};
    execute_store(m, w, f, &store, lanes);
    FOR_LANES(lane, lanes) {
        if (!copy->undefined[lane] || m->stopped) continue;
        for (int b = 0; b < copy->in->width; b++)
            if (copy->undefined[lane] >> b & 1)
                mark_undefined(&w->block->shared, copy->to[lane] + (uint64_t)b, 1);
        undefined_stored(m, w->block, &w->block->shared, copy->to[lane], copy->in->width, copy->origin[lane]);
    }
}

void async_land(Machine *m, Warp *w, Fragment *f, uint32_t lanes, uint64_t serial) {
    size_t kept = 0;
    for (size_t i = 0; w->copies && i < w->copies->count; i++) {
        LaneCopy *copy = &w->copies->copies[i];
        const uint32_t lands = copy->serial < serial ? copy->lanes & lanes : 0;
        if (lands && !m->stopped) land(m, w, f, copy, lands);
        copy->lanes &= ~lands;
        if (!copy->lanes) continue;
        if (kept != i) w->copies->copies[kept] = *copy;
        kept++;
    }
    if (w->copies) w->copies->count = kept;
}

uint64_t async_started(const Warp *w) { return w->copies ? w->copies->started : 0; }

Step run_async_wait(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    AsyncCopies *copies = copies_of(m, w, 0);
    if (!copies) return STEP_TURN_ENDS;
    if (in->operation == ASYNC_COMMIT) {
        FOR_LANES(lane, mask) copies->committed[lane]++;
        return STEP_NEXT;
    }
    size_t kept = 0;
    for (size_t i = 0; i < copies->count && !m->stopped; i++) {
        LaneCopy *copy = &copies->copies[i];
        uint32_t lands = mask & copy->lanes;
        // wait_group N: all but the N newest committed groups; what was never committed stays in flight.
        if (in->operation == ASYNC_WAIT_GROUP) FOR_LANES(lane, lands)
        if (copy->group[lane] >= copies->committed[lane] ||
            copies->committed[lane] - copy->group[lane] <= in->literal[0])
            lands &= ~(1u << lane);
        if (lands) land(m, w, f, copy, lands);
        copy->lanes &= ~lands;
        if (!copy->lanes) continue;
        if (kept != i) copies->copies[kept] = *copy;
        kept++;
    }
    copies->count = kept;
    return m->stopped ? STEP_TURN_ENDS : STEP_NEXT;
}
