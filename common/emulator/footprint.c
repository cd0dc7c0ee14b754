#include "emulator/footprint.h"

#include <stdlib.h>
#include <string.h>

// The place of a word, or the free one where it belongs. Linear probing: some place is always free.
static ElementWord *find_word(const ElementSet *set, uint64_t word) {
    size_t at = (size_t)((word * 0x9e3779b97f4a7c15u) >> 32) & (set->capacity - 1);
    while (set->words[at].bits && set->words[at].word != word) at = (at + 1) & (set->capacity - 1);
    return &set->words[at];
}

static bool grow(ElementSet *set) {
    ElementSet grown = {.count = set->count, .capacity = set->capacity ? 2 * set->capacity : 1024};
    grown.words = calloc(grown.capacity, sizeof *grown.words);
    if (!grown.words) return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->words[i].bits) *find_word(&grown, set->words[i].word) = set->words[i];
    free(set->words);
    *set = grown;
    return true;
}

// Adds the bits to a word; those that it did not have.
static uint64_t add_bits(ElementSet *set, uint64_t word, uint64_t bits) {
    if (2 * set->count >= set->capacity && !grow(set)) {
        set->failed = true;
        return 0;
    }
    ElementWord *place = find_word(set, word);
    const uint64_t fresh = bits & ~place->bits;
    set->count += place->bits == 0;
    place->word = word;
    place->bits |= bits;
    return fresh;
}

uint64_t element_set_add(ElementSet *set, uint64_t first, unsigned count) {
    const uint64_t bits = count == 64 ? ~0ull : (1ull << count) - 1;
    const unsigned shift = first % 64;
    uint64_t fresh = add_bits(set, first / 64, bits << shift) >> shift;
    if (shift + count > 64) fresh |= add_bits(set, first / 64 + 1, bits >> (64 - shift)) << (64 - shift);
    return fresh;
}

bool element_set_has(const ElementSet *set, uint64_t element) {
    return set->capacity > 0 && (find_word(set, element / 64)->bits >> element % 64 & 1);
}

uint64_t element_set_run(const ElementSet *set, uint64_t first, uint64_t most) {
    if (set->capacity == 0) return most;
    const bool has_first = element_set_has(set, first);
    uint64_t run = 0;
    while (run < most) {
        const unsigned shift = (first + run) % 64, left = 64 - shift;
        const uint64_t bits = find_word(set, (first + run) / 64)->bits;
        const uint64_t ends = (has_first ? ~bits : bits) >> shift; // elements that end the run
        if (ends) return run + (uint64_t)__builtin_ctzll(ends);
        run += left;
    }
    return run;
}

uint64_t element_set_next(const ElementSet *set, uint64_t first) {
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < set->capacity; i++) {
        const uint64_t base = 64 * set->words[i].word;
        uint64_t bits = set->words[i].bits;
        if (bits && base < first) bits = first - base < 64 ? bits & ~0ull << (first - base) : 0;
        if (bits && base + (uint64_t)__builtin_ctzll(bits) < next)
            next = base + (uint64_t)__builtin_ctzll(bits);
    }
    return next;
}

uint64_t element_set_highest(const ElementSet *set) {
    uint64_t highest = 0;
    for (size_t i = 0; i < set->capacity; i++) {
        const uint64_t bits = set->words[i].bits;
        const uint64_t last = bits ? 64 * set->words[i].word + 63 - (uint64_t)__builtin_clzll(bits) : 0;
        if (last > highest) highest = last;
    }
    return highest;
}

void footprint_free(Footprint *footprint) {
    for (int b = 0; b < MAX_FOOTPRINT_BUFFERS; b++) {
        free(footprint->buffers[b].read.words);
        free(footprint->buffers[b].written.words);
    }
    memset(footprint, 0, sizeof *footprint);
}
