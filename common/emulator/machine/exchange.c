// What the lanes of a warp exchange: shuffles, votes, matches, reductions and elections, once all lanes that
// take part are there (sync.c).
#include "emulator/machine/exchange.h"

#include <string.h>

#include "emulator/machine/matrix.h"
#include "emulator/machine/undefined_step.h"
#include "emulator/machine/wgmma.h"

static void observe_exchange(Machine *m, Warp *w, const Instruction *in, uint32_t mask,
                             const uint32_t *from) {
    if (m->has_exchange_observer) TELL_OBSERVERS(m, exchange, w, in, mask, from);
}

static void shuffle(Machine *m, Warp *w, const Gathering *g) {
    uint32_t values[WARP_SIZE];
    bool is_followed = false;
    for (int p = 0; p < g->count; p++) {
        const uint32_t *from = source(g->parts[p].fragment->frame->registers, g->parts[p].in, 0);
        if (g->parts[p].lanes == FULL_MASK)
            memcpy(values, from, sizeof values);
        else
            FOR_LANES(lane, g->parts[p].lanes) values[lane] = from[lane];
        is_followed |= g->parts[p].fragment->frame->undefined != NULL;
    }
    UndefinedLanes given;
    if (is_followed) undefined_given(m, w, g, &given);
    for (int p = 0; p < g->count; p++) {
        const Instruction *in = g->parts[p].in;
        unsigned char *registers = g->parts[p].fragment->frame->registers;
        const uint32_t *b = source(registers, in, 1), *c = source(registers, in, 2);
        uint32_t result[WARP_SIZE], read[WARP_SIZE], in_range = 0, missing = 0;
        FOR_LANES(lane, g->parts[p].lanes) {
            // PTX ISA, shfl.sync: c holds a clamp value (bits 0-4) and a segment mask (bits 8-12).
            uint32_t segment = (c[lane] >> 8) & 31, clamp = c[lane] & 31, distance = b[lane] & 31;
            uint32_t max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment, from = 0;
            bool ok = false;
            switch (in->operation) {
            case SHUFFLE_UP:
                ok = (int32_t)(lane - distance) >= (int32_t)max_lane;
                from = lane - distance;
                break;
            case SHUFFLE_DOWN:
                from = lane + distance;
                ok = from <= max_lane;
                break;
            case SHUFFLE_BFLY:
                from = lane ^ distance;
                ok = from <= max_lane;
                break;
            default:
                from = min_lane | (distance & ~segment);
                ok = from <= max_lane;
                break;
            }
            if (!ok)
                from = lane;
            else
                in_range |= 1u << lane;
            from &= 31;
            read[lane] = from;
            if (!(g->lanes >> from & 1)) {
                missing |= 1u << lane;
                result[lane] = (uint32_t)undefined_garbage(m, w->block->number << 10 | lane);
            } else
                result[lane] = values[from];
        }
        observe_exchange(m, w, in, g->parts[p].lanes, read);
        if (is_followed || (missing && m->follows_undefined))
            undefined_taken(m, w, g, &g->parts[p], is_followed ? &given : NULL, read, missing);
        if (in->dst[0] >= 0) {
            uint32_t *to = destination(registers, in, 0);
            FOR_LANES(lane, g->parts[p].lanes) to[lane] = result[lane];
        }
        if (in->dst[1] >= 0) {
            uint32_t *to = destination(registers, in, 1);
            *to = (*to & ~g->parts[p].lanes) | in_range;
        }
    }
}

// Where full warps shuffle with one distance for all lanes and no segments, which is nearly always. A lane
// that would read beyond the ends keeps its own value, and is not in range.
bool exchange_quickly(Fragment *f, const Instruction *in, uint32_t mask) {
    if (mask != FULL_MASK || in->dst[0] < 0 || !in->src[1].constant || !in->src[2].constant ||
        f->frame->undefined)
        return false;
    const uint32_t distance = *(const uint32_t *)in->src[1].constant & 31,
                   c = *(const uint32_t *)in->src[2].constant & 0x1f1f;
    if (c != (in->operation == SHUFFLE_UP ? 0 : 0x1f)) return false;
    unsigned char *registers = f->frame->registers;
    uint32_t values[WARP_SIZE], in_range = FULL_MASK;
    memcpy(values, source(registers, in, 0), sizeof values);
    uint32_t *to = destination(registers, in, 0);
    switch (in->operation) {
    case SHUFFLE_UP:
        for (uint32_t lane = 0; lane < distance; lane++) to[lane] = values[lane];
        for (uint32_t lane = distance; lane < WARP_SIZE; lane++) to[lane] = values[lane - distance];
        in_range = FULL_MASK << distance;
        break;
    case SHUFFLE_DOWN:
        for (uint32_t lane = 0; lane < WARP_SIZE - distance; lane++) to[lane] = values[lane + distance];
        for (uint32_t lane = WARP_SIZE - distance; lane < WARP_SIZE; lane++) to[lane] = values[lane];
        in_range = FULL_MASK >> distance;
        break;
    case SHUFFLE_BFLY:
        for (uint32_t lane = 0; lane < WARP_SIZE; lane++) to[lane] = values[lane ^ distance];
        break;
    default:
        for (uint32_t lane = 0; lane < WARP_SIZE; lane++) to[lane] = values[distance];
        break;
    }
    if (in->dst[1] >= 0) *(uint32_t *)destination(registers, in, 1) = in_range;
    return true;
}

static void vote(const Gathering *g) {
    uint32_t yes = 0;
    for (int p = 0; p < g->count; p++)
        yes |= *(const uint32_t *)source(g->parts[p].fragment->frame->registers, g->parts[p].in, 0) &
               g->parts[p].lanes;
    for (int p = 0; p < g->count; p++) {
        const Instruction *in = g->parts[p].in;
        if (in->dst[0] < 0) continue;
        uint32_t lanes = g->parts[p].lanes, *to = destination(g->parts[p].fragment->frame->registers, in, 0);
        if (in->operation == VOTE_BALLOT) {
            FOR_LANES(lane, lanes) to[lane] = yes;
            continue;
        }
        bool value = in->operation == VOTE_ALL   ? yes == g->lanes
                     : in->operation == VOTE_ANY ? yes != 0
                                                 : yes == g->lanes || yes == 0;
        *to = value ? *to | lanes : *to & ~lanes;
    }
}

static uint64_t lane_value(const Part *part, unsigned lane, unsigned width) {
    const unsigned char *from = source(part->fragment->frame->registers, part->in, 0);
    uint64_t value = 0;
    memcpy(&value, from + lane * width, width);
    return value;
}

static void match(const Gathering *g) {
    uint64_t values[WARP_SIZE] = {0};
    for (int p = 0; p < g->count; p++) FOR_LANES(lane, g->parts[p].lanes)
    values[lane] = lane_value(&g->parts[p], lane, g->parts[p].in->width);
    uint32_t first = (uint32_t)__builtin_ctz(g->lanes);
    for (int p = 0; p < g->count; p++) {
        const Instruction *in = g->parts[p].in;
        unsigned char *registers = g->parts[p].fragment->frame->registers;
        uint32_t lanes = g->parts[p].lanes, all_same = 0, result[WARP_SIZE];
        FOR_LANES(lane, lanes) {
            uint32_t same = 0, compare = in->operation == MATCH_ALL ? first : lane;
            FOR_LANES(other, g->lanes) if (values[other] == values[compare]) same |= 1u << other;
            if (in->operation == MATCH_ALL && same != g->lanes) same = 0;
            if (same == g->lanes) all_same |= 1u << lane;
            result[lane] = same;
        }
        if (in->dst[0] >= 0) {
            uint32_t *to = destination(registers, in, 0);
            FOR_LANES(lane, lanes) to[lane] = result[lane];
        }
        if (in->dst[1] >= 0) {
            uint32_t *to = destination(registers, in, 1);
            *to = (*to & ~lanes) | all_same;
        }
    }
}

static void redux(const Gathering *g) {
    const Instruction *in = g->parts[0].in;
    uint32_t result = 0;
    bool first = true;
    for (int p = 0; p < g->count; p++) FOR_LANES(lane, g->parts[p].lanes) {
            uint32_t value = (uint32_t)lane_value(&g->parts[p], lane, 4);
            bool is_signed = in->type == PTX_S32;
            bool less = is_signed ? (int32_t)value < (int32_t)result : value < result;
            if (first)
                result = value;
            else
                switch (in->operation) {
                case REDUX_ADD: result += value; break;
                case REDUX_MIN: result = less ? value : result; break;
                case REDUX_MAX: result = less ? result : value; break;
                case REDUX_AND: result &= value; break;
                case REDUX_OR: result |= value; break;
                default: result ^= value; break;
                }
            first = false;
        }
    for (int p = 0; p < g->count; p++) {
        if (g->parts[p].in->dst[0] < 0) continue;
        uint32_t *to = destination(g->parts[p].fragment->frame->registers, g->parts[p].in, 0);
        FOR_LANES(lane, g->parts[p].lanes) to[lane] = result;
    }
}

static void elect(const Gathering *g) {
    uint32_t leader = (uint32_t)__builtin_ctz(g->lanes);
    for (int p = 0; p < g->count; p++) {
        const Instruction *in = g->parts[p].in;
        unsigned char *registers = g->parts[p].fragment->frame->registers;
        if (in->dst[0] >= 0) {
            uint32_t *to = destination(registers, in, 0);
            FOR_LANES(lane, g->parts[p].lanes) to[lane] = leader;
        }
        if (in->dst[1] >= 0) {
            uint32_t *to = destination(registers, in, 1);
            *to = (*to & ~g->parts[p].lanes) | (g->parts[p].lanes & 1u << leader);
        }
    }
}

void exchange(Machine *m, Warp *w, const Gathering *g) {
    const Instruction *in = g->parts[0].in;
    if (in->kind == KIND_WGMMA) {
        wgmma_multiply(m, w, g);
        return;
    }
    if (in->kind == KIND_MMA || in->kind == KIND_MATRIX_MOVE) {
        matrix_exchange(m, w, g);
        return;
    }
    if (in->kind != KIND_SHUFFLE) observe_exchange(m, w, in, g->lanes, NULL);
    if (in->kind != KIND_SHUFFLE && in->kind != KIND_WARP_BARRIER) undefined_shared(m, w, g);
    switch (in->kind) {
    case KIND_SHUFFLE: shuffle(m, w, g); break;
    case KIND_VOTE: vote(g); break;
    case KIND_MATCH: match(g); break;
    case KIND_REDUX: redux(g); break;
    case KIND_ELECT: elect(g); break;
    default: TELL_OBSERVERS(m, warp_sync, w, g->lanes); break;
    }
}
