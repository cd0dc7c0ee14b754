// Operands for matrix instructions: what record.cu gives a GPU, and tests/test_tensor_hardware.py the emulator.
//
// Every word depends only on the instruction's text, a family, the number of the tile, the operand, and the place of the word.
#pragma once

#include <stdint.h>

enum OperandType { F16, BF16, TF32, F32, F64, E4M3, E5M2, I8, I4, B1, S32 };

// How the values of a tile are drawn. Integers have two: random bits, and values close to the limits.
enum Family {
    SMALL_INTEGERS, // exact in every order
    NEAR_ONE,       // products of similar size
    SPREAD,         // exponents far apart: most products lose bits
    POWERS,         // powers of two: sums cancel, and ties occur
    CANCELLING,     // products in pairs that cancel, beside a smaller accumulator
    TINY,           // subnormal numbers and the largest ones
    SPECIAL,        // infinities, NaNs, zeros of both signs, limits
    SPARSE,         // mostly zeros
    FINITE,         // any bits that are finite
    FAMILIES
};

static inline uint64_t mixed(uint64_t x) { // splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t hash_of_text(const char *text) { // FNV-1a
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static inline int operand_bits(int type) {
    switch (type) {
    case F64: return 64;
    case F32:
    case TF32:
    case S32: return 32;
    case F16:
    case BF16: return 16;
    case I4: return 4;
    case B1: return 1;
    default: return 8;
    }
}

static inline uint64_t integer_operand(int type, int family, uint64_t random) {
    const int bits = operand_bits(type);
    const uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1, top = 1ull << (bits - 1);
    if (family % 2 == 0) return random & all;
    const uint64_t limits[] = {0, 1, all, top, top - 1, top + 1};
    return (limits[random % 6] + (type == S32 ? random >> 56 : 0)) & all;
}

// `is_sum`: of an accumulator, whose exponents reach as far as those of products.
static inline uint64_t float_operand(int type, int family, int is_sum, uint64_t random) {
    static const struct {
        int exponent, fraction;
    } formats[] = {{5, 10}, {8, 7}, {8, 10}, {8, 23}, {11, 52}, {4, 3}, {5, 2}};
    const int exponent_bits = formats[type].exponent, fraction_bits = formats[type].fraction, top = (1 << exponent_bits) - 1,
              bias = top / 2, last = type == E4M3 ? top : top - 1; // the largest exponent of finite numbers
    const uint64_t more = mixed(random), draw = random >> 8;
    uint64_t sign = random & 1, fraction = more >> (64 - fraction_bits);
    int exponent = bias, wide = is_sum ? 2 : 1;
    switch (family) {
    case SMALL_INTEGERS: {
        const int n = (int)(draw % 5);
        exponent = n == 0 ? 0 : n == 1 ? bias : n < 4 ? bias + 1 : bias + 2;
        fraction = n == 3 ? 1ull << (fraction_bits - 1) : 0;
        break;
    }
    case NEAR_ONE: exponent = bias - 2 + (int)(draw % 4); break;
    case SPREAD: exponent = bias + wide * ((int)(draw % 21) - 10) + (is_sum ? (int)(draw / 32 % 2) : 0); break;
    case POWERS:
        exponent = bias + wide * ((int)(draw % 13) - 6);
        fraction = draw / 16 % 4 ? 0 : 1;
        break;
    case CANCELLING: exponent = bias + (is_sum ? -(int)(draw % 24) : (int)(draw % 3) - 1); break;
    case TINY: {
        const int places[] = {0, 0, 0, 1, 2, 3, last, last - 1, bias, bias + 1};
        exponent = places[draw % 10];
        break;
    }
    case SPECIAL: {
        exponent = bias - 2 + (int)(draw % 4);
        if (draw / 16 % 16) break;
        const int kind = (int)(draw / 256 % 8);
        exponent = kind < 3 ? top : kind == 3 ? last : kind == 4 ? 1 : 0;
        fraction = kind == 0 ? fraction : kind == 3 || (kind == 1 && type == E4M3) ? ~0ull : kind == 5 ? 1 : 0;
        break;
    }
    case SPARSE:
        exponent = draw % 8 < 5 ? 0 : bias + wide * ((int)(draw / 8 % 21) - 10);
        if (draw % 8 < 5) fraction = 0;
        break;
    default: exponent = (int)(draw % (uint64_t)(last + 1)); break;
    }
    if (exponent < 0) exponent = 0;
    if (exponent > last && family != SPECIAL) exponent = last;
    fraction &= (1ull << fraction_bits) - 1;
    if (type == E4M3 && exponent == top && family != SPECIAL && fraction == 7) fraction = 6; // not the NaN
    const uint64_t value = sign << (exponent_bits + fraction_bits) | (uint64_t)exponent << fraction_bits | fraction;
    if (type == TF32) return value << 13 | (more & 0x1fff); // the last bits are not looked at
    return value;
}

// Fills `words` words of `bits` bits, 32 or 64, of operand `which` (0: a, 1: b, 2: c). `lanes` words lie side by side in each
// of words / lanes registers.
static inline void fill_operand(void *to, int bits, int words, int lanes, int type, int which, int family, uint64_t seed) {
    const int element = operand_bits(type), per_word = bits / element, is_float = type <= E5M2;
    const int registers = words / lanes;
    for (int w = 0; w < words; w++) {
        uint64_t word = 0;
        const int pairs = is_float && family == CANCELLING && which < 2, from = w / lanes - registers / 2;
        for (int e = 0; e < per_word; e++) {
            // The second of a pair is the first, with the other sign in a.
            int w_drawn = w, e_drawn = e, copied = 0;
            if (pairs && registers > 1 && from >= 0)
                w_drawn = w - registers / 2 * lanes, copied = 1;
            else if (pairs && registers == 1 && e % 2)
                e_drawn = e - 1, copied = 1;
            const uint64_t random = mixed(seed ^ mixed((uint64_t)which << 56 | (uint64_t)w_drawn << 8 | (uint64_t)e_drawn));
            uint64_t value = is_float ? float_operand(type, family, which == 2, random) : integer_operand(type, family, random);
            if (copied && which == 0) value ^= 1ull << (element - 1);
            word |= value << (e * element % 64);
        }
        if (bits == 64)
            ((uint64_t *)to)[w] = word;
        else
            ((uint32_t *)to)[w] = (uint32_t)word;
    }
}

static inline uint64_t tile_seed(const char *instruction, int family, int tile) {
    return mixed(hash_of_text(instruction) ^ (uint64_t)family << 32 ^ (uint64_t)tile);
}

// The sum of these over the words of tiles is the hash of a batch.
static inline uint64_t word_hash(uint64_t word, uint64_t place) { return mixed(word ^ mixed(place)); }
