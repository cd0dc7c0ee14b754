// Atomic functions of a block, of the device and of the system. They are relaxed: they order nothing but
// themselves (CUDA C++ Programming Guide, "Atomic Functions").
#pragma once

#define WARPBOOK_ATOMIC(name, scope)                                                                         \
    WARPBOOK_ATOMIC_ARITHMETIC(name, scope, int)                                                             \
    WARPBOOK_ATOMIC_ARITHMETIC(name, scope, unsigned int)                                                    \
    WARPBOOK_ATOMIC_FETCH(atomicAdd##name, add, scope, unsigned long long)                                   \
    WARPBOOK_ATOMIC_FETCH(atomicAdd##name, add, scope, float)                                                \
    WARPBOOK_ATOMIC_FETCH(atomicAdd##name, add, scope, double)                                               \
    WARPBOOK_ATOMIC_LOGIC(name, scope, unsigned long long)                                                   \
    WARPBOOK_ATOMIC_EXTREMA(name, scope, long long)                                                          \
    WARPBOOK_ATOMIC_EXTREMA(name, scope, unsigned long long)                                                 \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, int, int)                                                          \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, unsigned int, unsigned int)                                        \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, unsigned long long, unsigned long long)                            \
    WARPBOOK_ATOMIC_EXCHANGE(name, scope, float, unsigned int)                                               \
    WARPBOOK_ATOMIC_SWAP(name, scope, int)                                                                   \
    WARPBOOK_ATOMIC_SWAP(name, scope, unsigned int)                                                          \
    WARPBOOK_ATOMIC_SWAP(name, scope, unsigned long long)                                                    \
    WARPBOOK_ATOMIC_SWAP(name, scope, unsigned short)

#define WARPBOOK_ATOMIC_FETCH(function, operation, scope, type)                                              \
    WARPBOOK_DEVICE type function(type *place, type value) {                                                 \
        return __scoped_atomic_fetch_##operation(place, value, __ATOMIC_RELAXED, scope);                     \
    }
#define WARPBOOK_ATOMIC_LOGIC(name, scope, type)                                                             \
    WARPBOOK_ATOMIC_FETCH(atomicAnd##name, and, scope, type)                                                 \
    WARPBOOK_ATOMIC_FETCH(atomicOr##name, or, scope, type)                                                   \
    WARPBOOK_ATOMIC_FETCH(atomicXor##name, xor, scope, type)
#define WARPBOOK_ATOMIC_EXTREMA(name, scope, type)                                                           \
    WARPBOOK_ATOMIC_FETCH(atomicMin##name, min, scope, type)                                                 \
    WARPBOOK_ATOMIC_FETCH(atomicMax##name, max, scope, type)
#define WARPBOOK_ATOMIC_ARITHMETIC(name, scope, type)                                                        \
    WARPBOOK_ATOMIC_FETCH(atomicAdd##name, add, scope, type)                                                 \
    WARPBOOK_ATOMIC_FETCH(atomicSub##name, sub, scope, type)                                                 \
    WARPBOOK_ATOMIC_LOGIC(name, scope, type)                                                                 \
    WARPBOOK_ATOMIC_EXTREMA(name, scope, type)
#define WARPBOOK_ATOMIC_EXCHANGE(name, scope, type, bits)                                                    \
    WARPBOOK_DEVICE type atomicExch##name(type *place, type value) {                                         \
        return __builtin_bit_cast(type,                                                                      \
                                  __scoped_atomic_exchange_n((bits *)place, __builtin_bit_cast(bits, value), \
                                                             __ATOMIC_RELAXED, scope));                      \
    }
#define WARPBOOK_ATOMIC_SWAP(name, scope, type)                                                              \
    WARPBOOK_DEVICE type atomicCAS##name(type *place, type expected, type value) {                           \
        __scoped_atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_RELAXED,                 \
                                           __ATOMIC_RELAXED, scope);                                         \
        return expected;                                                                                     \
    }

WARPBOOK_ATOMIC(, __MEMORY_SCOPE_DEVICE)
WARPBOOK_ATOMIC(_block, __MEMORY_SCOPE_WRKGRP)
WARPBOOK_ATOMIC(_system, __MEMORY_SCOPE_SYSTEM)
#undef WARPBOOK_ATOMIC
#undef WARPBOOK_ATOMIC_FETCH
#undef WARPBOOK_ATOMIC_LOGIC
#undef WARPBOOK_ATOMIC_EXTREMA
#undef WARPBOOK_ATOMIC_ARITHMETIC
#undef WARPBOOK_ATOMIC_EXCHANGE
#undef WARPBOOK_ATOMIC_SWAP

// Counters that wrap: an instruction of PTX for which C has no name.
#define WARPBOOK_ATOMIC_WRAP_IN(name, instruction)                                                           \
    WARPBOOK_DEVICE unsigned int name(unsigned int *place, unsigned int last) {                              \
        unsigned int old;                                                                                    \
        asm volatile(instruction ".u32 %0, [%1], %2;" : "=r"(old) : "l"(place), "r"(last) : "memory");       \
        return old;                                                                                          \
    }
#define WARPBOOK_ATOMIC_WRAP(name, operation)                                                                \
    WARPBOOK_DEVICE unsigned int name(unsigned int *place, unsigned int last) {                              \
        return __nvvm_atom_##operation##_gen_ui(place, last);                                                \
    }                                                                                                        \
    WARPBOOK_ATOMIC_WRAP_IN(name##_block, "atom.cta." #operation)                                            \
    WARPBOOK_ATOMIC_WRAP_IN(name##_system, "atom.sys." #operation)
WARPBOOK_ATOMIC_WRAP(atomicInc, inc)
WARPBOOK_ATOMIC_WRAP(atomicDec, dec)
#undef WARPBOOK_ATOMIC_WRAP
#undef WARPBOOK_ATOMIC_WRAP_IN
