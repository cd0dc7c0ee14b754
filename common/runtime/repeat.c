#include "runtime/repeat.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/allocation.h"
#include "runtime/report.h"
#include "runtime/state.h"

// A launch that was seen, by a hash of the kernel, its shape and its arguments.
typedef struct {
    uint64_t key;
    int changed;       // how often it changed memory, when that was looked at
    uint64_t fixed_in; // the state of memory that it leaves as it is; 0: none known
    uint64_t work;     // lane instructions
    double seconds;
} Seen;
enum { MOST_SEEN = 64, MOST_CHANGED = 3, BYTES_A_LANE = 2 };
static Seen seen[MOST_SEEN];
static int seen_count;

static uint64_t state = 1; // another number after every change of memory
static uint64_t before;    // hash of memory before a launch; 0: not looked at
void repeat_forget(void) { state++; }
static bool is_forbidden;
void repeat_forbid(void) { is_forbidden = true; }

static uint64_t hash(uint64_t sum, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (; count >= sizeof(uint64_t); count -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; count; count--, at++) sum = (sum ^ *at) * 0x100000001b3u;
    return sum;
}

static uint64_t key_of(const Launch *l) {
    uint64_t sum = hash(1, &l->function, sizeof l->function);
    sum = hash(sum, &l->grid, sizeof l->grid);
    sum = hash(sum, &l->block, sizeof l->block);
    sum = hash(sum, &l->cluster, sizeof l->cluster);
    sum = hash(sum, &l->dynamic_shared, sizeof l->dynamic_shared);
    return hash(sum, l->arguments, l->argument_bytes);
}

// Of all memory that kernels reach; only that of the host, which the program may change at any time, if so
// asked.
static uint64_t hash_of_memory(bool only_host) {
    uint64_t sum = 1;
    for (int i = 0; allocation_by_index(i); i++) {
        const Allocation *a = allocation_by_index(i);
        if (!a->is_freed && a->kind != MEMORY_VARIABLE && (!only_host || a->host))
            sum = hash(sum, a->bytes, a->size);
    }
    EmulatorVariable v;
    for (int i = 0; !only_host && emulator_variable_at(device_emulator(), i, &v); i++)
        sum = hash(sum, emulator_host_pointer(device_emulator(), v.address, v.bytes), v.bytes);
    return sum;
}

static size_t bytes_of_memory(void) {
    size_t bytes = 0;
    for (int i = 0; allocation_by_index(i); i++)
        if (!allocation_by_index(i)->is_freed) bytes += allocation_by_index(i)->size;
    return bytes;
}

static Seen *find(uint64_t key) {
    for (int i = 0; i < seen_count; i++)
        if (seen[i].key == key) return &seen[i];
    return NULL;
}

// What the host writes to memory that it shares is noticed here.
static uint64_t current_state(void) {
    static uint64_t host;
    static unsigned long changes;
    const uint64_t now = hash_of_memory(true);
    if (now != host || changes != allocation_changes()) state++;
    host = now;
    changes = allocation_changes();
    return state;
}

// The heap of malloc() in kernels is not looked at.
static bool is_possible(void) {
    return !is_forbidden && !options()->profile && !options()->seed && !emulator_has_heap(device_emulator());
}

bool repeat_is_known(const Launch *launch, double *seconds) {
    if (!is_possible()) return false;
    const Seen *s = find(key_of(launch));
    if (!s || !s->fixed_in || s->fixed_in != current_state()) return false;
    *seconds = s->seconds;
    return true;
}

void repeat_before(const Launch *launch) {
    before = 0;
    const Seen *s = is_possible() ? find(key_of(launch)) : NULL;
    // Looking at memory must cost little beside running the kernel.
    if (!s || s->changed >= MOST_CHANGED || bytes_of_memory() / BYTES_A_LANE > s->work) return;
    before = hash_of_memory(false);
}

void repeat_after(const Launch *launch, const EmulatorResult *result, double seconds) {
    if (!is_possible()) return;
    const uint64_t key = key_of(launch);
    Seen *s = find(key);
    if (!s && seen_count < MOST_SEEN) {
        s = &seen[seen_count++];
        *s = (Seen){.key = key};
    }
    if (!s) {
        state++;
        return;
    }
    s->work = result->lane_instructions;
    s->seconds = seconds;
    if (before && result->completed && !result->findings_total && !result->output_bytes &&
        hash_of_memory(false) == before) {
        s->fixed_in = current_state();
        return;
    }
    if (before) s->changed++;
    state++;
}
