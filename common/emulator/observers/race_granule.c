#include "emulator/observers/race_granule.h"

#include <string.h>

enum {
    FEW_READERS = 8,   // elements of a granule's list, when the oldest is of another block
    MANY_READERS = 40, // and when it is not: more than a block has warps
};

static inline bool is_before_barrier(const RaceCheck *c, uint32_t who, uint32_t time) {
    return block_of(who) == block_of(c->first) && time <= c->b->barrier_time;
}

// Whether what one thread did is before a barrier of its block, or of its warp, which is this one.
static inline bool is_before_sync(const RaceCheck *c, uint32_t who, uint32_t time) {
    if (block_of(who) != block_of(c->first)) return false;
    return time <= c->b->barrier_time ||
           (warp_of(who) == warp_of(c->first) && time <= c->b->warp_time[warp_of(who)]);
}

static inline bool knows(const RaceCheck *c, uint32_t lane, uint32_t who, uint32_t time) {
    if (time <= c->all_time) return true;
    return order_knows(&c->r->order, c->b, thread_of(c->first) + lane, who, time, is_plain_load(c->a));
}

// The first of `lanes` that `who` at `time` is not ordered before; -1: none.
static int unordered(const RaceCheck *c, uint32_t lanes, uint32_t who, uint32_t time) {
    if (time <= c->all_time) return -1;
    if (is_before_sync(c, who, time)) return -1;
    FOR_LANES(lane, lanes) if (!knows(c, lane, who, time)) return (int)lane;
    return -1;
}

// `lanes` of the access, to be remembered.
static Readers mine(const RaceCheck *c, uint32_t lanes) {
    return (Readers){
        .time = c->now, .who = c->first, .warps = 1u << warp_of(c->first), .lanes = lanes, .site = c->code};
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

// Lane 0 of warp `warp` of the block of `one`.
static uint32_t warp_at(const Readers *one, uint32_t warp) {
    return (one->who & ~((1u << THREAD_BITS) - 1)) + warp * WARP_SIZE;
}

// The warp of `one` that follows `before`, or the first (-1): the one that came last, then from the highest
// to the lowest. -1: there are no more.
static int next_warp(const Readers *one, int before) {
    uint32_t last = warp_of(one->who), others = one->warps & ~(1u << last);
    if (before < 0 && one->warps >> last & 1) return (int)last;
    if (before >= 0 && before != (int)last) others &= (1u << before) - 1;
    return others ? 31 - __builtin_clz(others) : -1;
}

// Does `lane` know of all accesses in `one`, which are of one warp?
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

// `at`: the place of `one` in the list that starts with `newest`; both 0 of what is in no list.
static void check_against(const RaceCheck *c, uint64_t offset, uint32_t lanes, const Readers *one,
                          uint32_t newest, uint32_t at) {
    const ReaderPool *pool = &c->r->readers;
    const Site *site = site_at(&c->r->sites, one->site);
    if (!sites_race(c->site, site, block_of(one->who) == block_of(c->first))) return;
    for (int warp = -1; (warp = next_warp(one, warp)) >= 0;) {
        uint32_t first = warp_at(one, (uint32_t)warp), time = reader_time(pool, one, (uint32_t)warp);
        uint32_t unknown = 0;
        c->r->compared++;
        FOR_LANES(lane, reader_lanes(pool, one, (uint32_t)warp))
        if (unordered(c, lanes, first + lane, time) >= 0) unknown |= 1u << lane;
        if (!unknown) continue;
        bool is_write = site->kind == RACE_STRONG_WRITE;
        uint32_t left = is_write ? lanes_not_behind(c, lanes, newest, at) : lanes;
        FOR_LANES(lane, unknown) check_one(c, offset, left, first + lane, time, one->site);
    }
}

// `after_same`: an unordered write of the same value came before. The plain writes in the list stored that
// value as well (keep_accesses), and the race with the newest stands for theirs.
static void check_accesses(const RaceCheck *c, size_t g, uint64_t offset, uint32_t lanes, bool after_same) {
    const Shadow *s = c->shadow;
    if (s->access_time[g] <= c->all_time) return; // the newest of a list
    if (((c->code | s->access_site[g]) & SITE_KIND) == RACE_READ) return;
    if (!is_list(s->access_site[g])) {
        Readers one = shadow_access(s, g);
        check_against(c, offset, lanes, &one, 0, 0);
        return;
    }
    for (uint32_t at = s->access_who[g]; at; at = c->r->readers.readers[at].next) {
        Readers one = c->r->readers.readers[at];
        c->r->compared++;
        if (after_same && (one.site & SITE_KIND) == RACE_WRITE) continue;
        check_against(c, offset, lanes, &one, s->access_who[g], at);
    }
}

// Threads that store one value are excused against each other, never against a read. So a write takes the
// place of earlier plain writes that it is ordered after, and of no other access that some thread may not
// know: behind the write, another thread may store the same value. And where several threads store it at
// once, all are remembered: a later read may come from one of them.
static void keep_accesses(const RaceCheck *c, size_t g, bool keeps_writes) {
    Shadow *s = c->shadow;
    ReaderPool *pool = &c->r->readers;
    const bool has_list = is_list(s->access_site[g]);
    if (s->access_time[g] <= c->all_time) {
        if (has_list) readers_free(pool, s->access_who[g]);
        s->access_time[g] = s->access_site[g] = 0;
        return;
    }
    if (!has_list) return; // plain writes are in lists only
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

// Makes a list of what granule g has.
static void make_list(const RaceCheck *c, size_t g) {
    Shadow *s = c->shadow;
    if (is_list(s->access_site[g])) return;
    uint32_t list = 0;
    uint16_t site = SITE_READERS;
    if (s->access_time[g]) {
        Readers one = shadow_access(s, g);
        if ((one.site & SITE_KIND) != RACE_READ) site = SITE_LIST;
        list = readers_add(&c->r->readers, one);
    }
    s->access_who[g] = list;
    s->access_site[g] = site;
}

// Puts `one` at the front of the list of granule g.
static void push(const RaceCheck *c, size_t g, Readers one) {
    Shadow *s = c->shadow;
    one.next = s->access_who[g];
    uint32_t added = readers_add(&c->r->readers, one);
    if (!added) {
        order_no_memory(&c->r->order);
        return;
    }
    s->access_who[g] = added;
    if ((one.site & SITE_KIND) != RACE_READ) s->access_site[g] = SITE_LIST;
    if (one.time > s->access_time[g]) s->access_time[g] = one.time;
}

// Adds a plain write by one warp to the accesses of granule g.
static void add_write(const RaceCheck *c, size_t g, Readers one) {
    make_list(c, g);
    Readers *all = c->r->readers.readers;
    uint32_t count = 0, oldest = 0;
    for (uint32_t at = c->shadow->access_who[g]; at; at = all[at].next) {
        if (all[at].who == one.who && all[at].time == one.time && all[at].site == one.site) {
            all[at].lanes |= one.lanes;
            return;
        }
        oldest = at;
        count++;
    }
    if (!is_full(c, count, oldest)) push(c, g, one); // else races may be missed that only it would show
}

// `after_same`: an unordered write of the same value came before.
static void record_write(const RaceCheck *c, size_t g, uint32_t lanes, bool after_same) {
    Shadow *s = c->shadow;
    uint32_t lane = 31 - (uint32_t)__builtin_clz(lanes), others = lanes & ~(1u << lane);
    if (s->access_time[g]) keep_accesses(c, g, after_same);
    if (after_same) {
        uint32_t who = s->write_who[g], other = who % WARP_SIZE;
        add_write(c, g,
                  (Readers){.time = s->write_time[g],
                            .who = who - other,
                            .warps = 1u << warp_of(who),
                            .lanes = 1u << other,
                            .site = s->write_site[g]});
    }
    if (others) add_write(c, g, mine(c, others));
    s->write_time[g] = c->now;
    s->write_who[g] = c->first + lane;
    s->write_site[g] = c->code;
}

// Atomics whose result nothing reads. Nothing is ordered by them (lanes_not_behind), so that it does not
// matter which of several came first.
static bool is_reduction(const RaceCheck *c, uint16_t code) {
    const Site *site = site_at(&c->r->sites, code);
    return site->is_atomic && !site->observes;
}

// Does `one` hold what this access is added to? Plain reads of all warps of the block, and reductions if all
// that came since are reductions too (no `others_since`); of anything else the order matters, and it must be
// the newest.
static bool takes(const RaceCheck *c, const Readers *one, bool is_newest, bool others_since) {
    if (one->site != c->code || block_of(one->who) != block_of(c->first)) return false;
    return (c->code & SITE_KIND) == RACE_READ || (is_newest && one->who == c->first) ||
           (!others_since && is_reduction(c, c->code));
}

// Takes out of `old` what an access by `lanes` now stands for, unless it is about to be added there. True if
// nothing is left. Only the cheap ways to know are tried: clocks stay unopened, and a list is a little longer
// than it need be.
static bool is_replaced(const RaceCheck *c, uint32_t lanes, Readers *old, bool others_since) {
    // Later accesses to shared memory are by this block, and are ordered after it too.
    if (old->time <= c->all_time && c->a->memory->space == PTX_SPACE_SHARED) return true;
    if (!stands_for((RaceKind)(c->code & SITE_KIND), (RaceKind)(old->site & SITE_KIND))) return false;
    if (block_of(old->who) != block_of(c->first)) return false;
    if (old->time <= c->b->barrier_time) return true;
    ReaderPool *pool = &c->r->readers;
    uint32_t warp = warp_of(c->first);
    if (!(old->warps >> warp & 1)) return false;
    uint32_t time = reader_time(pool, old, warp);
    if (time == c->now && takes(c, old, false, others_since)) return false;
    return readers_leave(pool, old, warp, time <= c->b->warp_time[warp] ? ~0u : lanes);
}

static void take_out(ReaderPool *pool, uint32_t *link) {
    uint32_t at = *link;
    *link = pool->readers[at].next;
    pool->readers[at].next = 0;
    readers_free(pool, at);
}

// `one` is all that granule g has.
static void set_only(const RaceCheck *c, size_t g, Readers one) {
    one.next = 0;
    one.is_last = true;
    shadow_set_access(c->shadow, g, &one);
    if (!one.table) return;
    c->shadow->access_who[g] = 0;
    c->shadow->access_site[g] = SITE_READERS;
    push(c, g, one);
}

// Adds `more` to the list of granule g, drops what it stands for, and keeps the list short.
static void record_in_list(const RaceCheck *c, size_t g, Readers more) {
    Shadow *s = c->shadow;
    ReaderPool *pool = &c->r->readers;
    uint32_t *link = &s->access_who[g], *to_last = link, count = 0, joined = 0;
    Readers *newest = &pool->readers[*link];
    if (newest->who == c->first && newest->warps & more.warps && takes(c, newest, true, false) &&
        readers_join(pool, newest, &more))
        return; // the same access by more lanes, and none in between
    const bool is_shared = c->a->memory->space == PTX_SPACE_SHARED;
    bool is_last = false, is_only = true, others_since = false;
    while (*link && !(joined && is_last)) {
        uint32_t at = *link;
        Readers *one = &pool->readers[at];
        bool is_ours = block_of(one->who) == block_of(c->first);
        is_last |= is_ours && one->is_last;
        if ((is_ours || is_shared) && is_replaced(c, more.lanes, one, others_since)) {
            take_out(pool, link);
            continue;
        }
        if (is_ours && !joined && takes(c, one, false, others_since) && readers_join(pool, one, &more)) {
            joined = at;
            *link = one->next;
            continue;
        }
        is_only &= !is_ours;
        others_since |= !is_reduction(c, one->site);
        count++;
        to_last = link;
        link = &one->next;
    }
    if (joined && (count || *link || pool->readers[joined].table)) { // to the front
        pool->readers[joined].next = s->access_who[g];
        pool->readers[joined].is_last = is_only;
        s->access_who[g] = joined;
        if (c->now > s->access_time[g]) s->access_time[g] = c->now;
        return;
    }
    if (joined) {
        more = pool->readers[joined];
        pool->readers[joined].next = 0;
        readers_free(pool, joined);
    }
    if (!count) {
        set_only(c, g, more);
        return;
    }
    more.is_last = is_only;
    // The oldest goes. With it races may be missed that only it would show; none is invented.
    if (is_full(c, count, *to_last)) take_out(pool, to_last);
    push(c, g, more);
}

// Whether two lanes of this warp have just read granule g, of shared memory, since the warp was last part of
// an order. A later write by any other thread races with one of them, and a third reader would show nothing
// more: each element of a tile is read by many lanes at many places. (Unless single lanes are ordered, one by
// one.)
static bool has_readers(const RaceCheck *c, size_t g) {
    const Shadow *s = c->shadow;
    if (s->access_site[g] != SITE_READERS || c->a->memory->space != PTX_SPACE_SHARED) return false;
    const Readers *all = c->r->readers.readers, *newest = &all[s->access_who[g]],
                  *before = &all[newest->next];
    return newest->who == c->first && newest->time == c->now && !newest->table && newest->next &&
           before->who == c->first && before->time == c->now && !before->table &&
           (newest->lanes | before->lanes) & ((newest->lanes | before->lanes) - 1);
}

uint32_t reads_that_add(const RaceCheck *c) {
    const Shadow *s = c->shadow;
    if ((c->code & SITE_KIND) != RACE_READ || c->a->bytes >> s->shift != 1 ||
        c->a->memory->space != PTX_SPACE_SHARED)
        return c->a->mask;
    const size_t from = granule_of(s, c->a->offsets[0]);
    uint32_t adding = 0;
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
        const uint32_t written = s->write_time[from + lane];
        const bool is_settled =
            written <= c->all_time || is_before_sync(c, s->write_who[from + lane], written);
        if (!is_settled || !has_readers(c, from + lane)) adding |= 1u << lane;
    }
    return adding;
}

static void record_access(const RaceCheck *c, size_t g, uint32_t lanes) {
    Shadow *s = c->shadow;
    if ((c->code & SITE_KIND) == RACE_READ && has_readers(c, g)) return;
    Readers one = mine(c, lanes);
    if (is_list(s->access_site[g])) {
        record_in_list(c, g, one);
        return;
    }
    if (s->access_time[g]) {
        Readers old = shadow_access(s, g);
        if (!is_replaced(c, lanes, &old, false)) {
            bool has_joined = takes(c, &old, true, false) && readers_join(&c->r->readers, &old, &one);
            set_only(c, g, old);
            if (has_joined) return;
            make_list(c, g);
            one.is_last = block_of(old.who) != block_of(c->first);
            push(c, g, one);
            return;
        }
    }
    set_only(c, g, one);
}

void remember_read(const RaceCheck *c, size_t g, uint32_t lanes) { record_access(c, g, lanes); }

bool find_write(const RaceCheck *c, size_t g, uint32_t *who, uint16_t *site) {
    const Shadow *s = c->shadow;
    if (s->write_time[g]) {
        *who = s->write_who[g];
        *site = s->write_site[g];
        return true;
    }
    if (!s->access_time[g]) return false;
    Readers one = is_list(s->access_site[g]) ? c->r->readers.readers[s->access_who[g]] : shadow_access(s, g);
    for (;; one = c->r->readers.readers[one.next]) {
        *who = one.who + (uint32_t)__builtin_ctz(one.lanes);
        *site = one.site;
        if (site_at(&c->r->sites, *site)->kind >= RACE_STRONG_WRITE) return true;
        if (!one.next) return false;
    }
}

// Whether what granule g has besides the last write is one access, or several alike, that is known to all who
// may come, or to this warp.
static inline bool is_access_settled(const RaceCheck *c, size_t g) {
    const Shadow *s = c->shadow;
    const uint32_t time = s->access_time[g], who = s->access_who[g];
    if (time <= c->all_time) return true;
    return is_group(s->access_site[g]) ? is_before_barrier(c, who, time) : is_before_sync(c, who, time);
}

static bool reads_granule_quietly(const RaceCheck *c, size_t g, uint32_t lanes) {
    Shadow *s = c->shadow;
    uint32_t written = s->write_time[g], time = s->access_time[g];
    if (written > c->all_time && !is_before_sync(c, s->write_who[g], written)) return false;
    if (s->access_site[g] & 2 || is_list(s->access_site[g])) return false;
    Readers one = mine(c, lanes);
    if (!is_access_settled(c, g)) {
        Readers old = shadow_access(s, g);
        if (!takes(c, &old, false, false) || time != c->now || old.lanes != lanes) return false;
        one.warps |= old.warps;
    }
    shadow_set_access(s, g, &one);
    return true;
}

// Records a plain write by lane `lane` if nothing that granule g has can race with it, where that is soon
// found out.
static bool writes_granule_quietly(const RaceCheck *c, size_t g, uint32_t lane) {
    Shadow *s = c->shadow;
    const uint32_t me = c->first + lane, written = s->write_time[g], time = s->access_time[g];
    const uint16_t site = s->access_site[g];
    if (written > c->all_time && s->write_who[g] != me && !is_before_sync(c, s->write_who[g], written))
        return false;
    if (time && (is_list(site) || (!is_access_settled(c, g) && (is_group(site) || s->access_who[g] != me))))
        return false;
    if (time <= c->all_time) s->access_time[g] = s->access_site[g] = 0; // as keep_accesses
    s->write_time[g] = c->now;
    s->write_who[g] = me;
    s->write_site[g] = c->code;
    return true;
}

bool reads_quietly(const RaceCheck *c, uint64_t offset, uint32_t bytes, uint32_t lanes) {
    size_t from = granule_of(c->shadow, offset), to = granule_of(c->shadow, offset + bytes - 1);
    for (size_t g = from; g <= to; g++)
        if (!reads_granule_quietly(c, g, lanes)) return false;
    return true;
}

void check_bytes(const RaceCheck *c, uint64_t offset, uint32_t bytes, uint32_t lanes) {
    size_t from = granule_of(c->shadow, offset), to = granule_of(c->shadow, offset + bytes - 1);
    RaceKind kind = (RaceKind)(c->code & SITE_KIND);
    const bool is_one_lane = !(lanes & (lanes - 1));
    for (size_t g = from; g <= to; g++) {
        uint64_t at = offset + ((uint64_t)(g - from) << c->shadow->shift);
        if (kind == RACE_READ && reads_granule_quietly(c, g, lanes)) continue;
        if (kind == RACE_WRITE && is_one_lane && writes_granule_quietly(c, g, (uint32_t)__builtin_ctz(lanes)))
            continue;
        c->r->compared++;
        bool after_same = check_write(c, g, at, lanes);
        if (c->shadow->access_time[g]) check_accesses(c, g, at, lanes, after_same);
        if (kind == RACE_WRITE)
            record_write(c, g, lanes, after_same);
        else
            record_access(c, g, lanes);
    }
}
