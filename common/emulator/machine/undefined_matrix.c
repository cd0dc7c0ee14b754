#include "emulator/machine/undefined_matrix.h"

#include <string.h>

#include "emulator/alu/matrix.h"
#include "emulator/machine/matrix.h"
#include "emulator/machine/undefined_step.h"
#include "emulator/machine/wgmma.h"

static bool is_followed(const Gathering *g) {
    for (int p = 0; p < g->count; p++)
        if (g->parts[p].fragment->frame->undefined) return true;
    return false;
}

// Source `k` of all lanes.
static void source_given(Machine *m, const Warp *w, const Gathering *g, int k, UndefinedLanes *given) {
    *given = (UndefinedLanes){0};
    for (int p = 0; p < g->count; p++)
        undefined_add(m, w, g->parts[p].fragment->frame, g->parts[p].in, &g->parts[p].in->more->src[k],
                      g->parts[p].lanes, given);
}

static void results_taken(Machine *m, const Gathering *g, int k, const UndefinedLanes *value) {
    for (int p = 0; p < g->count; p++)
        if (g->parts[p].in->more->dst[k] >= 0)
            undefined_write(m, g->parts[p].fragment->frame, g->parts[p].in->more->dst[k], g->parts[p].lanes,
                            value);
}

// Elements of an operand, by their number in the packed matrix: where the undefined ones come from, else 0.
// b1 and s4 have words in the place of elements.
enum { MOST_ELEMENTS = 1024 };
typedef struct {
    uint64_t origin[MOST_ELEMENTS];
    bool any;
} Origins;

static unsigned cell_of(const MatrixFragment *f, int r, unsigned lane, int e) {
    const unsigned element = f->first[r][lane] + (unsigned)e * f->step;
    return f->bits < 8 ? element / f->per_register : element;
}

static void collect(Machine *m, const Warp *w, const Gathering *g, const MatrixFragment *f, int first,
                    Origins *to) {
    memset(to, 0, sizeof *to);
    const int elements = f->bits < 8 ? 1 : f->per_register, bytes = f->width / elements;
    for (int r = 0; r < f->registers; r++) {
        UndefinedLanes given;
        source_given(m, w, g, first + r, &given);
        for (int b = 0; b < f->width; b++) FOR_LANES(lane, given.bytes[b]) {
                to->origin[cell_of(f, r, lane, b / bytes)] = given.origin[lane];
                to->any = true;
            }
    }
}

// The first origin in `count` cells from `from` on.
static uint64_t origin_among(const Origins *of, int from, int count) {
    for (int i = from; of->any && i < from + count; i++)
        if (of->origin[i]) return of->origin[i];
    return 0;
}

void undefined_multiply(Machine *m, const Warp *w, const Gathering *g) {
    if (!is_followed(g)) return;
    const MatrixForm *form = g->parts[0].in->detail;
    Origins a, b, c;
    collect(m, w, g, &form->a, 0, &a);
    collect(m, w, g, &form->b, form->a.registers, &b);
    collect(m, w, g, &form->c, form->a.registers + form->b.registers, &c);
    const int n = form->shape.n, k = form->a.bits < 8 ? form->shape.k / form->a.per_register : form->shape.k;
    const int rows = form->shape.m * (form->shape.is_quad ? 4 : 1);
    uint64_t of_row[WARP_SIZE], of_column[WARP_SIZE];
    for (int i = 0; i < rows; i++) of_row[i] = origin_among(&a, i * k, k);
    for (int j = 0; j < (form->shape.is_quad ? 4 * n : n); j++) of_column[j] = origin_among(&b, j * k, k);
    const MatrixFragment *f = &form->d;
    for (int r = 0; r < f->registers; r++) {
        UndefinedLanes value = {0};
        for (unsigned lane = 0; lane < WARP_SIZE; lane++)
            for (int e = 0; e < f->per_register; e++) {
                const int cell = (int)cell_of(f, r, lane, e), row = cell / n; // NOLINT: n is 8 or more
                const int column = cell % n + (form->shape.is_quad ? row / 8 * 8 : 0);
                const uint64_t origin = c.origin[cell]      ? c.origin[cell]
                                        : of_row[row]       ? of_row[row]
                                        : of_column[column] ? of_column[column]
                                                            : 0;
                if (!origin) continue;
                const int bytes = f->bits / 8;
                for (int byte = e * bytes; byte < (e + 1) * bytes; byte++) value.bytes[byte] |= 1u << lane;
                value.origin[lane] = origin;
            }
        results_taken(m, g, r, &value);
    }
}

// Rows and columns whose terms are undefined, and sums that are, give undefined sums; the others are pending.
void undefined_wgmma(Machine *m, Warp *w, const Gathering *g, bool reads_sums, const TilePieces *of_a,
                     const TilePieces *of_b) {
    const Instruction *in = g->parts[0].in;
    const WgmmaDetail *detail = in->detail;
    uint64_t of_row[256] = {0}, of_column[256];
    const bool is_followed_yet = is_followed(g), is_half = detail->form.d_type == MATRIX_F16;
    wgmma_origins(m, w, in, of_a, of_row);
    wgmma_origins(m, w, in, of_b, of_column);
    for (int r = 0; detail->a_in_registers && is_followed_yet && r < 4; r++) {
        UndefinedLanes given;
        source_given(m, w, g, detail->sums + r, &given);
        for (int b = 0; b < 4; b++) FOR_LANES(lane, given.bytes[b])
        of_row[lane / 4 + (uint32_t)r % 2 * 8] = given.origin[lane];
    }
    const uint64_t pending = undefined_pending(in, w->wgmmas->committed);
    for (int r = 0; r < detail->sums; r++) {
        UndefinedLanes value = {.bytes = {FULL_MASK, FULL_MASK, FULL_MASK, FULL_MASK}}, given = {0};
        if (reads_sums && is_followed_yet) source_given(m, w, g, r, &given);
        const uint32_t undefined = given.bytes[0] | given.bytes[1] | given.bytes[2] | given.bytes[3];
        const unsigned half = is_half ? (unsigned)r % 2 : (unsigned)r / 2 % 2;
        const unsigned first = (unsigned)r / (is_half ? 2 : 4) * 8 + (is_half ? 0 : (unsigned)r % 2);
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
            const unsigned row = lane / 4 + 8 * half, column = first + lane % 4 * 2;
            const uint64_t sum =
                undefined >> lane & 1 && !undefined_is_pending(given.origin[lane]) ? given.origin[lane] : 0;
            const uint64_t next = is_half ? of_column[column + 1] : 0;
            value.origin[lane] = sum                 ? sum
                                 : of_row[row]       ? of_row[row]
                                 : of_column[column] ? of_column[column]
                                 : next              ? next
                                                     : pending;
        }
        results_taken(m, g, r, &value);
    }
}

void undefined_move(Machine *m, const Warp *w, const Gathering *g) {
    if (!is_followed(g)) return;
    const Instruction *in = g->parts[0].in;
    UndefinedLanes given[4], value[4] = {0};
    for (int k = 0; k < in->more->src_count; k++) source_given(m, w, g, k, &given[k]);
    for (int k = 0; k < in->more->dst_count; k++)
        for (unsigned lane = 0; lane < WARP_SIZE; lane++)
            for (unsigned half = 0; half < 2; half++) {
                const HalfPlace at = half_given(in, k, lane, half);
                if (at.source >= in->more->src_count) continue;
                for (unsigned byte = 0; byte < 2; byte++) {
                    if (!(given[at.source].bytes[2 * at.half + byte] >> at.lane & 1)) continue;
                    value[k].bytes[2 * half + byte] |= 1u << lane;
                    value[k].origin[lane] = given[at.source].origin[at.lane];
                }
            }
    for (int k = 0; k < in->more->dst_count; k++) results_taken(m, g, k, &value[k]);
}
