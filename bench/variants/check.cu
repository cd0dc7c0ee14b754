// What the recorder needs besides the kernels that it records: inputs, their expected results, a clean L2.
// Inputs are odd integers from -15 to 15 with a sum near 0, so that every order of float additions is exact.

__device__ inline int value_of(unsigned i, unsigned salt) {
    unsigned h = (i ^ salt) * 0x9e3779b1u;
    h ^= h >> 15;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    return 2 * (int)(h & 15) - 15;
}

__device__ inline unsigned next_of(unsigned i, unsigned mask) { return (i * 1664525u + 1013904223u) & mask; }

#define EACH(i, count)                                                                                       \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (count);                        \
         i += (long long)gridDim.x * blockDim.x)

extern "C" __global__ void fill_values(float *to, long long count, unsigned salt) {
    EACH(i, count) to[i] = (float)value_of((unsigned)i, salt);
}
extern "C" __global__ void fill_doubles(double *to, long long count, unsigned salt) {
    EACH(i, count) to[i] = (double)value_of((unsigned)i, salt);
}
extern "C" __global__ void fill_next(unsigned *to, long long count) {
    EACH(i, count) to[i] = next_of((unsigned)i, (unsigned)(count - 1));
}

__device__ inline void add_up(long long *total, long long mine) {
    for (int distance = 16; distance > 0; distance /= 2) {
        mine += __shfl_down_sync(0xffffffff, mine, distance);
    }
    if (threadIdx.x % 32 == 0 && mine != 0) {
        atomicAdd((unsigned long long *)total, (unsigned long long)mine);
    }
}

// The sum over i < count of value(i * stride), to be multiplied by how often each is taken.
extern "C" __global__ void expect_sum(long long *total, long long count, long long stride) {
    long long mine = 0;
    EACH(i, count) mine += value_of((unsigned)(i * stride), 0);
    add_up(total, mine);
}
// The sum that sum_in_l1 makes with `blocks` blocks.
extern "C" __global__ void expect_in_l1(long long *total, long long n, long long blocks) {
    long long mine = 0, share = n / blocks;
    EACH(i, share *blocks) mine += value_of((unsigned)(i / share * share + (i % share & 1023)), 0);
    add_up(total, mine);
}
// The sum of a kernel's results; any value that is not a whole number makes it certainly wrong.
extern "C" __global__ void found_sum(long long *total, long long count, const float *out) {
    long long mine = 0;
    EACH(i, count) mine += out[i] == rintf(out[i]) ? (long long)out[i] : 1LL << 48;
    add_up(total, mine);
}
extern "C" __global__ void found_sum64(long long *total, long long count, const double *out) {
    long long mine = 0;
    EACH(i, count) mine += out[i] == rint(out[i]) ? (long long)out[i] : 1LL << 48;
    add_up(total, mine);
}

// Each of these counts the elements of `out` that are wrong.
extern "C" __global__ void wrong_add(long long *total, long long count, const float *out) {
    long long mine = 0;
    EACH(i, count) mine += out[i] != (float)(value_of((unsigned)i, 0) + value_of((unsigned)i, 77));
    add_up(total, mine);
}
extern "C" __global__ void wrong_copy(long long *total, long long count, const float *out) {
    long long mine = 0;
    EACH(i, count) mine += out[i] != (float)value_of((unsigned)i, 0);
    add_up(total, mine);
}
extern "C" __global__ void wrong_scattered(long long *total, long long count, const float *out) {
    long long mine = 0;
    EACH(i, count) {
        long long place = i & 1023;
        mine += out[(i & ~1023LL) | place % 32 * 32 | place / 32] != (float)value_of((unsigned)i, 0);
    }
    add_up(total, mine);
}
extern "C" __global__ void wrong_ones(long long *total, long long count, const float *out) {
    long long mine = 0;
    EACH(i, count) mine += out[i] != 1.0f;
    add_up(total, mine);
}
extern "C" __global__ void wrong_transpose(long long *total, long long count, const float *out) {
    long long mine = 0, side = 1;
    while (side * side < count) side *= 2;
    EACH(i, count) mine += out[i % side * side + i / side] != (float)value_of((unsigned)i, 0);
    add_up(total, mine);
}
extern "C" __global__ void wrong_rows(long long *total, long long count, const float *out) {
    long long mine = 0;
    EACH(row, count / 2048) {
        int sum = 0;
        for (int k = 0; k < 2048; k++) sum += value_of((unsigned)(row * 2048 + k), 0);
        mine += out[row] != (float)sum;
    }
    add_up(total, mine);
}
extern "C" __global__ void wrong_rows64(long long *total, long long count, const double *out) {
    long long mine = 0;
    EACH(row, count / 2048) {
        int sum = 0;
        for (int k = 0; k < 2048; k++) sum += value_of((unsigned)(row * 2048 + k), 0);
        mine += out[row] != (double)sum;
    }
    add_up(total, mine);
}
// Counters that add up to n.
extern "C" __global__ void wrong_counts(long long *total, long long count, const unsigned *out) {
    long long mine = 0;
    EACH(i, 256) mine += out[i];
    if (blockIdx.x == 0 && threadIdx.x == 0) mine -= count;
    add_up(total, mine);
}
// Each tile of 1024 begins its own sum; whole floats, so that differences are exact.
extern "C" __global__ void wrong_tile_scan(long long *total, long long count, const float *out) {
    long long mine = 0;
    EACH(i, count) mine += out[i] - (i % 1024 ? out[i - 1] : 0.0f) != (float)value_of((unsigned)i, 0);
    add_up(total, mine);
}
// What is left of the poison: elements that were not written. Chapters judge the values.
extern "C" __global__ void wrong_written(long long *total, long long count, const unsigned *out) {
    long long mine = 0;
    EACH(i, count) mine += out[i] == 0x7fc00000u;
    add_up(total, mine);
}
// As bfloat16, the inputs are 0 and the value of the float that they are halves of.
extern "C" __global__ void wrong_add16(long long *total, long long count, const unsigned short *out) {
    long long mine = 0;
    EACH(i, count) {
        int sum = i % 2 ? value_of((unsigned)(i / 2), 0) + value_of((unsigned)(i / 2), 77) : 0;
        mine += out[i] != __float_as_uint((float)sum) >> 16;
    }
    add_up(total, mine);
}
extern "C" __global__ void wrong_polynomial(long long *total, long long count, const float *out, int terms) {
    long long mine = 0;
    EACH(i, count) {
        float x = (float)value_of((unsigned)i, 0), value = (float)value_of(0, 77);
        for (int k = 1; k < terms; k++) value = fmaf(value, x, (float)value_of(k, 77));
        mine += out[i] != value;
    }
    add_up(total, mine);
}

// Reads `count` float4 so that what the L2 holds is clean; writes nothing that matters.
extern "C" __global__ void read_all(const float4 *from, long long count, float *sink) {
    float sum = 0.0f;
    EACH(i, count) {
        float4 four = from[i];
        sum += four.x + four.y + four.z + four.w;
    }
    if (sum == 12345.678f) sink[0] = sum;
}
