#include "emulator/machine/bulk_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/atomic.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/tensor_box.h"
#include "emulator/machine/undefined.h"

// What a load delivers, laid out as in shared memory.
static void read_tensor(Flight *flight) {
    const TensorBox *box = flight->box;
    for (uint32_t r = 0; r < box->rows; r++) {
        const TensorRow row = tensor_row(box, r);
        for (uint32_t at = 0; at < box->row_bytes; at += TENSOR_UNIT) {
            const uint32_t first = row.begin > at ? row.begin - at : 0,
                           last = row.end > at ? row.end - at : 0;
            const bool is_inside = first < TENSOR_UNIT && last > first;
            uint64_t offset = is_inside ? row.offset + at - row.begin : 0;
            if (box->memory->period) offset %= box->memory->period;
            tensor_unit(box, flight->data + (tensor_place(box, flight->to_offset, r, at) - flight->to_offset),
                        box->memory->data + offset, is_inside ? first : 0, is_inside ? last : 0);
        }
    }
}

bool flight_read(Machine *m, Flight *flight) {
    if (flight->data) return true;
    flight->data = malloc(flight->bytes ? flight->bytes : 1);
    if (!flight->data) {
        m->out_of_memory = m->stopped = true;
        return false;
    }
    const Memory *from = flight->from;
    if (flight->box && flight->to->space == PTX_SPACE_SHARED) {
        read_tensor(flight);
        return true;
    }
    for (uint32_t at = 0; at < flight->bytes; at += BULK_UNIT) {
        const uint64_t offset = flight->from_offset + at;
        memcpy(flight->data + at, from->data + (from->period ? offset % from->period : offset), BULK_UNIT);
    }
    return true;
}

static void update(const Instruction *in, unsigned char *to, const unsigned char *data) {
    uint64_t old = 0, value = 0;
    memcpy(&old, to, in->width);
    memcpy(&value, data, in->width);
    value = atomic_updated(in, old, value, 0);
    memcpy(to, &value, in->width);
}

static void write_unit(const Flight *flight, unsigned char *to, const unsigned char *data) {
    const BulkDetail *detail = flight->in->detail;
    const Instruction *in =
        flight->box && detail->is_reduction ? &detail->by_type[flight->box->map.type] : flight->in;
    if (detail->is_reduction)
        for (unsigned at = 0; at < BULK_UNIT; at += in->width) update(in, to + at, data + at);
    else if (flight->byte_mask == 0xffff)
        memcpy(to, data, BULK_UNIT);
    else
        for (unsigned k = 0; k < BULK_UNIT; k++)
            if (flight->byte_mask >> k & 1) to[k] = data[k];
}

// Writes 16 bytes at `offset` of the target.
static void deliver_unit(Machine *m, const Flight *flight, uint64_t offset, const unsigned char *data,
                         bool is_first) {
    Memory *to = flight->to;
    const BulkDetail *detail = flight->in->detail;
    uint64_t offsets[WARP_SIZE];
    offsets[flight->lane] = offset;
    const Access access = {.warp = flight->warp,
                           .in = flight->in,
                           .kind = detail->is_reduction ? ACCESS_REDUCTION : ACCESS_STORE,
                           .memory = to,
                           .mask = 1u << flight->lane,
                           .bytes = BULK_UNIT,
                           .first = is_first,
                           .is_volatile = detail->is_reduction,
                           .offsets = offsets};
    const bool is_global = to->space == PTX_SPACE_GLOBAL;
    if (is_global) {
        access_begins(m, &access);
        TELL_OBSERVERS(m, async_access, &access);
    }
    write_unit(flight, to->data + offset, data);
    if (is_global) access_ends(m, &access);
}

static void mark_as(const Memory *from, uint64_t from_offset, Memory *to, uint64_t to_offset,
                    uint32_t bytes) {
    if (is_initialised(from, from_offset, bytes)) {
        mark_initialised(to, to_offset, bytes);
        return;
    }
    for (uint32_t at = 0; at < bytes; at++)
        if (is_initialised(from, from_offset + at, 1)) mark_initialised(to, to_offset + at, 1);
}

// A load writes all of a row, with what fills it outside the tensor; a store only the 16 bytes of which some
// are inside.
static void write_tensor(Machine *m, const Flight *flight) {
    const TensorBox *box = flight->box;
    const bool is_load = flight->to->space == PTX_SPACE_SHARED;
    const uint64_t base = is_load ? flight->to_offset : flight->from_offset;
    for (uint32_t r = 0; r < box->rows; r++) {
        const TensorRow row = tensor_row(box, r);
        for (uint32_t at = is_load ? 0 : row.begin; at < (is_load ? box->row_bytes : row.end);
             at += TENSOR_UNIT) {
            const uint64_t shared = tensor_place(box, base, r, at), global = row.offset + at - row.begin;
            deliver_unit(m, flight, is_load ? shared : global, flight->data + (shared - base),
                         !r && at == row.begin);
            if (flight->to->all_initialised) continue;
            if (!is_load)
                mark_as(flight->from, shared, flight->to, global, TENSOR_UNIT);
            else if (at >= row.begin && at + TENSOR_UNIT <= row.end)
                mark_as(flight->from, global, flight->to, shared, TENSOR_UNIT);
            else
                mark_initialised(flight->to, shared, TENSOR_UNIT);
        }
    }
}

// Of st.async and red.async.
static void write_values(const Flight *flight) {
    const BulkDetail *detail = flight->in->detail;
    unsigned char *to = flight->to->data + flight->to_offset;
    if (detail->is_reduction)
        update(flight->in, to, flight->data);
    else
        memcpy(to, flight->data, flight->bytes);
    if (!detail->is_reduction) mark_initialised(flight->to, flight->to_offset, flight->bytes);
}

void flight_write(Machine *m, const Flight *flight) {
    Memory *to = flight->to;
    m->effects++;
    if (flight->box) {
        write_tensor(m, flight);
        return;
    }
    if (!flight->from) {
        write_values(flight);
        return;
    }
    for (uint32_t at = 0; at < flight->bytes; at += BULK_UNIT)
        deliver_unit(m, flight, flight->to_offset + at, flight->data + at, !at);
    if (to->all_initialised) return;
    mark_as(flight->from, flight->from_offset, to, flight->to_offset, flight->bytes);
}

static void put_garbage(Machine *m, Memory *to, uint64_t offset, uint32_t bytes) {
    const Block *b = block_of_memory(to);
    for (uint64_t at = offset; at < offset + bytes; at += 4) {
        const uint64_t garbage = undefined_garbage(m, b->number << 20 ^ at);
        memcpy(to->data + at, &garbage, 4);
    }
    mark_undefined(to, offset, bytes);
    if (m->origins) undefined_stored(m, b, to, offset, bytes, 0);
}

void flight_garbage(Machine *m, const Flight *flight) {
    const TensorBox *box = flight->box;
    if (!box) put_garbage(m, flight->to, flight->to_offset, flight->bytes);
    for (uint32_t r = 0; box && r < box->rows; r++)
        for (uint32_t at = 0; at < box->row_bytes; at += TENSOR_UNIT)
            put_garbage(m, flight->to, tensor_place(box, flight->to_offset, r, at), TENSOR_UNIT);
}
