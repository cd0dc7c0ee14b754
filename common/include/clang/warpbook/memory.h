// Loads and stores with a cache operator, state spaces of addresses, and asynchronous copies' addresses.
#pragma once

WARPBOOK_DEVICE size_t __cvta_generic_to_shared(const void *pointer) {
    return (size_t)(__attribute__((address_space(3))) const void *)pointer;
}
WARPBOOK_DEVICE size_t __cvta_generic_to_global(const void *pointer) {
    return (size_t)(__attribute__((address_space(1))) const void *)pointer;
}
WARPBOOK_DEVICE size_t __cvta_generic_to_constant(const void *pointer) {
    return (size_t)(__attribute__((address_space(4))) const void *)pointer;
}
WARPBOOK_DEVICE size_t __cvta_generic_to_local(const void *pointer) {
    return (size_t)(__attribute__((address_space(5))) const void *)pointer;
}
WARPBOOK_DEVICE void *__cvta_shared_to_generic(size_t address) {
    return (void *)(__attribute__((address_space(3))) void *)address;
}
WARPBOOK_DEVICE void *__cvta_global_to_generic(size_t address) {
    return (void *)(__attribute__((address_space(1))) void *)address;
}
#define WARPBOOK_IS_SPACE(name, space)                                                                            \
    WARPBOOK_DEVICE unsigned int name(const void *pointer) {                                                      \
        unsigned int result;                                                                                      \
        asm("{\n\t.reg .pred p;\n\tisspacep." space " p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}"                       \
            : "=r"(result)                                                                                        \
            : "l"(pointer));                                                                                      \
        return result;                                                                                            \
    }
WARPBOOK_IS_SPACE(__isGlobal, "global")
WARPBOOK_IS_SPACE(__isShared, "shared")
WARPBOOK_IS_SPACE(__isConstant, "const")
WARPBOOK_IS_SPACE(__isLocal, "local")
#undef WARPBOOK_IS_SPACE

// One load or store of a number, and of a vector, by cache operator. An address given to asm is in global memory; the
// operators of loads and stores exist there only. "memory": neither may pass another access to the same place.
#define WARPBOOK_LOAD(name, operation, type, part, suffix, letter)                                                \
    WARPBOOK_DEVICE type name(const type *from) {                                                                 \
        part v;                                                                                                   \
        asm volatile("ld.global." operation "." suffix " %0, [%1];"                                               \
                     : "=" letter(v)                                                                              \
                     : "l"(__cvta_generic_to_global(from))                                                        \
                     : "memory");                                                                                 \
        return (type)v;                                                                                           \
    }
#define WARPBOOK_LOAD_2(name, operation, type, part, suffix, letter)                                              \
    WARPBOOK_DEVICE type name(const type *from) {                                                                 \
        part x, y;                                                                                                \
        asm volatile("ld.global." operation ".v2." suffix " {%0, %1}, [%2];"                                      \
                     : "=" letter(x), "=" letter(y)                                                               \
                     : "l"(__cvta_generic_to_global(from))                                                        \
                     : "memory");                                                                                 \
        return {(decltype(type::x))x, (decltype(type::x))y};                                                      \
    }
#define WARPBOOK_LOAD_4(name, operation, type, part, suffix, letter)                                              \
    WARPBOOK_DEVICE type name(const type *from) {                                                                 \
        part x, y, z, w;                                                                                          \
        asm volatile("ld.global." operation ".v4." suffix " {%0, %1, %2, %3}, [%4];"                              \
                     : "=" letter(x), "=" letter(y), "=" letter(z), "=" letter(w)                                 \
                     : "l"(__cvta_generic_to_global(from))                                                        \
                     : "memory");                                                                                 \
        return {(decltype(type::x))x, (decltype(type::x))y, (decltype(type::x))z, (decltype(type::x))w};          \
    }
#define WARPBOOK_STORE(name, operation, type, part, suffix, letter)                                               \
    WARPBOOK_DEVICE void name(type *to, type v) {                                                                 \
        asm volatile("st.global." operation "." suffix " [%0], %1;" ::"l"(__cvta_generic_to_global(to)),          \
                     letter((part)v)                                                                              \
                     : "memory");                                                                                 \
    }
#define WARPBOOK_STORE_2(name, operation, type, part, suffix, letter)                                             \
    WARPBOOK_DEVICE void name(type *to, type v) {                                                                 \
        asm volatile("st.global." operation ".v2." suffix " [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), \
                     letter((part)v.x), letter((part)v.y)                                                         \
                     : "memory");                                                                                 \
    }
#define WARPBOOK_STORE_4(name, operation, type, part, suffix, letter)                                             \
    WARPBOOK_DEVICE void name(type *to, type v) {                                                                 \
        asm volatile("st.global." operation                                                                       \
                     ".v4." suffix " [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),                \
                     letter((part)v.x), letter((part)v.y), letter((part)v.z), letter((part)v.w)                   \
                     : "memory");                                                                                 \
    }
// `what` is LOAD or STORE; a byte travels in a 16-bit register.
#define WARPBOOK_EVERY_TYPE(what, name, operation)                                                                \
    what(name, operation, char, short, "s8", "h")                                                                 \
    what(name, operation, signed char, short, "s8", "h")                                                          \
    what(name, operation, unsigned char, unsigned short, "u8", "h")                                               \
    what(name, operation, short, short, "s16", "h")                                                               \
    what(name, operation, unsigned short, unsigned short, "u16", "h")                                             \
    what(name, operation, int, int, "s32", "r")                                                                   \
    what(name, operation, unsigned int, unsigned int, "u32", "r")                                                 \
    what(name, operation, long, long, "s64", "l")                                                                 \
    what(name, operation, unsigned long, unsigned long, "u64", "l")                                               \
    what(name, operation, long long, long long, "s64", "l")                                                       \
    what(name, operation, unsigned long long, unsigned long long, "u64", "l")                                     \
    what(name, operation, float, float, "f32", "f")                                                               \
    what(name, operation, double, double, "f64", "d")                                                             \
    what##_2(name, operation, char2, short, "s8", "h")                                                            \
    what##_4(name, operation, char4, short, "s8", "h")                                                            \
    what##_2(name, operation, uchar2, unsigned short, "u8", "h")                                                  \
    what##_4(name, operation, uchar4, unsigned short, "u8", "h")                                                  \
    what##_2(name, operation, short2, short, "s16", "h")                                                          \
    what##_4(name, operation, short4, short, "s16", "h")                                                          \
    what##_2(name, operation, ushort2, unsigned short, "u16", "h")                                                \
    what##_4(name, operation, ushort4, unsigned short, "u16", "h")                                                \
    what##_2(name, operation, int2, int, "s32", "r")                                                              \
    what##_4(name, operation, int4, int, "s32", "r")                                                              \
    what##_2(name, operation, uint2, unsigned int, "u32", "r")                                                    \
    what##_4(name, operation, uint4, unsigned int, "u32", "r")                                                    \
    what##_2(name, operation, longlong2, long long, "s64", "l")                                                   \
    what##_2(name, operation, ulonglong2, unsigned long long, "u64", "l")                                         \
    what##_2(name, operation, float2, float, "f32", "f")                                                          \
    what##_4(name, operation, float4, float, "f32", "f")                                                          \
    what##_2(name, operation, double2, double, "f64", "d")

WARPBOOK_EVERY_TYPE(WARPBOOK_LOAD, __ldcg, "cg")
WARPBOOK_EVERY_TYPE(WARPBOOK_LOAD, __ldca, "ca")
WARPBOOK_EVERY_TYPE(WARPBOOK_LOAD, __ldcs, "cs")
WARPBOOK_EVERY_TYPE(WARPBOOK_LOAD, __ldlu, "lu")
WARPBOOK_EVERY_TYPE(WARPBOOK_LOAD, __ldcv, "cv")
WARPBOOK_EVERY_TYPE(WARPBOOK_STORE, __stwb, "wb")
WARPBOOK_EVERY_TYPE(WARPBOOK_STORE, __stcg, "cg")
WARPBOOK_EVERY_TYPE(WARPBOOK_STORE, __stcs, "cs")
WARPBOOK_EVERY_TYPE(WARPBOOK_STORE, __stwt, "wt")
#undef WARPBOOK_EVERY_TYPE
#undef WARPBOOK_LOAD
#undef WARPBOOK_LOAD_2
#undef WARPBOOK_LOAD_4
#undef WARPBOOK_STORE
#undef WARPBOOK_STORE_2
#undef WARPBOOK_STORE_4

// __ldg: memory that no thread writes while the kernel runs, so the compiler may move the load.
#define WARPBOOK_LDG(type, native, call)                                                                          \
    WARPBOOK_DEVICE type __ldg(const type *from) { return (type)call((const native *)from); }
WARPBOOK_LDG(char, char, __nvvm_ldg_c)
WARPBOOK_LDG(signed char, signed char, __nvvm_ldg_sc)
WARPBOOK_LDG(unsigned char, unsigned char, __nvvm_ldg_uc)
WARPBOOK_LDG(short, short, __nvvm_ldg_s)
WARPBOOK_LDG(unsigned short, unsigned short, __nvvm_ldg_us)
WARPBOOK_LDG(int, int, __nvvm_ldg_i)
WARPBOOK_LDG(unsigned int, unsigned int, __nvvm_ldg_ui)
WARPBOOK_LDG(long, long, __nvvm_ldg_l)
WARPBOOK_LDG(unsigned long, unsigned long, __nvvm_ldg_ul)
WARPBOOK_LDG(long long, long long, __nvvm_ldg_ll)
WARPBOOK_LDG(unsigned long long, unsigned long long, __nvvm_ldg_ull)
WARPBOOK_LDG(float, float, __nvvm_ldg_f)
WARPBOOK_LDG(double, double, __nvvm_ldg_d)
#undef WARPBOOK_LDG
#define WARPBOOK_LDG_VECTOR(type, part, count, call)                                                              \
    WARPBOOK_DEVICE type __ldg(const type *from) {                                                                \
        using Native = part __attribute__((ext_vector_type(count)));                                              \
        const Native v = call((const Native *)from);                                                              \
        type r;                                                                                                   \
        __builtin_memcpy(&r, &v, sizeof r);                                                                       \
        return r;                                                                                                 \
    }
WARPBOOK_LDG_VECTOR(char2, char, 2, __nvvm_ldg_c2)
WARPBOOK_LDG_VECTOR(char4, char, 4, __nvvm_ldg_c4)
WARPBOOK_LDG_VECTOR(uchar2, unsigned char, 2, __nvvm_ldg_uc2)
WARPBOOK_LDG_VECTOR(uchar4, unsigned char, 4, __nvvm_ldg_uc4)
WARPBOOK_LDG_VECTOR(short2, short, 2, __nvvm_ldg_s2)
WARPBOOK_LDG_VECTOR(short4, short, 4, __nvvm_ldg_s4)
WARPBOOK_LDG_VECTOR(ushort2, unsigned short, 2, __nvvm_ldg_us2)
WARPBOOK_LDG_VECTOR(ushort4, unsigned short, 4, __nvvm_ldg_us4)
WARPBOOK_LDG_VECTOR(int2, int, 2, __nvvm_ldg_i2)
WARPBOOK_LDG_VECTOR(int4, int, 4, __nvvm_ldg_i4)
WARPBOOK_LDG_VECTOR(uint2, unsigned int, 2, __nvvm_ldg_ui2)
WARPBOOK_LDG_VECTOR(uint4, unsigned int, 4, __nvvm_ldg_ui4)
WARPBOOK_LDG_VECTOR(longlong2, long long, 2, __nvvm_ldg_ll2)
WARPBOOK_LDG_VECTOR(ulonglong2, unsigned long long, 2, __nvvm_ldg_ull2)
WARPBOOK_LDG_VECTOR(float2, float, 2, __nvvm_ldg_f2)
WARPBOOK_LDG_VECTOR(float4, float, 4, __nvvm_ldg_f4)
WARPBOOK_LDG_VECTOR(double2, double, 2, __nvvm_ldg_d2)
#undef WARPBOOK_LDG_VECTOR

#define __builtin_assume_aligned_device __builtin_assume_aligned
WARPBOOK_DEVICE void __prefetch_global_l1(const void *from) {
    asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(from)));
}
WARPBOOK_DEVICE void __prefetch_global_l2(const void *from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));
}
