// Thread scopes and memory orders of namespace cuda, and the fence of both (PTX ISA, "Memory Consistency Model").
#pragma once

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
enum memory_order : int {
    memory_order_relaxed = __ATOMIC_RELAXED,
    memory_order_consume = __ATOMIC_CONSUME,
    memory_order_acquire = __ATOMIC_ACQUIRE,
    memory_order_release = __ATOMIC_RELEASE,
    memory_order_acq_rel = __ATOMIC_ACQ_REL,
    memory_order_seq_cst = __ATOMIC_SEQ_CST
};
namespace std {
using cuda::memory_order;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_consume;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
} // namespace std

WARPBOOK_DEVICE void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
    if (order == memory_order_relaxed) return;
    if (order == memory_order_seq_cst) {
        if (scope == thread_scope_block)
            asm volatile("fence.sc.cta;" ::: "memory");
        else if (scope == thread_scope_device)
            asm volatile("fence.sc.gpu;" ::: "memory");
        else if (scope == thread_scope_system)
            asm volatile("fence.sc.sys;" ::: "memory");
    } else {
        if (scope == thread_scope_block)
            asm volatile("fence.acq_rel.cta;" ::: "memory");
        else if (scope == thread_scope_device)
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
        else if (scope == thread_scope_system)
            asm volatile("fence.acq_rel.sys;" ::: "memory");
    }
}
} // namespace cuda
