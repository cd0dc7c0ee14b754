#include __FILE__  // ERROR: a file includes itself: a kernel needs only warpbook.cuh
#include "warpbook.cuh"  // ERROR: a file includes itself: a kernel needs only warpbook.cuh
