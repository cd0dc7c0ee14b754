#include "emulator/machine/initialised.h"

// One bit per byte: visits the 64-bit words that a range touches.
#define FOR_BIT_WORDS(word, bits, offset, bytes)                                                             \
    for (uint64_t at_ = (offset), end_ = (offset) + (bytes), word, bits, step_; at_ < end_; at_ += step_)    \
        if (word = at_ / 64, step_ = 64 - at_ % 64, step_ = step_ < end_ - at_ ? step_ : end_ - at_,         \
            bits = (step_ == 64 ? ~0ull : ((1ull << step_) - 1)) << (at_ % 64), 1)

void mark_initialised(Memory *memory, uint64_t offset, uint64_t bytes) {
    if (memory->all_initialised || !memory->initialised) return;
    FOR_BIT_WORDS(word, bits, offset, bytes) memory->initialised[word] |= bits;
}

void mark_undefined(Memory *memory, uint64_t offset, uint64_t bytes) {
    if (memory->all_initialised || !memory->initialised) return;
    FOR_BIT_WORDS(word, bits, offset, bytes) memory->initialised[word] &= ~bits;
}

bool is_initialised(const Memory *memory, uint64_t offset, uint64_t bytes) {
    if (memory->all_initialised || !memory->initialised) return true;
    FOR_BIT_WORDS(word, bits, offset, bytes) if ((memory->initialised[word] & bits) != bits) return false;
    return true;
}
