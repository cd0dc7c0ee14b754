// EXPERIMENT: 16 blocks of 64 threads and 16 of 1,024; one thread of each block adds.
// RUN: build/bin/emulate $PTX add --grid 16 --block 64 --arg buf:4:zero --profile | grep -m 1 red_requests
// RUN: build/bin/emulate $PTX add --grid 16 --block 1024 --arg buf:4:zero --profile | grep -m 1 red_requests
// RUN: build/bin/emulate $PTX add --grid 256 --block 64 --arg buf:4:zero --profile | grep -m 1 red_requests
// SHOWS: global_red_requests 16 global_red_requests 16 global_red_requests 256
extern "C" __global__ void add(int *out) {
    if (threadIdx.x == 0) {
        atomicAdd(out, 1);
    }
}
