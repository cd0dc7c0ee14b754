#include "emulator/machine/undefined_step.h"

#include <string.h>

#include "emulator/machine/copies.h"
#include "emulator/machine/initialised.h"

// ---- Registers --------------------------------------------------------------------------------------------

static UndefinedOrigin origin_of(const Warp *w, const Instruction *in, UndefinedSource source,
                                 uint32_t lanes) {
    UndefinedOrigin origin = {.source = source,
                              .number = in->number,
                              .warp = w->index,
                              .ended = w->block->exited_early,
                              .lanes = lanes};
    memcpy(origin.block, w->block->id, sizeof origin.block);
    return origin;
}

// The undefined bytes of a register that `in` reads; NULL: none. A register that nothing has read yet, nor
// written, gets its origin here.
static UndefinedRegister *reading(Machine *m, const Warp *w, const Frame *frame, const Instruction *in,
                                  int32_t offset) {
    UndefinedRegister *r = undefined_at(frame, offset);
    uint32_t unknown = 0, ended = 0;
    FOR_LANES(lane, undefined_lanes(r)) {
        if (!r->origin[lane]) unknown |= 1u << lane;
        if (undefined_has_ended(w, r->origin[lane])) ended |= 1u << lane;
    }
    for (int b = 0; b < 8 && ended; b++) r->bytes[b] &= ~ended;
    if (!unknown) return r;
    UndefinedOrigin origin = origin_of(w, in, UNDEFINED_REGISTER, unknown);
    uint64_t number = undefined_origin(m, &origin);
    FOR_LANES(lane, unknown) r->origin[lane] = undefined_of_lane(number, (uint32_t)lane);
    return r;
}

static UndefinedRegister *reading_source(Machine *m, const Warp *w, const Frame *frame, const Instruction *in,
                                         int k) {
    return in->src[k].constant ? NULL : reading(m, w, frame, in, in->src[k].offset);
}

void undefined_write(Machine *m, Frame *frame, int32_t offset, uint32_t mask, const UndefinedLanes *value) {
    uint32_t any = 0;
    for (int b = 0; b < 8; b++) any |= value->bytes[b] & mask;
    UndefinedRegister *r = undefined_at(frame, offset);
    if (any && !r) r = undefined_make(m, frame, offset);
    if (!r) return;
    for (int b = 0; b < 8; b++) r->bytes[b] = (r->bytes[b] & ~mask) | (value->bytes[b] & mask);
    FOR_LANES(lane, any) r->origin[lane] = value->origin[lane];
}

static void write_defined(Machine *m, Frame *frame, const Instruction *in, uint32_t mask) {
    static const UndefinedLanes defined;
    for (int k = 0; k < 4; k++)
        if (in->dst[k] >= 0) undefined_write(m, frame, in->dst[k], mask, &defined);
}

// Adds the lanes of `mask` of byte `from` of `r` to byte `to` of `value`.
static void add_byte(UndefinedLanes *value, int to, const UndefinedRegister *r, int from, uint32_t mask) {
    uint32_t lanes = r ? r->bytes[from] & mask : 0;
    value->bytes[to] |= lanes;
    FOR_LANES(lane, lanes) value->origin[lane] = r->origin[lane];
}

void undefined_add(Machine *m, const Warp *w, const Frame *frame, const Instruction *in,
                   const Operand *operand, uint32_t mask, UndefinedLanes *value) {
    if (operand->constant) return;
    const UndefinedRegister *r = reading(m, w, frame, in, operand->offset);
    for (int b = 0; b < 8; b++) add_byte(value, b, r, b, mask);
}

static void add_all_bytes(UndefinedLanes *value, const UndefinedRegister *r, uint32_t mask) {
    uint32_t lanes = undefined_lanes(r) & mask;
    for (int b = 0; b < 8; b++) value->bytes[b] |= lanes;
    FOR_LANES(lane, lanes) value->origin[lane] = r->origin[lane];
}

// ---- Arithmetic -------------------------------------------------------------------------------------------

static void move(Machine *m, const Warp *w, Frame *frame, const Instruction *in, uint32_t mask) {
    UndefinedLanes value[4] = {0};
    int width = in->width ? in->width : 1;
    if (in->dst_count == 1 && in->src_count == 1) width = 8;
    for (int k = 0; k < in->src_count; k++) {
        const UndefinedRegister *r = reading_source(m, w, frame, in, k);
        for (int b = 0; b < 8 && r; b++) {
            // Byte b of source k is byte `at` of all; destinations have `width` bytes each, or all of them.
            int at = in->src_count > 1 ? k * width + b : b, to = in->dst_count > 1 ? at / width : 0;
            if ((in->src_count > 1 && b >= width) || to >= 4) break;
            add_byte(&value[to], in->dst_count > 1 ? at % width : at, r, b, mask);
        }
    }
    for (int k = 0; k < in->dst_count; k++)
        if (in->dst[k] >= 0) undefined_write(m, frame, in->dst[k], mask, &value[k]);
}

// selp: the bytes of the operand that is chosen.
static void choose(Machine *m, const Warp *w, Frame *frame, const Instruction *in, uint32_t mask) {
    uint32_t yes = *(const uint32_t *)source(frame->registers, in, 2);
    UndefinedLanes value = {0};
    for (int k = 0; k < 2; k++) {
        const UndefinedRegister *r = reading_source(m, w, frame, in, k);
        for (int b = 0; b < 8; b++) add_byte(&value, b, r, b, mask & (k ? ~yes : yes));
    }
    add_all_bytes(&value, reading_source(m, w, frame, in, 2), mask);
    if (in->dst[0] >= 0) undefined_write(m, frame, in->dst[0], mask, &value);
}

// and, or: a defined byte of 0, or of all ones, hides the other.
static void hide(Machine *m, const Warp *w, Frame *frame, const Instruction *in, uint32_t mask) {
    bool is_and = in->operation == VALUE_AND;
    UndefinedLanes value = {0};
    for (int k = 0; k < 2; k++) {
        const UndefinedRegister *r = reading_source(m, w, frame, in, k),
                                *other = reading_source(m, w, frame, in, 1 - k);
        const unsigned char *values = source(frame->registers, in, 1 - k);
        for (int b = 0; b < (in->width ? in->width : 1) && r; b++) {
            uint32_t hidden = 0;
            if (!in->width) {
                uint32_t bits;
                memcpy(&bits, values, 4);
                hidden = is_and ? ~bits : bits;
            } else
                FOR_LANES(lane, r->bytes[b] & mask)
            if (values[lane * in->width + (unsigned)b] == (is_and ? 0 : 0xff)) hidden |= 1u << lane;
            if (other) hidden &= ~other->bytes[b];
            add_byte(&value, b, r, b, mask & ~hidden);
        }
    }
    if (in->dst[0] >= 0) undefined_write(m, frame, in->dst[0], mask, &value);
}

// What is computed from a sum before the wait for it stays undefined after it.
static void settle(Machine *m, const Warp *w, UndefinedLanes *value) {
    uint32_t lanes = 0;
    for (int b = 0; b < 8; b++) lanes |= value->bytes[b];
    uint64_t pending = 0, settled = 0;
    FOR_LANES(lane, lanes) {
        if (!undefined_is_pending(value->origin[lane])) continue;
        if (value->origin[lane] != pending) {
            pending = value->origin[lane];
            const Instruction *from = m->program->by_number[pending >> 32 & INT32_MAX];
            const UndefinedOrigin origin = origin_of(w, from, UNDEFINED_PENDING, lanes);
            settled = undefined_origin(m, &origin);
        }
        value->origin[lane] = undefined_of_lane(settled, (uint32_t)lane);
    }
}

static void compute(Machine *m, const Warp *w, Frame *frame, const Instruction *in, uint32_t mask) {
    UndefinedLanes value = {0};
    for (int k = 0; k < in->src_count; k++) add_all_bytes(&value, reading_source(m, w, frame, in, k), mask);
    settle(m, w, &value);
    for (int k = 0; k < 4; k++)
        if (in->dst[k] >= 0) undefined_write(m, frame, in->dst[k], mask, &value);
}

static void step_arithmetic(Machine *m, const Warp *w, Frame *frame, const Instruction *in, uint32_t mask) {
    switch ((ValueOperation)in->operation) {
    case VALUE_MOVED: move(m, w, frame, in, mask); break;
    case VALUE_CHOSEN: choose(m, w, frame, in, mask); break;
    case VALUE_AND:
    case VALUE_OR: hide(m, w, frame, in, mask); break;
    case VALUE_COMPUTED: compute(m, w, frame, in, mask); break;
    }
}

// Whether lanes execute `in` is not defined: then what it writes is not.
static void step_guard(Machine *m, const Warp *w, Fragment *f, const Instruction *in) {
    UndefinedRegister *guard = reading(m, w, f->frame, in, in->guard);
    uint32_t lanes = undefined_lanes(guard) & f->mask;
    if (!lanes) return;
    if (in->kind != KIND_ALU) {
        undefined_used(m, w, in, guard, lanes, USE_BRANCH);
        return;
    }
    UndefinedLanes value = {0};
    add_all_bytes(&value, guard, lanes);
    for (int k = 0; k < 4; k++)
        if (in->dst[k] >= 0) undefined_write(m, f->frame, in->dst[k], lanes, &value);
}

// ---- Parameters of calls ----------------------------------------------------------------------------------

// Eight bytes of a parameter at a time, as if they were a register: there is room, as it has 32 lanes.
static int32_t param_register(int32_t offset, uint32_t byte) { return offset + (int32_t)(byte / 8 * 4); }

void undefined_copy(Machine *m, Frame *to, int32_t to_offset, const Frame *from, int32_t from_offset,
                    uint32_t bytes, uint32_t mask) {
    for (uint32_t at = 0; at < bytes; at += 8) {
        const UndefinedRegister *r = undefined_at(from, param_register(from_offset, at));
        UndefinedLanes value = {0};
        for (int b = 0; b < 8; b++) add_byte(&value, b, r, b, mask);
        undefined_write(m, to, param_register(to_offset, at), mask, &value);
    }
}

static void step_param_store(Machine *m, const Warp *w, Frame *frame, const Instruction *in, uint32_t mask) {
    for (int e = 0; e < in->elements; e++) {
        const UndefinedRegister *r = reading_source(m, w, frame, in, 1 + e);
        for (int b = 0; b < in->width; b++) {
            uint32_t byte = (uint32_t)(in->offset + e * in->width + b), lanes = r ? r->bytes[b] & mask : 0;
            int32_t offset = param_register(in->target, byte);
            UndefinedRegister *to = undefined_at(frame, offset);
            if (!to && lanes) to = undefined_make(m, frame, offset);
            if (!to) continue;
            to->bytes[byte % 8] = (to->bytes[byte % 8] & ~mask) | lanes;
            FOR_LANES(lane, lanes) to->origin[lane] = r->origin[lane];
        }
    }
}

// Bytes beyond those that are loaded: copies of the sign, or zeros.
static void extend(UndefinedLanes *value, const Instruction *in) {
    bool is_signed = in->type == PTX_S8 || in->type == PTX_S16 || in->type == PTX_S32;
    for (int b = in->width; b < 8 && is_signed; b++) value->bytes[b] = value->bytes[in->width - 1];
}

static void step_param_load(Machine *m, Frame *frame, const Instruction *in, uint32_t mask) {
    for (int e = 0; e < in->elements; e++) {
        UndefinedLanes value = {0};
        for (int b = 0; b < in->width; b++) {
            uint32_t byte = (uint32_t)(in->offset + e * in->width + b);
            add_byte(&value, b, undefined_at(frame, param_register(in->target, byte)), (int)(byte % 8), mask);
        }
        extend(&value, in);
        if (in->dst[e] >= 0) undefined_write(m, frame, in->dst[e], mask, &value);
    }
}

// ---- Everything else --------------------------------------------------------------------------------------

static void use_sources(Machine *m, const Warp *w, const Frame *frame, const Instruction *in, uint32_t mask,
                        int first, int last, UndefinedUse use) {
    for (int k = first; k <= last; k++)
        undefined_used(m, w, in, reading_source(m, w, frame, in, k), mask, use);
}

void undefined_step(Machine *m, const Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    Frame *frame = f->frame;
    int last = in->src_count - 1;
    switch ((InstructionKind)in->kind) {
    case KIND_ALU: step_arithmetic(m, w, frame, in, mask); break;
    case KIND_CVTA:
    case KIND_ISSPACEP:
    case KIND_NOT_PREDICATE: compute(m, w, frame, in, mask); break;
    case KIND_PARAM_STORE: step_param_store(m, w, frame, in, mask); break;
    case KIND_PARAM_LOAD: step_param_load(m, frame, in, mask); break;
    case KIND_STORE: use_sources(m, w, frame, in, mask, 0, 0, USE_ADDRESS); break;
    case KIND_ROW_STORE: use_sources(m, w, frame, in, mask & in->literal[0], 0, 0, USE_ADDRESS); break;
    case KIND_ROW_LOAD:
        use_sources(m, w, frame, in, mask & in->literal[0], 0, 0, USE_ADDRESS);
        write_defined(m, frame, in, mask);
        break;
    case KIND_WGMMA: use_sources(m, w, frame, in, mask, 0, last, USE_ADDRESS); break;
    case KIND_MMA: // undefined_matrix.c
    case KIND_MATRIX_MOVE: break;
    case KIND_LOAD:
    case KIND_TEXTURE:
    case KIND_SURFACE:
    case KIND_TEXTURE_QUERY:
    case KIND_CP_ASYNC:
        use_sources(m, w, frame, in, mask, 0, last, USE_ADDRESS);
        write_defined(m, frame, in, mask);
        break;
    case KIND_ATOMIC:
        use_sources(m, w, frame, in, mask, 0, 0, USE_ADDRESS);
        use_sources(m, w, frame, in, mask, 1, last, USE_ATOMIC);
        write_defined(m, frame, in, mask);
        break;
    case KIND_SHUFFLE: // those of the others: undefined_taken(), undefined_shared()
    case KIND_VOTE:
    case KIND_MATCH:
    case KIND_REDUX: use_sources(m, w, frame, in, mask, 1, last, USE_BRANCH); break;
    case KIND_BARRIER:
        use_sources(m, w, frame, in, mask, 0, 4, USE_BRANCH);
        write_defined(m, frame, in, mask);
        break;
    default:
        use_sources(m, w, frame, in, mask, 0, last, USE_BRANCH);
        write_defined(m, frame, in, in->kind == KIND_SPECIAL ? FULL_MASK : mask);
    }
    if (in->guard >= 0) step_guard(m, w, f, in);
}

// ---- Memory -----------------------------------------------------------------------------------------------

uint64_t undefined_read(Machine *m, const Access *access, uint32_t lanes) {
    UndefinedOrigin origin = origin_of(access->warp, access->in, UNDEFINED_MEMORY, lanes);
    origin.memory = access->memory;
    origin.bytes = access->bytes;
    memcpy(origin.at, access->offsets, sizeof origin.at);
    const Instruction *copy =
        undelivered(access->memory, access->offsets[__builtin_ctz(lanes)], access->bytes);
    origin.copy = copy ? copy->number : -1;
    if (access->memory->space != PTX_SPACE_GLOBAL)
        undefined_stored_at(m, access->warp->block, access->memory, access->offsets[__builtin_ctz(lanes)],
                            &origin.is_unsure);
    return undefined_origin(m, &origin);
}

// Element `e` of a load by which `lanes` read bytes that are not initialised; `origin`: of those that were
// never written.
static void load_element(Machine *m, Frame *frame, const Access *access, uint32_t lanes, unsigned e,
                         uint64_t origin) {
    const Instruction *in = access->in;
    UndefinedLanes value = {0};
    FOR_LANES(lane, lanes) {
        uint64_t from = access->offsets[lane] + e * in->width;
        unsigned first = in->width;
        for (unsigned b = in->width; b-- > 0;) {
            if (is_initialised(access->memory, from + b, 1)) continue;
            value.bytes[b] |= 1u << lane;
            first = b;
        }
        if (first == in->width) continue;
        bool is_unsure;
        uint64_t stored =
            undefined_stored_at(m, access->warp->block, access->memory, from + first, &is_unsure);
        value.origin[lane] = stored ? stored : undefined_of_lane(origin, (uint32_t)lane);
    }
    extend(&value, in);
    undefined_write(m, frame, in->dst[e], access->mask, &value);
}

void undefined_load(Machine *m, Fragment *f, const Access *access, uint32_t lanes) {
    uint64_t origin = undefined_read(m, access, lanes);
    for (unsigned e = 0; e < access->in->elements; e++)
        if (access->in->dst[e] >= 0) load_element(m, f->frame, access, lanes, e, origin);
}

void undefined_store(Machine *m, Fragment *f, const Access *access) {
    const Instruction *in = access->in;
    for (int e = 0; e < in->elements; e++) {
        UndefinedRegister *r = reading_source(m, access->warp, f->frame, in, 1 + e);
        uint32_t lanes = undefined_lanes(r) & access->mask;
        if (!lanes) continue;
        if (access->memory->space == PTX_SPACE_GLOBAL) {
            undefined_used(m, access->warp, in, r, lanes, USE_STORE);
            continue;
        }
        FOR_LANES(lane, lanes) {
            uint64_t to = access->offsets[lane] + (uint64_t)(e * in->width);
            for (int b = 0; b < in->width; b++)
                if (r->bytes[b] >> lane & 1) mark_undefined(access->memory, to + (uint64_t)b, 1);
            undefined_stored(m, access->warp->block, access->memory, to, in->width, r->origin[lane]);
        }
    }
}

// ---- Exchanges --------------------------------------------------------------------------------------------

void undefined_given(Machine *m, const Warp *w, const Gathering *g, UndefinedLanes *given) {
    *given = (UndefinedLanes){0};
    for (int p = 0; p < g->count; p++) {
        const UndefinedRegister *r = reading_source(m, w, g->parts[p].fragment->frame, g->parts[p].in, 0);
        for (int b = 0; b < 8; b++) add_byte(given, b, r, b, g->parts[p].lanes);
    }
}

void undefined_taken(Machine *m, const Warp *w, const Gathering *g, const Part *part,
                     const UndefinedLanes *given, const uint32_t *from, uint32_t missing) {
    UndefinedLanes value = {0};
    if (given) FOR_LANES(lane, part->lanes) {
            value.origin[lane] = given->origin[from[lane]];
            for (int b = 0; b < 8; b++) value.bytes[b] |= (given->bytes[b] >> from[lane] & 1) << lane;
        }
    if (missing) {
        UndefinedOrigin origin = origin_of(w, part->in, UNDEFINED_LANE, missing);
        FOR_LANES(lane, missing) origin.at[lane] = from[lane];
        origin.members = g->members;
        origin.exited = w->exited;
        uint64_t number = undefined_origin(m, &origin);
        for (int b = 0; b < 4; b++) value.bytes[b] |= missing;
        FOR_LANES(lane, missing) value.origin[lane] = number;
    }
    write_defined(m, part->fragment->frame, part->in, part->lanes);
    if (part->in->dst[0] >= 0)
        undefined_write(m, part->fragment->frame, part->in->dst[0], part->lanes, &value);
}

void undefined_shared(Machine *m, const Warp *w, const Gathering *g) {
    bool is_followed = false;
    for (int p = 0; p < g->count; p++) is_followed |= g->parts[p].fragment->frame->undefined != NULL;
    if (!is_followed) return;
    UndefinedLanes given, value = {0};
    undefined_given(m, w, g, &given);
    uint32_t lanes = 0;
    for (int b = 0; b < 8; b++) lanes |= given.bytes[b];
    for (int b = 0; b < 8 && lanes; b++) value.bytes[b] = FULL_MASK;
    for (unsigned lane = 0; lane < WARP_SIZE && lanes; lane++)
        value.origin[lane] = given.origin[__builtin_ctz(lanes)];
    for (int p = 0; p < g->count; p++)
        for (int k = 0; k < 2; k++)
            if (g->parts[p].in->dst[k] >= 0)
                undefined_write(m, g->parts[p].fragment->frame, g->parts[p].in->dst[k], g->parts[p].lanes,
                                &value);
}
