// Barriers of a block and of a warp, and fences.
#pragma once

// __syncthreads() itself is known to clang.
WARPBOOK_DEVICE void __barrier_sync(unsigned int id) { asm volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
WARPBOOK_DEVICE void __barrier_sync_count(unsigned int id, unsigned int threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

WARPBOOK_DEVICE int __syncthreads_count(int predicate) {
    int count;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tbarrier.red.popc.u32 %0, 0, p;\n\t}"
                 : "=r"(count)
                 : "r"(predicate)
                 : "memory");
    return count;
}
#define WARPBOOK_REDUCING_BARRIER(name, operation)                                                                \
    WARPBOOK_DEVICE int name(int predicate) {                                                                     \
        int result;                                                                                               \
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\tbarrier.red." operation                   \
                     ".pred q, 0, p;\n\tselp.s32 %0, 1, 0, q;\n\t}"                                               \
                     : "=r"(result)                                                                               \
                     : "r"(predicate)                                                                             \
                     : "memory");                                                                                 \
        return result;                                                                                            \
    }
WARPBOOK_REDUCING_BARRIER(__syncthreads_and, "and")
WARPBOOK_REDUCING_BARRIER(__syncthreads_or, "or")
#undef WARPBOOK_REDUCING_BARRIER

WARPBOOK_DEVICE void __syncwarp(unsigned int mask = 0xffffffff) {
    asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}

WARPBOOK_DEVICE void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
WARPBOOK_DEVICE void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
WARPBOOK_DEVICE void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }
