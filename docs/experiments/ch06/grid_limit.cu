// EXPERIMENT: A grid of 65,536 blocks in x, and one of as many in y.
// RUN: build/bin/emulate $PTX nothing --grid 65536 --block 1
// RUN: build/bin/emulate $PTX nothing --grid 1,65536 --block 1
// SHOWS: clean
// SHOWS: 65535
extern "C" __global__ void nothing() {}
