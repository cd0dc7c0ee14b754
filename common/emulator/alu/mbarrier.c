#include "emulator/alu/mbarrier.h"

void mbarrier_pending_count(unsigned char *registers, const Instruction *in, uint32_t mask) {
    const uint64_t *state = source(registers, in, 0);
    uint32_t *to = destination(registers, in, 0);
    for (; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        to[lane] = mbarrier_unpack(state[lane]).pending;
    }
}
