// Shuffles, votes, matches and reductions of a warp.
#pragma once

// PTX ISA, "shfl.sync": the third operand holds the last lane of a segment (bits 0 to 4) and the mask of the segment's
// number (bits 8 to 12).
#define WARPBOOK_SHUFFLE_32(name, kind, clamp)                                                                    \
    WARPBOOK_DEVICE int name(unsigned int mask, int value, int lane, int width = 32) {                            \
        return __nvvm_shfl_sync_##kind##_i32(mask, value, lane, ((32 - width) << 8) | clamp);                     \
    }                                                                                                             \
    WARPBOOK_DEVICE unsigned int name(unsigned int mask, unsigned int value, int lane, int width = 32) {          \
        return (unsigned int)name(mask, (int)value, lane, width);                                                 \
    }                                                                                                             \
    WARPBOOK_DEVICE float name(unsigned int mask, float value, int lane, int width = 32) {                        \
        return __nvvm_shfl_sync_##kind##_f32(mask, value, lane, ((32 - width) << 8) | clamp);                     \
    }                                                                                                             \
    WARPBOOK_DEVICE long long name(unsigned int mask, long long value, int lane, int width = 32) {                \
        const int low = name(mask, (int)value, lane, width), high = name(mask, (int)(value >> 32), lane, width);  \
        return (long long)high << 32 | (unsigned int)low;                                                         \
    }                                                                                                             \
    WARPBOOK_DEVICE unsigned long long name(unsigned int mask, unsigned long long value, int lane,                \
                                            int width = 32) {                                                     \
        return (unsigned long long)name(mask, (long long)value, lane, width);                                     \
    }                                                                                                             \
    WARPBOOK_DEVICE long name(unsigned int mask, long value, int lane, int width = 32) {                          \
        return (long)name(mask, (long long)value, lane, width);                                                   \
    }                                                                                                             \
    WARPBOOK_DEVICE unsigned long name(unsigned int mask, unsigned long value, int lane, int width = 32) {        \
        return (unsigned long)name(mask, (long long)value, lane, width);                                          \
    }                                                                                                             \
    WARPBOOK_DEVICE double name(unsigned int mask, double value, int lane, int width = 32) {                      \
        return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(long long, value), lane, width));         \
    }

WARPBOOK_SHUFFLE_32(__shfl_sync, idx, 31)
WARPBOOK_SHUFFLE_32(__shfl_up_sync, up, 0)
WARPBOOK_SHUFFLE_32(__shfl_down_sync, down, 31)
WARPBOOK_SHUFFLE_32(__shfl_xor_sync, bfly, 31)
#undef WARPBOOK_SHUFFLE_32

WARPBOOK_DEVICE int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate != 0); }
WARPBOOK_DEVICE int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate != 0); }
WARPBOOK_DEVICE int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate != 0); }
WARPBOOK_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_ballot_sync(mask, predicate != 0);
}
WARPBOOK_DEVICE unsigned int __activemask() {
    unsigned int mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

WARPBOOK_DEVICE unsigned int warpbook_match_any(unsigned int mask, unsigned int value) {
    unsigned int lanes;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(lanes) : "r"(value), "r"(mask));
    return lanes;
}
WARPBOOK_DEVICE unsigned int warpbook_match_any(unsigned int mask, unsigned long long value) {
    unsigned int lanes;
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(lanes) : "l"(value), "r"(mask));
    return lanes;
}
WARPBOOK_DEVICE unsigned int warpbook_match_all(unsigned int mask, unsigned int value, int *is_same) {
    unsigned int lanes;
    asm volatile("{\n\t.reg .pred p;\n\tmatch.all.sync.b32 %0|p, %2, %3;\n\tselp.s32 %1, 1, 0, p;\n\t}"
                 : "=r"(lanes), "=r"(*is_same)
                 : "r"(value), "r"(mask));
    return lanes;
}
WARPBOOK_DEVICE unsigned int warpbook_match_all(unsigned int mask, unsigned long long value, int *is_same) {
    unsigned int lanes;
    asm volatile("{\n\t.reg .pred p;\n\tmatch.all.sync.b64 %0|p, %2, %3;\n\tselp.s32 %1, 1, 0, p;\n\t}"
                 : "=r"(lanes), "=r"(*is_same)
                 : "l"(value), "r"(mask));
    return lanes;
}
#define WARPBOOK_MATCH(type, bits)                                                                                \
    WARPBOOK_DEVICE unsigned int __match_any_sync(unsigned int mask, type value) {                                \
        return warpbook_match_any(mask, __builtin_bit_cast(bits, value));                                         \
    }                                                                                                             \
    WARPBOOK_DEVICE unsigned int __match_all_sync(unsigned int mask, type value, int *is_same) {                  \
        return warpbook_match_all(mask, __builtin_bit_cast(bits, value), is_same);                                \
    }
WARPBOOK_MATCH(int, unsigned int)
WARPBOOK_MATCH(unsigned int, unsigned int)
WARPBOOK_MATCH(float, unsigned int)
WARPBOOK_MATCH(long, unsigned long long)
WARPBOOK_MATCH(unsigned long, unsigned long long)
WARPBOOK_MATCH(long long, unsigned long long)
WARPBOOK_MATCH(unsigned long long, unsigned long long)
WARPBOOK_MATCH(double, unsigned long long)
#undef WARPBOOK_MATCH

#define WARPBOOK_REDUCE(name, operation, type)                                                                    \
    WARPBOOK_DEVICE type name(unsigned int mask, type value) {                                                    \
        type result;                                                                                              \
        asm volatile("redux.sync." operation " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask));              \
        return result;                                                                                            \
    }
WARPBOOK_REDUCE(__reduce_add_sync, "add.u32", unsigned int)
WARPBOOK_REDUCE(__reduce_add_sync, "add.s32", int)
WARPBOOK_REDUCE(__reduce_min_sync, "min.u32", unsigned int)
WARPBOOK_REDUCE(__reduce_min_sync, "min.s32", int)
WARPBOOK_REDUCE(__reduce_max_sync, "max.u32", unsigned int)
WARPBOOK_REDUCE(__reduce_max_sync, "max.s32", int)
WARPBOOK_REDUCE(__reduce_and_sync, "and.b32", unsigned int)
WARPBOOK_REDUCE(__reduce_or_sync, "or.b32", unsigned int)
WARPBOOK_REDUCE(__reduce_xor_sync, "xor.b32", unsigned int)
#undef WARPBOOK_REDUCE
