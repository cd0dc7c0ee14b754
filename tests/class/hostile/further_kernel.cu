@RIGHT_KERNEL@
__global__ void another(float *out) { out[0] = 1; }
