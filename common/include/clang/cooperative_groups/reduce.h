// reduce() of a tile: every thread receives the result.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

#define WARPBOOK_OPERATION(name, expression)                                                                      \
    template <typename Type> struct name {                                                                        \
        WARPBOOK_MEMBER Type operator()(Type a, Type b) const { return expression; }                              \
    };
WARPBOOK_OPERATION(plus, a + b)
WARPBOOK_OPERATION(less, b < a ? b : a)
WARPBOOK_OPERATION(greater, a < b ? b : a)
WARPBOOK_OPERATION(bit_and, a & b)
WARPBOOK_OPERATION(bit_or, a | b)
WARPBOOK_OPERATION(bit_xor, a ^ b)
#undef WARPBOOK_OPERATION

template <unsigned int SIZE, typename Parent, typename Type, typename Operation>
WARPBOOK_DEVICE Type reduce(const thread_block_tile<SIZE, Parent> &tile, Type value, Operation operation) {
#pragma unroll
    for (unsigned int distance = SIZE / 2; distance > 0; distance /= 2)
        value = operation(value, tile.shfl_xor(value, distance));
    return value;
}

} // namespace cooperative_groups
