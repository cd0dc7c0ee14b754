#include "emulator/observers/race_order.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/sync.h"

// Time moves on behind what `count` warps of `b` did, the first of them `warp`. Nothing tells apart when in
// between such moments of its own a warp accessed memory, so all its accesses until the next one have one
// time.
static void tick(RaceOrder *o, RaceBlock *b, int warp, int count) {
    if (++o->now == UINT32_MAX) {
        o->off = true;
        o->now--;
    }
    for (int i = 0; i < count; i++) b->epoch[warp + i] = o->now;
}

// ---- Knowledge --------------------------------------------------------------------------------------------

static void knowledge_clear(Knowledge *k) {
    clock_drop(k->known);
    clock_drop(k->drawn);
    for (int s = 0; s < SCOPES; s++) {
        clock_drop(k->pending[s]);
        clock_drop(k->fenced[s]);
        clock_drop(k->fence_known[s]);
    }
    *k = (Knowledge){0};
}

static Knowledge *knowledge_of(RaceOrder *o, RaceBlock *b, const Block *block, uint32_t thread) {
    if (!b->threads) {
        b->threads = calloc(block->thread_count, sizeof *b->threads);
        if (!b->threads) {
            o->clocks.failed = true;
            return NULL;
        }
    }
    b->threads_know = true;
    return &b->threads[thread];
}

static void forget_threads(RaceBlock *b, const Block *block) {
    for (uint32_t t = 0; t < block->thread_count && b->threads_know; t++) knowledge_clear(&b->threads[t]);
    b->threads_know = false;
}

// All that thread `thread` knows of threads that are neither its block nor its warp up to their times.
static Clock *all_known(RaceOrder *o, const RaceBlock *b, const Knowledge *k) {
    return clock_join(&o->clocks, b->common.known, k ? k->known : NULL);
}

// The picture that the last fence took; the caller owns it.
static Clock *fenced(RaceOrder *o, const RaceBlock *b, const Knowledge *k, uint32_t thread, RaceScope scope) {
    if (!k || !k->fence_time[scope])
        return clock_join(&o->clocks, b->common.fenced[scope], k ? k->fenced[scope] : NULL);
    uint32_t who = b->first + thread;
    ClockEntry entries[3] = {thread_entry(who, k->fence_time[scope]), block_entry(who, b->barrier_time),
                             warp_entry(who, k->fence_warp_time[scope])};
    return clock_with(&o->clocks, k->fence_known[scope], entries,
                      k->fence_warp_time[scope] > b->barrier_time ? 3 : 2);
}

// ---- Threads that meet ------------------------------------------------------------------------------------

// What the lanes of one warp have fenced, as one clock: 32 equal times become one of the warp.
static void meet_fenced(RaceOrder *o, const RaceBlock *b, const Warp *w, uint32_t lanes, RaceScope scope,
                        Knowledge *sum, bool *own) {
    ClockEntry entries[CLOCK_ENTRIES];
    int count = 0;
    uint32_t first = b->first + (uint32_t)w->index * WARP_SIZE, fenced_lanes = 0, low = UINT32_MAX, high = 0,
             warp_time = 0;
    const Knowledge *threads = b->threads + w->index * (int)WARP_SIZE;
    FOR_LANES(lane, lanes) {
        const Knowledge *k = &threads[lane];
        clock_add(&o->clocks, &sum->fenced[scope], k->fenced[scope]);
        uint32_t time = k->fence_time[scope];
        if (!time) continue;
        clock_add(&o->clocks, &sum->fenced[scope], k->fence_known[scope]);
        entries[count++] = thread_entry(first + lane, time);
        fenced_lanes |= 1u << lane;
        low = time < low ? time : low;
        high = time > high ? time : high;
        if (k->fence_warp_time[scope] > warp_time) warp_time = k->fence_warp_time[scope];
    }
    if (!count) return;
    *own = true;
    if (fenced_lanes == w->exists && low == high) {
        count = 0;
        warp_time = low;
    }
    if (warp_time > b->barrier_time) entries[count++] = warp_entry(first, warp_time);
    entries[count++] = block_entry(first, b->barrier_time);
    clock_set(&sum->fenced[scope], clock_with(&o->clocks, sum->fenced[scope], entries, count));
}

// Adds to `sum` what the lanes know. `own`: one of them has made a fence.
static void meet(RaceOrder *o, const RaceBlock *b, const Warp *w, uint32_t lanes, Knowledge *sum,
                 bool own[SCOPES]) {
    if (!b->threads_know) return;
    FOR_LANES(lane, lanes) {
        const Knowledge *k = &b->threads[(uint32_t)w->index * WARP_SIZE + lane];
        clock_add(&o->clocks, &sum->known, k->known);
        clock_add(&o->clocks, &sum->drawn, k->drawn);
        for (int s = 0; s < SCOPES; s++) clock_add(&o->clocks, &sum->pending[s], k->pending[s]);
    }
    for (int s = 0; s < SCOPES; s++) meet_fenced(o, b, w, lanes, (RaceScope)s, sum, &own[s]);
}

// Adds to `sum` that everything the lanes did until now is known.
static void meet_now(RaceOrder *o, const RaceBlock *b, const Warp *w, uint32_t lanes, Knowledge *sum) {
    ClockEntry entries[CLOCK_ENTRIES];
    int count = 0;
    uint32_t first = b->first + (uint32_t)w->index * WARP_SIZE, warp_time = b->warp_time[w->index];
    bool whole = lanes == w->exists;
    if (whole)
        entries[count++] = warp_entry(first, o->now);
    else {
        FOR_LANES(lane, lanes) entries[count++] = thread_entry(first + lane, o->now);
        if (warp_time > b->barrier_time) entries[count++] = warp_entry(first, warp_time);
    }
    clock_set(&sum->known, clock_with(&o->clocks, sum->known, entries, count));
}

// Every one of the lanes now knows `sum`.
static void tell(RaceOrder *o, RaceBlock *b, Warp *w, uint32_t lanes, const Knowledge *sum,
                 const bool own[SCOPES]) {
    FOR_LANES(lane, lanes) {
        Knowledge *k = knowledge_of(o, b, w->block, (uint32_t)w->index * WARP_SIZE + lane);
        if (!k) return;
        clock_set(&k->known, clock_keep(sum->known));
        clock_set(&k->drawn, clock_keep(sum->drawn));
        for (int s = 0; s < SCOPES; s++) {
            clock_set(&k->pending[s], clock_keep(sum->pending[s]));
            if (!own[s] && !sum->fenced[s]) continue;
            clock_set(&k->fenced[s], clock_keep(sum->fenced[s]));
            clock_set(&k->fence_known[s], NULL);
            k->fence_time[s] = 0;
        }
    }
}

static void meet_whole_block(RaceOrder *o, RaceBlock *b, Block *block) {
    if (b->threads_know) {
        Knowledge sum = {0};
        bool own[SCOPES] = {false};
        for (int i = 0; i < block->warp_count; i++)
            meet(o, b, &block->warps[i], block->warps[i].exists, &sum, own);
        // The barrier itself orders the block's own threads from now on.
        if (!clock_only_of(sum.known, block_of(b->first))) clock_add(&o->clocks, &b->common.known, sum.known);
        clock_add(&o->clocks, &b->common.drawn, sum.drawn);
        for (int s = 0; s < SCOPES; s++) {
            clock_add(&o->clocks, &b->common.pending[s], sum.pending[s]);
            // A thread that executed a fence has observed everything that the block had fenced before.
            if (own[s] || own[SCOPE_GRID])
                clock_set(&b->common.fenced[s], clock_keep(sum.fenced[s]));
            else
                clock_add(&o->clocks, &b->common.fenced[s], sum.fenced[s]);
        }
        knowledge_clear(&sum);
        forget_threads(b, block);
    }
    b->barrier_time = o->now;
    tick(o, b, 0, block->warp_count);
}

void order_barrier(RaceOrder *o, Block *block, int id) {
    RaceBlock *b = race_block(block);
    uint32_t waiting = 0;
    if (block->barriers[id].expected)
        for (int i = 0; i < block->warp_count; i++)
            waiting += (uint32_t)__builtin_popcount(lanes_at_barrier(&block->warps[i], id));
    // A barrier of all threads orders those that have exited too; one of some threads only those that come.
    if (!block->barriers[id].expected || waiting == block->thread_count) {
        knowledge_clear(&b->arrived[id]);
        meet_whole_block(o, b, block);
        return;
    }
    Knowledge sum = b->arrived[id];
    b->arrived[id] = (Knowledge){0};
    bool own[SCOPES] = {false};
    for (int i = 0; i < block->warp_count; i++) {
        uint32_t lanes = lanes_at_barrier(&block->warps[i], id);
        if (!lanes) continue;
        meet(o, b, &block->warps[i], lanes, &sum, own);
        meet_now(o, b, &block->warps[i], lanes, &sum);
    }
    for (int i = 0; i < block->warp_count; i++)
        tell(o, b, &block->warps[i], lanes_at_barrier(&block->warps[i], id), &sum, own);
    knowledge_clear(&sum);
    tick(o, b, 0, block->warp_count);
}

void order_arrive(RaceOrder *o, Warp *w, uint32_t lanes, int id) {
    RaceBlock *b = race_block(w->block);
    bool own[SCOPES] = {false};
    meet(o, b, w, lanes, &b->arrived[id], own);
    meet_now(o, b, w, lanes, &b->arrived[id]);
    tick(o, b, w->index, 1);
}

void order_warp_sync(RaceOrder *o, Warp *w, uint32_t lanes) {
    RaceBlock *b = race_block(w->block);
    bool whole = lanes == w->exists; // lanes that have exited take no part
    if (!whole || b->threads_know) {
        Knowledge sum = {0};
        bool own[SCOPES] = {false};
        meet(o, b, w, lanes, &sum, own);
        if (!whole) meet_now(o, b, w, lanes, &sum);
        if (sum.known || sum.drawn || sum.pending[0] || sum.pending[1] || sum.fenced[0] || sum.fenced[1])
            tell(o, b, w, lanes, &sum, own);
        knowledge_clear(&sum);
    }
    if (whole) b->warp_time[w->index] = o->now;
    tick(o, b, w->index, 1);
}

void order_cluster_arrive(RaceOrder *o, Warp *w, uint32_t lanes, uint16_t flags) {
    RaceBlock *b = race_block(w->block);
    const Cluster *cluster = w->block->cluster;
    Knowledge *sum = &race_block(cluster->blocks[0])->at_cluster[cluster->phase & 1];
    if (!cluster->arrived) knowledge_clear(sum); // of the phase before the last
    if (!(flags & IS_RELEASE)) return;
    bool own[SCOPES] = {false};
    const uint32_t who = b->first + (uint32_t)w->index * WARP_SIZE;
    const ClockEntry before = block_entry(who, b->barrier_time);
    meet(o, b, w, lanes, sum, own);
    meet_now(o, b, w, lanes, sum);
    clock_add(&o->clocks, &sum->known, b->common.known);
    clock_set(&sum->known, clock_with(&o->clocks, sum->known, &before, 1));
    tick(o, b, w->index, 1);
}

// Adds what the threads of the cluster that have exited did: like a barrier of the block, it does not wait
// for them, and comes after them.
static void meet_exited(RaceOrder *o, const Cluster *cluster, Knowledge *sum) {
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        const Block *block = cluster->blocks[rank];
        for (int k = 0; k < block->warp_count && block->exited_threads; k++)
            if (block->warps[k].exited)
                meet_now(o, race_block(block), &block->warps[k], block->warps[k].exited, sum);
    }
}

// A thread may have learnt more since it arrived.
void order_cluster_wait(RaceOrder *o, Warp *w, uint32_t lanes) {
    RaceBlock *b = race_block(w->block);
    const Cluster *cluster = w->block->cluster;
    const uint32_t lowest = (uint32_t)__builtin_ctz(lanes), phase = w->cluster_phase >> lowest & 1;
    Knowledge *sum = &race_block(cluster->blocks[0])->at_cluster[phase];
    meet_exited(o, cluster, sum);
    FOR_LANES(lane, lanes) {
        Knowledge *k = knowledge_of(o, b, w->block, (uint32_t)w->index * WARP_SIZE + lane);
        if (!k) return;
        clock_add(&o->clocks, &k->known, sum->known);
        clock_add(&o->clocks, &k->drawn, sum->drawn);
        for (int s = 0; s < SCOPES; s++) clock_add(&o->clocks, &k->pending[s], sum->pending[s]);
    }
    tick(o, b, w->index, 1);
}

// ---- Fences and flags -------------------------------------------------------------------------------------

// *known becomes its join with what is pending in `k`, as far as a fence of one block or of the grid makes
// it known: a fence of one block does not bring other blocks' news.
static void take_pending(RaceOrder *o, const RaceBlock *b, Clock **known, const Knowledge *k, bool of_block) {
    clock_add(&o->clocks, known, k->pending[SCOPE_BLOCK]);
    Clock *more = k->pending[SCOPE_GRID];
    more = of_block ? clock_within(&o->clocks, more, block_of(b->first)) : clock_keep(more);
    clock_add(&o->clocks, known, more);
    clock_drop(more);
}

void order_fence(RaceOrder *o, Warp *w, uint32_t lanes, uint16_t flags) {
    RaceBlock *b = race_block(w->block);
    const bool of_block = flags & SCOPE_CTA, is_sc = o->is_weak && flags & IS_SC && !of_block;
    RaceScope scope = of_block ? SCOPE_BLOCK : SCOPE_GRID;
    FOR_LANES(lane, lanes) {
        Knowledge *k = knowledge_of(o, b, w->block, (uint32_t)w->index * WARP_SIZE + lane);
        if (!k) return;
        take_pending(o, b, &k->known, k, of_block);
        take_pending(o, b, &k->known, &b->common, of_block);
        if (is_sc) clock_add(&o->clocks, &k->known, o->sc);
        clock_set(&k->pending[SCOPE_BLOCK], NULL);
        if (!of_block) clock_set(&k->pending[SCOPE_GRID], NULL);
        for (int s = SCOPE_BLOCK; s <= (int)scope; s++) { // a picture for the grid replaces one for the block
            clock_set(&k->fenced[s], NULL);
            clock_set(&k->fence_known[s], NULL);
            k->fence_time[s] = 0;
        }
        k->fence_time[scope] = o->now;
        k->fence_warp_time[scope] = b->warp_time[w->index];
        k->fence_known[scope] = all_known(o, b, k);
        if (!is_sc) continue;
        Clock *mine = fenced(o, b, k, (uint32_t)w->index * WARP_SIZE + lane, SCOPE_GRID);
        clock_add(&o->clocks, &o->sc, mine);
        clock_drop(mine);
    }
    tick(o, b, w->index, 1);
}

void order_proxy_fence(RaceOrder *o, Block *block) {
    RaceBlock *b = race_block(block);
    b->proxy_time = o->now;
    tick(o, b, 0, block->warp_count);
}

static uint32_t slot_of(const Flags *f, uint64_t address) {
    uint64_t hash = address * 0x9e3779b97f4a7c15ull;
    uint32_t slot = (uint32_t)(hash >> 32) & (f->capacity - 1);
    while (f->slots[slot].used && f->slots[slot].address != address) slot = (slot + 1) & (f->capacity - 1);
    return slot;
}

static Clock *flag_at(const Flags *f, uint64_t address) {
    if (!f->count) return NULL;
    uint32_t slot = slot_of(f, address);
    return f->slots[slot].used ? f->slots[slot].clock : NULL;
}

static bool flags_grow(Flags *f) {
    Flags grown = {.capacity = f->capacity ? f->capacity * 2 : 16, .count = f->count};
    grown.slots = calloc(grown.capacity, sizeof *grown.slots);
    if (!grown.slots) return false;
    for (uint32_t i = 0; i < f->capacity; i++)
        if (f->slots[i].used) grown.slots[slot_of(&grown, f->slots[i].address)] = f->slots[i];
    free(f->slots);
    *f = grown;
    return true;
}

static void flags_clear(Flags *f) {
    for (uint32_t i = 0; i < f->capacity && f->count; i++) clock_drop(f->slots[i].clock);
    if (f->count) memset(f->slots, 0, f->capacity * sizeof *f->slots);
    f->count = 0;
}

// `published` (NULL: nothing) at `address`.
static void publish(RaceOrder *o, Flags *f, uint64_t address, Clock *published, bool adds) {
    if (!published && (adds || !f->count)) return;
    if (f->count * 2 >= f->capacity && !flags_grow(f)) {
        o->clocks.failed = true;
        return;
    }
    uint32_t slot = slot_of(f, address);
    if (!f->slots[slot].used) {
        if (!published) return;
        f->slots[slot].used = true;
        f->slots[slot].address = address;
        f->count++;
    }
    Clock **clock = &f->slots[slot].clock;
    clock_set(clock, adds ? clock_grown(&o->clocks, *clock, published, &f->slots[slot].history)
                          : clock_keep(published));
}

// What lane `lane` knows now, with all that it did.
static Clock *known_now(RaceOrder *o, const RaceBlock *b, const Knowledge *k, uint32_t thread) {
    uint32_t who = b->first + thread;
    ClockEntry entries[3] = {thread_entry(who, o->now), block_entry(who, b->barrier_time),
                             warp_entry(who, b->warp_time[thread / WARP_SIZE])};
    Clock *known = all_known(o, b, k);
    clock_set(&known, clock_with(&o->clocks, known, entries, 3));
    return known;
}

// Whether threads of several blocks may access it.
static bool is_of_many(const Access *a) {
    return a->memory->space == PTX_SPACE_GLOBAL || a->warp->block->cluster->size > 1;
}

static void pick_up(RaceOrder *o, RaceBlock *b, const Access *a, uint32_t thread, uint64_t address,
                    bool of_grid) {
    bool acquires = a->in->flags & IS_ACQUIRE, draws = a->kind != ACCESS_LOAD && !acquires;
    Clock *of_block = flag_at(&b->flags, address);
    Clock *grid = is_of_many(a) ? flag_at(&o->flags, address) : NULL;
    if (!of_block && !grid) return;
    Knowledge *k = knowledge_of(o, b, a->warp->block, thread);
    if (!k) return;
    clock_add(&o->clocks, acquires ? &k->known : &k->pending[SCOPE_BLOCK], of_block);
    if (draws) clock_add(&o->clocks, &k->drawn, of_block);
    grid = of_grid ? clock_keep(grid) : clock_within(&o->clocks, grid, block_of(b->first));
    clock_add(&o->clocks, acquires ? &k->known : &k->pending[SCOPE_GRID], grid);
    if (draws) clock_add(&o->clocks, &k->drawn, grid);
    clock_drop(grid);
}

static void put_down(RaceOrder *o, RaceBlock *b, const Access *a, uint32_t thread, uint64_t address,
                     bool of_grid) {
    const Knowledge *k = b->threads_know ? &b->threads[thread] : NULL;
    bool adds = a->kind != ACCESS_STORE || o->is_weak;
    Clock *picture[SCOPES];
    for (int s = 0; s < SCOPES; s++) picture[s] = fenced(o, b, k, thread, (RaceScope)s);
    if (a->in->flags & IS_RELEASE) {
        Clock *known = known_now(o, b, k, thread);
        clock_add(&o->clocks, &picture[of_grid ? SCOPE_GRID : SCOPE_BLOCK], known);
        clock_drop(known);
    }
    if (!of_grid) { // nobody outside the block sees any of it
        clock_add(&o->clocks, &picture[SCOPE_BLOCK], picture[SCOPE_GRID]);
        clock_set(&picture[SCOPE_GRID], NULL);
    }
    publish(o, &b->flags, address, picture[SCOPE_BLOCK], adds);
    if (is_of_many(a)) publish(o, &o->flags, address, picture[SCOPE_GRID], adds);
    for (int s = 0; s < SCOPES; s++) clock_drop(picture[s]);
}

void order_flag(RaceOrder *o, const Access *a) {
    RaceBlock *b = race_block(a->warp->block);
    bool releases = a->in->flags & IS_RELEASE;
    if (!releases && !o->flags.count && !b->flags.count && !b->threads_know &&
        !b->common.fenced[SCOPE_BLOCK] && !b->common.fenced[SCOPE_GRID])
        return;
    // Shared memory belongs to one block, or cluster, and so does what a .cta operation says.
    bool of_grid = is_of_many(a) && !(a->in->flags & SCOPE_CTA);
    const uint64_t base = a->memory->space == PTX_SPACE_SHARED
                              ? 1ull << 63 | block_of_memory(a->memory)->number << 32
                              : a->memory->base;
    FOR_LANES(lane, a->mask) {
        uint32_t thread = (uint32_t)a->warp->index * WARP_SIZE + lane;
        uint64_t address = (base + a->offsets[lane]) & ~3ull;
        // What an mbarrier is told releases, and learns nothing.
        const bool only_releases =
            a->in->kind == KIND_MBARRIER || a->in->kind == KIND_BULK || a->in->kind == KIND_ASYNC_STORE;
        if (a->kind != ACCESS_STORE && !only_releases) pick_up(o, b, a, thread, address, of_grid);
        if (a->kind != ACCESS_LOAD) put_down(o, b, a, thread, address, of_grid);
    }
    if (releases) tick(o, b, a->warp->index, 1);
}

// ---- Blocks -----------------------------------------------------------------------------------------------

bool order_by_clocks(RaceOrder *o, RaceBlock *b, uint32_t thread, uint32_t who, uint32_t time,
                     bool is_plain) {
    if (clock_time(&o->clocks, b->common.known, who) >= time) {
        if (b->all_known != b->common.known) {
            b->all_known = b->common.known;
            uint32_t all = clock_time_of_all(&o->clocks, b->common.known, o->blocks);
            if (all > b->all_time) b->all_time = all;
        }
        return true;
    }
    if (!is_plain && clock_time(&o->clocks, b->common.drawn, who) >= time) return true;
    if (!b->threads_know) return false;
    const Knowledge *k = &b->threads[thread];
    return clock_time(&o->clocks, k->known, who) >= time ||
           (!is_plain && clock_time(&o->clocks, k->drawn, who) >= time);
}

bool order_is_pending(RaceOrder *o, const RaceBlock *b, uint32_t thread, uint32_t who, uint32_t time) {
    for (int s = 0; s < SCOPES; s++) {
        if (clock_time(&o->clocks, b->common.pending[s], who) >= time) return true;
        if (b->threads_know && clock_time(&o->clocks, b->threads[thread].pending[s], who) >= time)
            return true;
    }
    return false;
}

void order_start(RaceOrder *o, RaceBlock *b, const Block *block) {
    b->first = (uint32_t)(block->number & BLOCK_MASK) << THREAD_BITS;
    b->barrier_time = b->proxy_time = o->now;
    memset(b->warp_time, 0, sizeof b->warp_time);
    b->all_time = 0;
    b->all_known = NULL;
    tick(o, b, 0, block->warp_count);
}

void order_end(RaceBlock *b, const Block *block) {
    forget_threads(b, block);
    knowledge_clear(&b->common);
    for (int i = 0; i < BARRIER_COUNT; i++) knowledge_clear(&b->arrived[i]);
    for (int i = 0; i < 2; i++) knowledge_clear(&b->at_cluster[i]);
    flags_clear(&b->flags);
}

void order_free(RaceBlock *b) {
    free(b->threads);
    free(b->flags.slots);
}

void order_close(RaceOrder *o) {
    flags_clear(&o->flags);
    free(o->flags.slots);
    clock_drop(o->sc);
    clocks_close(&o->clocks);
}
