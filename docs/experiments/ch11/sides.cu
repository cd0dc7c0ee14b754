// EXPERIMENT: A copy and a naive transpose of 64 x 64 floats: sectors of the loads and of the stores.
// RUN: build/bin/emulate $PTX copy --grid 2,8 --block 32,8 --arg buf:16384:zero --arg buf:16384 --profile | grep -e "^global_ld_[rs]" -e "^global_st_[rs]"
// RUN: build/bin/emulate $PTX turn --grid 2,8 --block 32,8 --arg buf:16384:zero --arg buf:16384 --profile | grep -e "^global_ld_[rs]" -e "^global_st_[rs]"
// SHOWS: global_ld_requests 128 global_ld_sectors 512
// SHOWS: global_st_sectors 4096
const int SIDE = 64;

extern "C" __global__ void copy(const float *in, float *out) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    out[row * SIDE + column] = in[row * SIDE + column];
}

extern "C" __global__ void turn(const float *in, float *out) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    out[column * SIDE + row] = in[row * SIDE + column];
}
