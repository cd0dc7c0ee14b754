#include "runtime/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/protect.h"
#include "runtime/record.h"
#include "runtime/report.h"

enum { MOST_RECORDED = 1 << 28 }; // bytes, after which nothing more is written, and no end

static FILE *file;
static size_t written;

static FILE *open_file(void) {
    static bool is_tried;
    if (!is_tried && options()->record) file = fopen(options()->record, "wbe");
    is_tried = true;
    return file;
}

static void put(Record record, const void *data, size_t data_bytes) {
    if (!open_file()) return;
    record.data_bytes = data_bytes;
    written += sizeof record + data_bytes;
    if (written > MOST_RECORDED || fwrite(&record, sizeof record, 1, file) != 1 ||
        (data_bytes && fwrite(data, data_bytes, 1, file) != 1)) {
        fclose(file);
        file = NULL;
    }
}

static RecordedMemory memory_of(const Allocation *a) {
    if (!a) return RECORDED_HOST;
    switch (a->kind) {
    case MEMORY_DEVICE:
    case MEMORY_VARIABLE: return RECORDED_DEVICE;
    case MEMORY_PINNED: return RECORDED_PINNED;
    case MEMORY_MANAGED: return RECORDED_MANAGED;
    default: return RECORDED_OTHER;
    }
}

void recording_allocation(const Allocation *a) {
    put((Record){.kind = RECORD_ALLOCATE, .address = a->device, .bytes = a->size, .memory = memory_of(a)},
        NULL, 0);
}
void recording_free(const Allocation *a) {
    put((Record){.kind = RECORD_FREE, .address = a->device}, NULL, 0);
}

// ---- Operations -------------------------------------------------------------------------------------------

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
        if (c->height != 1 || c->depth != 1 || memory_of(sides.to) == RECORDED_OTHER ||
            memory_of(sides.from) == RECORDED_OTHER || (!sides.to && !sides.from))
            break;
        r.work = c->is_fill ? WORK_FILL : !sides.from ? WORK_COPY_IN : !sides.to ? WORK_COPY_OUT : WORK_COPY;
        r.address = address_of(sides.to, c->to);
        r.from = sides.from ? address_of(sides.from, c->from) : 0;
        r.bytes = c->width;
        r.value = c->value;
        r.unit = c->unit;
        r.to_memory = memory_of(sides.to);
        r.from_memory = memory_of(sides.from);
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
    if (!open_file()) return;
    const Record r = describe(op, RECORD_ISSUE);
    const char *name = r.work == WORK_OTHER    ? name_of(op)
                       : op->kind == OP_LAUNCH ? op->launch.function->name
                                               : "";
    put(r, name, *name ? strlen(name) + 1 : 0);
}

static uint64_t hash_of(const Allocation *a) {
    uint64_t sum = a->size + 1;
    for (size_t at = 0; at < a->size; at += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, a->bytes + at, a->size - at < sizeof word ? a->size - at : sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    return sum;
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
        if (!is_used(op, a) || hash_of(a) == a->recorded) continue;
        put((Record){.kind = RECORD_HOST_DATA, .address = a->device, .bytes = a->size}, a->bytes, a->size);
        a->recorded = hash_of(a);
    }
}

void recording_ran(const Op *op) {
    Allocation *a;
    for (int i = 0; open_file() && (a = allocation_by_index(i)); i++)
        if (is_used(op, a)) a->recorded = hash_of(a);
}

void recording_run(const Op *op) {
    if (!open_file()) return;
    const Record r = describe(op, RECORD_RUN);
    if (r.work == WORK_COPY || r.work == WORK_COPY_OUT || r.work == WORK_LAUNCH) put_shared(op);
    if (r.work == WORK_COPY_IN) {
        put(r, op->copy.from, op->copy.width);
    } else if (r.work == WORK_LAUNCH) {
        const size_t name = strlen(op->launch.function->name) + 1, all = name + op->launch.argument_bytes;
        char *data = malloc(all);
        if (!data) return;
        memcpy(data, op->launch.function->name, name);
        if (op->launch.argument_bytes) memcpy(data + name, op->launch.arguments, op->launch.argument_bytes);
        put(r, data, all);
        free(data);
    } else
        put(r, NULL, 0);
}

// ---- The host ---------------------------------------------------------------------------------------------

void recording_wait_stream(const struct CUstream_st *stream) {
    put((Record){.kind = RECORD_WAIT_STREAM, .stream = stream->is_default ? 0 : (uint32_t)stream->index},
        NULL, 0);
}
void recording_wait_all(void) { put((Record){.kind = RECORD_WAIT_ALL}, NULL, 0); }
void recording_wait_work(unsigned long number) {
    put((Record){.kind = RECORD_WAIT_WORK, .number = number}, NULL, 0);
}
void recording_elapsed(unsigned long start, unsigned long end, double milliseconds) {
    put((Record){.kind = RECORD_ELAPSED, .number = start, .other = end, .milliseconds = milliseconds}, NULL,
        0);
}
void recording_end(int status) {
    put((Record){.kind = RECORD_END, .value = (uint32_t)status}, NULL, 0);
    if (file) fclose(file);
    file = NULL;
}
