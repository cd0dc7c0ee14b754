#include "emulator/observers/footprint.h"

#include <stdlib.h>
#include <string.h>

// Volatile loads and atomics without anything new in between, after which blocks wait for others: each block
// has had several turns by then.
enum { IDLE_POLLS = 1 << 15 };

typedef struct {
    uint64_t number; // of the block
    FootprintCount counts[MAX_FOOTPRINT_BUFFERS];
} BlockCount;

typedef struct {
    Machine *machine;
    Footprint *footprint;
    BlockCount *blocks; // in flight or ended
    uint64_t count, capacity;
    uint64_t idle_polls;
} Watch;

// ---- Blocks -----------------------------------------------------------------------------------------------

static void block_started(void *self, Block *block) {
    Watch *watch = self;
    if (watch->count == watch->capacity) {
        const uint64_t capacity = watch->capacity ? 2 * watch->capacity : 64;
        BlockCount *grown = realloc(watch->blocks, capacity * sizeof *grown);
        if (!grown) {
            watch->machine->out_of_memory = watch->machine->stopped = true;
            return;
        }
        watch->blocks = grown;
        watch->capacity = capacity;
    }
    watch->blocks[watch->count++] = (BlockCount){.number = block->number};
}

// The last to start is nearly always the one that runs.
static uint64_t find_block(const Watch *watch, const Block *block) {
    uint64_t at = watch->count - 1;
    while (at > 0 && watch->blocks[at].number != block->number) at--;
    return at;
}

static void block_ended(void *self, Block *block) {
    Watch *watch = self;
    if (watch->count == 0) return; // its start ran out of memory
    const uint64_t at = find_block(watch, block);
    for (int b = 0; b < MAX_FOOTPRINT_BUFFERS; b++) {
        const FootprintCount *count = &watch->blocks[at].counts[b];
        FootprintCount *most = &watch->footprint->most[b];
        if (block->live_warps == 0) {
            watch->footprint->all[b].read += count->read;
            watch->footprint->all[b].written += count->written;
        }
        if (count->read > most->read) most->read = count->read;
        if (count->written > most->written) most->written = count->written;
    }
    watch->footprint->ended += block->live_warps == 0;
    watch->blocks[at] = watch->blocks[--watch->count];
}

// ---- Elements ---------------------------------------------------------------------------------------------

// The sum of those of 64 elements at `at` whose bits are set.
static double sum_of(const unsigned char *at, uint64_t bits, uint32_t bytes) {
    double sum = 0;
    if (bytes == sizeof(float)) {
        float values[64];
        memcpy(values, at, (size_t)(64 - __builtin_clzll(bits)) * sizeof(float));
        for (; bits; bits &= bits - 1) sum += (double)values[__builtin_ctzll(bits)];
    } else if (bytes == sizeof(double)) {
        double values[64];
        memcpy(values, at, (size_t)(64 - __builtin_clzll(bits)) * sizeof(double));
        for (; bits; bits &= bits - 1) sum += values[__builtin_ctzll(bits)];
    }
    return sum;
}

static void add_values(FootprintBuffer *buffer, const Memory *memory, uint64_t first, unsigned count,
                       uint64_t fresh) {
    const uint64_t offset = first * buffer->element_bytes;
    const unsigned char *at = memory->data + (memory->period ? offset % memory->period : offset);
    const uint64_t all = count == 64 ? ~0ull : (1ull << count) - 1;
    const double sum = sum_of(at, all, buffer->element_bytes);
    buffer->sum_of_all += sum;
    if (fresh) buffer->sum_once += fresh == all ? sum : sum_of(at, fresh, buffer->element_bytes);
}

// How many of the elements no block has touched before.
static uint64_t mark_range(FootprintBuffer *buffer, const Memory *memory, uint64_t first, uint64_t elements,
                           bool is_load) {
    uint64_t fresh_count = 0;
    if (!is_load) buffer->rewritten += elements;
    for (uint64_t done = 0; done < elements; done += 64) {
        const unsigned here = elements - done < 64 ? (unsigned)(elements - done) : 64;
        const uint64_t fresh =
            element_set_add(is_load ? &buffer->read : &buffer->written, first + done, here);
        fresh_count += (uint64_t)__builtin_popcountll(fresh);
        if (is_load) add_values(buffer, memory, first + done, here, fresh);
    }
    if (!is_load) buffer->rewritten -= fresh_count;
    return fresh_count;
}

// The elements that [offset, offset + bytes) touches.
static uint64_t mark_bytes(FootprintBuffer *buffer, const Memory *memory, uint64_t offset, uint64_t bytes,
                           bool is_load) {
    const uint64_t first = offset / buffer->element_bytes;
    const uint64_t last = (offset + bytes - 1) / buffer->element_bytes;
    return mark_range(buffer, memory, first, last - first + 1, is_load);
}

static FootprintBuffer *find_buffer(const Watch *watch, const Memory *memory, int *index) {
    for (int b = 0; b < MAX_FOOTPRINT_BUFFERS; b++) {
        *index = b;
        if (watch->footprint->buffers[b].address == memory->base) return &watch->footprint->buffers[b];
    }
    return NULL;
}

// Whether the blocks wait for something that none of them does.
static void count_polls(Watch *watch, const Access *access, uint64_t fresh) {
    if (access->memory->space != PTX_SPACE_GLOBAL) return;
    // An atomic without a result says nothing about other blocks.
    if (access->is_volatile && access->kind != ACCESS_REDUCTION) watch->footprint->has_polled = true;
    if (fresh || access->kind == ACCESS_STORE)
        watch->idle_polls = 0;
    else if (access->is_volatile && ++watch->idle_polls == IDLE_POLLS)
        watch->footprint->waits = watch->machine->stopped = true;
}

static void access_watched(void *self, const Access *access) {
    Watch *watch = self;
    const Memory *memory = access->memory;
    const bool is_load = access->kind == ACCESS_LOAD;
    uint64_t fresh = 0;
    int index;
    FootprintBuffer *buffer = memory->space == PTX_SPACE_GLOBAL ? find_buffer(watch, memory, &index) : NULL;
    if (buffer) {
        if (access->contiguous)
            fresh =
                mark_bytes(buffer, memory, access->offsets[0], (uint64_t)access->bytes * WARP_SIZE, is_load);
        else
            FOR_LANES(lane, access->mask)
        fresh += mark_bytes(buffer, memory, access->offsets[lane], access->bytes, is_load);
        FootprintCount *count = &watch->blocks[find_block(watch, access->warp->block)].counts[index];
        *(is_load ? &count->read : &count->written) += fresh;
        if (count->read > watch->footprint->most_read)
            watch->footprint->takes_over = watch->machine->stopped = true;
    }
    count_polls(watch, access, fresh);
}

static void end_watch(void *self) {
    Watch *watch = self;
    for (int b = 0; b < MAX_FOOTPRINT_BUFFERS; b++) {
        const FootprintBuffer *buffer = &watch->footprint->buffers[b];
        if (buffer->read.failed || buffer->written.failed) watch->machine->out_of_memory = true;
    }
    free(watch->blocks);
    free(watch);
}

bool footprint_observe(Machine *m, Observer *observer) {
    Watch *watch = calloc(1, sizeof *watch);
    if (!watch) return false;
    watch->machine = m;
    watch->footprint = m->launch->footprint;
    memset(watch->footprint->most, 0, sizeof watch->footprint->most);
    memset(watch->footprint->all, 0, sizeof watch->footprint->all);
    watch->footprint->ended = 0;
    watch->footprint->takes_over = watch->footprint->waits = watch->footprint->has_polled = false;
    *observer = (Observer){.self = watch,
                           .block_start = block_started,
                           .block_end = block_ended,
                           .end = end_watch,
                           .access = access_watched};
    return true;
}
