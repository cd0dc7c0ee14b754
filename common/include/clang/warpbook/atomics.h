// Atomic functions of a block, of the device and of the system. They are relaxed: they order nothing but themselves
// (CUDA C++ Programming Guide, "Atomic Functions").
#pragma once

#define WARPBOOK_ATOMIC(name, scope)                                                                              \
    WARPBOOK_ATOMIC_ARITHMETIC(name, scope, int)                                                                  \
    WARPBOOK_ATOMIC_ARITHMETIC(name, scope, unsigned int)                                                         \
    WARPBOOK_ATOMIC_ADD(atomicAdd##name, scope, unsigned long long)                                               \
    WARPBOOK_ATOMIC_ADD(atomicAdd##name, scope, float)                                                            \
    WARPBOOK_ATOMIC_ADD(atomicAdd##name, scope, double)                                                           \
    WARPBOOK_ATOMIC_LOGIC(name, scope, unsigned long long)                                                        \
    WARPBOOK_ATOMIC_EXTREMA(name, scope, long long)                                                               \
    WARPBOOK_ATOMIC_EXTREMA(name, scope, unsigned long long)                                                      \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, int, int)                                                               \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, unsigned int, unsigned int)                                             \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, unsigned long long, unsigned long long)                                 \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, float, unsigned int)                                                    \
    WARPBOOK_ATOMIC_SWAP(name, scope, int)                                                                        \
    WARPBOOK_ATOMIC_SWAP(name, scope, unsigned int)                                                               \
    WARPBOOK_ATOMIC_SWAP(name, scope, unsigned long long)                                                         \
    WARPBOOK_ATOMIC_SWAP(name, scope, unsigned short)

#define WARPBOOK_ATOMIC_ADD(name, scope, type)                                                                    \
    WARPBOOK_DEVICE type name(type *place, type value) {                                                          \
        return __scoped_atomic_fetch_add(place, value, __ATOMIC_RELAXED, scope);                                  \
    }
#define WARPBOOK_ATOMIC_LOGIC(name, scope, type)                                                                  \
    WARPBOOK_DEVICE type atomicAnd##name(type *place, type value) {                                               \
        return __scoped_atomic_fetch_and(place, value, __ATOMIC_RELAXED, scope);                                  \
    }                                                                                                             \
    WARPBOOK_DEVICE type atomicOr##name(type *place, type value) {                                                \
        return __scoped_atomic_fetch_or(place, value, __ATOMIC_RELAXED, scope);                                   \
    }                                                                                                             \
    WARPBOOK_DEVICE type atomicXor##name(type *place, type value) {                                               \
        return __scoped_atomic_fetch_xor(place, value, __ATOMIC_RELAXED, scope);                                  \
    }
#define WARPBOOK_ATOMIC_EXTREMA(name, scope, type)                                                                \
    WARPBOOK_DEVICE type atomicMin##name(type *place, type value) {                                               \
        return __scoped_atomic_fetch_min(place, value, __ATOMIC_RELAXED, scope);                                  \
    }                                                                                                             \
    WARPBOOK_DEVICE type atomicMax##name(type *place, type value) {                                               \
        return __scoped_atomic_fetch_max(place, value, __ATOMIC_RELAXED, scope);                                  \
    }
#define WARPBOOK_ATOMIC_ARITHMETIC(name, scope, type)                                                             \
    WARPBOOK_ATOMIC_ADD(atomicAdd##name, scope, type)                                                             \
    WARPBOOK_DEVICE type atomicSub##name(type *place, type value) {                                               \
        return __scoped_atomic_fetch_sub(place, value, __ATOMIC_RELAXED, scope);                                  \
    }                                                                                                             \
    WARPBOOK_ATOMIC_LOGIC(name, scope, type)                                                                      \
    WARPBOOK_ATOMIC_EXTREMA(name, scope, type)
#define WARPBOOK_ATOMIC_EXCHANGE(name, scope, type, bits)                                                         \
    WARPBOOK_DEVICE type atomicExch##name(type *place, type value) {                                              \
        return __builtin_bit_cast(type, __scoped_atomic_exchange_n((bits *)place, __builtin_bit_cast(bits, value), \
                                                                   __ATOMIC_RELAXED, scope));                     \
    }
#define WARPBOOK_ATOMIC_SWAP(name, scope, type)                                                                   \
    WARPBOOK_DEVICE type atomicCAS##name(type *place, type expected, type value) {                                \
        __scoped_atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED,    \
                                           scope);                                                                \
        return expected;                                                                                          \
    }

WARPBOOK_ATOMIC(, __MEMORY_SCOPE_DEVICE)
WARPBOOK_ATOMIC(_block, __MEMORY_SCOPE_WRKGRP)
WARPBOOK_ATOMIC(_system, __MEMORY_SCOPE_SYSTEM)
#undef WARPBOOK_ATOMIC
#undef WARPBOOK_ATOMIC_ADD
#undef WARPBOOK_ATOMIC_LOGIC
#undef WARPBOOK_ATOMIC_EXTREMA
#undef WARPBOOK_ATOMIC_ARITHMETIC
#undef WARPBOOK_ATOMIC_EXCHANGE
#undef WARPBOOK_ATOMIC_SWAP

// Counters that wrap: an instruction of PTX for which C has no name.
#define WARPBOOK_ATOMIC_WRAP(name, operation, call)                                                               \
    WARPBOOK_DEVICE unsigned int name(unsigned int *place, unsigned int last) { return call(place, last); }       \
    WARPBOOK_DEVICE unsigned int name##_block(unsigned int *place, unsigned int last) {                           \
        unsigned int old;                                                                                         \
        asm volatile("atom.cta." operation ".u32 %0, [%1], %2;"                                                   \
                     : "=r"(old)                                                                                  \
                     : "l"(place), "r"(last)                                                                      \
                     : "memory");                                                                                 \
        return old;                                                                                               \
    }                                                                                                             \
    WARPBOOK_DEVICE unsigned int name##_system(unsigned int *place, unsigned int last) {                          \
        unsigned int old;                                                                                         \
        asm volatile("atom.sys." operation ".u32 %0, [%1], %2;"                                                   \
                     : "=r"(old)                                                                                  \
                     : "l"(place), "r"(last)                                                                      \
                     : "memory");                                                                                 \
        return old;                                                                                               \
    }
WARPBOOK_ATOMIC_WRAP(atomicInc, "inc", __nvvm_atom_inc_gen_ui)
WARPBOOK_ATOMIC_WRAP(atomicDec, "dec", __nvvm_atom_dec_gen_ui)
#undef WARPBOOK_ATOMIC_WRAP
