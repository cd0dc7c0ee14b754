// What half and bfloat16, and pairs of them, share: comparisons and operators, and loads, stores and shuffles
// of their bits.
#pragma once

// The functions that float or the bits give, and the operators, of `type`, whose `pair` is made of two;
// `from_bits` makes a value from an unsigned short.
#define WARPBOOK_NARROW_ARITHMETIC(type, pair, from_bits)                                                    \
    WARPBOOK_DEVICE type __hdiv(type a, type b) { return type((float)a / (float)b); }                        \
    WARPBOOK_DEVICE type __hneg(type a) { return from_bits(a.bits ^ 0x8000); }                               \
    WARPBOOK_DEVICE type __habs(type a) { return from_bits(a.bits & 0x7fff); }                               \
    WARPBOOK_DEVICE bool __hisnan(type a) { return isnan((float)a); }                                        \
    WARPBOOK_DEVICE float __low2float(pair a) { return a.x; }                                                \
    WARPBOOK_DEVICE float __high2float(pair a) { return a.y; }                                               \
    WARPBOOK_DEVICE type operator-(type a) { return __hneg(a); }                                             \
    WARPBOOK_COMPARISON(type, >, __hgt)                                                                      \
    WARPBOOK_COMPARISON(type, <, __hlt)                                                                      \
    WARPBOOK_COMPARISON(type, >=, __hge)                                                                     \
    WARPBOOK_COMPARISON(type, <=, __hle)                                                                     \
    WARPBOOK_COMPARISON(type, ==, __heq)                                                                     \
    WARPBOOK_COMPARISON(type, !=, __hne)                                                                     \
    WARPBOOK_OPERATOR(type, +, __hadd)                                                                       \
    WARPBOOK_OPERATOR(type, -, __hsub)                                                                       \
    WARPBOOK_OPERATOR(type, *, __hmul)                                                                       \
    WARPBOOK_OPERATOR(type, /, __hdiv)                                                                       \
    WARPBOOK_OPERATOR(pair, +, __hadd2)                                                                      \
    WARPBOOK_OPERATOR(pair, -, __hsub2)                                                                      \
    WARPBOOK_OPERATOR(pair, *, __hmul2)
#define WARPBOOK_COMPARISON(type, sign, function)                                                            \
    WARPBOOK_DEVICE bool function(type a, type b) { return (float)a sign(float) b; }                         \
    WARPBOOK_DEVICE bool operator sign(type a, type b) { return function(a, b); }
#define WARPBOOK_OPERATOR(type, sign, function)                                                              \
    WARPBOOK_DEVICE type operator sign(type a, type b) { return function(a, b); }                            \
    WARPBOOK_DEVICE type &operator sign##=(type &a, type b) { return a = function(a, b); }

#define WARPBOOK_SHUFFLE_16(type, bits_type, name, lane_type)                                                \
    WARPBOOK_DEVICE type name(unsigned int mask, type value, lane_type lane, int width = 32) {               \
        const bits_type bits = __builtin_bit_cast(bits_type, value);                                         \
        return __builtin_bit_cast(type, (bits_type)name(mask, (unsigned int)bits, (int)lane, width));        \
    }
#define WARPBOOK_NARROW(type, bits_type)                                                                     \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_sync, int)                                                   \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_up_sync, unsigned int)                                       \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_down_sync, unsigned int)                                     \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_xor_sync, int)                                               \
    WARPBOOK_DEVICE type __ldg(const type *from) {                                                           \
        return __builtin_bit_cast(type, __ldg((const bits_type *)from));                                     \
    }                                                                                                        \
    WARPBOOK_DEVICE type __ldcs(const type *from) {                                                          \
        return __builtin_bit_cast(type, __ldcs((const bits_type *)from));                                    \
    }                                                                                                        \
    WARPBOOK_DEVICE type __ldcg(const type *from) {                                                          \
        return __builtin_bit_cast(type, __ldcg((const bits_type *)from));                                    \
    }                                                                                                        \
    WARPBOOK_DEVICE void __stcs(type *to, type v) {                                                          \
        __stcs((bits_type *)to, __builtin_bit_cast(bits_type, v));                                           \
    }                                                                                                        \
    WARPBOOK_DEVICE void __stcg(type *to, type v) {                                                          \
        __stcg((bits_type *)to, __builtin_bit_cast(bits_type, v));                                           \
    }
