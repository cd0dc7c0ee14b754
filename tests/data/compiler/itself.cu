#include __FILE__  // ERROR: files are included without end: of all of them, a kernel needs only warpbook.cuh
#include "warpbook.cuh"  // ERROR: files are included without end: of all of them, a kernel needs only warpbook.cuh
