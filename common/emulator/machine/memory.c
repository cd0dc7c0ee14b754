#include "emulator/machine/memory.h"

#include <string.h>

#include "emulator/machine/handlers.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/undefined_step.h"
#include "emulator/machine/unseen.h"

// ---- Loads ------------------------------------------------------------------------------------------------

// One element of a vector, from memory of stride `bytes` when contiguous, else lane by lane.
#define LOAD_LANES(type)                                                                                     \
    do {                                                                                                     \
        type *to = (type *)to_bytes;                                                                         \
        if (access->contiguous) {                                                                            \
            const unsigned char *from = data + access->offsets[0];                                           \
            for (unsigned lane = 0; lane < WARP_SIZE; lane++)                                                \
                memcpy(&to[lane], from + lane * access->bytes, sizeof(type));                                \
        } else if (access->is_one_place && access->mask == FULL_MASK) {                                      \
            type value;                                                                                      \
            memcpy(&value, data + access->offsets[0], sizeof value);                                         \
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) to[lane] = value;                              \
        } else if (access->mask == FULL_MASK) {                                                              \
            for (unsigned lane = 0; lane < WARP_SIZE; lane++)                                                \
                memcpy(&to[lane], data + access->offsets[lane], sizeof(type));                               \
        } else                                                                                               \
            FOR_LANES(lane, access->mask) memcpy(&to[lane], data + access->offsets[lane], sizeof(type));     \
    } while (0)

// All lanes of a contiguous access of one element; the usual widths without a call.
static inline void copy_lanes(unsigned char *to, const unsigned char *from, size_t width) {
    if (width == 4)
        memcpy(to, from, 4 * WARP_SIZE);
    else if (width == 8)
        memcpy(to, from, 8 * WARP_SIZE);
    else
        memcpy(to, from, width * WARP_SIZE);
}

// Into wider registers. Inlined for each pair of widths, so that no copy is a call.
static inline void extend_lanes(const Access *access, const unsigned char *data, unsigned char *to_bytes,
                                size_t width, size_t register_width) {
    const PtxType type = (PtxType)access->in->type;
    const bool is_signed = type == PTX_S8 || type == PTX_S16 || type == PTX_S32;
    FOR_LANES(lane, access->mask) {
        uint64_t value = 0;
        memcpy(&value, data + access->offsets[lane], width);
        if (is_signed && value >> (width * 8 - 1)) value |= ~0ull << (width * 8 - 1);
        memcpy(to_bytes + lane * register_width, &value, register_width);
    }
}

static void load_extended(const Access *access, const unsigned char *data, unsigned char *to_bytes) {
    const size_t width = access->in->width, register_width = access->in->literal[1];
    if (width == 1 && register_width == 2)
        extend_lanes(access, data, to_bytes, 1, 2);
    else if (width == 1 && register_width == 4)
        extend_lanes(access, data, to_bytes, 1, 4);
    else
        extend_lanes(access, data, to_bytes, width, register_width);
}

typedef uint32_t Four __attribute__((vector_size(16)));

// Four words of four lanes each, in the order of the words.
static inline void turn_fours(Four x[4]) {
    const Four lower0 = {x[0][0], x[1][0], x[0][1], x[1][1]}, lower1 = {x[2][0], x[3][0], x[2][1], x[3][1]};
    const Four upper0 = {x[0][2], x[1][2], x[0][3], x[1][3]}, upper1 = {x[2][2], x[3][2], x[2][3], x[3][3]};
    x[0] = (Four){lower0[0], lower0[1], lower1[0], lower1[1]};
    x[1] = (Four){lower0[2], lower0[3], lower1[2], lower1[3]};
    x[2] = (Four){upper0[0], upper0[1], upper1[0], upper1[1]};
    x[3] = (Four){upper0[2], upper0[3], upper1[2], upper1[3]};
}

// A vector of four, all of a lane's words at once, where the lanes come in groups of four; else false.
static bool load_fours(const Access *access, unsigned char *registers) {
    const Instruction *in = access->in;
    const uint32_t firsts = access->mask & 0x11111111;
    bool is_whole = in->width == 4 && in->literal[1] == 4 && firsts * 15 == access->mask;
    for (int e = 0; e < 4; e++) is_whole &= in->dst[e] >= 0;
    if (!is_whole) return false;
    FOR_LANES(lane, firsts) {
        Four words[4];
        for (int i = 0; i < 4; i++)
            memcpy(&words[i], access->memory->data + access->offsets[lane + (uint32_t)i], sizeof *words);
        turn_fours(words);
        for (int e = 0; e < 4; e++) memcpy(registers + in->dst[e] + 4 * lane, &words[e], sizeof *words);
    }
    return true;
}

static void load_body(Machine *m, Fragment *f, const Access *access) {
    const Instruction *in = access->in;
    access_begins(m, access);
    observe_access(m, access);
    Access folded;
    uint64_t offsets[WARP_SIZE];
    if (access->memory->period) access = fold_access(access, &folded, offsets);
    const bool is_done = in->elements == 4 && load_fours(access, f->frame->registers);
    for (unsigned e = 0; e < in->elements && !is_done; e++) {
        if (in->dst[e] < 0) continue;
        const unsigned char *data = access->memory->data + e * in->width;
        unsigned char *to_bytes = f->frame->registers + in->dst[e];
        if (in->literal[1] != in->width)
            load_extended(access, data, to_bytes);
        else if (access->contiguous && in->elements == 1)
            copy_lanes(to_bytes, data + access->offsets[0], in->width);
        else if (in->width == 4)
            LOAD_LANES(uint32_t);
        else if (in->width == 8)
            LOAD_LANES(uint64_t);
        else
            LOAD_LANES(uint16_t);
    }
    access_ends(m, access);
    const uint32_t undefined = m->follows_undefined ? lanes_uninitialised(access) : 0;
    if (undefined) undefined_load(m, f, access, undefined);
}

// Loads a kernel parameter at a fixed offset, which is the same for all lanes; false when it is anything
// else.
static bool load_parameter(const Machine *m, Fragment *f, const Instruction *in, uint32_t mask) {
    if (in->space != PTX_SPACE_PARAM || !in->src[0].constant || mask != FULL_MASK) return false;
    uint64_t address = *(const uint64_t *)in->src[0].constant + (uint64_t)in->offset - PARAM_WINDOW;
    if (address >= m->param.bytes || m->param.bytes - address < (uint64_t)in->width * in->elements ||
        address % in->width || in->literal[1] != in->width)
        return false;
    for (unsigned e = 0; e < in->elements; e++) {
        if (in->dst[e] < 0) continue;
        unsigned char *to = f->frame->registers + in->dst[e];
        const unsigned char *from = m->param.data + address + e * in->width;
        if (in->width == 8) {
            uint64_t value;
            memcpy(&value, from, 8);
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) ((uint64_t *)(void *)to)[lane] = value;
        } else if (in->width == 4) {
            uint32_t value;
            memcpy(&value, from, 4);
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) ((uint32_t *)(void *)to)[lane] = value;
        } else
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) memcpy(to + lane * in->width, from, in->width);
    }
    return true;
}

void execute_load(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    resolve_access(m, w, f, in, mask, ACCESS_LOAD, (uint32_t)in->width * in->elements, load_body);
}

// Puts the load `in` aside, under weak schedules (deferred.h); the fragment continues behind it. False: it is
// to be executed now.
static bool defer_load(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (w->deferred.in) return false; // of other lanes
    if (in->flags & IS_ACQUIRE || (in->space != PTX_SPACE_GLOBAL && in->space != PTX_SPACE_NONE))
        return false;
    if (!random_one_in(&m->random, 4)) return false;
    uint64_t addresses[WARP_SIZE];
    lane_addresses(f->frame->registers, in, addresses);
    FOR_LANES(lane, mask) {
        const Memory *memory = memory_at(m->emulator, addresses[lane]);
        if (!memory || memory->space != PTX_SPACE_GLOBAL || memory->read_only) return false;
    }
    w->deferred = (Deferred){in, f->frame, mask};
    f->pc = in->index + 1;
    return true;
}

static Step after_load(Machine *m, Warp *w, Fragment *f, const Instruction *in, bool was_followed) {
    Step step = after_access(m, w, in);
    if (was_followed || !f->frame->undefined || step & STEP_TURN_ENDS) return step;
    f->pc = in->index + 1; // from here on the frame is followed
    return STEP_MOVED;
}

Step run_load(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (m->is_weak && defer_load(m, w, f, in, mask)) return STEP_MOVED;
    bool was_followed = f->frame->undefined;
    if (!load_parameter(m, f, in, mask)) execute_load(m, w, f, in, mask);
    return after_load(m, w, f, in, was_followed);
}

// The rows of ldmatrix, of 16 bytes: one for each lane that literal[0] names.
Step run_row_load(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    bool was_followed = f->frame->undefined;
    if (mask & in->literal[0]) execute_load(m, w, f, in, mask & in->literal[0]);
    return after_load(m, w, f, in, was_followed);
}

static void tell_chosen(Machine *m, Fragment *f, const Access *access) {
    (void)f;
    m->of_choices->chosen(m->of_choices->self, access);
}

void choose_loads(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    const uint32_t yes = *(const uint32_t *)source(f->frame->registers, in, 2);
    for (const Instruction *load = in - in->choice_of; load < in; load++) {
        const uint32_t lanes = mask & (load->is_second_choice ? ~yes : yes);
        if (load->to_choice && load + load->to_choice == in && lanes)
            resolve_access(m, w, f, load, lanes, ACCESS_LOAD, (uint32_t)load->width * load->elements,
                           tell_chosen);
    }
}

static void tell_sunk(Machine *m, Fragment *f, const Access *access) {
    (void)f;
    TELL_OBSERVERS(m, sunk, access);
}

void sink_loads(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask, uint32_t active) {
    for (const Instruction *load = in - in->branch_of; load < in; load++) {
        const uint32_t lanes = load->is_for_taken ? mask : active & ~mask;
        if (load->to_branch && load + load->to_branch == in && lanes)
            resolve_access(m, w, f, load, lanes, ACCESS_LOAD, (uint32_t)load->width * load->elements,
                           tell_sunk);
    }
}

// ---- Stores -----------------------------------------------------------------------------------------------

#define STORE_LANES(type)                                                                                    \
    do {                                                                                                     \
        const type *from = (const type *)from_bytes;                                                         \
        if (access->contiguous) {                                                                            \
            unsigned char *to = data + access->offsets[0];                                                   \
            for (unsigned lane = 0; lane < WARP_SIZE; lane++)                                                \
                memcpy(to + lane * access->bytes, &from[lane], sizeof(type));                                \
        } else                                                                                               \
            FOR_LANES(lane, access->mask) memcpy(data + access->offsets[lane], &from[lane], sizeof(type));   \
    } while (0)

static void store_body(Machine *m, Fragment *f, const Access *const_access) {
    Access access_copy = *const_access, *access = &access_copy;
    const Instruction *in = access->in;
    Memory *memory = access->memory;
    if (memory->read_only || memory->space == PTX_SPACE_CONST || memory->space == PTX_SPACE_PARAM) {
        refuse_read_only(m, access);
        return;
    }
    access->values = source(f->frame->registers, in, 1);
    m->published += memory->space == PTX_SPACE_GLOBAL;
    access_begins(m, access);
    observe_access(m, access);
    const bool is_of_one_lane = !(access->mask & (access->mask - 1));
    if (is_of_one_lane && in->elements == 1 && memory->space == PTX_SPACE_GLOBAL && !memory->period) {
        const unsigned lane = (unsigned)__builtin_ctz(access->mask);
        unseen_note(m, access, lane, (const unsigned char *)access->values + lane * in->literal[1]);
    }
    for (unsigned e = 0; e < in->elements; e++) {
        unsigned char *data = memory->data + e * in->width;
        const unsigned char *from_bytes = source(f->frame->registers, in, 1 + (int)e);
        if (in->literal[1] != in->width) FOR_LANES(lane, access->mask)
        memcpy(data + access->offsets[lane], from_bytes + lane * in->literal[1], in->width);
        else if (access->contiguous && in->elements == 1)
            copy_lanes(data + access->offsets[0], from_bytes, in->width);
        else if (in->width == 4) STORE_LANES(uint32_t);
        else if (in->width == 8) STORE_LANES(uint64_t);
        else STORE_LANES(uint16_t);
    }
    access_ends(m, access);
    mark_access_initialised(access);
    if (f->frame->undefined) undefined_store(m, f, access);
}

void execute_store(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    resolve_access(m, w, f, in, mask, ACCESS_STORE, (uint32_t)in->width * in->elements, store_body);
}

Step run_store(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    execute_store(m, w, f, in, mask);
    return after_access(m, w, in);
}

Step run_row_store(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (mask & in->literal[0]) execute_store(m, w, f, in, mask & in->literal[0]);
    return after_access(m, w, in);
}
