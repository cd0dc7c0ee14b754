// The products are computed when they are started, and their factors are read then. Until the warp waits,
// their sums are undefined to initcheck; racecheck hears of the reads when they start and when they must have
// ended.
#include "emulator/machine/wgmma.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/matrix.h"
#include "emulator/machine/undefined_matrix.h"
#include "emulator/machine/wgmma_tile.h"

enum { GROUP_WARPS = 4, ROW_BYTES = 32, BASE_OFFSET = 49 };

void wgmma_forget(Wgmmas *wgmmas) {
    if (!wgmmas) return;
    wgmmas->count = 0;
    wgmmas->committed = wgmmas->completed = 0;
    wgmmas->has_fence = false;
}

void wgmma_free(Wgmmas *wgmmas) {
    if (!wgmmas) return;
    free(wgmmas->pending);
    free(wgmmas);
}

static Wgmmas *wgmmas_of(Machine *m, Warp *w) {
    if (!w->wgmmas) w->wgmmas = calloc(1, sizeof *w->wgmmas);
    Wgmmas *all = w->wgmmas;
    if (all && all->count == all->capacity) {
        const int capacity = all->capacity ? 2 * all->capacity : 16;
        Wgmma *grown = realloc(all->pending, (size_t)capacity * sizeof *grown);
        if (grown) {
            all->pending = grown;
            all->capacity = capacity;
        } else
            all = NULL;
    }
    if (!all) m->out_of_memory = m->stopped = true;
    return all;
}

// ---- One product ------------------------------------------------------------------------------------------

// Whether the warp may multiply: with the three others of its warpgroup, and after a fence.
static bool may_start(Machine *m, Warp *w, const Gathering *g, const Instruction *in, const Wgmmas *all) {
    const unsigned lane = (unsigned)__builtin_ctz(g->lanes);
    const Block *b = w->block;
    const int first = w->index / GROUP_WARPS * GROUP_WARPS;
    if (g->lanes != FULL_MASK || first + GROUP_WARPS > b->warp_count || b->thread_count % WARP_SIZE) {
        report(m, FINDING_BAD_MASK, w, (int)lane, in,
               "multiplies with wgmma, which takes all 128 threads of four warps (threads %d to %d): the "
               "block has "
               "%u, and %d of this warp are here",
               first * (int)WARP_SIZE, (first + GROUP_WARPS) * (int)WARP_SIZE - 1, b->thread_count,
               __builtin_popcount(g->lanes));
        return false;
    }
    if (!all->has_fence) TELL_OBSERVERS(m, unfenced_wgmma, w, in);
    return true;
}

static uint64_t descriptor(const Gathering *g, int k) {
    const Part *part = &g->parts[0];
    const uint64_t *lanes = source(part->fragment->frame->registers, part->in, k);
    return lanes[__builtin_ctz(part->lanes)];
}

// Fragments are those of m16n8: row lane / 4 and 8 below it, columns lane % 4 * 2 and the next.
static void sums_to_rows(const Gathering *g, const WgmmaDetail *detail, int column, int columns, void *to) {
    LaneValues room;
    const bool is_half = detail->form.d_type == MATRIX_F16;
    const int per = is_half ? 2 : 4; // registers of 8 columns
    for (int r = column / 8 * per; r < (column + columns) / 8 * per; r++) {
        const uint32_t *from = matrix_given(g, r, 4, room);
        const int block = r / per * 8 - column, half = is_half ? r % 2 : r / 2 % 2;
        for (int lane = 0; lane < (int)WARP_SIZE; lane++) {
            const int at = (lane / 4 + 8 * half) * columns + block + lane % 4 * 2;
            if (is_half)
                memcpy((uint16_t *)to + at, &from[lane], 4);
            else
                ((uint32_t *)to)[at + r % 2] = from[lane];
        }
    }
}

static void rows_to_sums(const Gathering *g, const WgmmaDetail *detail, int column, int columns,
                         const void *rows) {
    const bool is_half = detail->form.d_type == MATRIX_F16;
    const int per = is_half ? 2 : 4;
    for (int r = column / 8 * per; r < (column + columns) / 8 * per; r++) {
        uint32_t values[WARP_SIZE];
        const int block = r / per * 8 - column, half = is_half ? r % 2 : r / 2 % 2;
        for (int lane = 0; lane < (int)WARP_SIZE; lane++) {
            const int at = (lane / 4 + 8 * half) * columns + block + lane % 4 * 2;
            if (is_half)
                memcpy(&values[lane], (const uint16_t *)rows + at, 4);
            else
                values[lane] = ((const uint32_t *)rows)[at + r % 2];
        }
        matrix_take(g, r, 4, values);
    }
}

// a in registers: each has 4 bytes of row lane / 4, or 8 below it, and the last two those of the second half.
static void rows_of_registers(const Gathering *g, const WgmmaDetail *detail, unsigned char *to) {
    LaneValues room;
    for (int r = 0; r < 4; r++) {
        const uint32_t *from = matrix_given(g, detail->sums + r, 4, room);
        for (int lane = 0; lane < (int)WARP_SIZE; lane++)
            memcpy(to + (lane / 4 + r % 2 * 8) * ROW_BYTES + r / 2 * 16 + lane % 4 * 4, &from[lane], 4);
    }
}

static void multiply(const Gathering *g, const WgmmaDetail *detail, bool reads_sums, const unsigned char *a,
                     const unsigned char *b) {
    for (int column = 0; column < detail->n; column += GROUP_COLUMNS) {
        _Alignas(64) uint32_t c[GROUP_ROWS * GROUP_COLUMNS] = {0}, d[GROUP_ROWS * GROUP_COLUMNS];
        const int columns = detail->n - column < GROUP_COLUMNS ? detail->n - column : GROUP_COLUMNS;
        MatrixForm form = detail->form;
        form.shape.n = (uint16_t)columns;
        if (reads_sums) sums_to_rows(g, detail, column, columns, c);
        matrix_multiply_packed(&form, a, b + (size_t)column * ROW_BYTES, c, d);
        rows_to_sums(g, detail, column, columns, d);
    }
}

static void pieces_of(const WgmmaDetail *detail, const Warp *w, const Wgmma *one, TilePieces *a,
                      TilePieces *b) {
    a->count = 0;
    if (!detail->a_in_registers)
        wgmma_pieces(a, one->a, detail->is_turned[0], w->index % GROUP_WARPS * GROUP_ROWS, GROUP_ROWS);
    wgmma_pieces(b, one->b, detail->is_turned[1], 0, detail->n);
}

void wgmma_multiply(Machine *m, Warp *w, const Gathering *g) {
    const Instruction *in = g->parts[0].in;
    const WgmmaDetail *detail = in->detail;
    Wgmmas *all = wgmmas_of(m, w);
    if (!all || !may_start(m, w, g, in, all)) return;
    const Wgmma one = {in, descriptor(g, WGMMA_A), descriptor(g, WGMMA_B), all->committed};
    if ((one.a | one.b) >> BASE_OFFSET & 7) {
        report(m, FINDING_UNSUPPORTED, w, 0, in,
               "wgmma with a base offset in a matrix descriptor is not supported");
        return;
    }
    _Alignas(64) unsigned char a[GROUP_ROWS * ROW_BYTES], b[256 * ROW_BYTES];
    TilePieces of_a, of_b;
    pieces_of(detail, w, &one, &of_a, &of_b);
    if (detail->a_in_registers)
        rows_of_registers(g, detail, a);
    else if (!wgmma_gather(m, w, in, &of_a, a))
        return;
    if (!wgmma_gather(m, w, in, &of_b, b)) return;
    wgmma_observe(m, w, in, &of_a);
    wgmma_observe(m, w, in, &of_b);
    const uint32_t *scale = source(g->parts[0].fragment->frame->registers, in, WGMMA_SCALE);
    const bool reads_sums = *scale >> __builtin_ctz(g->lanes) & 1;
    if (m->follows_undefined) undefined_wgmma(m, w, g, reads_sums, &of_a, &of_b);
    multiply(g, detail, reads_sums, a, b);
    all->pending[all->count++] = one;
}

// ---- Order ------------------------------------------------------------------------------------------------

Step run_wgmma_order(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    (void)f;
    (void)mask;
    Wgmmas *all = wgmmas_of(m, w);
    if (!all) return STEP_TURN_ENDS;
    if (in->operation == WGMMA_FENCE) all->has_fence = true;
    if (in->operation == WGMMA_COMMIT) all->committed++;
    if (in->operation != WGMMA_WAIT) return STEP_NEXT;
    // wait_group N: all but the N newest committed groups.
    if (all->committed < in->literal[0] || all->committed - in->literal[0] <= all->completed)
        return STEP_NEXT;
    all->completed = all->committed - in->literal[0];
    int kept = 0;
    for (int i = 0; i < all->count; i++) {
        const Wgmma *one = &all->pending[i];
        if (one->group >= all->completed) {
            all->pending[kept++] = *one;
            continue;
        }
        TilePieces a, b;
        pieces_of(one->in->detail, w, one, &a, &b);
        wgmma_observe(m, w, one->in, &a);
        wgmma_observe(m, w, one->in, &b);
    }
    all->count = kept;
    return STEP_NEXT;
}
