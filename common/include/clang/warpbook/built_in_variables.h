// threadIdx, blockIdx, blockDim, gridDim and warpSize: each part is a special register of PTX, read where it is named.
#pragma once

#define WARPBOOK_PART(name, read)                                                                                 \
    __declspec(property(get = get_##name)) unsigned int name;                                                     \
    static WARPBOOK_MEMBER unsigned int get_##name() { return read(); }
#define WARPBOOK_VARIABLE(type, read, whole)                                                                      \
    struct type {                                                                                                 \
        WARPBOOK_PART(x, read##_x)                                                                                \
        WARPBOOK_PART(y, read##_y)                                                                                \
        WARPBOOK_PART(z, read##_z)                                                                                \
        WARPBOOK_MEMBER operator whole() const { return {x, y, z}; }                                              \
        type() = delete;                                                                                          \
        type(const type &) = delete;                                                                              \
        void operator=(const type &) const = delete;                                                              \
        type *operator&() const = delete;                                                                         \
    };

WARPBOOK_VARIABLE(ThreadIndex, __nvvm_read_ptx_sreg_tid, uint3)
WARPBOOK_VARIABLE(BlockIndex, __nvvm_read_ptx_sreg_ctaid, uint3)
WARPBOOK_VARIABLE(BlockSize, __nvvm_read_ptx_sreg_ntid, dim3)
WARPBOOK_VARIABLE(GridSize, __nvvm_read_ptx_sreg_nctaid, dim3)
#undef WARPBOOK_VARIABLE
#undef WARPBOOK_PART

extern const __attribute__((device, weak)) ThreadIndex threadIdx;
extern const __attribute__((device, weak)) BlockIndex blockIdx;
extern const __attribute__((device, weak)) BlockSize blockDim;
extern const __attribute__((device, weak)) GridSize gridDim;
static constexpr __attribute__((device, unused)) int warpSize = 32;
