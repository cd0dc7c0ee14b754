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

// Whether what a lane accesses, which is aligned to its size, at most 64 bytes, lies in one word of bits: not
// where the memory itself begins elsewhere, or each lane's part of it does.
static bool fits_words(const Memory *memory) {
    return memory->space != PTX_SPACE_LOCAL && memory->base % 64 == 0;
}

void mark_access_initialised(const Access *a) {
    const Memory *memory = a->memory;
    if (memory->all_initialised || !memory->initialised) return;
    if (a->contiguous)
        mark_initialised(a->memory, a->offsets[0], (uint64_t)a->bytes * WARP_SIZE);
    else if (!fits_words(memory))
        FOR_LANES(lane, a->mask) mark_initialised(a->memory, a->offsets[lane], a->bytes);
    else {
        const uint64_t bits = a->bytes == 64 ? ~0ull : (1ull << a->bytes) - 1;
        FOR_LANES(lane, a->mask) memory->initialised[a->offsets[lane] / 64] |= bits << a->offsets[lane] % 64;
    }
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

// Of memory that fits_words().
static uint32_t lanes_missing(const Access *a) {
    const uint64_t *words = a->memory->initialised, bits = a->bytes == 64 ? ~0ull : (1ull << a->bytes) - 1;
    const uint64_t first = a->offsets[__builtin_ctz(a->mask)];
    uint64_t missing[WARP_SIZE];
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
        const uint64_t at = a->mask >> lane & 1 ? a->offsets[lane] : first;
        missing[lane] = ~(words[at / 64] >> at % 64) & bits;
    }
    uint64_t any = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) any |= missing[lane];
    uint32_t lanes = 0;
    FOR_LANES(lane, any ? a->mask : 0) lanes |= (uint32_t)(missing[lane] != 0) << lane;
    return lanes;
}

uint32_t lanes_uninitialised(const Access *a) {
    const Memory *memory = a->memory;
    if (memory->all_initialised || !memory->initialised) return 0;
    if (a->contiguous && is_initialised(memory, a->offsets[0], (uint64_t)a->bytes * WARP_SIZE)) return 0;
    if (a->is_one_place && is_initialised(memory, a->offsets[__builtin_ctz(a->mask)], a->bytes)) return 0;
    if (!fits_words(memory)) {
        uint32_t lanes = 0;
        FOR_LANES(lane, a->mask)
        lanes |= (uint32_t)!is_initialised(memory, a->offsets[lane], a->bytes) << lane;
        return lanes;
    }
    return lanes_missing(a);
}
