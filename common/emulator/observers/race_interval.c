#include "emulator/observers/race_interval.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// The words of a granule: the number of the interval, and a thread of the block or SEVERAL.
enum {
    CODE_BITS = 11,
    SEVERAL = (1 << CODE_BITS) - 1,
    LAST_BASE = 31 << CODE_BITS, // 16 bits hold no more; then both arrays are cleared
};

// The words of an access in the log; the last one has four parts. `offsets` of all lanes follow if they are
// neither contiguous nor one.
enum { NUMBER, MASK, TIME, OFFSET, BYTES, ENTRY_WORDS };
enum { WARP_BIT = 8, KIND_BIT = 16, SHAPE_BIT = 24 };
enum { SHAPE_ONE_PLACE, SHAPE_CONTIGUOUS, SHAPE_SCATTERED };
enum { LONGEST = ENTRY_WORDS + WARP_SIZE, FIRST_CAPACITY = 4096, MOST_WORDS = 1 << 18 };

RaceInterval *interval_new(size_t bytes, unsigned shift) {
    RaceInterval *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    *i = (RaceInterval){.shift = shift, .needed_shift = shift, .granules = (bytes >> shift) + 1};
    i->written = calloc(2 * i->granules, sizeof *i->written);
    i->log = malloc(FIRST_CAPACITY * sizeof *i->log);
    if (!i->written || !i->log) {
        interval_free(i);
        return NULL;
    }
    i->read = i->written + i->granules;
    i->log_capacity = FIRST_CAPACITY;
    return i;
}

void interval_free(RaceInterval *i) {
    if (!i) return;
    free(i->written);
    free(i->log);
    free(i);
}

void interval_begin(RaceInterval *i) {
    if (i->base == LAST_BASE) {
        memset(i->written, 0, 2 * i->granules * sizeof *i->written);
        i->base = 0;
    }
    i->base = (uint16_t)(i->base + (1 << CODE_BITS));
    i->is_over = false;
    i->log_words = 0;
}

// ---- Granules ---------------------------------------------------------------------------------------------

// `count` and `per_lane` are constants wherever these are called, so that the loops become vectors: granule k
// is accessed by lane k / per_lane, whose word is `mine` + that.
ALWAYS_INLINE bool read_run(const RaceInterval *i, size_t g, uint32_t count, uint32_t per_lane,
                            uint16_t mine) {
    const uint16_t base = i->base, several = (uint16_t)(base + SEVERAL), *written = i->written + g;
    uint16_t *read = i->read + g, odd = 0;
    for (uint32_t k = 0; k < count; k++) {
        const uint16_t me = (uint16_t)(mine + k / per_lane);
        odd |= (uint16_t)((written[k] >= base) & (written[k] != me));
    }
    if (odd) return false;
    for (uint32_t k = 0; k < count; k++) {
        const uint16_t me = (uint16_t)(mine + k / per_lane);
        read[k] = read[k] < base || read[k] == me ? me : several;
    }
    return true;
}

ALWAYS_INLINE bool write_run(const RaceInterval *i, size_t g, uint32_t count, uint32_t per_lane,
                             uint16_t mine) {
    const uint16_t base = i->base, *read = i->read + g;
    uint16_t *written = i->written + g, odd = 0;
    for (uint32_t k = 0; k < count; k++) {
        const uint16_t me = (uint16_t)(mine + k / per_lane);
        odd |= (uint16_t)((written[k] >= base) & (written[k] != me));
        odd |= (uint16_t)((read[k] >= base) & (read[k] != me));
    }
    if (odd) return false;
    for (uint32_t k = 0; k < count; k++) written[k] = (uint16_t)(mine + k / per_lane);
    return true;
}

ALWAYS_INLINE bool run(const RaceInterval *i, size_t g, uint32_t count, uint32_t per_lane, uint16_t mine,
                       bool is_write) {
    return is_write ? write_run(i, g, count, per_lane, mine) : read_run(i, g, count, per_lane, mine);
}

static bool contiguous_is_quiet(const RaceInterval *i, const Access *a, uint16_t mine, bool is_write) {
    const size_t g = a->offsets[0] >> i->shift;
    switch (a->bytes >> i->shift) {
    case 1: return run(i, g, 32, 1, mine, is_write);
    case 2: return run(i, g, 64, 2, mine, is_write);
    case 4: return run(i, g, 128, 4, mine, is_write);
    case 8: return run(i, g, 256, 8, mine, is_write);
    case 16: return run(i, g, 512, 16, mine, is_write);
    default: return false;
    }
}

// Granules that all lanes access.
static bool one_place_is_quiet(const RaceInterval *i, const Access *a, uint16_t mine, bool is_write) {
    const bool is_alone = !(a->mask & (a->mask - 1));
    const size_t g = a->offsets[__builtin_ctz(a->mask)] >> i->shift;
    const uint32_t count = a->bytes >> i->shift;
    mine = (uint16_t)(mine + __builtin_ctz(a->mask));
    if (is_alone) return run(i, g, count, 1024, mine, is_write);
    if (is_write) return false;
    const uint16_t several = (uint16_t)(i->base + SEVERAL);
    for (uint32_t k = 0; k < count; k++)
        if (i->written[g + k] >= i->base) return false;
    for (uint32_t k = 0; k < count; k++) i->read[g + k] = several;
    return true;
}

// A lane that meets what another has written in the same instruction meets another thread's write.
ALWAYS_INLINE bool writes_scattered(const RaceInterval *i, const Access *a, uint32_t count, uint16_t mine) {
    bool is_quiet = true;
    FOR_LANES(lane, a->mask)
    is_quiet &= write_run(i, a->offsets[lane] >> i->shift, count, 1024, (uint16_t)(mine + lane));
    return is_quiet;
}

// Reads change no word that a read looks at, so that all lanes are looked at before the first is noted.
// `Some` is a vector of what a lane reads.
#define READS_SCATTERED(name, Some)                                                                          \
    ALWAYS_INLINE bool name(const RaceInterval *i, const Access *a, uint32_t mask, uint16_t mine) {          \
        const Some base = (Some){0} + i->base, several = base + SEVERAL;                                     \
        Some odd = {0}, words;                                                                               \
        FOR_LANES(lane, mask) {                                                                              \
            const Some me = (Some){0} + (uint16_t)(mine + lane);                                             \
            memcpy(&words, i->written + (a->offsets[lane] >> i->shift), sizeof words);                       \
            odd |= (Some)((words >= base) & (words != me));                                                  \
        }                                                                                                    \
        uint16_t each[sizeof odd / sizeof(uint16_t)];                                                        \
        static const uint16_t none[sizeof each / sizeof *each];                                              \
        memcpy(each, &odd, sizeof each);                                                                     \
        if (memcmp(each, none, sizeof each) != 0) return false;                                              \
        FOR_LANES(lane, mask) {                                                                              \
            const Some me = (Some){0} + (uint16_t)(mine + lane);                                             \
            uint16_t *read = i->read + (a->offsets[lane] >> i->shift);                                       \
            memcpy(&words, read, sizeof words);                                                              \
            const Some is_mine = (Some)((words < base) | (words == me));                                     \
            words = (me & is_mine) | (several & ~is_mine);                                                   \
            memcpy(read, &words, sizeof words);                                                              \
        }                                                                                                    \
        return true;                                                                                         \
    }
typedef uint16_t Two __attribute__((vector_size(4)));
typedef uint16_t Four __attribute__((vector_size(8)));
typedef uint16_t Eight __attribute__((vector_size(16)));
typedef uint16_t Sixteen __attribute__((vector_size(32)));
READS_SCATTERED(read_twos, Two)
READS_SCATTERED(read_fours, Four)
READS_SCATTERED(read_eights, Eight)
READS_SCATTERED(read_sixteens, Sixteen)

// Of one granule a lane.
ALWAYS_INLINE bool reads_one(const RaceInterval *i, const Access *a, uint32_t lane, uint16_t mine) {
    return read_run(i, a->offsets[lane] >> i->shift, 1, 1024, (uint16_t)(mine + lane));
}

ALWAYS_INLINE bool read_ones(const RaceInterval *i, const Access *a, uint16_t mine) {
    bool is_quiet = true;
    if (a->mask == FULL_MASK)
        for (uint32_t lane = 0; lane < WARP_SIZE; lane++) is_quiet &= reads_one(i, a, lane, mine);
    else
        FOR_LANES(lane, a->mask)
    is_quiet &= reads_one(i, a, lane, mine);
    return is_quiet;
}

static bool scattered_is_quiet(const RaceInterval *i, const Access *a, uint16_t mine, bool is_write) {
    const uint32_t mask = a->mask, count = a->bytes >> i->shift;
    switch (is_write ? -(int)count : (int)count) {
    case 1: return read_ones(i, a, mine);
    case 2: return read_twos(i, a, mask, mine);
    case 4: return mask == FULL_MASK ? read_fours(i, a, FULL_MASK, mine) : read_fours(i, a, mask, mine);
    case 8: return mask == FULL_MASK ? read_eights(i, a, FULL_MASK, mine) : read_eights(i, a, mask, mine);
    case 16: return read_sixteens(i, a, mask, mine);
    case -1: return writes_scattered(i, a, 1, mine);
    case -2: return writes_scattered(i, a, 2, mine);
    case -4: return writes_scattered(i, a, 4, mine);
    case -8: return writes_scattered(i, a, 8, mine);
    case -16: return writes_scattered(i, a, 16, mine);
    default: return false;
    }
}

// ---- The log ----------------------------------------------------------------------------------------------

static void note(RaceInterval *i, const Access *a, uint32_t time, uint8_t shape) {
    uint32_t *to = i->log + i->log_words;
    to[NUMBER] = (uint32_t)a->in->number;
    to[MASK] = a->mask;
    to[TIME] = time;
    to[OFFSET] = (uint32_t)a->offsets[__builtin_ctz(a->mask)];
    to[BYTES] = (uint32_t)shape << SHAPE_BIT | (uint32_t)a->kind << KIND_BIT |
                (uint32_t)a->warp->index << WARP_BIT | a->bytes;
    i->log_words += ENTRY_WORDS;
    if (shape != SHAPE_SCATTERED) return;
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++) to[ENTRY_WORDS + lane] = (uint32_t)a->offsets[lane];
    i->log_words += WARP_SIZE;
}

bool interval_next(const RaceInterval *i, size_t *at, Block *block, Access *a, uint64_t offsets[WARP_SIZE],
                   uint32_t *time) {
    if (*at >= i->log_words) return false;
    const uint32_t *from = i->log + *at;
    const uint32_t bytes = from[BYTES] & 0xff, shape = from[BYTES] >> SHAPE_BIT & 0xff;
    *at += ENTRY_WORDS;
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++)
        offsets[lane] = shape == SHAPE_SCATTERED
                            ? from[ENTRY_WORDS + lane]
                            : from[OFFSET] + (shape == SHAPE_CONTIGUOUS ? lane * bytes : 0);
    if (shape == SHAPE_SCATTERED) *at += WARP_SIZE;
    *a = (Access){.warp = &block->warps[from[BYTES] >> WARP_BIT & 0xff],
                  .in = block->machine->program->by_number[from[NUMBER]],
                  .kind = (AccessKind)(from[BYTES] >> KIND_BIT & 0xff),
                  .memory = &block->shared,
                  .mask = from[MASK],
                  .bytes = bytes,
                  .contiguous = shape == SHAPE_CONTIGUOUS,
                  .offsets = offsets};
    *time = from[TIME];
    return true;
}

// Room for one more entry. A log that would grow too long has to be taken over, and starts again.
static bool has_room(RaceInterval *i) {
    if (i->log_words + LONGEST <= i->log_capacity) return true;
    uint32_t *grown =
        i->log_capacity < MOST_WORDS ? realloc(i->log, 2 * i->log_capacity * sizeof *i->log) : NULL;
    if (!grown) return false;
    i->log = grown;
    i->log_capacity *= 2;
    return true;
}

bool interval_takes(RaceInterval *i, const Access *a, uint32_t time) {
    const bool is_write = a->kind == ACCESS_STORE;
    const uint16_t mine = (uint16_t)(i->base + a->warp->index * (int)WARP_SIZE);
    uint8_t shape;
    bool is_quiet;
    if (a->bytes < 1u << i->needed_shift) i->needed_shift = (unsigned)__builtin_ctz(a->bytes);
    if (i->needed_shift < i->shift || !has_room(i)) {
        i->is_over = true;
        return false;
    }
    if (a->contiguous) {
        shape = SHAPE_CONTIGUOUS;
        is_quiet = contiguous_is_quiet(i, a, mine, is_write);
    } else if (a->is_one_place) {
        shape = SHAPE_ONE_PLACE;
        is_quiet = one_place_is_quiet(i, a, mine, is_write);
    } else {
        shape = SHAPE_SCATTERED;
        is_quiet = scattered_is_quiet(i, a, mine, is_write);
    }
    if (is_quiet)
        note(i, a, time, shape);
    else
        i->is_over = true;
    return is_quiet;
}
