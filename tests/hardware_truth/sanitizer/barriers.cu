// Barriers that some threads of a block do not reach, or reach in another way: what synccheck and the emulator say
// about each is in record.csv. The first two are the situations of NVIDIA's samples for synccheck
// (github.com/NVIDIA/compute-sanitizer-samples). Every kernel runs as one block, of as many threads as the last part of
// its name says, over 1,024 zeros.

#define KERNEL(name) extern "C" __global__ void name(int* data)
#define SHARED                                                                                                       \
    __shared__ int tile[128];                                                                                        \
    const int t = threadIdx.x;                                                                                       \
    tile[t] = t;

// A loop with a barrier whose last round is for some warps of the block only: 1,008 elements, 16 rounds of 64.
KERNEL(last_round_in_part_b64) {
    SHARED
    for (int round = 0; round < 16; round++) {
        const int i = 64 * round + t;
        if (i < 1008) {
            tile[t] += data[i];
            __syncthreads();
        }
    }
    data[t] = tile[t];
}

// Lane 16 calls __syncwarp with a mask that does not name it.
KERNEL(syncwarp_without_the_caller_b32) {
    SHARED
    const unsigned mask = __ballot_sync(0xffffffff, t < 16);
    if (t <= 16) {
        __syncwarp(mask);
        data[t] = tile[t ^ 1];
    }
}

// Lanes 16 to 31 have exited, and the mask names them.
KERNEL(syncwarp_of_exited_lanes_b32) {
    SHARED
    if (t >= 16) return;
    __syncwarp(0xffffffff);
    data[t] = tile[t ^ 1];
}

// A shuffle in a branch of 16 lanes, with the mask of all.
KERNEL(shuffle_in_a_branch_b32) {
    SHARED
    int value = tile[t];
    if (t < 16) value += __shfl_down_sync(0xffffffff, value, 8);
    data[t] = value;
}

// Correct: every thread passes one barrier.
KERNEL(all_threads_b128) {
    SHARED
    __syncthreads();
    data[t] = tile[t ^ 1];
}

// Correct: the last warp has 8 threads.
KERNEL(last_warp_in_part_b40) {
    SHARED
    __syncthreads();
    data[t] = tile[39 - t];
}

// Correct: two of four warps meet at a named barrier.
KERNEL(named_barrier_b128) {
    SHARED
    if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[t] = tile[t ^ 33];
    }
}

// Each warp executes one of two barrier instructions.
KERNEL(two_barriers_by_warp_b128) {
    SHARED
    if (t / 32 == 0) {
        __syncthreads();
        data[t] = tile[t ^ 1] + 1;
    } else {
        __syncthreads();
        data[t] = tile[t ^ 1] - 1;
    }
}

// Odd and even lanes execute different barrier instructions.
KERNEL(two_barriers_in_a_warp_b64) {
    SHARED
    if (t & 1) {
        __syncthreads();
        data[t] = tile[t ^ 1] + 1;
    } else {
        __syncthreads();
        data[t] = tile[t ^ 1] - 1;
    }
}

// One warp of four executes the barrier; the others reach the end of the kernel.
KERNEL(one_warp_of_four_b128) {
    SHARED
    if (t / 32 == 0) {
        __syncthreads();
        data[t] = tile[t ^ 1];
    }
}

// The same with work after the branch.
KERNEL(one_warp_of_four_and_work_after_it_b128) {
    SHARED
    if (t / 32 == 0) __syncthreads();
    int x = t;
    for (int i = 0; i < 10000; i++) x = x * 1664525 + 1013904223;
    data[t] = x;
}

// Threads 48 to 63 skip the barrier: a whole warp and half a warp execute it.
KERNEL(guard_48_of_64_b64) {
    SHARED
    if (t < 48) {
        __syncthreads();
        data[t] = tile[47 - t];
    }
}

// Lane 0 of each warp executes the barrier.
KERNEL(lane_0_of_each_warp_b128) {
    SHARED
    if (t % 32 == 0) __syncthreads();
    data[t] = tile[t];
}

// Thread 0 executes the barrier.
KERNEL(thread_0_b128) {
    SHARED
    if (t == 0) __syncthreads();
    data[t] = tile[t];
}

// Even lanes execute the barrier.
KERNEL(even_lanes_b64) {
    SHARED
    if (t % 2 == 0) __syncthreads();
    data[t] = tile[t];
}

// Two warps of four return before the barrier.
KERNEL(warps_return_before_it_b128) {
    SHARED
    if (t >= 64) return;
    __syncthreads();
    data[t] = tile[t ^ 1];
}

// Threads 40 to 127 return before the barrier.
KERNEL(part_of_a_warp_returns_before_it_b128) {
    SHARED
    if (t >= 40) return;
    __syncthreads();
    data[t] = tile[39 - t];
}

// Every third thread returns before the barrier.
KERNEL(every_third_returns_before_it_b96) {
    SHARED
    if (t % 3 == 0) return;
    __syncthreads();
    data[t] = tile[t];
}

// Warps 2 and 3 return after the first of two barriers.
KERNEL(warps_return_between_two_b128) {
    SHARED
    __syncthreads();
    if (t >= 64) return;
    const int value = tile[t + 64];
    __syncthreads();
    tile[t] = value;
    data[t] = value;
}

// Warp w passes the barrier of a loop w + 1 times.
KERNEL(warps_loop_differently_b128) {
    SHARED
    for (int i = 0; i <= t / 32; i++) {
        tile[t] = i;
        __syncthreads();
        data[t] = tile[t];
    }
}

// Lane l passes the barrier of a loop 1 + l % 2 times.
KERNEL(lanes_loop_differently_b64) {
    SHARED
    for (int i = 0; i <= t % 2; i++) {
        tile[t] = i;
        __syncthreads();
        data[t] = tile[t];
    }
}

// Warps 0 and 1 have one more round of a loop than warps 2 and 3.
KERNEL(one_more_round_for_two_warps_b128) {
    SHARED
    for (int i = t; i < 192; i += 128) {
        __syncthreads();
        data[t] += tile[t ^ 1] + i;
    }
}

// Threads 0 to 47 have one more round: the boundary lies in a warp.
KERNEL(one_more_round_for_48_threads_b128) {
    SHARED
    for (int i = t; i < 176; i += 128) {
        __syncthreads();
        data[t] += tile[t] + i;
    }
}

// Two groups of warps, each in its own loop, with the same number of barriers.
KERNEL(producers_and_consumers_b128) {
    SHARED
    if (t < 64) {
        for (int i = 0; i < 4; i++) {
            tile[t] = i * t;
            __syncthreads();
            __syncthreads();
        }
    } else {
        for (int i = 0; i < 4; i++) {
            __syncthreads();
            data[t] += tile[t - 64];
            __syncthreads();
        }
    }
}
