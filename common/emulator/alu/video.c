#include "emulator/alu/video.h"

#include "emulator/alu/alu.h"

static int64_t extended(uint64_t value, unsigned bits, bool is_signed) {
    value &= (UINT64_C(1) << bits) - 1;
    return is_signed && value >> (bits - 1) ? (int64_t)value - (INT64_C(1) << bits) : (int64_t)value;
}

static unsigned bits_of(VideoPart part) { return part == PART_ALL ? 32 : part >= PART_H0 ? 16 : 8; }
static unsigned shift_of(VideoPart part) {
    return part == PART_ALL ? 0 : part >= PART_H0 ? 16 * (part - PART_H0) : 8 * part;
}

static int64_t saturated_to(int64_t value, unsigned bits, bool is_signed) {
    const int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}

static bool compared(VideoCompare compare, int64_t a, int64_t b) {
    switch (compare) {
    case VIDEO_EQ: return a == b;
    case VIDEO_NE: return a != b;
    case VIDEO_LT: return a < b;
    case VIDEO_LE: return a <= b;
    case VIDEO_GT: return a > b;
    default: return a >= b;
    }
}

static int64_t computed(const VideoForm *f, int64_t a, int64_t b) {
    switch (f->operation) {
    case VIDEO_ADD: return a + b;
    case VIDEO_SUB: return a - b;
    case VIDEO_ABSDIFF: return a < b ? b - a : a - b;
    case VIDEO_MIN: return a < b ? a : b;
    case VIDEO_MAX: return a > b ? a : b;
    case VIDEO_AVRG: return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_SET: return compared(f->compare, a, b);
    default: break;
    }
    const unsigned by = f->wraps ? (unsigned)b & 31 : b > 32 ? 32 : (unsigned)b;
    if (f->operation == VIDEO_SHR) return a >> by;
    if (by == 32 && a > INT32_MAX) a = INT32_MAX; // any number above all 32-bit ones, with zeros below
    return (int64_t)((uint64_t)a << by);
}

static uint32_t multiplied(const VideoForm *f, int64_t a, int64_t b, uint32_t c) {
    const bool negates = f->a_negated != f->b_negated;
    const bool is_signed = f->a_is_signed || f->b_is_signed || negates || f->c_negated;
    __int128 sum = (__int128)a * b;
    if (!f->adds_one && negates)
        sum = ~sum;
    else if (!f->adds_one && f->c_negated)
        c = ~c;
    sum += extended(c, 32, is_signed);
    sum += f->adds_one || negates || f->c_negated;
    const int64_t result = (int64_t)(sum >> f->scale);
    if (!f->saturates) return (uint32_t)result;
    if (is_signed) return (uint32_t)saturated_to(result, 32, true);
    return (uint64_t)result > UINT32_MAX ? UINT32_MAX : (uint32_t)result;
}

static uint32_t one_element(const VideoForm *f, uint32_t a, uint32_t b, uint32_t c) {
    const int64_t from_a = extended(a >> shift_of(f->a_part), bits_of(f->a_part), f->a_is_signed);
    const int64_t from_b = extended(b >> shift_of(f->b_part), bits_of(f->b_part), f->b_is_signed);
    if (f->operation == VIDEO_MAD) return multiplied(f, from_a, from_b, c);
    int64_t t = computed(f, from_a, from_b);
    const unsigned bits = bits_of(f->d_part), shift = shift_of(f->d_part);
    if (f->saturates) t = saturated_to(t, bits, f->is_signed);
    const int64_t third = extended(c, 32, f->is_signed);
    switch (f->second) {
    case VIDEO_SECOND_ADD: t += third; break;
    case VIDEO_SECOND_MIN: t = t < third ? t : third; break;
    case VIDEO_SECOND_MAX: t = t > third ? t : third; break;
    default: break;
    }
    const uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    return (c & ~(mask << shift)) | ((uint32_t)t & mask) << shift;
}

static uint32_t several_elements(const VideoForm *f, uint32_t a, uint32_t b, uint32_t c) {
    const unsigned bits = 32 / f->elements;
    const uint64_t both = (uint64_t)b << 32 | a;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t sum = c, merged = c;
    for (unsigned i = 0; i < f->elements; i++) {
        if (!(f->mask >> i & 1)) continue;
        int64_t t = computed(f, extended(both >> bits * f->a_elements[i], bits, f->a_is_signed),
                             extended(both >> bits * f->b_elements[i], bits, f->b_is_signed));
        if (f->saturates) t = saturated_to(t, bits, f->is_signed);
        sum += (uint32_t)t;
        merged = (merged & ~(mask << bits * i)) | ((uint32_t)t & mask) << bits * i;
    }
    return f->second == VIDEO_SECOND_ADD ? sum : merged;
}

void video_run(unsigned char *registers, const Instruction *in, uint32_t mask) {
    const VideoForm *f = in->detail;
    const uint32_t *a = source(registers, in, 0), *b = source(registers, in, 1);
    const uint32_t *c = in->src_count > 2 ? source(registers, in, 2) : NULL;
    uint32_t *d = destination(registers, in, 0);
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t third = c ? c[lane] : 0;
        d[lane] = f->elements > 1 ? several_elements(f, a[lane], b[lane], third)
                                  : one_element(f, a[lane], b[lane], third);
    }
}
