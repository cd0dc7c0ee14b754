#include "runtime/recording_work.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/protect.h"
#include "runtime/recording.h"

static uint64_t address_of(const Allocation *a, const void *pointer) {
    return a ? allocation_device_address(a, pointer) : (uint64_t)(uintptr_t)pointer;
}

static Record describe(const Op *op, RecordKind kind) {
    Record r = {.kind = kind,
                .work = WORK_OTHER,
                .number = op->number,
                .stream = op->stream->is_default ? 0 : (uint32_t)op->stream->index,
                .is_blocking = !op->stream->is_non_blocking};
    const Launch *l = &op->launch;
    const Copy *c = &op->copy;
    switch (op->kind) {
    case OP_LAUNCH:
        if (l->is_cooperative || l->cluster.x) break;
        r.work = WORK_LAUNCH;
        memcpy(r.grid, (uint32_t[]){l->grid.x, l->grid.y, l->grid.z}, sizeof r.grid);
        memcpy(r.block, (uint32_t[]){l->block.x, l->block.y, l->block.z}, sizeof r.block);
        r.shared = l->dynamic_shared;
        break;
    case OP_COPY: {
        const CopySides sides = copy_sides(c);
        if (c->height != 1 || c->depth != 1 || recording_memory(sides.to) == RECORDED_OTHER ||
            recording_memory(sides.from) == RECORDED_OTHER || (!sides.to && !sides.from))
            break;
        r.work = c->is_fill ? WORK_FILL : !sides.from ? WORK_COPY_IN : !sides.to ? WORK_COPY_OUT : WORK_COPY;
        r.address = address_of(sides.to, c->to);
        r.from = sides.from ? address_of(sides.from, c->from) : 0;
        r.bytes = c->width;
        r.value = c->value;
        r.unit = c->unit;
        r.to_memory = recording_memory(sides.to);
        r.from_memory = recording_memory(sides.from);
        break;
    }
    case OP_RECORD: r.work = WORK_EVENT; break;
    case OP_WAIT:
        r.work = WORK_WAIT;
        r.other = op->wait.number;
        break;
    default: break;
    }
    return r;
}

static const char *name_of(const Op *op) {
    switch (op->kind) {
    case OP_LAUNCH: return "a launch of a cooperative grid, or with clusters";
    case OP_COPY: return op->copy.call;
    case OP_CALL: return "cudaLaunchHostFunc";
    case OP_FREE: return "cudaFreeAsync";
    case OP_ALLOCATE: return "cudaMallocAsync";
    default: return "a graph";
    }
}

void recording_issue(const Op *op) {
    if (!recording_is_on()) return;
    const Record r = describe(op, RECORD_ISSUE);
    const char *name = r.work == WORK_OTHER    ? name_of(op)
                       : op->kind == OP_LAUNCH ? op->launch.function->name
                                               : "";
    recording_put(r, name, *name ? strlen(name) + 1 : 0);
}

// Of four sums side by side, none of which waits for another.
static uint64_t hash_of(const Allocation *a) {
    enum { SUMS = 4 };
    static const uint64_t factor = 0x9e3779b97f4a7c15u;
    uint64_t sums[SUMS] = {a->size + 1, 2, 3, 4}, words[SUMS], all = 0;
    for (size_t at = 0; at < a->size; at += sizeof words) {
        const size_t left = a->size - at;
        if (left < sizeof words) memset(words, 0, sizeof words);
        memcpy(words, a->bytes + at, left < sizeof words ? left : sizeof words);
        for (int k = 0; k < SUMS; k++) {
            sums[k] = (sums[k] ^ words[k]) * factor;
            sums[k] ^= sums[k] >> 29;
        }
    }
    for (int k = 0; k < SUMS; k++) all = (all ^ sums[k]) * factor, all ^= all >> 29;
    return all;
}

// Whether the operation reads or writes memory that both sides reach.
static bool is_used(const Op *op, const Allocation *a) {
    if (a->is_freed || (a->kind != MEMORY_PINNED && a->kind != MEMORY_MANAGED)) return false;
    if (op->kind == OP_LAUNCH) return protect_points_into(&op->launch, a);
    const CopySides sides = copy_sides(&op->copy);
    return op->kind == OP_COPY && (sides.from == a || sides.to == a);
}

// What the host has written to that memory since the device last used it.
static void put_shared(const Op *op) {
    Allocation *a;
    for (int i = 0; (a = allocation_by_index(i)); i++) {
        if (!is_used(op, a)) continue;
        const uint64_t hash = hash_of(a);
        if (hash == a->recorded) continue;
        recording_put((Record){.kind = RECORD_HOST_DATA, .address = a->device, .bytes = a->size}, a->bytes,
                      a->size);
        a->recorded = hash;
    }
}

void recording_ran(const Op *op) {
    Allocation *a;
    for (int i = 0; recording_is_on() && (a = allocation_by_index(i)); i++)
        if (is_used(op, a)) a->recorded = hash_of(a);
}

void recording_run(const Op *op) {
    if (!recording_is_on()) return;
    const Record r = describe(op, RECORD_RUN);
    if (r.work == WORK_COPY || r.work == WORK_COPY_OUT || r.work == WORK_LAUNCH) put_shared(op);
    if (r.work == WORK_COPY_IN) {
        recording_put(r, op->copy.from, op->copy.width);
    } else if (r.work == WORK_LAUNCH) {
        const size_t name = strlen(op->launch.function->name) + 1, all = name + op->launch.argument_bytes;
        char *data = malloc(all);
        if (!data) return;
        memcpy(data, op->launch.function->name, name);
        if (op->launch.argument_bytes) memcpy(data + name, op->launch.arguments, op->launch.argument_bytes);
        recording_put(r, data, all);
        free(data);
    } else
        recording_put(r, NULL, 0);
}
