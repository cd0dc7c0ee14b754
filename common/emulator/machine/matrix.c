// Matrix instructions, once all lanes of the warp are there (sync.c): products, and 8 x 8 matrices that move
// between rows and fragments.
#include "emulator/machine/matrix.h"

#include <string.h>

#include "emulator/alu/matrix.h"
#include "emulator/machine/undefined_matrix.h"

static const MoreOperands *operands_of(const Part *part) { return part->in->more; }

const void *matrix_collected(const Gathering *g, int k, unsigned width, LaneValues room) {
    for (int p = 0; p < g->count; p++) {
        const Operand *o = &operands_of(&g->parts[p])->src[k];
        const unsigned char *from =
            o->constant ? o->constant : g->parts[p].fragment->frame->registers + o->offset;
        FOR_LANES(lane, g->parts[p].lanes)
        memcpy((unsigned char *)room + lane * width, from + lane * width, width);
    }
    return room;
}

void matrix_take(const Gathering *g, int k, unsigned width, const void *values) {
    for (int p = 0; p < g->count; p++) {
        const int32_t offset = operands_of(&g->parts[p])->dst[k];
        if (offset < 0) continue;
        unsigned char *to = g->parts[p].fragment->frame->registers + offset;
        if (g->parts[p].lanes == FULL_MASK) {
            memcpy(to, values, (size_t)WARP_SIZE * width);
            continue;
        }
        FOR_LANES(lane, g->parts[p].lanes)
        memcpy(to + lane * width, (const unsigned char *)values + lane * width, width);
    }
}

static void multiply(Machine *m, Warp *w, const Gathering *g) {
    if (!m->factors && !(m->factors = matrix_factors_new())) {
        m->out_of_memory = m->stopped = true;
        return;
    }
    const MatrixForm *form = g->parts[0].in->detail;
    const int of_a = form->a.registers, of_b = form->b.registers, of_d = form->d.registers;
    const void *given[3 * FRAGMENT_REGISTERS];
    void *taken[FRAGMENT_REGISTERS];
    LaneValues room[3 * FRAGMENT_REGISTERS], results[FRAGMENT_REGISTERS];
    for (int k = 0; k < operands_of(&g->parts[0])->src_count; k++)
        given[k] = matrix_given(g, k, form->a.width, room[k]); // that of all operands
    const bool is_direct = g->lanes == FULL_MASK && g->count == 1;
    for (int r = 0; r < of_d; r++) {
        const int32_t offset = operands_of(&g->parts[0])->dst[r];
        taken[r] = !is_direct    ? (void *)results[r]
                   : offset >= 0 ? (void *)(g->parts[0].fragment->frame->registers + offset)
                                 : NULL;
    }
    const MatrixRegisters registers = {given, given + of_a, given + of_a + of_b, taken};
    undefined_multiply(m, w, g);
    matrix_multiply(form, &registers, m->factors);
    for (int r = 0; r < of_d && !is_direct; r++) matrix_take(g, r, form->d.width, results[r]);
}

enum { HALVES = 2 * WARP_SIZE }; // of a register

// A register of all lanes.
typedef union {
    uint32_t words[WARP_SIZE];
    uint16_t halves[HALVES];
} Register;

// half_given(), for register k of what `from` gives. `move` and `is_turned` are constants wherever it is
// called.
static inline __attribute__((always_inline)) void move_halves(Register *to, const Register from[4], int k,
                                                              MatrixMove move, bool is_turned) {
    const Instruction in = {.operation = (uint8_t)move, .flags = is_turned ? IS_TRANSPOSED : 0};
    for (unsigned i = 0; i < HALVES; i++) {
        const HalfPlace at = half_given(&in, k, i / 2, i % 2);
        to->halves[i] = from[at.source].halves[at.lane * 2 + at.half];
    }
}

// The same of rows that become a fragment: the four words of a row, one in each register, are those of four
// lanes.
static void move_rows(Register *to, const Register from[4], int k) {
    for (int row = 0; row < 8; row++)
        for (int word = 0; word < 4; word++) to->words[4 * row + word] = from[word].words[8 * k + row];
}

// Transposed: a word has the halves of two columns.
static void move_columns(Register *to, const Register from[4], int k) {
    for (int word = 0; word < 4; word++)
        for (int row = 0; row < 8; row++) {
            const uint32_t pair = from[word].words[8 * k + row];
            to->halves[16 * word + row] = (uint16_t)pair;
            to->halves[16 * word + 8 + row] = (uint16_t)(pair >> 16);
        }
}

static void move_register(Register *to, const Register from[4], int k, const Instruction *in) {
    const bool is_turned = in->flags & IS_TRANSPOSED;
    switch ((MatrixMove)in->operation) {
    case MOVE_ROWS_TO_FRAGMENT:
        if (is_turned)
            move_columns(to, from, k);
        else
            move_rows(to, from, k);
        break;
    case MOVE_FRAGMENT_TO_ROWS:
        if (is_turned)
            move_halves(to, from, k, MOVE_FRAGMENT_TO_ROWS, true);
        else
            move_halves(to, from, k, MOVE_FRAGMENT_TO_ROWS, false);
        break;
    case MOVE_FRAGMENT: move_halves(to, from, k, MOVE_FRAGMENT, is_turned); break;
    }
}

static void move(Machine *m, Warp *w, const Gathering *g) {
    const Instruction *in = g->parts[0].in;
    LaneValues room;
    Register from[4] = {0}; // of registers that are not there, zeros: lanes without a row
    Register results[4];
    for (int k = 0; k < in->more->src_count; k++) memcpy(&from[k], matrix_given(g, k, 4, room), sizeof *from);
    for (int k = 0; k < in->more->dst_count; k++) move_register(&results[k], from, k, in);
    undefined_move(m, w, g);
    for (int k = 0; k < in->more->dst_count; k++) matrix_take(g, k, 4, &results[k]);
}

void matrix_exchange(Machine *m, Warp *w, const Gathering *g) {
    if (g->parts[0].in->kind == KIND_MMA)
        multiply(m, w, g);
    else
        move(m, w, g);
}

void matrix_close(Machine *m) { matrix_factors_free(m->factors); }
