#include "emulator/observers/race_granule.h"

#include <string.h>

enum {
    FEW_READERS = 8,   // of one granule remembered, when the oldest is of another block
    MANY_READERS = 40, // and when it is not: more than a block has warps
};

static inline bool knows(const RaceCheck *c, uint32_t lane, uint32_t who, uint32_t time) {
    if (time <= c->all_time) return true;
    return order_knows(&c->r->order, c->b, thread_of(c->first) + lane, who, time, is_plain_load(c->a));
}

// The first of `lanes` that `who` at `time` is not ordered before; -1: none.
static int unordered(const RaceCheck *c, uint32_t lanes, uint32_t who, uint32_t time) {
    if (time <= c->all_time) return -1;
    FOR_LANES(lane, lanes) if (!knows(c, lane, who, time)) return (int)lane;
    return -1;
}

// Is what lane `lane` is about to store there already? Judged by the first element of a vector.
static bool stores_what_is_there(const Access *a, uint32_t lane) {
    if (!a->values) return false;
    const unsigned char *value = (const unsigned char *)a->values + lane * a->in->literal[1];
    return !memcmp(a->memory->data + a->offsets[lane], value, a->in->width);
}

static void found(const RaceCheck *c, uint32_t lane, uint64_t offset, uint32_t other, uint32_t time,
                  uint16_t other_code, bool same_value) {
    const bool is_pending = c->a->kind == ACCESS_LOAD && block_of(other) != block_of(c->first) &&
                            order_is_pending(&c->r->order, c->b, thread_of(c->first) + lane, other, time);
    report_race(&c->r->reports, &(Race){.access = c->a,
                                        .lane = lane,
                                        .me = c->first + lane,
                                        .other = other,
                                        .code = c->code,
                                        .other_code = other_code,
                                        .offset = offset,
                                        .same_value = same_value,
                                        .is_pending = is_pending});
}

// True if an unordered write has stored the value that is now stored again.
static bool check_write(const RaceCheck *c, size_t g, uint64_t offset, uint32_t lanes) {
    const Shadow *s = c->shadow;
    int lane = s->write_time[g] ? unordered(c, lanes, s->write_who[g], s->write_time[g]) : -1;
    if (lane < 0) return false;
    bool same = c->site->kind == RACE_WRITE && stores_what_is_there(c->a, (uint32_t)lane);
    found(c, (uint32_t)lane, offset, s->write_who[g], s->write_time[g], s->write_site[g], same);
    return same;
}

static void check_one(const RaceCheck *c, uint64_t offset, uint32_t lanes, uint32_t who, uint32_t time,
                      uint16_t site) {
    const Site *before = site_at(&c->r->sites, site);
    if (!sites_race(c->site, before, block_of(who) == block_of(c->first))) return;
    int lane = unordered(c, lanes, who, time);
    if (lane < 0) return;
    bool same = c->site->kind == RACE_WRITE && before->kind == RACE_WRITE &&
                stores_what_is_there(c->a, (uint32_t)lane);
    found(c, (uint32_t)lane, offset, who, time, site, same);
}

// Does `lane` know of all accesses in `one`?
static bool knows_all(const RaceCheck *c, uint32_t lane, const Readers *one) {
    FOR_LANES(other, one->lanes) if (!knows(c, lane, one->who + other, one->time)) return false;
    return true;
}

// A thread that reads another thread's value is ordered after that write, without any fence, for that
// address; and an atomic that wrote it had read the previous value (PTX memory model, "Causality Order").
// Returns those of `lanes` for which that does not settle the strong write at `at` of the list that starts
// with `newest`.
static uint32_t lanes_not_behind(const RaceCheck *c, uint32_t lanes, uint32_t newest, uint32_t at) {
    const Readers *all = c->r->readers.readers;
    uint32_t behind = 0;
    for (uint32_t newer = newest; newer != at; newer = all[newer].next) {
        const Site *site = site_at(&c->r->sites, all[newer].site);
        if (site->kind == RACE_STRONG_WRITE && !site->is_atomic) behind = 0;
        if (!site->observes) continue;
        FOR_LANES(lane, lanes & ~behind) if (knows_all(c, lane, &all[newer])) behind |= 1u << lane;
    }
    return lanes & ~behind;
}

// `after_same`: an unordered write of the same value came before. The plain writes in the list stored that
// value as well (keep_accesses), and the race with the newest stands for theirs.
static void check_accesses(const RaceCheck *c, size_t g, uint64_t offset, uint32_t lanes, bool after_same) {
    const Shadow *s = c->shadow;
    if (s->access_time[g] <= c->all_time) return; // the newest of a list
    if (s->access_site[g] != SITE_LIST) {
        check_one(c, offset, lanes, s->access_who[g], s->access_time[g], s->access_site[g]);
        return;
    }
    for (uint32_t at = s->access_who[g]; at; at = c->r->readers.readers[at].next) {
        Readers one = c->r->readers.readers[at];
        const Site *site = site_at(&c->r->sites, one.site);
        if (after_same && site->kind == RACE_WRITE) continue;
        if (!sites_race(c->site, site, block_of(one.who) == block_of(c->first))) continue;
        uint32_t unknown = 0; // of one.lanes
        FOR_LANES(lane, one.lanes)
        if (unordered(c, lanes, one.who + lane, one.time) >= 0) unknown |= 1u << lane;
        if (!unknown) continue;
        bool is_write = site->kind == RACE_STRONG_WRITE;
        uint32_t left = is_write ? lanes_not_behind(c, lanes, s->access_who[g], at) : lanes;
        FOR_LANES(lane, unknown) check_one(c, offset, left, one.who + lane, one.time, one.site);
    }
}

// Threads that store one value are excused against each other, never against a read. So a write takes the
// place of earlier plain writes that it is ordered after, and of no other access that some thread may not
// know: behind the write, another thread may store the same value. And where several threads store it at
// once, all are remembered: a later read may come from one of them.
static void keep_accesses(const RaceCheck *c, size_t g, bool keeps_writes) {
    Shadow *s = c->shadow;
    ReaderPool *pool = &c->r->readers;
    bool is_list = s->access_site[g] == SITE_LIST;
    if (s->access_time[g] <= c->all_time) {
        if (is_list) readers_free(pool, s->access_who[g]);
        s->access_time[g] = s->access_site[g] = 0;
        return;
    }
    if (!is_list) {
        bool is_write = (s->access_site[g] & SITE_KIND) == RACE_WRITE;
        if (is_write && !keeps_writes) s->access_time[g] = s->access_site[g] = 0;
        return;
    }
    for (uint32_t *link = &s->access_who[g]; *link;) {
        uint32_t at = *link;
        const Readers *one = &pool->readers[at];
        bool is_write = (one->site & SITE_KIND) == RACE_WRITE;
        if (one->time > c->all_time && (!is_write || keeps_writes)) {
            link = &pool->readers[at].next;
            continue;
        }
        *link = one->next;
        pool->readers[at].next = 0;
        readers_free(pool, at);
    }
    if (!s->access_who[g]) s->access_time[g] = s->access_site[g] = 0;
}

// Whether a list of `count` accesses, whose last is `oldest`, is to take no more.
static bool is_full(const RaceCheck *c, uint32_t count, uint32_t oldest) {
    return count >= MANY_READERS ||
           (count >= FEW_READERS && block_of(c->r->readers.readers[oldest].who) != block_of(c->first));
}

// Adds an access to those of granule g, which becomes a list.
static void add_to_list(const RaceCheck *c, size_t g, Readers one) {
    Shadow *s = c->shadow;
    ReaderPool *pool = &c->r->readers;
    if (s->access_site[g] != SITE_LIST) {
        uint32_t who = s->access_who[g], lane = who % WARP_SIZE, list = 0;
        if (s->access_time[g])
            list =
                readers_add(pool, (Readers){0, s->access_time[g], who - lane, 1u << lane, s->access_site[g]});
        s->access_who[g] = list;
        s->access_site[g] = SITE_LIST;
    }
    uint32_t count = 0, oldest = 0;
    for (uint32_t at = s->access_who[g]; at; at = pool->readers[at].next) {
        Readers *other = &pool->readers[at];
        if (other->who == one.who && other->time == one.time && other->site == one.site) {
            other->lanes |= one.lanes;
            return;
        }
        oldest = at;
        count++;
    }
    if (is_full(c, count, oldest)) return; // races may be missed that only it would show
    one.next = s->access_who[g];
    uint32_t added = readers_add(pool, one);
    if (!added) order_no_memory(&c->r->order);
    if (added) s->access_who[g] = added;
    if (one.time > s->access_time[g]) s->access_time[g] = one.time;
}

// `after_same`: an unordered write of the same value came before.
static void record_write(const RaceCheck *c, size_t g, uint32_t lanes, bool after_same) {
    Shadow *s = c->shadow;
    uint32_t lane = 31 - (uint32_t)__builtin_clz(lanes), others = lanes & ~(1u << lane),
             now = c->r->order.now;
    if (s->access_time[g]) keep_accesses(c, g, after_same);
    if (after_same) {
        uint32_t who = s->write_who[g], other = who % WARP_SIZE;
        add_to_list(c, g, (Readers){0, s->write_time[g], who - other, 1u << other, s->write_site[g]});
    }
    if (others) add_to_list(c, g, (Readers){0, now, c->first, others, c->code});
    s->write_time[g] = now;
    s->write_who[g] = c->first + lane;
    s->write_site[g] = c->code;
}

// May the access `old` be forgotten for one by `lanes` now? Only the cheap ways to know are tried: clocks
// stay unopened, and a list is a little longer than it need be.
static bool is_replaced(const RaceCheck *c, uint32_t lanes, const Readers *old) {
    // Later accesses to shared memory are by this block, and are ordered after it too.
    if (old->time <= c->all_time && c->a->memory->space == PTX_SPACE_SHARED) return true;
    if (!stands_for((RaceKind)(c->code & SITE_KIND), (RaceKind)(old->site & SITE_KIND))) return false;
    if (block_of(old->who) != block_of(c->first)) return false;
    if (old->time <= c->b->barrier_time) return true;
    if (old->who != c->first) return false;
    return old->time <= c->b->warp_time[thread_of(c->first) / WARP_SIZE] || !(old->lanes & ~(lanes & -lanes));
}

// Adds `lanes` to the list of granule g, drops what they stand for, and keeps it short.
static void record_in_list(const RaceCheck *c, size_t g, uint32_t lanes) {
    Shadow *s = c->shadow;
    ReaderPool *pool = &c->r->readers;
    uint32_t now = c->r->order.now, count = 0, *link = &s->access_who[g], last = 0;
    while (*link) {
        uint32_t at = *link;
        Readers *one = &pool->readers[at];
        bool mine = one->who == c->first;
        if (mine && one->time == now && one->site == c->code && at == s->access_who[g]) {
            // the same access by more lanes, and none in between
            one->lanes |= lanes;
            return;
        }
        if (mine && stands_for((RaceKind)(c->code & SITE_KIND), (RaceKind)(one->site & SITE_KIND)))
            one->lanes &= ~lanes;
        if (!one->lanes || is_replaced(c, lanes, one)) {
            *link = one->next;
            one->next = 0;
            readers_free(pool, at);
            continue;
        }
        count++;
        last = at;
        link = &one->next;
    }
    if (is_full(c, count, last)) {
        // The oldest goes. With it races may be missed that only it would show; none is invented.
        for (link = &s->access_who[g]; *link != last;) link = &pool->readers[*link].next;
        *link = 0;
        readers_free(pool, last);
    }
    s->access_time[g] = now;
    if (!s->access_who[g] && !(lanes & (lanes - 1))) { // alone again
        s->access_who[g] = c->first + (uint32_t)__builtin_ctz(lanes);
        s->access_site[g] = c->code;
        return;
    }
    uint32_t added = readers_add(pool, (Readers){s->access_who[g], now, c->first, lanes, c->code});
    if (!added) {
        order_no_memory(&c->r->order);
        return;
    }
    s->access_who[g] = added;
}

static void record_access(const RaceCheck *c, size_t g, uint32_t lanes) {
    Shadow *s = c->shadow;
    bool is_list = s->access_site[g] == SITE_LIST;
    uint32_t who = s->access_who[g], lane = who % WARP_SIZE;
    Readers old = {0, s->access_time[g], who - lane, 1u << lane, s->access_site[g]};
    bool single = !(lanes & (lanes - 1));
    if (!is_list && single && (!old.time || is_replaced(c, lanes, &old))) {
        s->access_time[g] = c->r->order.now;
        s->access_who[g] = c->first + (uint32_t)__builtin_ctz(lanes);
        s->access_site[g] = c->code;
        return;
    }
    if (!is_list) {
        uint32_t list = 0;
        if (old.time) list = readers_add(&c->r->readers, old);
        s->access_who[g] = list;
        s->access_site[g] = SITE_LIST;
    }
    record_in_list(c, g, lanes);
}

bool find_write(const RaceCheck *c, size_t g, uint32_t *who, uint16_t *site) {
    const Shadow *s = c->shadow;
    if (s->write_time[g]) {
        *who = s->write_who[g];
        *site = s->write_site[g];
        return true;
    }
    if (!s->access_time[g]) return false;
    if (s->access_site[g] != SITE_LIST) {
        *who = s->access_who[g];
        *site = s->access_site[g];
        return site_at(&c->r->sites, *site)->kind >= RACE_STRONG_WRITE;
    }
    for (uint32_t at = s->access_who[g]; at; at = c->r->readers.readers[at].next) {
        const Readers *one = &c->r->readers.readers[at];
        *who = one->who + (uint32_t)__builtin_ctz(one->lanes);
        *site = one->site;
        if (site_at(&c->r->sites, *site)->kind >= RACE_STRONG_WRITE) return true;
    }
    return false;
}

void check_bytes(const RaceCheck *c, uint64_t offset, uint32_t bytes, uint32_t lanes) {
    size_t from = granule_of(c->shadow, offset), to = granule_of(c->shadow, offset + bytes - 1);
    RaceKind kind = (RaceKind)(c->code & SITE_KIND);
    for (size_t g = from; g <= to; g++) {
        uint64_t at = offset + ((uint64_t)(g - from) << c->shadow->shift);
        bool after_same = check_write(c, g, at, lanes);
        if (c->shadow->access_time[g]) check_accesses(c, g, at, lanes, after_same);
        if (kind == RACE_WRITE)
            record_write(c, g, lanes, after_same);
        else
            record_access(c, g, lanes);
    }
}
