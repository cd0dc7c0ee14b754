// Source of inlining.ptx: functions inlined into inlined functions.
// nvcc -ptx -lineinfo -arch=compute_80 inlining.cu, with the folder taken from the names in .file.
__device__ __forceinline__ int inner(int *in, int i) { return in[i] * 3; }
__device__ __forceinline__ int outer(int *in, int i) {
    int a = inner(in, i);
    return a + inner(in, i + 1);
}
__global__ void one(int *out, int i) {
    out[1] = outer(out, i);
}
__global__ void two(int *out, int i) {
    out[1] = outer(out, i) + inner(out, 9);
}
template <int N> __device__ __forceinline__ int deep(int *in) {
    return in[N] + deep<N - 1>(in);
}
template <> __device__ __forceinline__ int deep<0>(int *in) { return in[0]; }
__global__ void three(int *out) {
    out[1] = deep<3>(out);
}
