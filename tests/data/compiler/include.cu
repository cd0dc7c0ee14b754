#include "warpbook.cuh"
#include "cuda_runtme.h"  // ERROR: a kernel can include only warpbook.cuh and the headers of CUDA and of C++
