// cp.async: copies from global to shared memory that land when they are waited for, never before. A
// kernel that forgets to wait reads what was there, and initcheck and racecheck see it.
#include <stdlib.h>
#include <string.h>

#include "machine.h"

typedef struct {
    uint64_t to;            // offset in the block's shared memory
    uint32_t group;         // of its lane
    uint8_t lane, bytes;
    unsigned char data[16];
    const Instruction *in;
} Copy;

struct AsyncCopies {
    Copy *copies;
    size_t count, capacity;
    uint32_t committed[WARP_SIZE]; // groups, per lane
};

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
        Copy *grown = realloc(copies->copies, capacity * sizeof *grown);
        if (grown) {
            copies->copies = grown;
            copies->capacity = capacity;
        } else copies = NULL;
    }
    if (!copies) m->out_of_memory = m->stopped = true;
    return copies;
}

// Takes the bytes to copy out of global memory; resolve_access has checked and will count the load.
static void async_body(Machine *m, Fragment *f, const Access *access) {
    const Instruction *in = access->in;
    AsyncCopies *copies = copies_of(m, access->warp, WARP_SIZE);
    if (!copies) return;
    for (int i = 0; i < m->observer_count; i++)
        if (m->observers[i].access) m->observers[i].access(m->observers[i].self, access);
    const unsigned char *registers = f->frame->registers, *shared = source(registers, in, 1);
    const uint32_t *sizes = in->src_count > 2 ? source(registers, in, 2) : NULL;
    FOR_LANES(lane, access->mask) {
        uint64_t to = 0;
        memcpy(&to, shared + lane * in->literal[1], in->literal[1]);
        Copy copy = {.to = to + in->literal[0], .group = copies->committed[lane], .lane = (uint8_t)lane, .bytes = in->width, .in = in};
        uint32_t take = sizes && sizes[lane] < in->width ? sizes[lane] : in->width; // the rest are zeros
        memcpy(copy.data, access->memory->data + access->offsets[lane], take);
        copies->copies[copies->count++] = copy;
    }
}

void execute_async_copy(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    resolve_access(m, w, f, in, mask, ACCESS_LOAD, in->width, async_body);
}

// Writes one copy to shared memory, as a store by its lane.
static void land(Machine *m, Warp *w, Fragment *f, const Copy *copy) {
    // A store instruction made for the purpose, so that bounds, alignment and observers see it like any other.
    uint64_t addresses[WARP_SIZE] = {0};
    uint32_t words[4][WARP_SIZE] = {{0}};
    addresses[copy->lane] = copy->to;
    for (unsigned i = 0; i < copy->bytes / 4u; i++) memcpy(&words[i][copy->lane], copy->data + 4 * i, 4);
    Instruction store = *copy->in;
    store.kind = KIND_STORE;
    store.space = PTX_SPACE_SHARED;
    store.type = PTX_B32;
    store.width = 4;
    store.elements = (uint8_t)(copy->bytes / 4);
    store.flags = 0;
    store.offset = 0;
    store.literal[1] = 4;
    store.src[0] = (Operand){.constant = addresses};
    for (int i = 0; i < store.elements; i++) store.src[1 + i] = (Operand){.constant = words[i]};
    execute_store(m, w, f, &store, 1u << copy->lane);
}

void execute_async_wait(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    AsyncCopies *copies = copies_of(m, w, 0);
    if (!copies) return;
    if (in->operation == ASYNC_COMMIT) {
        FOR_LANES(lane, mask) copies->committed[lane]++;
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < copies->count && !m->stopped; i++) {
        Copy copy = copies->copies[i];
        bool lands = mask >> copy.lane & 1;
        // wait_group N: all but the N newest committed groups; what was never committed stays in flight.
        if (lands && in->operation == ASYNC_WAIT_GROUP)
            lands = copy.group < copies->committed[copy.lane] && copies->committed[copy.lane] - copy.group > in->literal[0];
        if (lands) land(m, w, f, &copy);
        else copies->copies[kept++] = copy;
    }
    copies->count = kept;
}
