// printf, assert, memcpy and what else a kernel may call of C's library, and clocks.
#pragma once

// clang turns a call into one of vprintf, which the emulator and the driver provide.
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char *condition, const char *file,
                                                                  unsigned int line, const char *function,
                                                                  size_t character_bytes);
#define NULL __null

WARPBOOK_DEVICE void *memcpy(void *to, const void *from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
WARPBOOK_DEVICE void *memmove(void *to, const void *from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
WARPBOOK_DEVICE void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }

WARPBOOK_DEVICE void __trap() { asm volatile("trap;"); }
WARPBOOK_DEVICE void __brkpt() { asm volatile("brkpt;"); }
WARPBOOK_DEVICE void __nanosleep(unsigned int nanoseconds) {
    asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds) : "memory");
}
WARPBOOK_DEVICE long long clock64() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}
WARPBOOK_DEVICE int clock() {
    int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    return now;
}
WARPBOOK_DEVICE unsigned long long globaltimer() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}
