#include "emulator/observers/weak_memory.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/observers/weak_history.h"
#include "emulator/observers/weak_report.h"

enum {
    MAX_BYTES = 32, // that a lane accesses at once
    MAX_PICKS = WARP_SIZE * MAX_BYTES / WORD_BYTES,
    OVERWRITTEN_ONE_IN = 8, // of the stores that may count as overwritten
};

// A word that a load reads, and the version that it gets.
typedef struct {
    uint32_t word;
    uint64_t offset; // in the access's memory
    bool is_old;     // drawn to be an older version, where one may be read
    int oldest;      // that all lanes may read
    int chosen;
} Pick;

typedef struct {
    Machine *machine;
    History history;
    StaleReads stale;
    Random random;       // not the machine's: the order of blocks and warps stays that of the schedule
    uint32_t old_one_in; // loads of one word
    uint32_t stores;
    uint32_t time; // when the access began
    Pick picks[MAX_PICKS];
    uint32_t pick_count;
    bool has_old; // one of them is
    bool is_idle; // no word of the access has a history, nor gets one
    uint32_t row; // of a contiguous store to words of which none had a history before; 0: some other access
} WeakMemory;

// What the host may store to while the launch runs has none: its own stores are not in order with others.
static bool has_versions(const WeakMemory *m, const Memory *memory) {
    const bool is_of_host = m->machine->launch->pause && memory->base < HOST_ADDRESSES;
    return !is_of_host && memory->space == PTX_SPACE_GLOBAL && !memory->read_only && !memory->period &&
           memory->base % WORD_BYTES == 0;
}

static uint32_t thread_at(const Access *a, uint32_t lane) {
    return (uint32_t)a->warp->index * WARP_SIZE + lane;
}

// Runs the statement that follows for every word of `bytes` at `offset` that lies in the memory object.
#define FOR_WORDS(at, access, offset, size)                                                                  \
    for (uint64_t at = (offset) & ~(uint64_t)(WORD_BYTES - 1), end_ = (offset) + (size);                     \
         at < end_ && at + WORD_BYTES <= (access)->memory->bytes; at += WORD_BYTES)

// ---- Loads ------------------------------------------------------------------------------------------------

// Word.pick may be that of an earlier access: then what lies there is of another word.
static Pick *pick_of(WeakMemory *m, uint32_t word) {
    const uint32_t at = word_at(&m->history, word)->pick;
    return at < m->pick_count && m->picks[at].word == word ? &m->picks[at] : NULL;
}

static void add_picks(WeakMemory *m, const Access *a, uint32_t lane) {
    History *h = &m->history;
    FOR_WORDS(at, a, a->offsets[lane], a->bytes) {
        uint32_t word = history_find(h, a->memory->base + at);
        if (!word) continue;
        Pick *pick = pick_of(m, word);
        if (!pick) {
            uint32_t value;
            memcpy(&value, a->memory->data + at, WORD_BYTES);
            history_is_now(h, word, value);
            if (m->pick_count == MAX_PICKS) return;
            word_at(h, word)->pick = m->pick_count;
            pick = &m->picks[m->pick_count++];
            *pick = (Pick){.word = word, .offset = at, .is_old = random_one_in(&m->random, m->old_one_in)};
        }
        if (!pick->is_old) continue;
        int oldest =
            oldest_readable(h, race_block(a->warp->block), thread_at(a, lane), word, is_plain_load(a));
        if (oldest > pick->oldest) pick->oldest = oldest;
    }
}

static int version_of(const Word *word, uint32_t store) {
    for (int v = word->count; v-- > 0;)
        if (word->versions[v].store == store) return v;
    return -1; // forgotten: older than all that are left
}

// A store of several words arrives as one: a load that gets one of them gets the others too, or later ones.
// (The memory model says so of 64 bits; of vectors it does not, but GPUs do.) True if that has changed a
// choice.
static bool keep_whole(WeakMemory *m, const Pick *one) {
    const Word *word = word_at(&m->history, one->word);
    const Version version = word->versions[one->chosen];
    const uint64_t beside = word->address & ~(uint64_t)(MAX_BYTES - 1);
    bool has_changed = false;
    for (uint64_t at = 0; at < MAX_BYTES && version.is_wide; at += WORD_BYTES) {
        const uint32_t index = history_find(&m->history, beside + at); // words may move
        Pick *other = index ? pick_of(m, index) : NULL;
        int least = other ? version_of(word_at(&m->history, index), version.store) : -1;
        if (!other || least <= other->chosen) continue;
        other->chosen = least;
        has_changed = true;
    }
    return has_changed;
}

static void keep_all_whole(WeakMemory *m, const Access *a) {
    for (bool has_changed = a->bytes > WORD_BYTES; has_changed;) {
        has_changed = false;
        for (uint32_t i = 0; i < m->pick_count; i++) has_changed |= keep_whole(m, &m->picks[i]);
    }
}

static void before_load(WeakMemory *m, const Access *a) {
    FOR_LANES(lane, a->mask) add_picks(m, a, lane);
    for (uint32_t i = 0; i < m->pick_count; i++) {
        Pick *pick = &m->picks[i];
        const Word *word = word_at(&m->history, pick->word);
        int last = word->count - 1;
        pick->chosen = last;
        if (pick->is_old && pick->oldest < last)
            pick->chosen = pick->oldest + (int)(random_next(&m->random) % (uint64_t)(last - pick->oldest));
    }
    keep_all_whole(m, a);
    for (uint32_t i = 0; i < m->pick_count; i++) {
        const Pick *pick = &m->picks[i];
        const Word *word = word_at(&m->history, pick->word);
        memcpy(a->memory->data + pick->offset, &word->versions[pick->chosen].value, WORD_BYTES);
        m->has_old = m->has_old || pick->chosen < word->count - 1;
    }
}

static void after_load(WeakMemory *m, const Access *a) {
    History *h = &m->history;
    for (uint32_t i = 0; i < m->pick_count; i++) {
        Word *word = word_at(h, m->picks[i].word);
        memcpy(a->memory->data + m->picks[i].offset, &newest(word)->value, WORD_BYTES);
    }
    FOR_LANES(lane, a->mask)
    FOR_WORDS(at, a, a->offsets[lane], a->bytes) {
        uint32_t word = history_find(h, a->memory->base + at);
        const Pick *pick = word ? pick_of(m, word) : NULL;
        if (!pick) continue;
        stale_reads_note(&m->stale, a, word, pick->chosen);
        history_seen(h, race_block(a->warp->block), thread_at(a, lane), word, pick->chosen);
    }
    if (m->has_old) FOR_LANES(lane, a->mask)
    FOR_WORDS(at, a, a->offsets[lane], a->bytes) {
        uint32_t word = history_find(h, a->memory->base + at);
        const Pick *pick = word ? pick_of(m, word) : NULL;
        if (pick && pick->chosen < word_at(h, word)->count - 1)
            stale_reads_check(&m->stale, a, lane, word, pick->chosen);
    }
}

// ---- Stores and atomics -----------------------------------------------------------------------------------

// Words that are about to change have what is there now as their first version.
static void before_change(WeakMemory *m, const Access *a) {
    const uint64_t address = a->memory->base + a->offsets[0];
    if (a->kind == ACCESS_STORE && a->contiguous && a->bytes % WORD_BYTES == 0 && address % WORD_BYTES == 0 &&
        !history_has(&m->history, address, (uint64_t)a->bytes * WARP_SIZE)) {
        m->row = history_row(&m->history, address, a->memory->data + a->offsets[0],
                             a->bytes / WORD_BYTES * WARP_SIZE);
        if (m->row) return;
    }
    FOR_LANES(lane, a->mask)
    FOR_WORDS(at, a, a->offsets[lane], a->bytes) {
        uint32_t value;
        memcpy(&value, a->memory->data + at, WORD_BYTES);
        history_word(&m->history, a->memory->base + at, value);
    }
}

// `lane` has changed its bytes. `first_event`: of this instruction.
static void change(WeakMemory *m, const Access *a, uint32_t lane, uint32_t first_event) {
    History *h = &m->history;
    RaceBlock *b = race_block(a->warp->block);
    uint32_t thread = thread_at(a, lane), store = ++m->stores;
    FOR_WORDS(at, a, a->offsets[lane], a->bytes) {
        uint32_t index = history_find(h, a->memory->base + at);
        if (!index) continue;
        Version version = {.who = b->first + thread,
                           .time = m->time,
                           .event = stale_reads_event(&m->stale),
                           .store = store,
                           .instruction = a->in->number,
                           .is_atomic = a->kind != ACCESS_STORE,
                           .is_wide = a->bytes > WORD_BYTES};
        memcpy(&version.value, a->memory->data + at, WORD_BYTES);
        stale_reads_fences(a->warp->block, version.fence);
        const Version *last = newest(word_at(h, index));
        int seen = word_at(h, index)->count - 1;
        if (last->event > first_event) // lanes of this instruction that met at one word
            history_seen(h, b, thread, index, seen);
        else {
            bool is_overwritten = a->kind == ACCESS_STORE && a->bytes == WORD_BYTES &&
                                  may_be_overwritten(h, b, thread, index) &&
                                  random_one_in(&m->random, OVERWRITTEN_ONE_IN);
            if (!history_add(h, index, version, is_overwritten)) return;
            Word *word = word_at(h, index);
            history_seen(h, b, thread, index, word->count - 1 - is_overwritten);
            if (is_overwritten) memcpy(a->memory->data + at, &newest(word)->value, WORD_BYTES);
        }
    }
}

// The same of all lanes, where no word had a history: most stores of most kernels.
static void change_row(WeakMemory *m, const Access *a) {
    const uint32_t words = a->bytes / WORD_BYTES;
    Version version = {.who = race_block(a->warp->block)->first + thread_at(a, 0),
                       .time = m->time,
                       .event = stale_reads_event(&m->stale),
                       .store = m->stores + 1,
                       .instruction = a->in->number,
                       .is_wide = words > 1};
    stale_reads_fences(a->warp->block, version.fence);
    m->stores += WARP_SIZE;
    m->stale.events += words * WARP_SIZE - 1;
    history_row_stored(&m->history, m->row, version, words, a->memory->data + a->offsets[0]);
}

static void after_change(WeakMemory *m, const Access *a) {
    uint32_t first_event = stale_reads_event(&m->stale);
    if (m->row) {
        change_row(m, a);
        return;
    }
    FOR_LANES(lane, a->mask) change(m, a, lane, first_event);
}

// Looks at all words of a warp at once. That others than the common accesses are not looked at costs time
// alone.
static bool has_nothing(WeakMemory *m, const Access *a) {
    History *h = &m->history;
    return a->contiguous && (a->kind == ACCESS_LOAD || history_is_full(h)) &&
           !history_has(h, a->memory->base + a->offsets[0], (uint64_t)a->bytes * WARP_SIZE);
}

// ---- The observer -----------------------------------------------------------------------------------------

static void before(void *self, const Access *a) {
    WeakMemory *m = self;
    m->pick_count = m->row = 0;
    m->has_old = false;
    m->is_idle = !has_versions(m, a->memory) || has_nothing(m, a);
    if (m->is_idle) return;
    m->time = m->history.order->now;
    if (a->kind == ACCESS_LOAD)
        before_load(m, a);
    else
        before_change(m, a);
}

static void after(void *self, const Access *a) {
    WeakMemory *m = self;
    if (m->is_idle) return;
    if (a->kind != ACCESS_LOAD)
        after_change(m, a);
    else if (m->pick_count)
        after_load(m, a);
    if (a->kind == ACCESS_ATOMIC) FOR_LANES(lane, a->mask)
    FOR_WORDS(at, a, a->offsets[lane], a->bytes) {
        uint32_t word = history_find(&m->history, a->memory->base + at);
        if (word) stale_reads_note(&m->stale, a, word, word_at(&m->history, word)->count - 1);
    }
}

static void fence(void *self, Warp *warp, uint32_t mask, const Instruction *in) {
    (void)mask;
    stale_reads_fence(&((WeakMemory *)self)->stale, warp->block, in->flags & SCOPE_CTA);
}

static void block_start(void *self, Block *block) { stale_reads_start(&((WeakMemory *)self)->stale, block); }
static void block_end(void *self, Block *block) {
    (void)self;
    stale_reads_end(block);
}

static void end(void *self) {
    WeakMemory *m = self;
    history_close(&m->history);
    free(m);
}

bool weak_memory_observe(Machine *machine, RaceOrder *order, Observer *observer) {
    WeakMemory *m = calloc(1, sizeof *m);
    if (!m) return false;
    m->machine = machine;
    m->stale = (StaleReads){.machine = machine, .history = &m->history};
    m->random.state = ~machine->launch->schedule;
    m->old_one_in = 2 + (uint32_t)(random_next(&m->random) >> 62); // 2 to 5
    if (!history_open(&m->history, order)) {
        end(m);
        return false;
    }
    *observer = (Observer){.self = m,
                           .before = before,
                           .after = after,
                           .fence = fence,
                           .block_start = block_start,
                           .block_end = block_end,
                           .end = end};
    return true;
}
