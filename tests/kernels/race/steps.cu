// CLEAN
// RUN: steps --grid 2 --block 128 --arg buf:16:zero --arg i32:0 --arg buf:512:zero --arg buf:1024:zero
// A program by table, for test_racecheck.py to make up: every step is one word for all and one for every thread.
#define ACCESS 0
#define BLOCK_BARRIER 1
#define WARP_BARRIER 2
#define NAMED_BARRIER 3
extern "C" __global__ void steps(const int *program, int count, int *global, int *out) {
    __shared__ int4 quads[32];
    int *shared = (int *)quads;
    int t = threadIdx.x, me = blockIdx.x * 128 + t, sum = 0;
    for (int i = 0; i < count; i++) {
        int kind = program[i * 257], what = program[i * 257 + 1 + me];
        if (kind == BLOCK_BARRIER) __syncthreads();
        if (!what) continue;
        if (kind == WARP_BARRIER) __syncwarp(what);
        if (kind == NAMED_BARRIER)
            asm volatile("barrier.sync %0, %1;" ::"r"(what & 15), "r"(what >> 4) : "memory");
        if (kind != ACCESS) continue;
        int *word = what & 128 ? &global[what & 127] : &shared[what & 127];
        int operation = what >> 8;
        if (operation == 1) sum += *word;
        if (operation == 2) *word = 1000 * i + me;
        if (operation == 3) atomicAdd(word, 1);
        if (operation == 4) {
            int4 quad = *(int4 *)word;
            sum += quad.x + quad.y + quad.z + quad.w;
        }
        if (operation == 5) *(int4 *)word = make_int4(me, i, me, i);
    }
    out[me] = sum;
}
