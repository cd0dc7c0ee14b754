// Twice as many types with each level, none of them met before.
template <int N, long long Path> struct Wide {
    static const int value = Wide<N - 1, 2 * Path>::value + Wide<N - 1, 2 * Path + 1>::value;
};
template <long long Path> struct Wide<0, Path> { static const int value = 1; };
@RIGHT_KERNEL@
static_assert(Wide<40, 0>::value, "");
