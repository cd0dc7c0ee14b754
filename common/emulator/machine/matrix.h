// Matrix instructions. Internal to common/emulator.
#pragma once

#include "emulator/machine/exchange.h"

// KIND_MMA and KIND_MATRIX_MOVE, by the lanes of `gathering`.
void matrix_exchange(Machine *machine, Warp *warp, const Gathering *gathering);

// Frees what the machine keeps for the first.
void matrix_close(Machine *machine);

// Source `k` of all lanes: 32 of `width` bytes. Lanes that meet at several places have it in several
// registers: copied to `room`.
typedef uint64_t LaneValues[WARP_SIZE];
const void *matrix_collected(const Gathering *gathering, int k, unsigned width, LaneValues room);
static inline const void *matrix_given(const Gathering *g, int k, unsigned width, LaneValues room) {
    if (g->count != 1) return matrix_collected(g, k, width, room);
    const Operand *o = &g->parts[0].in->more->src[k];
    return o->constant ? o->constant : g->parts[0].fragment->frame->registers + o->offset;
}
// Gives destination `k` of each part's lanes its values.
void matrix_take(const Gathering *gathering, int k, unsigned width, const void *values);

// Where a half of destination `k` of a KIND_MATRIX_MOVE comes from: a source, a lane and a half of its
// register.
typedef struct {
    int source;
    unsigned lane, half;
} HalfPlace;
static inline HalfPlace half_given(const Instruction *in, int k, unsigned lane, unsigned half) {
    if (in->operation == MOVE_FRAGMENT_TO_ROWS) { // register k, half h of a row: its columns 2 k and 2 k + 1
        const unsigned row = lane % 8, column = (unsigned)k * 2 + half;
        const bool turns = in->flags & IS_TRANSPOSED;
        const unsigned r = turns ? column : row, c = turns ? row : column;
        return (HalfPlace){(int)(lane / 8), r * 4 + c / 2, c % 2};
    }
    const unsigned row = lane / 4, column = lane % 4 * 2 + half;
    const bool turns = in->flags & IS_TRANSPOSED;
    const unsigned r = turns ? column : row, c = turns ? row : column;
    if (in->operation == MOVE_FRAGMENT) return (HalfPlace){k, r * 4 + c / 2, c % 2};
    return (HalfPlace){(int)(c / 2), 8 * (unsigned)k + r, c % 2};
}
