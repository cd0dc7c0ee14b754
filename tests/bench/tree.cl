// The tree reduction of kernels.cu in OpenCL C, for the peers.
__kernel void tree(__global const float *in, __global float *out) {
    __local float tile[256];
    uint t = get_local_id(0);
    tile[t] = in[get_group_id(0) * 256 + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint active = 128; active > 0; active /= 2) {
        if (t < active) tile[t] += tile[t + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = tile[0];
}
