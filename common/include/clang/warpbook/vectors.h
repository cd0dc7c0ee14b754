// char1 to double4 with their make_ functions, and dim3. Alignments: CUDA C++ Programming Guide, "Built-in Vector
// Types".
#pragma once

// A vector is assigned as one value. clang's own assignment copies bytes, and of 16 bytes it makes two accesses.
#define WARPBOOK_ASSIGNMENT(name, type, count)                                                                    \
    WARPBOOK_BOTH_MEMBER name &operator=(const name &other) {                                                     \
        using Whole = type __attribute__((ext_vector_type(count), may_alias));                                    \
        *(Whole *)this = *(const Whole *)&other;                                                                  \
        return *this;                                                                                             \
    }

#define WARPBOOK_VECTORS(name, type, align2, align4)                                                              \
    struct name##1 {                                                                                              \
        type x;                                                                                                   \
    };                                                                                                            \
    struct __attribute__((aligned(align2))) name##2 {                                                             \
        type x, y;                                                                                                \
        WARPBOOK_ASSIGNMENT(name##2, type, 2)                                                                     \
    };                                                                                                            \
    struct name##3 {                                                                                              \
        type x, y, z;                                                                                             \
    };                                                                                                            \
    struct __attribute__((aligned(align4))) name##4 {                                                             \
        type x, y, z, w;                                                                                          \
        WARPBOOK_ASSIGNMENT(name##4, type, 4)                                                                     \
    };                                                                                                            \
    WARPBOOK_BOTH constexpr name##1 make_##name##1(type x) { return {x}; }                                        \
    WARPBOOK_BOTH constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }                             \
    WARPBOOK_BOTH constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                  \
    WARPBOOK_BOTH constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

WARPBOOK_VECTORS(char, signed char, 2, 4)
WARPBOOK_VECTORS(uchar, unsigned char, 2, 4)
WARPBOOK_VECTORS(short, short, 4, 8)
WARPBOOK_VECTORS(ushort, unsigned short, 4, 8)
WARPBOOK_VECTORS(int, int, 8, 16)
WARPBOOK_VECTORS(uint, unsigned int, 8, 16)
WARPBOOK_VECTORS(long, long, 16, 16)
WARPBOOK_VECTORS(ulong, unsigned long, 16, 16)
WARPBOOK_VECTORS(longlong, long long, 16, 16)
WARPBOOK_VECTORS(ulonglong, unsigned long long, 16, 16)
WARPBOOK_VECTORS(float, float, 8, 16)
WARPBOOK_VECTORS(double, double, 16, 16)
#undef WARPBOOK_VECTORS
#undef WARPBOOK_ASSIGNMENT

struct dim3 {
    unsigned int x, y, z;

    WARPBOOK_BOTH_MEMBER constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
        : x(x), y(y), z(z) {}
    WARPBOOK_BOTH_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    WARPBOOK_BOTH_MEMBER constexpr operator uint3() const { return {x, y, z}; }
};
