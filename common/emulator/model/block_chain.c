#include "emulator/model/block_chain.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD_SHIFT = 2,
    FIRST_WORDS = 256,
    MOST_WORDS = 1 << 18,
    BLOCKS_A_LINK = 4,
    FEW_BLOCKS = 4,  // of which readers get what they told first
    MOST_POLLS = 16, // of a warp, of that; a poll may read two places
    MOST_REPLACED = WARP_SIZE * 8,
};
// From the start of a store or an atomic until its word is in the L2. The poll that finds it there takes
// another trip. tests/data/chains.csv
static const double trips_to_be_seen = 0.5, trips_of_atomic_to_be_seen = 1.25;

typedef struct {
    uint64_t address; // in words, + 1; 0: this place is free
    uint64_t block;   // number + 1 of the last one that stored there
    bool is_early;    // it did so first before it had read what others had stored
    bool is_late;     // it did so last after that
    bool is_plain;    // by a store, at least once
    uint32_t depth;   // of the chain that this block is the end of
    Stamp at;         // when it stored, if all blocks had begun at once
    // Where it stored both early and late: what was there before the late one, and the same of that one.
    uint32_t first_value, late_depth;
    Stamp late_at;
    uint64_t told_twice; // BlockChain.told_twice then
} Word;

typedef struct {
    unsigned char *at;
    uint32_t value;
} Replaced;

struct BlockChain {
    Word *words; // a hash table
    uint64_t room, count;
    Stamp longest;
    uint32_t depth;
    uint64_t told_twice;              // blocks that stored early and late in one place,
    uint64_t last_twice;              // and the last of them, number + 1
    Replaced replaced[MOST_REPLACED]; // what lies where the present access reads
    uint32_t replaced_count;
    double passed_on;    // blocks that waited for others, and then stored
    double told_plainly; // those of them whose loads read what stores of blocks that had waited told
};

BlockChain *block_chain_new(void) {
    BlockChain *chain = calloc(1, sizeof *chain);
    if (!chain) return NULL;
    chain->room = FIRST_WORDS;
    chain->words = calloc(chain->room, sizeof *chain->words);
    if (chain->words) return chain;
    free(chain);
    return NULL;
}

void block_chain_free(BlockChain *chain) {
    if (!chain) return;
    free(chain->words);
    free(chain);
}

// ---- Words ------------------------------------------------------------------------------------------------

static void collect(Waiting *w, bool is_first, Stamp start) {
    if (is_first && w->is_collecting) return;
    w->is_collecting = true;
    w->collecting = start;
}

// The place of that word, or the one it would have.
static Word *find(const BlockChain *chain, uint64_t address) {
    uint64_t at = address * 0x9e3779b97f4a7c15u >> 32;
    for (;; at++) {
        Word *word = &chain->words[at & (chain->room - 1)];
        if (!word->address || word->address == address) return word;
    }
}

static bool make_room(BlockChain *chain) {
    if (2 * chain->count < chain->room) return true;
    Word *old = chain->words;
    const uint64_t room = chain->room;
    Word *words = calloc(2 * room, sizeof *words);
    if (!words) return false;
    chain->words = words;
    chain->room = 2 * room;
    for (uint64_t i = 0; i < room; i++)
        if (old[i].address) *find(chain, old[i].address) = old[i];
    free(old);
    return true;
}

// ---- Accesses ---------------------------------------------------------------------------------------------

static bool is_same(const Operand *a, const void *constant, int32_t offset, size_t bytes) {
    if (!a->constant || !constant) return a->constant == constant && a->offset == offset;
    return memcmp(a->constant, constant, bytes) == 0;
}

// Whether the operands of an atomic leave its words as they are, so that its result is all that it is for.
static bool only_reads(const Access *a) {
    static const unsigned char zeros[16];
    const Operand *src = a->in->src;
    if (a->kind == ACCESS_LOAD) return true;
    if (a->kind != ACCESS_ATOMIC || a->bytes > sizeof zeros) return false;
    switch (a->in->operation) {
    case ATOMIC_CAS: return is_same(&src[1], src[2].constant, src[2].offset, a->bytes);
    case ATOMIC_ADD:
    case ATOMIC_OR:
    case ATOMIC_XOR: return is_same(&src[1], zeros, 0, a->bytes);
    default: return false;
    }
}

static bool has_met(const Waiting *w, uint64_t block) {
    enum { ROOM = sizeof w->met / sizeof *w->met };
    for (uint32_t k = 0; k < ROOM && k < w->met_count; k++)
        if (w->met[k] == block) return true;
    return false;
}

static void meet(Waiting *w, uint64_t block) {
    enum { ROOM = sizeof w->met / sizeof *w->met };
    if (!has_met(w, block)) w->met[w->met_count++ % ROOM] = block;
}

// Waits until `at`, when a block stored that is the end of a chain of that depth.
static void wait_for(Waiting *w, Stamp at, uint32_t depth, Stamp start) {
    if (at.at <= start.at + w->delay.at) return;
    w->delay = (Stamp){at.at - start.at, at.l2_trips - start.l2_trips, at.dram_trips - start.dram_trips};
    w->depth = depth + 1;
}

// A word that another block has stored. If that block told something first, before it waited itself, nobody
// has to wait until it has waited, unless `needs_late`.
static void read_word(const Word *word, Waiting *w, bool is_load, bool needs_late, Stamp start) {
    w->has_read = true;
    w->is_told_plainly |= is_load && word->is_plain && word->is_late;
    if (needs_late) {
        wait_for(w, word->late_at, word->late_depth, start);
        return;
    }
    if (word->is_early) meet(w, word->block);
    if (!has_met(w, word->block)) wait_for(w, word->at, word->depth, start);
}

// What the block told first, in place of what it told later, until block_chain_done().
static void replace(BlockChain *chain, const Word *word, unsigned char *at) {
    if (chain->replaced_count == MOST_REPLACED) return;
    Replaced *place = &chain->replaced[chain->replaced_count++];
    place->at = at;
    memcpy(&place->value, at, sizeof place->value);
    memcpy(at, &word->first_value, sizeof word->first_value);
}

// In reverse: several lanes may read one word.
void block_chain_done(BlockChain *chain) {
    while (chain->replaced_count > 0) {
        const Replaced *place = &chain->replaced[--chain->replaced_count];
        memcpy(place->at, &place->value, sizeof place->value);
    }
}

// `now`: what lies there before the store.
static void store_word(BlockChain *chain, Word *word, uint64_t block, bool is_store, const Waiting *w,
                       uint32_t now, Stamp start) {
    const bool is_again = word->block == block, is_second = is_again && word->is_early;
    const bool was_late = is_again && word->is_late;
    word->is_late = w->has_read;
    word->is_plain = is_store || (is_again && word->is_plain);
    if (is_second && (!word->is_late || was_late)) return;
    const double trips = is_store ? trips_to_be_seen : trips_of_atomic_to_be_seen;
    const Stamp at = {start.at + w->delay.at + trips * nominal_l2,
                      start.l2_trips + w->delay.l2_trips + (float)trips,
                      start.dram_trips + w->delay.dram_trips};
    if (is_second) {
        chain->told_twice += chain->last_twice != block;
        chain->last_twice = block;
        word->told_twice = chain->told_twice;
        word->first_value = now;
        word->late_at = at;
        word->late_depth = w->depth;
    } else {
        word->is_early = !w->has_read;
        word->block = block;
        word->at = at;
        word->depth = w->depth;
    }
    if (w->depth < chain->depth) return;
    chain->depth = w->depth;
    chain->longest = later(chain->longest, w->delay);
}

bool block_chain_access(BlockChain *chain, const Access *a, Waiting *w, uint32_t *polls, Stamp start) {
    const bool is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION;
    if (!a->is_volatile && !is_atomic) return true;
    const bool reads = only_reads(a);
    const uint64_t block = a->warp->block->number + 1, words = (a->bytes + 3) >> WORD_SHIFT;
    const bool needs_late = *polls == MOST_POLLS;
    FOR_LANES(lane, a->mask) {
        const uint64_t first = (a->memory->base + a->offsets[lane]) >> WORD_SHIFT;
        const uint64_t offset = a->offsets[lane] & ~(uint64_t)3;
        const bool is_kept = !a->memory->period && offset + 4 * words <= a->memory->bytes;
        for (uint64_t k = 1; k <= words; k++) {
            if (!reads && !make_room(chain)) return false;
            Word *word = find(chain, first + k);
            if (reads) {
                if (!word->address || word->block == block) continue;
                collect(w, true, start);
                const bool is_twice =
                    word->is_early && word->is_late && word->told_twice + FEW_BLOCKS > chain->told_twice;
                read_word(word, w, !is_atomic, is_twice && needs_late, start);
                if (is_twice && !needs_late && is_kept)
                    replace(chain, word, a->memory->data + offset + 4 * (k - 1));
                continue;
            }
            if (!word->address && chain->count == MOST_WORDS) continue; // data, rather than what blocks poll
            if (a->kind == ACCESS_ATOMIC && word->address && word->block != block) collect(w, false, start);
            chain->count += !word->address;
            word->address = first + k;
            uint32_t now = 0;
            if (is_kept) memcpy(&now, a->memory->data + offset + 4 * (k - 1), sizeof now);
            store_word(chain, word, block, !is_atomic, w, now, start);
        }
    }
    *polls += chain->replaced_count > 0;
    if (!reads && w->has_read && !w->has_passed_on) {
        w->has_passed_on = true;
        chain->passed_on++;
        chain->told_plainly += w->is_told_plainly;
    }
    return true;
}

void block_chain_summary(const BlockChain *chain, double blocks, ModelWork *work) {
    work->passed_on = chain->passed_on;
    // A chain that grows with the launch has a link for each block, or for every few.
    if (chain->depth * BLOCKS_A_LINK >= blocks && chain->depth > 1) {
        work->chain = time_of(chain->longest);
        work->links = chain->depth;
    } else {
        work->told_plainly = chain->told_plainly;
    }
    // Blocks that look back all collect, while others still run.
    if (chain->passed_on * BLOCKS_A_LINK >= blocks) work->collecting = (ModelTime){0};
}
