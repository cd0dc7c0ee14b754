// In a round of such a loop every bank lets one lane win, whatever the number of words that are wanted there;
// where elements have 64 bits each half of a warp has its banks, and a word one winner. Found with single
// warps on an H200 (tests/hardware_truth/patterns_loops.cu).
//
// Warps that come from one barrier turn together: in a round all read before one of them writes, so that a
// word has one winner among them, each warp being the first in its turn. That is so if nothing else keeps
// them apart.
#include "emulator/observers/retried.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/observers/access_counts.h"

enum { MOST_NOTED = 4096, BANKS = 32 };

typedef struct {
    Access access; // its pointer to offsets is of no use
    uint64_t offsets[WARP_SIZE];
    int occasion; // how often the warp had been at the instruction since the barrier
    bool is_done;
} Noted;

struct Retried {
    Counters *counts;
    Noted *noted;
    int count;
};

Retried *retried_new(Counters *counts) {
    Retried *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->counts = counts;
    r->noted = malloc(MOST_NOTED * sizeof *r->noted);
    if (r->noted) return r;
    free(r);
    return NULL;
}

void retried_free(Retried *r) {
    if (r) free(r->noted);
    free(r);
}

// ---- Rounds -----------------------------------------------------------------------------------------------

// What the winners of a round have taken.
typedef struct {
    uint64_t words[WARP_SIZE * WARP_SIZE];
    int count;
} Taken;

static bool is_taken(const Taken *taken, uint64_t word) {
    for (int i = 0; i < taken->count; i++)
        if (taken->words[i] == word) return true;
    return false;
}

// The lanes of `left` that win, first those with the lower numbers. `taken`: by warps before this one.
static uint32_t winners(const Noted *n, uint32_t left, Taken *taken) {
    const uint32_t bytes = n->access.bytes, halves = bytes > 4 ? 2 : 1, banks = BANKS * 4 / bytes;
    uint32_t used[2] = {0}, won = 0;
    FOR_LANES(lane, left) {
        const uint64_t word = n->offsets[lane] / bytes;
        const uint32_t bank = 1u << word % banks, half = halves > 1 && lane >= WARP_SIZE / 2;
        if (used[half] & bank) continue;
        used[half] |= bank;
        if (is_taken(taken, word)) continue;
        taken->words[taken->count++] = word;
        won |= 1u << lane;
    }
    return won;
}

static void count_round(Counters *c, Noted *n, uint32_t won) {
    Access load = n->access;
    load.kind = ACCESS_LOAD;
    load.offsets = n->offsets;
    counters_add_shared_load(c, &load);
    c->issued_shared_atom++;
    const bool is_wide = load.bytes > 4;
    const uint32_t halves = (won & 0xffff) && won >> 16 ? 2 : 1;
    c->shared_atom_wavefronts += is_wide ? 2 + halves : 2;
    c->issued_branch_divergent += won && won != n->access.mask;
    n->access.mask &= ~won;
}

// All that warps did at one instruction on one occasion.
static void turn(Retried *r, Noted **warps, int count) {
    Counters *c = &r->counts[warps[0]->access.in->number];
    for (int first = 0, left = count; left; first++) {
        Taken taken = {.count = 0};
        left = 0;
        for (int k = 0; k < count; k++) {
            Noted *n = warps[(first + k) % count];
            if (!n->access.mask) continue;
            count_round(c, n, winners(n, n->access.mask, &taken));
            left += n->access.mask != 0;
        }
    }
}

// ---- Barriers ---------------------------------------------------------------------------------------------

static bool belongs_together(const Noted *a, const Noted *b) {
    return a->access.in == b->access.in && a->occasion == b->occasion &&
           a->access.warp->block == b->access.warp->block;
}

void retried_count(Retried *r, const Block *block) {
    int kept = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->noted[i].is_done || r->noted[i].access.warp->block != block) continue;
        Noted *warps[WARP_SIZE];
        int count = 0;
        for (int k = i; k < r->count && count < (int)WARP_SIZE; k++) {
            Noted *n = &r->noted[k];
            if (n->is_done || !belongs_together(n, &r->noted[i])) continue;
            n->is_done = true;
            warps[count++] = n;
        }
        turn(r, warps, count);
    }
    for (int i = 0; i < r->count; i++)
        if (!r->noted[i].is_done) r->noted[kept++] = r->noted[i];
    r->count = kept;
}

void retried_finish(Retried *r) {
    while (r->count) retried_count(r, r->noted[0].access.warp->block);
}

void retried_note(Retried *r, const Access *access) {
    if (r->count == MOST_NOTED) retried_finish(r);
    Noted *n = &r->noted[r->count];
    *n = (Noted){.access = *access};
    memcpy(n->offsets, access->offsets, sizeof n->offsets);
    for (int i = 0; i < r->count; i++)
        n->occasion += r->noted[i].access.warp == access->warp && r->noted[i].access.in == access->in;
    r->count++;
}
