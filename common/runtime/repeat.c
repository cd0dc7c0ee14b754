#include "runtime/repeat.h"

#include <string.h>

#include "runtime/graph.h"
#include "runtime/report.h"
#include "runtime/state.h"

// An operation, by a hash of all that it is asked to do, turned memory with the hash `from` into memory with
// the hash `to`.
typedef struct {
    uint64_t key, from, to;
    double seconds;
} Step;
// How often memory was looked at for an operation since it was last left out or put off.
typedef struct {
    uint64_t key;
    int looks;
} Tried;
enum { MOST_STEPS = 1024, MOST_TRIED = 256, MOST_LOOKS = 3, MOST_PUT_OFF = 64 };
static Step steps[MOST_STEPS];
static unsigned step_count; // ever kept: the oldest ones are replaced
static Tried tried[MOST_TRIED];
static int tried_count;

// Operations that the program asked for and that did not run: memory is in the state in which the first of
// them finds it, and the program sees it in the state in which the last of them leaves it.
static struct {
    Op op;
    uint64_t from;
} put_off[MOST_PUT_OFF];
static int put_off_count, taken;

static uint64_t now;    // hash of device memory as the program sees it; 0: not known
static uint64_t before; // hash of all memory before the operation that runs; 0: not looked at
static unsigned long changes;
static bool is_forbidden;
void repeat_forbid(void) { is_forbidden = true; }
void repeat_forget(void) { now = 0; }

// ---- Hashes -----------------------------------------------------------------------------------------------

static uint64_t mix(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

// Four sums at a time, which do not wait for each other.
static uint64_t hash(uint64_t sum, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    uint64_t sums[4] = {sum, 1, 2, 3};
    for (; count >= sizeof sums; count -= sizeof sums, at += sizeof sums)
        for (int i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, at + i * (int)sizeof word, sizeof word);
            sums[i] = mix(sums[i], word);
        }
    sum = mix(mix(mix(sums[0], sums[1]), sums[2]), sums[3]);
    for (; count; count--, at++) sum = mix(sum, *at);
    return sum;
}

// Of the memory of kernels that the host does not reach; of the rest, if `of_host`. Never 0.
static uint64_t hash_of_memory(bool of_host) {
    uint64_t sum = 1;
    const Allocation *a;
    for (int i = 0; (a = allocation_by_index(i)); i++)
        if (!a->is_freed && of_host == (a->host != NULL) && (of_host || a->kind != MEMORY_VARIABLE))
            sum = hash(sum, a->bytes, a->size);
    EmulatorVariable v;
    for (int i = 0; !of_host && emulator_variable_at(device_emulator(), i, &v); i++)
        sum = hash(sum, emulator_host_pointer(device_emulator(), v.address, v.bytes), v.bytes);
    return sum | 1;
}

static bool has_host_memory(void) {
    const Allocation *a;
    for (int i = 0; (a = allocation_by_index(i)); i++)
        if (!a->is_freed && a->host) return true;
    return false;
}

// Of all memory, whose part that the host reaches may have changed at any time. 0: not known.
static uint64_t current(void) { return now && has_host_memory() ? mix(now, hash_of_memory(true)) | 1 : now; }

static uint64_t key_of_launch(const Launch *l) {
    uint64_t sum = hash(1, &l->function, sizeof l->function);
    sum = hash(sum, &l->grid, sizeof l->grid);
    sum = hash(sum, &l->block, sizeof l->block);
    sum = hash(sum, &l->cluster, sizeof l->cluster);
    sum = hash(sum, &l->dynamic_shared, sizeof l->dynamic_shared);
    return hash(sum, l->arguments, l->argument_bytes);
}

static uint64_t key_of_copy(const Copy *c) {
    const size_t words[] = {(size_t)c->to, (size_t)c->from, c->value,     c->unit,
                            c->width,      c->height,       c->depth,     c->to_pitch,
                            c->from_pitch, c->to_slice,     c->from_slice};
    return hash(2, words, sizeof words);
}

// 0: an operation that always runs.
static uint64_t key_of(const Op *op) {
    if (op->kind == OP_LAUNCH) return key_of_launch(&op->launch) | 1;
    const CopySides sides = copy_sides(&op->copy);
    const bool is_inside = sides.to && !sides.to->host &&
                           (op->copy.is_fill || (sides.from && !sides.from->host && !op->copy.held));
    return is_inside ? key_of_copy(&op->copy) | 1 : 0;
}

// ---- What looking costs -----------------------------------------------------------------------------------

// Looking at memory must cost little beside running: a lane instruction pays for two bytes.
enum { BYTES_A_LANE = 2 };
static uint64_t credit = (uint64_t)16 << 20;

static bool pay_for_a_look(void) {
    uint64_t bytes = 0;
    const Allocation *a;
    for (int i = 0; (a = allocation_by_index(i)); i++)
        if (!a->is_freed) bytes += a->size;
    if (bytes / BYTES_A_LANE > credit) return false;
    credit -= bytes / BYTES_A_LANE;
    return true;
}

static Tried *tries_of(uint64_t key) {
    for (int i = 0; i < tried_count; i++)
        if (tried[i].key == key) return &tried[i];
    if (tried_count == MOST_TRIED) return NULL;
    tried[tried_count] = (Tried){.key = key};
    return &tried[tried_count++];
}

// ---- Steps ------------------------------------------------------------------------------------------------

static const Step *step_of(uint64_t key, uint64_t from) {
    const unsigned count = step_count < MOST_STEPS ? step_count : MOST_STEPS;
    for (unsigned i = 0; i < count; i++)
        if (steps[i].key == key && (!from || steps[i].from == from)) return &steps[i];
    return NULL;
}

// The heap of malloc() in kernels is not looked at.
static bool is_possible(void) {
    return !is_forbidden && !options()->profile && !options()->record && !options()->seed &&
           !emulator_has_heap(device_emulator());
}

static void drop_from(int first) {
    for (int i = first; i < put_off_count; i++) op_release(&put_off[i].op);
    put_off_count = first;
}

// Leaves out what ends in a state that memory was in before it, or else puts the operation off. False: it
// must run.
static bool leave_out(const Op *op, const Step *step) {
    if (step->to == step->from) return true;
    if (has_host_memory()) return false; // which the host may look at, at any time
    for (int i = 0; i < put_off_count; i++)
        if (put_off[i].from == step->to) {
            drop_from(i);
            now = step->to;
            return true;
        }
    if (put_off_count == MOST_PUT_OFF || !op_copy(op, &put_off[put_off_count].op)) return false;
    put_off[put_off_count++].from = step->from;
    now = step->to;
    return true;
}

bool repeat_skips(const Op *op, double *seconds) {
    if (allocation_changes() != changes) now = 0;
    changes = allocation_changes();
    const uint64_t key = now && is_possible() ? key_of(op) : 0;
    if (!key || !step_of(key, 0)) return false;
    const uint64_t from = current();
    const Step *step = step_of(key, from);
    if (!step || !leave_out(op, step)) return false;
    Tried *tries = tries_of(key);
    if (tries) tries->looks = 0;
    *seconds = step->seconds;
    return true;
}

bool repeat_take(Op *op) {
    if (taken == put_off_count) {
        taken = put_off_count = 0;
        return false;
    }
    *op = put_off[taken++].op;
    return true;
}

void repeat_before(const Op *op) {
    before = 0;
    const uint64_t key = is_possible() ? key_of(op) : 0;
    Tried *tries = key ? tries_of(key) : NULL;
    if (!tries || tries->looks >= MOST_LOOKS) return;
    if (!now && pay_for_a_look()) now = hash_of_memory(false);
    before = current();
}

void repeat_after(const Op *op, Ran ran) {
    credit += ran.lanes;
    now = 0;
    if (!before || !ran.is_clean || !is_possible() || !pay_for_a_look()) return;
    now = hash_of_memory(false);
    const uint64_t key = key_of(op);
    Tried *tries = tries_of(key);
    if (tries) tries->looks++;
    steps[step_count++ % MOST_STEPS] = (Step){key, before, current(), ran.seconds};
}
