#include "emulator/observers/race_clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 3,          // entries that a node holds without a separate array
    LOOSE = 64,       // a clock is flattened when its weight is more than this and
    TIMES = 3,        // this many times the largest flat clock in it
    LARGE_PART = 4,   // a flat clock is large when it has that part of the largest one's entries
    WARP_CODE = 1024, // keys: block, then 0 to 1023 a thread, 1024 to 1055 a warp, 1056 the block
    BLOCK_CODE = 1024 + 32,
    CODE_BITS = 11,
    CODE_MASK = (1 << CODE_BITS) - 1,
};
static const uint32_t MANY_BLOCKS = UINT32_MAX;

// A clock of a history (clock_grown): the earlier ones of that history are below it, or it is flat and
// contains all their entries. A walk down from it can skip them when it meets them elsewhere.
typedef struct {
    uint64_t chain; // 0: none
    uint64_t position;
    uint64_t weight;
} Past;

// The weight of a clock is how many nodes and entries flattening it has to look at, or more. It is all that
// keeps the work small: a clock may be below others in very many ways, so each is flattened before it is
// heavy.
struct Clock {
    uint32_t owners;
    bool is_flat;
    uint32_t flat_size; // of the largest flat clock below
    uint32_t block;     // the only block that it has entries of, or MANY_BLOCKS
    uint32_t count;
    bool is_of_history; // `past` is this very clock's place in it
    Past past;          // a clock of a history, this or one below
    uint64_t extra;     // weight besides the past's
    uint64_t visited;
    Clock *parent[2];
    Clock *link;         // of lists while flattening and dropping
    ClockEntry *entries; // `few`, or allocated; of a flat clock sorted by key
    ClockEntry few[FEW];
};

ClockEntry thread_entry(uint32_t who, uint32_t time) {
    return (ClockEntry){(uint64_t)block_of(who) << CODE_BITS | thread_of(who), time};
}
ClockEntry warp_entry(uint32_t who, uint32_t time) {
    return (ClockEntry){(uint64_t)block_of(who) << CODE_BITS | (WARP_CODE + thread_of(who) / 32), time};
}
ClockEntry block_entry(uint32_t who, uint32_t time) {
    return (ClockEntry){(uint64_t)block_of(who) << CODE_BITS | BLOCK_CODE, time};
}

void clocks_close(Clocks *clocks) { free(clocks->scratch); }

// ---- Ownership --------------------------------------------------------------------------------------------

Clock *clock_keep(Clock *c) {
    if (c) c->owners++;
    return c;
}

void clock_drop(Clock *c) {
    // A list instead of recursion: histories are long.
    Clock *dead = NULL;
    if (c && !--c->owners) {
        c->link = NULL;
        dead = c;
    }
    while (dead) {
        Clock *gone = dead;
        dead = gone->link;
        for (int i = 0; i < 2; i++) {
            Clock *parent = gone->parent[i];
            if (!parent || --parent->owners) continue;
            parent->link = dead;
            dead = parent;
        }
        if (gone->entries != gone->few) free(gone->entries);
        free(gone);
    }
}

void clock_set(Clock **clock, Clock *value) {
    Clock *old = *clock;
    *clock = value;
    clock_drop(old);
}

void clock_add(Clocks *clocks, Clock **clock, Clock *more) {
    if (more && more != *clock) clock_set(clock, clock_join(clocks, *clock, more));
}

// ---- Flattening -------------------------------------------------------------------------------------------

static int compare_entries(const void *x, const void *y) {
    const ClockEntry *a = x, *b = y;
    return (a->key > b->key) - (a->key < b->key);
}

static ClockEntry *scratch_of(Clocks *clocks, size_t count) {
    size_t bytes = (count + 1) * sizeof(ClockEntry);
    if (bytes > clocks->scratch_bytes) {
        void *grown = realloc(clocks->scratch, bytes * 2);
        if (!grown) {
            clocks->failed = true;
            return NULL;
        }
        clocks->scratch = grown;
        clocks->scratch_bytes = bytes * 2;
    }
    return clocks->scratch;
}

// Does one who walks down to `past` come to `c` anyway, or to something that stands for it?
static bool is_on_the_way(const Past *past, const Clock *c) {
    return c->is_of_history && c->past.chain == past->chain && c->past.position < past->position;
}

// Copies the entries of `c` and of all below it into the scratch array, except those of large flat clocks,
// which are in order already: they come as a list, *flats. Returns how many were copied.
static size_t collect(Clocks *clocks, Clock *c, Clock **flats) {
    uint64_t visit = ++clocks->visits;
    size_t count = 0;
    Clock *todo = c;
    c->link = NULL;
    c->visited = visit;
    *flats = NULL;
    while (todo) {
        Clock *at = todo;
        todo = at->link;
        if (at->is_flat && at->count >= c->flat_size / LARGE_PART) {
            at->link = *flats;
            *flats = at;
            continue;
        }
        if (at->count) {
            ClockEntry *all = scratch_of(clocks, count + at->count);
            if (!all) return 0;
            memcpy(all + count, at->entries, at->count * sizeof *all);
            count += at->count;
        }
        for (int i = 0; i < 2; i++) {
            Clock *parent = at->parent[i];
            if (!parent || parent->visited == visit) continue;
            bool is_predecessor = i == 1 && at->is_of_history;
            if (!is_predecessor && is_on_the_way(&c->past, parent)) continue;
            parent->visited = visit;
            parent->link = todo;
            todo = parent;
        }
    }
    return count;
}

static size_t add_entry(ClockEntry *entries, size_t count, ClockEntry entry) {
    if (!count || entries[count - 1].key != entry.key)
        entries[count++] = entry;
    else if (entry.time > entries[count - 1].time)
        entries[count - 1].time = entry.time;
    return count;
}

// Two sorted arrays as one, *count long, without the earlier times of a key; NULL when memory runs out.
static ClockEntry *merge(const ClockEntry *a, size_t a_count, const ClockEntry *b, size_t b_count,
                         size_t *count) {
    ClockEntry *entries = malloc((a_count + b_count + 1) * sizeof *entries);
    size_t kept = 0;
    for (size_t i = 0, k = 0; entries && (i < a_count || k < b_count);)
        if (k == b_count || (i < a_count && a[i].key < b[k].key))
            kept = add_entry(entries, kept, a[i++]);
        else
            kept = add_entry(entries, kept, b[k++]);
    *count = kept;
    return entries;
}

// Sets the weight of a clock that has its parents and entries.
static void weigh(Clock *c) {
    Past past = {0};
    uint64_t extra = c->count + 1;
    for (int i = 0; i < 2 && !c->is_flat; i++) {
        const Clock *p = c->parent[i];
        if (!p) continue;
        extra += p->extra;
        if (p->past.chain == past.chain) {
            if (p->past.position > past.position) past = p->past;
        } else if (p->past.weight > past.weight) {
            extra += past.weight;
            past = p->past;
        } else
            extra += p->past.weight;
    }
    if (c->is_of_history) {
        c->past.weight = past.weight + extra;
        c->extra = 0;
    } else {
        c->past = past;
        c->extra = extra;
    }
}

static void flatten(Clocks *clocks, Clock *c) {
    if (c->is_flat) return;
    Clock *flat;
    size_t count = collect(clocks, c, &flat), kept = 0;
    if (clocks->failed) return;
    if (count) qsort(clocks->scratch, count, sizeof(ClockEntry), compare_entries);
    ClockEntry *entries = merge(clocks->scratch, count, NULL, 0, &kept);
    for (; flat && entries; flat = flat->link) {
        ClockEntry *before = entries;
        entries = merge(before, kept, flat->entries, flat->count, &kept);
        free(before);
    }
    if (!entries) {
        clocks->failed = true;
        return;
    }
    if (c->entries != c->few) free(c->entries);
    c->entries = entries;
    c->count = (uint32_t)kept;
    c->flat_size = (uint32_t)kept;
    c->is_flat = true;
    weigh(c);
    for (int i = 0; i < 2; i++) clock_set(&c->parent[i], NULL);
}

// ---- Making -----------------------------------------------------------------------------------------------

static Clock *node_new(Clocks *clocks, Clock *a, Clock *b) {
    Clock *c = calloc(1, sizeof *c);
    if (!c) {
        clocks->failed = true;
        return NULL;
    }
    c->owners = 1;
    c->entries = c->few;
    c->parent[0] = clock_keep(a);
    c->parent[1] = clock_keep(b);
    c->block = a ? a->block : MANY_BLOCKS;
    for (int i = 0; i < 2; i++) {
        const Clock *p = c->parent[i];
        if (!p) continue;
        if (p->block != c->block) c->block = MANY_BLOCKS;
        if (p->flat_size > c->flat_size) c->flat_size = p->flat_size;
    }
    return c;
}

// Bounds for a new clock.
static void bound_weight(Clocks *clocks, Clock *c) {
    weigh(c);
    if (c->past.weight + c->extra > LOOSE + TIMES * (uint64_t)c->flat_size) flatten(clocks, c);
}

static bool is_below(const Clock *a, const Clock *b) { return a->parent[0] == b || a->parent[1] == b; }

Clock *clock_join(Clocks *clocks, Clock *a, Clock *b) {
    if (!b || a == b) return clock_keep(a);
    if (!a) return clock_keep(b);
    if (a->is_of_history && b->is_of_history && a->past.chain == b->past.chain)
        return clock_keep(a->past.position > b->past.position ? a : b);
    if (is_below(a, b)) return clock_keep(a);
    if (is_below(b, a)) return clock_keep(b);
    Clock *c = node_new(clocks, a, b);
    if (c) bound_weight(clocks, c);
    return c;
}

Clock *clock_with(Clocks *clocks, Clock *clock, const ClockEntry *entries, int count) {
    if (!count) return clock_keep(clock);
    Clock *c = node_new(clocks, clock, NULL);
    if (!c) return NULL;
    if (count > FEW && !(c->entries = malloc((size_t)count * sizeof *entries))) {
        clocks->failed = true;
        c->entries = c->few;
        return c;
    }
    memcpy(c->entries, entries, (size_t)count * sizeof *entries);
    c->count = (uint32_t)count;
    for (int i = 0; i < count; i++) {
        uint32_t block = (uint32_t)(entries[i].key >> CODE_BITS);
        if (!clock && !i) c->block = block;
        if (c->block != block) c->block = MANY_BLOCKS;
    }
    bound_weight(clocks, c);
    return c;
}

Clock *clock_grown(Clocks *clocks, Clock *clock, Clock *more, uint64_t *history) {
    if (!more) return clock_keep(clock);
    Clock *c = node_new(clocks, more, clock);
    if (!c) return NULL;
    bool goes_on = clock && clock->is_of_history && clock->past.chain == *history;
    if (!goes_on) *history = ++clocks->chains;
    c->is_of_history = true;
    c->past = (Past){.chain = *history, .position = goes_on ? clock->past.position + 1 : 1};
    bound_weight(clocks, c);
    return c;
}

Clock *clock_within(Clocks *clocks, Clock *c, uint32_t block) {
    if (!c || c->block == block) return clock_keep(c);
    if (c->block != MANY_BLOCKS) return NULL;
    flatten(clocks, c);
    uint32_t from = 0, to;
    while (from < c->count && c->entries[from].key >> CODE_BITS < block) from++;
    for (to = from; to < c->count && c->entries[to].key >> CODE_BITS == block;) to++;
    return from == to ? NULL : clock_with(clocks, NULL, c->entries + from, (int)(to - from));
}

// ---- Questions --------------------------------------------------------------------------------------------

static uint32_t time_of(const Clock *c, uint64_t key) {
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->count && c->entries[low].key == key ? c->entries[low].time : 0;
}

uint32_t clock_time(Clocks *clocks, Clock *c, uint32_t who) {
    if (!c || (c->block != MANY_BLOCKS && c->block != block_of(who))) return 0;
    flatten(clocks, c);
    uint32_t time = time_of(c, thread_entry(who, 0).key), warp = time_of(c, warp_entry(who, 0).key),
             block = time_of(c, block_entry(who, 0).key);
    if (warp > time) time = warp;
    return block > time ? block : time;
}

uint32_t clock_time_of_all(Clocks *clocks, Clock *c, uint64_t blocks) {
    if (!c) return 0;
    flatten(clocks, c);
    if (c->count < blocks) return 0;
    uint64_t found = 0;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < c->count; i++) {
        if ((c->entries[i].key & CODE_MASK) != BLOCK_CODE) continue;
        found++;
        if (c->entries[i].time < least) least = c->entries[i].time;
    }
    return found == blocks ? least : 0;
}

bool clock_only_of(const Clock *c, uint32_t block) { return c && c->block == block; }
