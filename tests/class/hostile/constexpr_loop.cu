constexpr int spin(int n) {
    int sum = 0;
    for (long long i = 0; i >= 0; i++) sum ^= (int)i * n;
    return sum;
}
@RIGHT_KERNEL@
__device__ const int never = spin(3);
static_assert(spin(4) != 5, "");
