template <int N> struct Deep { static const int value = Deep<N + 1>::value; };
@RIGHT_KERNEL@
static_assert(Deep<0>::value, "");
