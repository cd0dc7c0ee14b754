// CLEAN
// RUN: add --grid 4 --block 64 --arg buf:8:zero
// The compare-and-swap loop of the CUDA guide: its first read is plain, and a stale value costs a round.
extern "C" __global__ void add(double *sum) {
    unsigned long long *word = (unsigned long long *)sum, seen = *word, expected;
    do {
        expected = seen;
        seen = atomicCAS(word, expected, __double_as_longlong(1.0 + __longlong_as_double(expected)));
    } while (seen != expected);
}
