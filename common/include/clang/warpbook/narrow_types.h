// What half and bfloat16, and pairs of them, share: loads, stores and shuffles of their bits.
#pragma once

#define WARPBOOK_SHUFFLE_16(type, bits_type, name, lane_type)                                                     \
    WARPBOOK_DEVICE type name(unsigned int mask, type value, lane_type lane, int width = 32) {                    \
        const bits_type bits = __builtin_bit_cast(bits_type, value);                                              \
        return __builtin_bit_cast(type, (bits_type)name(mask, (unsigned int)bits, (int)lane, width));             \
    }
#define WARPBOOK_NARROW(type, bits_type)                                                                          \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_sync, int)                                                        \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_up_sync, unsigned int)                                            \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_down_sync, unsigned int)                                          \
    WARPBOOK_SHUFFLE_16(type, bits_type, __shfl_xor_sync, int)                                                    \
    WARPBOOK_DEVICE type __ldg(const type *from) {                                                                \
        return __builtin_bit_cast(type, __ldg((const bits_type *)from));                                          \
    }                                                                                                             \
    WARPBOOK_DEVICE type __ldcs(const type *from) {                                                               \
        return __builtin_bit_cast(type, __ldcs((const bits_type *)from));                                         \
    }                                                                                                             \
    WARPBOOK_DEVICE type __ldcg(const type *from) {                                                               \
        return __builtin_bit_cast(type, __ldcg((const bits_type *)from));                                         \
    }                                                                                                             \
    WARPBOOK_DEVICE void __stcs(type *to, type v) { __stcs((bits_type *)to, __builtin_bit_cast(bits_type, v)); }  \
    WARPBOOK_DEVICE void __stcg(type *to, type v) { __stcg((bits_type *)to, __builtin_bit_cast(bits_type, v)); }
