// The machine's random numbers: the same seed gives the same run.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t state; // to start with, the seed
} Random;

// SplitMix64, by G. Steele, D. Lea and C. Flood (OOPSLA 2014).
static inline uint64_t random_next(Random *random) {
    uint64_t z = (random->state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline bool random_one_in(Random *random, uint32_t n) {
    return (uint32_t)(random_next(random) >> 32) % n == 0;
}
