@RIGHT_KERNEL@
__device__ const int table[1 << 27] = {1, 2, 3};
__device__ int reads(int i) { return table[i]; }
