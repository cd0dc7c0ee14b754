#include "emulator/machine/copies.h"

#include <stdlib.h>

Flight *flight_add(Machine *m, Block *b) {
    if (b->flight_count == b->flight_capacity) {
        const int capacity = b->flight_capacity ? 2 * b->flight_capacity : 8;
        Flight *grown = realloc(b->flights, (size_t)capacity * sizeof *grown);
        if (!grown) {
            m->out_of_memory = m->stopped = true;
            return NULL;
        }
        b->flights = grown;
        b->flight_capacity = capacity;
    }
    Flight *flight = &b->flights[b->flight_count++];
    *flight = (Flight){0};
    return flight;
}

Flight flight_take(Block *b, int index) {
    const Flight taken = b->flights[index];
    b->flight_count--;
    for (int i = index; i < b->flight_count; i++) b->flights[i] = b->flights[i + 1];
    return taken;
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

const Instruction *unfinished(const Memory *memory, uint64_t offset, uint64_t bytes, bool *is_source) {
    const Cluster *cluster = block_of_memory(memory)->cluster;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        for (int i = 0; i < cluster->blocks[rank]->flight_count; i++) {
            const Flight *flight = &cluster->blocks[rank]->flights[i];
            *is_source = flight->from == memory && !flight->data &&
                         overlap(flight->from_offset, flight->bytes, offset, bytes);
            if (*is_source ||
                (flight->to == memory && overlap(flight->to_offset, flight->bytes, offset, bytes)))
                return flight->in;
        }
    return NULL;
}

const Instruction *undelivered(const Memory *memory, uint64_t offset, uint64_t bytes) {
    if (memory->space != PTX_SPACE_SHARED) return NULL;
    bool is_source;
    const Instruction *in = unfinished(memory, offset, bytes, &is_source);
    if (in && !is_source) return in;
    const Block *b = block_of_memory(memory);
    for (int k = 0; k < b->warp_count; k++) {
        const AsyncCopies *copies = b->warps[k].copies;
        for (size_t i = 0; copies && i < copies->count; i++) FOR_LANES(lane, copies->copies[i].lanes)
        if (overlap(copies->copies[i].to[lane], copies->copies[i].in->width, offset, bytes))
            return copies->copies[i].in;
    }
    return NULL;
}
