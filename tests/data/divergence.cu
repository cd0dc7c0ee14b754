// The same work by one lane in eight, and by one warp in eight.
__device__ void sum_some(const float *in, float *out, int n, bool has_more) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float value = in[i];
        if (has_more) {
            for (int k = 0; k < 64; k++) {
                value = value * 0.5f + 1.0f;
            }
        }
        sum += value;
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

extern "C" __global__ void one_lane_in_eight(const float *in, float *out, int n) {
    sum_some(in, out, n, threadIdx.x % 8 == 0);
}

extern "C" __global__ void one_warp_in_eight(const float *in, float *out, int n) {
    sum_some(in, out, n, threadIdx.x / 32 % 8 == 0);
}
