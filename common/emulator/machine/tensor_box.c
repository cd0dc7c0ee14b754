#include "emulator/machine/tensor_box.h"

#include <string.h>

#include "emulator/machine/resolve.h"

// ---- The map ----------------------------------------------------------------------------------------------

static bool refuse(Machine *m, const Warp *w, unsigned lane, const Instruction *in, CopyFault fault,
                   int64_t value) {
    m->stopped = true;
    TELL_OBSERVERS(m, bad_copy, w, (int)lane, in, fault, (uint32_t)value);
    return false;
}

static bool read_map(Machine *m, Warp *w, const Fragment *f, const Instruction *in, unsigned lane,
                     TensorMap *map) {
    const BulkDetail *detail = in->detail;
    const int which = detail->at[BULK_TO].space == PTX_SPACE_SHARED ? BULK_FROM : BULK_TO;
    Instruction operand = *in;
    operand.space = PTX_SPACE_NONE;
    operand.flags = 0;
    operand.offset = detail->at[which].offset;
    operand.src[0] = in->src[which];
    uint64_t addresses[WARP_SIZE], offset;
    Memory *memory;
    lane_addresses(f->frame->registers, &operand, addresses);
    uint32_t words[TENSOR_MAP_WORDS];
    if (!resolve_lane(m, w, &operand, ACCESS_LOAD, lane, addresses, sizeof words, TENSOR_MAP_ALIGN, &memory,
                      &offset))
        return false;
    memcpy(words, memory->data + offset, sizeof words);
    if (!tensor_map_decode(words, map)) return refuse(m, w, lane, in, COPY_MAP, 0);
    return map->rank == detail->rank || refuse(m, w, lane, in, COPY_RANK, map->rank);
}

// An H200 refuses rows that do not begin at a multiple of 16 bytes, and stores to places before the tensor.
static bool check_place(Machine *m, const Warp *w, unsigned lane, const Instruction *in,
                        const TensorBox *box) {
    const int64_t first = box->place[0] * (int64_t)box->element;
    if (first % TENSOR_UNIT) return refuse(m, w, lane, in, COPY_PLACE, box->place[0]);
    const BulkDetail *detail = in->detail;
    for (uint32_t i = 0; i < box->map.rank && detail->at[BULK_TO].space != PTX_SPACE_SHARED; i++)
        if (box->place[i] < 0) return refuse(m, w, lane, in, COPY_BEFORE, box->place[i]);
    return true;
}

bool tensor_box(Machine *m, Warp *w, const Fragment *f, const Instruction *in, unsigned lane,
                TensorBox *box) {
    *box = (TensorBox){0};
    TensorMap *map = &box->map;
    if (!read_map(m, w, f, in, lane, map)) return false;
    box->element = tensor_element_bytes(map->type);
    box->rows = 1;
    for (uint32_t i = 0; i < map->rank; i++) {
        const Operand *o = &in->more->src[i];
        const int32_t *lanes = o->constant ? o->constant : (const void *)(f->frame->registers + o->offset);
        box->place[i] = lanes[lane];
        // Every step-th element of the box is copied, but all of a row.
        box->count[i] = i ? (map->box[i] + map->steps[i] - 1) / map->steps[i] : map->box[i];
        if (i) box->rows *= box->count[i];
    }
    box->row_bytes = box->count[0] * box->element;
    box->pitch = tensor_swizzle_bytes(map->swizzle);
    if (box->pitch < box->row_bytes) box->pitch = box->row_bytes;
    box->room = box->rows * box->pitch;
    box->bytes = box->rows * box->row_bytes;
    return check_place(m, w, lane, in, box);
}

bool tensor_find(Machine *m, Warp *w, const Instruction *in, unsigned lane, TensorBox *box) {
    const BulkDetail *detail = in->detail;
    const bool is_store = detail->at[BULK_TO].space != PTX_SPACE_SHARED;
    uint64_t low = UINT64_MAX, high = 0, offset;
    for (uint32_t i = 0; i < box->rows; i++) { // box->memory is NULL: offsets are addresses
        const TensorRow row = tensor_row(box, i);
        // A store writes 16 bytes where only some of them are inside.
        const uint64_t bytes =
            is_store ? (row.end - row.begin + TENSOR_UNIT - 1) & ~(TENSOR_UNIT - 1u) : row.end - row.begin;
        if (!bytes) continue;
        low = row.offset < low ? row.offset : low;
        high = row.offset + bytes > high ? row.offset + bytes : high;
    }
    Instruction operand = *in;
    operand.space = PTX_SPACE_GLOBAL;
    operand.flags = 0;
    uint64_t addresses[WARP_SIZE];
    addresses[lane] = high ? low : box->map.address;
    Memory *memory;
    if (!resolve_lane(m, w, &operand, is_store ? ACCESS_STORE : ACCESS_LOAD, lane, addresses,
                      high ? (uint32_t)(high - low) : 1, 1, &memory, &offset))
        return false;
    box->memory = memory;
    return true;
}

// ---- Places -----------------------------------------------------------------------------------------------

TensorRow tensor_row(const TensorBox *box, uint32_t row) {
    const int64_t first = box->place[0] * (int64_t)box->element,
                  all = (int64_t)(box->map.dims[0] * box->element);
    int64_t at = (int64_t)(box->map.address - (box->memory ? box->memory->base : 0));
    for (uint32_t i = 1; i < box->map.rank; i++) {
        const int64_t index = box->place[i] + (int64_t)(row % box->count[i] * box->map.steps[i]);
        row /= box->count[i];
        if (index < 0 || index >= (int64_t)box->map.dims[i]) return (TensorRow){0};
        at += index * (int64_t)box->map.strides[i - 1];
    }
    const int64_t begin = first < 0 ? -first : 0, left = all - first,
                  end = left < box->row_bytes ? left : box->row_bytes;
    if (begin >= end) return (TensorRow){0};
    return (TensorRow){(uint32_t)begin, (uint32_t)end, (uint64_t)(at + first + begin)};
}

uint64_t tensor_place(const TensorBox *box, uint64_t base, uint32_t row, uint32_t byte) {
    uint64_t at = base + (uint64_t)row * box->pitch + byte;
    const uint32_t span = tensor_swizzle_bytes(box->map.swizzle);
    if (span) at ^= (at >> 7 & (span / TENSOR_UNIT - 1)) << 4;
    return at;
}

// To nearest, ties away from zero; one NaN for all.
static uint32_t tf32_of(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fffe000u;
    return magnitude == 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
}

void tensor_unit(const TensorBox *box, unsigned char to[TENSOR_UNIT], const unsigned char *from,
                 uint32_t first, uint32_t last) {
    static const unsigned char nan[] = {0xf7, 0x7f};
    for (uint32_t i = 0; i < TENSOR_UNIT; i++)
        to[i] = i >= first && i < last ? from[i] : box->map.fill ? nan[i % 2] : 0;
    if (box->map.type != TENSOR_TF32 && box->map.type != TENSOR_TF32_FTZ) return;
    for (uint32_t i = first; i < last; i += 4) {
        uint32_t bits;
        memcpy(&bits, to + i, 4);
        bits = tf32_of(bits);
        memcpy(to + i, &bits, 4);
    }
}
