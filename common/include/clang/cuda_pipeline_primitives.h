// Asynchronous copies from global to shared memory: cp.async (PTX ISA, "cp.async").
#pragma once

// `bytes` is 4, 8 or 16; the last `zero_bytes` of them are set to zero instead of copied.
WARPBOOK_DEVICE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zero_bytes = 0) {
    const unsigned int address = (unsigned int)__cvta_generic_to_shared(to), copied = (unsigned int)(bytes - zero_bytes);
    const size_t source = __cvta_generic_to_global(from);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source), "r"(copied)
                     : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(address), "l"(source), "r"(copied)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(source), "r"(copied)
                     : "memory");
}
WARPBOOK_DEVICE void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// A macro, because the instruction takes a number that the compiler knows.
#define __pipeline_wait_prior(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")
