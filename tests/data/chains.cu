// Blocks that wait for others, a link of a few trips to the L2 each, and blocks that need not. `word` and `other` are 0
// before the launch.
enum { NONE, SUM, PREFIX };

__device__ unsigned load(unsigned *at) {
    return *(volatile unsigned *)at;
}

__device__ void store(unsigned *at, unsigned value) {
    *(volatile unsigned *)at = value;
}

// ---- Each block waits for one that has waited -----------------------------------------------------------------
extern "C" __global__ void each_for_the_last(unsigned *word, unsigned *) {
    if (blockIdx.x > 0)
        while (load(&word[blockIdx.x - 1]) == NONE) {
        }
    store(&word[blockIdx.x], PREFIX);
}

extern "C" __global__ void with_a_ticket(unsigned *word, unsigned *ticket) {
    unsigned place = atomicAdd(ticket, 1);
    if (place > 0)
        while (load(&word[place - 1]) == NONE) {
        }
    store(&word[place], PREFIX);
}

extern "C" __global__ void by_atomics(unsigned *word, unsigned *) {
    if (blockIdx.x > 0)
        while (atomicAdd(&word[blockIdx.x - 1], 0) == NONE) {
        }
    atomicExch(&word[blockIdx.x], PREFIX);
}

extern "C" __global__ void by_compare_and_swap(unsigned *word, unsigned *) {
    if (blockIdx.x > 0)
        while (atomicCAS(&word[blockIdx.x - 1], 0, 0) == NONE) {
        }
    atomicExch(&word[blockIdx.x], PREFIX);
}

extern "C" __global__ void for_the_last_but_one(unsigned *word, unsigned *) {
    if (blockIdx.x > 1)
        while (load(&word[blockIdx.x - 2]) == NONE) {
        }
    store(&word[blockIdx.x], PREFIX);
}

// A store that others do not read is no help.
extern "C" __global__ void tells_nobody(unsigned *word, unsigned *other) {
    store(&other[blockIdx.x], SUM);
    if (blockIdx.x > 0)
        while (load(&word[blockIdx.x - 1]) == NONE) {
        }
    store(&word[blockIdx.x], PREFIX);
}

// A word that says a first thing is no help to those who wait for the second.
extern "C" __global__ void waits_for_the_second(unsigned *word, unsigned *) {
    store(&word[blockIdx.x], blockIdx.x > 0 ? SUM : PREFIX);
    if (blockIdx.x == 0) return;
    while (load(&word[blockIdx.x - 1]) != PREFIX) {
    }
    store(&word[blockIdx.x], PREFIX);
}

// Values that are handed on behind a flag.
extern "C" __global__ void with_fences(unsigned *flag, unsigned *value) {
    unsigned before = 0;
    if (blockIdx.x > 0) {
        while (load(&flag[blockIdx.x - 1]) == NONE) {
        }
        __threadfence();
        before = load(&value[blockIdx.x - 1]);
    }
    store(&value[blockIdx.x], before + 1);
    __threadfence();
    store(&flag[blockIdx.x], PREFIX);
}

extern "C" __global__ void with_a_fence_before_the_flag(unsigned *flag, unsigned *value) {
    if (blockIdx.x > 0)
        while (load(&flag[blockIdx.x - 1]) == NONE) {
        }
    store(&value[blockIdx.x], 1);
    __threadfence();
    store(&flag[blockIdx.x], PREFIX);
}

extern "C" __global__ void with_a_fence_after_the_flag(unsigned *flag, unsigned *value) {
    unsigned before = 0;
    if (blockIdx.x > 0) {
        while (load(&flag[blockIdx.x - 1]) == NONE) {
        }
        __threadfence();
        before = load(value);
    }
    store(&flag[blockIdx.x], PREFIX + before);
}

extern "C" __global__ void by_release_and_acquire(unsigned *flag, unsigned *value) {
    unsigned before = 0, seen = NONE;
    if (blockIdx.x > 0) {
        while (seen == NONE)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&flag[blockIdx.x - 1]) : "memory");
        before = load(&value[blockIdx.x - 1]);
    }
    store(&value[blockIdx.x], before + 1);
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&flag[blockIdx.x]), "r"(PREFIX) : "memory");
}

// A lock by turns: one word, which holds whose turn it is.
extern "C" __global__ void by_turns(unsigned *turn, unsigned *) {
    while (load(turn) != blockIdx.x) {
    }
    store(turn, blockIdx.x + 1);
}

// ---- None has to wait until another one has waited ------------------------------------------------------------
extern "C" __global__ void looks_back(unsigned *state, unsigned *) {
    store(&state[blockIdx.x], SUM);
    for (int i = (int)blockIdx.x - 1; i >= 0;) {
        unsigned seen = load(&state[i]);
        if (seen == PREFIX) break;
        i -= seen == SUM;
    }
    store(&state[blockIdx.x], PREFIX);
}

extern "C" __global__ void looks_back_at_atomics(unsigned *state, unsigned *) {
    atomicExch(&state[blockIdx.x], SUM);
    for (int i = (int)blockIdx.x - 1; i >= 0;) {
        unsigned seen = load(&state[i]);
        if (seen == PREFIX) break;
        i -= seen == SUM;
    }
    atomicExch(&state[blockIdx.x], PREFIX);
}

extern "C" __global__ void looks_back_by_atomics(unsigned *state, unsigned *) {
    store(&state[blockIdx.x], SUM);
    for (int i = (int)blockIdx.x - 1; i >= 0;) {
        unsigned seen = atomicAdd(&state[i], 0);
        if (seen == PREFIX) break;
        i -= seen == SUM;
    }
    store(&state[blockIdx.x], PREFIX);
}

extern "C" __global__ void looks_back_in_two_arrays(unsigned *flag, unsigned *prefix) {
    store(&flag[blockIdx.x], SUM);
    unsigned before = 0;
    for (int i = (int)blockIdx.x - 1; i >= 0;) {
        unsigned seen = load(&flag[i]);
        if (seen == PREFIX) {
            __threadfence();
            before += load(&prefix[i]);
            break;
        }
        before += seen == SUM;
        i -= seen == SUM;
    }
    store(&prefix[blockIdx.x], before + 1);
    __threadfence();
    store(&flag[blockIdx.x], PREFIX);
}

extern "C" __global__ void all_for_the_first(unsigned *word, unsigned *other) {
    if (blockIdx.x == 0) store(&word[0], PREFIX);
    while (load(&word[0]) == NONE) {
    }
    store(&other[blockIdx.x], PREFIX);
}

extern "C" __global__ void last_one_reads(unsigned *word, unsigned *ticket) {
    store(&word[blockIdx.x], SUM);
    __threadfence();
    if (atomicAdd(ticket, 1) == gridDim.x - 1)
        for (unsigned i = 0; i < gridDim.x; i++) ticket[1] += load(&word[i]);
}

extern "C" __global__ void alone(unsigned *word, unsigned *) {
    store(&word[blockIdx.x], SUM);
    store(&word[blockIdx.x], load(&word[blockIdx.x]) + 1);
}
