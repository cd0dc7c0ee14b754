// Atomics: one lane after the other, in lane order under schedule 0 and in a drawn order under a seed.
#include "emulator/machine/atomic.h"

#include <string.h>

#include "emulator/machine/handlers.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"

static float f32_of(uint64_t bits) {
    float value;
    uint32_t narrow = (uint32_t)bits;
    memcpy(&value, &narrow, 4);
    return value;
}

static uint64_t bits_of_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? 0x7fffffffu : bits; // NVIDIA's canonical NaN
}

static double f64_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static uint64_t bits_of_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return value != value ? 0xfff8000000000000ull : bits;
}

// Through the arithmetic handler that lowering chose, on a register file of two lanes' worth.
static uint64_t by_handler(const Instruction *in, uint64_t old, uint64_t operand) {
    _Alignas(64) uint32_t result[WARP_SIZE] = {0}, a[WARP_SIZE] = {0}, b[WARP_SIZE] = {0};
    a[0] = (uint32_t)old;
    b[0] = (uint32_t)operand;
    Instruction one = {.kind = KIND_ALU, .dst = {0, -1, -1, -1}, .dst_count = 1, .src_count = 2};
    one.src[0].constant = a;
    one.src[1].constant = b;
    in->alu((unsigned char *)result, &one, 1);
    return in->width == 2 ? result[0] & 0xffff : result[0];
}

uint64_t atomic_updated(const Instruction *in, uint64_t old, uint64_t b, uint64_t c) {
    if (in->alu) return by_handler(in, old, b);
    PtxType type = (PtxType)in->type;
    int64_t signed_old = type == PTX_S32 ? (int32_t)old : (int64_t)old,
            signed_b = type == PTX_S32 ? (int32_t)b : (int64_t)b;
    bool is_signed = type == PTX_S32 || type == PTX_S64;
    switch (in->operation) {
    case ATOMIC_ADD:
        if (type == PTX_F32) return bits_of_f32(f32_of(old) + f32_of(b));
        if (type == PTX_F64) return bits_of_f64(f64_of(old) + f64_of(b));
        return old + b;
    case ATOMIC_AND: return old & b;
    case ATOMIC_OR: return old | b;
    case ATOMIC_XOR: return old ^ b;
    case ATOMIC_EXCH: return b;
    case ATOMIC_CAS: return old == b ? c : old;
    case ATOMIC_INC: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case ATOMIC_DEC: return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case ATOMIC_MIN: return is_signed ? (signed_b < signed_old ? b : old) : (b < old ? b : old);
    default: return is_signed ? (signed_b > signed_old ? b : old) : (b > old ? b : old);
    }
}

// A subnormal float becomes a zero of its sign.
static uint64_t flushed(uint64_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }

// One element at `at` from those of the operands, by the bytes of an element. `flushes`: an addition of
// floats in global memory takes and leaves zeros for subnormals; in shared memory it does not (PTX ISA,
// atom).
static inline bool update_element(const Instruction *in, unsigned char *at, const unsigned char *b_at,
                                  const unsigned char *c_at, uint64_t *old, size_t width, bool flushes) {
    uint64_t b = 0, c = 0;
    *old = 0;
    memcpy(old, at, width);
    memcpy(&b, b_at, width);
    if (c_at) memcpy(&c, c_at, width);
    const uint64_t value =
        flushes ? flushed(atomic_updated(in, flushed(*old), flushed(b), c)) : atomic_updated(in, *old, b, c);
    const bool has_changed = memcmp(at, &value, width) != 0;
    memcpy(at, &value, width);
    return has_changed;
}

static void update_lane(Machine *m, Fragment *f, const Access *access, unsigned lane) {
    const Instruction *in = access->in;
    unsigned char *registers = f->frame->registers;
    unsigned register_width = in->width < 2 ? 2 : in->width;
    const bool flushes =
        in->operation == ATOMIC_ADD && in->type == PTX_F32 && access->memory->space == PTX_SPACE_GLOBAL;
    for (unsigned e = 0; e < in->elements; e++) {
        unsigned char *at = access->memory->data + access->offsets[lane] + e * in->width;
        const unsigned char *b_at =
            (const unsigned char *)source(registers, in, 1 + (int)e) + lane * register_width;
        const unsigned char *c_at = NULL;
        if (in->operation == ATOMIC_CAS)
            c_at = (const unsigned char *)source(registers, in, 2) + lane * register_width;
        uint64_t old;
        // Copies of a fixed length are instructions, not calls; most atomics have four bytes.
        m->effects += in->width == 4 ? update_element(in, at, b_at, c_at, &old, 4, flushes)
                                     : update_element(in, at, b_at, c_at, &old, in->width, false);
        if (in->dst[e] >= 0) memcpy(registers + in->dst[e] + lane * register_width, &old, in->width);
    }
}

// Nearly all atomics add 32-bit integers: a loop without calls. `rotate`: the lane that is the first.
static void add_words(Machine *m, Fragment *f, const Access *access, unsigned rotate) {
    const Instruction *in = access->in;
    unsigned char *registers = f->frame->registers, *data = access->memory->data;
    const uint32_t *operand = source(registers, in, 1);
    uint32_t added[WARP_SIZE]; // the result may overwrite the operand
    memcpy(added, operand, sizeof added);
    const bool has_result = in->dst[0] >= 0 && !(in->flags & NO_RESULT);
    uint32_t *result = has_result ? (uint32_t *)(void *)(registers + in->dst[0]) : NULL;
    uint32_t left = access->mask >> rotate | (rotate ? access->mask << (WARP_SIZE - rotate) : 0);
    for (; left; left &= left - 1) {
        const unsigned lane = ((unsigned)__builtin_ctz(left) + rotate) % WARP_SIZE;
        unsigned char *at = data + access->offsets[lane];
        uint32_t old;
        memcpy(&old, at, sizeof old);
        const uint32_t value = old + added[lane];
        memcpy(at, &value, sizeof value);
        m->effects += value != old;
        if (result) result[lane] = old;
    }
}

static void atomic_body(Machine *m, Fragment *f, const Access *access) {
    Memory *memory = access->memory;
    if (memory->read_only || memory->space == PTX_SPACE_CONST || memory->space == PTX_SPACE_PARAM) {
        refuse_read_only(m, access);
        return;
    }
    m->published += memory->space == PTX_SPACE_GLOBAL;
    access_begins(m, access);
    observe_access(m, access);
    uint32_t rotate = m->scrambled ? (uint32_t)(random_next(&m->random) >> 59) : 0;
    const Instruction *in = access->in;
    const bool adds_words =
        in->operation == ATOMIC_ADD && in->elements == 1 && (in->type == PTX_U32 || in->type == PTX_S32);
    if (adds_words) add_words(m, f, access, rotate);
    for (unsigned k = 0; k < WARP_SIZE && !adds_words; k++) {
        unsigned lane = (k + rotate) % WARP_SIZE;
        if (access->mask >> lane & 1) update_lane(m, f, access, lane);
    }
    access_ends(m, access);
    mark_access_initialised(access);
}

Step run_atomic(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    // An atom whose destination overwrites its own address register reads the address first: resolving
    // copies all addresses before any lane is updated.
    resolve_access(m, w, f, in, mask, in->flags & NO_RESULT ? ACCESS_REDUCTION : ACCESS_ATOMIC,
                   (uint32_t)in->width * in->elements, atomic_body);
    return after_access(m, w, in);
}
