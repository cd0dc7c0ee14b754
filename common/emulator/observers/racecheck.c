// racecheck: two accesses to the same bytes, by different threads, at least one of them a write, that
// nothing orders. Whether they happened to run one after the other does not matter, nor that lanes of one
// warp often run together: only barriers, fences and flags order (race_order.h).
#include "emulator/observers/racecheck.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/observers/asynccheck.h"
#include "emulator/observers/race_lines.h"
#include "emulator/observers/race_warp.h"
#include "emulator/observers/wording.h"

// Races after which nothing more is looked for: a kernel whose every access races would take minutes.
enum { ENOUGH_RACES = 1 << 15 };
// Accesses by lanes after which a launch of which shared memory alone is looked at has shown what it can.
enum { MOST_OF_SHARED_ONLY = 1 << 19 };

// ---- Accesses ---------------------------------------------------------------------------------------------

// Reports two lanes that write the same place in one instruction. `together`: the lanes at its place, of the
// highest.
static void check_within(const RaceCheck *c, const uint32_t together[WARP_SIZE], uint32_t highest) {
    const Access *a = c->a;
    const unsigned char *values = a->values;
    uint32_t lower[WARP_SIZE] = {0}; // of each lane, those below it at its place
    FOR_LANES(top, highest) FOR_LANES(lane, together[top]) lower[lane] = together[top] & ((1u << lane) - 1);
    FOR_LANES(lane, a->mask) {
        if (!lower[lane]) continue;
        uint32_t other = 31 - (uint32_t)__builtin_clz(lower[lane]), width = a->in->literal[1];
        bool same = values && !memcmp(values + lane * width, values + other * width, a->in->width);
        report_race(&c->r->reports, &(Race){.access = a,
                                            .lane = lane,
                                            .me = c->first + lane,
                                            .other = c->first + other,
                                            .code = c->code,
                                            .other_code = c->code,
                                            .offset = a->offsets[lane],
                                            .same_value = same,
                                            .is_one_access = true});
    }
}

// A write or a read of several places, not one after the other.
static void check_scattered(const RaceCheck *c) {
    const Access *a = c->a;
    uint32_t together[WARP_SIZE], highest = lanes_by_place(a, together), left = a->mask;
    if (c->site->kind == RACE_WRITE) {
        if (highest != a->mask) check_within(c, together, highest);
        FOR_LANES(lane, highest) check_bytes(c, a->offsets[lane], a->bytes, together[lane]);
        return;
    }
    FOR_LANES(lane, highest)
    if (reads_quietly(c, a->offsets[lane], a->bytes, together[lane])) left &= ~together[lane];
    FOR_LANES(lane, left) check_bytes(c, a->offsets[lane], a->bytes, 1u << lane);
}

static Shadow *shadow_for(Racecheck *r, RaceBlock *b, Memory *memory, uint32_t width) {
    bool is_shared = memory->space == PTX_SPACE_SHARED;
    if (is_shared) b = race_block(block_of_memory(memory)); // of a cluster, perhaps another
    unsigned shift = width >= 4 ? 2 : width / 2;
    if (is_shared && r->shared_shift < shift) shift = r->shared_shift;
    Shadow *s = is_shared ? b->shared : memory->race;
    if (s && s->shift <= shift) return s;
    Shadow *fresh = s ? shadow_refined(s, memory->bytes, shift, &r->readers)
                      : shadow_new(memory->bytes, (unsigned)memory->base & 3, shift, !is_shared);
    if (!fresh) {
        order_no_memory(&r->order);
        return NULL;
    }
    if (is_shared)
        b->shared = fresh;
    else
        memory->race = fresh;
    if (is_shared && shift < r->shared_shift) r->shared_shift = shift;
    return fresh;
}

// A load of the read-only path (ISA, ld.global.nc) must not meet what the same launch has written, in
// whatever order: it may be served by a cache that never hears of the write.
static void check_read_only(const RaceCheck *c) {
    const Shadow *s = c->shadow;
    FOR_LANES(lane, c->a->mask) {
        const uint64_t offset = c->a->offsets[lane];
        uint32_t who;
        uint16_t site;
        if (!find_write(c, granule_of(s, offset), &who, &site)) continue;
        report_race(&c->r->reports, &(Race){.access = c->a,
                                            .lane = lane,
                                            .me = c->first + lane,
                                            .other = who,
                                            .code = c->code,
                                            .other_code = site,
                                            .offset = offset,
                                            .is_read_only = true});
    }
}

static void check_closely(Racecheck *r, const Access *a, uint32_t time) {
    Memory *memory = a->memory;
    bool is_shared = memory->space == PTX_SPACE_SHARED;
    RaceBlock *b = race_block(a->warp->block);
    RaceCheck check = {.r = r,
                       .b = b,
                       .a = a,
                       .shadow = shadow_for(r, b, memory, a->in->width),
                       .code = site_of(&r->sites, a),
                       .all_time =
                           is_shared && a->warp->block->cluster->size == 1 ? b->barrier_time : b->all_time,
                       .first = b->first + (uint32_t)a->warp->index * WARP_SIZE,
                       .now = time};
    const RaceCheck *c = &check;
    if (!check.shadow) return;
    check.site = site_at(&r->sites, check.code);
    if (!is_shared && lines_take(c)) return;
    if (!is_shared) lines_split(c);
    if (a->kind == ACCESS_LOAD && a->in->flags & IS_NC) check_read_only(c);
    if (a->contiguous && !a->is_volatile && check_contiguous(c)) return;
    if (check.site->kind != RACE_WRITE && !a->contiguous && !touches_many(a))
        check_bytes(c, a->offsets[__builtin_ctz(a->mask)], a->bytes, a->mask);
    else if (!a->contiguous && (check.site->kind == RACE_WRITE || check.site->kind == RACE_READ))
        check_scattered(c);
    else
        FOR_LANES(lane, a->contiguous && !a->is_volatile ? reads_that_add(c) : a->mask)
    check_bytes(c, a->offsets[lane], a->bytes, 1u << lane);
    if (r->order.clocks.failed) order_no_memory(&r->order);
    if (r->reports.races >= ENOUGH_RACES) r->order.off = true;
}

// From here to the next barrier all accesses to the block's shared memory are looked at closely, and those
// since the last one have been.
static void take_interval_over(Racecheck *r, Block *block) {
    RaceInterval *interval = race_block(block)->interval;
    Access access;
    uint64_t offsets[WARP_SIZE];
    uint32_t time;
    for (size_t at = 0; interval_next(interval, &at, block, &access, offsets, &time);)
        check_closely(r, &access, time);
    interval->is_over = true;
}

static bool has_interval(const RaceBlock *b) { return b->interval && !b->interval->is_over; }

static void check_access(void *self, const Access *a) {
    Racecheck *r = self;
    bool is_shared = a->memory->space == PTX_SPACE_SHARED;
    if ((!is_shared && a->memory->space != PTX_SPACE_GLOBAL) || a->memory->read_only || r->order.off) return;
    RaceBlock *b = race_block(a->warp->block);
    const uint32_t time = b->epoch[a->warp->index];
    if (is_shared && has_interval(b)) {
        if (!a->is_volatile && a->kind <= ACCESS_STORE && interval_takes(b->interval, a, time)) return;
        take_interval_over(r, a->warp->block);
    }
    if (a->is_volatile) order_flag(&r->order, a);
    if (r->is_of_shared_only) {
        if (!is_shared) return;
        if ((r->lanes_left -= __builtin_popcount(a->mask)) < 0) r->order.off = true;
    }
    check_closely(r, a, b->epoch[a->warp->index]);
}

// A load whose value only some lanes use is a read by these, which chosen() names. Nothing between the two
// orders accesses.
static void access_checked(void *self, const Access *a) {
    if (!a->in->to_choice) check_access(self, a);
}

// A bulk copy or wgmma that reads what a thread has stored in shared memory, before any thread of the block
// has made a fence between the two proxies (ISA, "Async proxy").
static void check_proxy(Racecheck *r, const Access *a) {
    const RaceBlock *b = race_block(block_of_memory(a->memory));
    const Shadow *s = b->shared;
    FOR_LANES(lane, a->mask)
    for (uint64_t at = a->offsets[lane]; s && at < a->offsets[lane] + a->bytes; at += 1u << s->shift) {
        const size_t g = granule_of(s, at);
        if (s->write_time[g] <= b->proxy_time) continue;
        const Site *site = site_at(&r->sites, s->write_site[g]);
        const Instruction *store =
            site->instruction < 0 ? NULL : r->order.machine->program->by_number[site->instruction];
        if (store &&
            (store->kind == KIND_BULK || store->kind == KIND_ASYNC_STORE || store->kind == KIND_MBARRIER))
            continue;
        Finding *finding =
            add_finding(r->order.machine, FINDING_RACE, a->warp, (int)lane, a->in, store, false);
        uint64_t index;
        if (!finding) return;
        name_object(r->order.machine, a->warp, a->memory, at, finding->object, &index,
                    &finding->object_bytes);
        word_proxy_race(finding, finding->object, index, a->in->kind == KIND_BULK);
        return;
    }
}

static void async_checked(void *self, const Access *a) {
    if ((a->in->kind == KIND_BULK || a->in->kind == KIND_WGMMA) && a->kind == ACCESS_LOAD &&
        a->memory->space == PTX_SPACE_SHARED)
        check_proxy(self, a);
    access_checked(self, a);
}

static void passed_proxy_fence(void *self, Warp *warp, uint32_t mask) {
    (void)mask;
    order_proxy_fence(&((Racecheck *)self)->order, warp->block);
}

// ---- The observer -----------------------------------------------------------------------------------------

// Bulk copies and other blocks of a cluster take no part in barriers of the block.
static void start_interval(Racecheck *r, RaceBlock *b, const Block *block) {
    if (r->has_async_proxy || block->cluster->size > 1 || !block->shared.bytes) return;
    if (b->interval && b->interval->shift > r->interval_shift) {
        interval_free(b->interval);
        b->interval = NULL;
    }
    if (!b->interval) b->interval = interval_new(block->shared.bytes, r->interval_shift);
    if (b->interval) interval_begin(b->interval); // without memory for it all accesses are looked at closely
}

static void interval_ends(Racecheck *r, RaceBlock *b, const Block *block) {
    if (!b->interval) return;
    if (b->interval->needed_shift < r->interval_shift) r->interval_shift = b->interval->needed_shift;
    start_interval(r, b, block);
}

static void block_started(void *self, Block *block) {
    Racecheck *r = self;
    RaceBlock *b = r->free_blocks;
    if (b)
        r->free_blocks = b->next;
    else if (!(b = calloc(1, sizeof *b))) {
        order_no_memory(&r->order);
        return;
    }
    block->race_state = b;
    order_start(&r->order, b, block);
    // What stays in a shadow of a block that has ended is older than this block, and so no trouble; but not
    // in a cluster, where other blocks access it too.
    if (b->shared && (b->shared->shift != r->shared_shift || block->cluster->size > 1)) {
        shadow_free(b->shared);
        b->shared = NULL;
    }
    start_interval(r, b, block);
}

static void block_ended(void *self, Block *block) {
    Racecheck *r = self;
    RaceBlock *b = race_block(block);
    if (!b) return;
    block->race_state = NULL;
    order_end(b, block);
    b->next = r->free_blocks;
    r->free_blocks = b;
}

static void passed_barrier(void *self, Block *block, int id) {
    Racecheck *r = self;
    RaceBlock *b = race_block(block);
    const uint32_t before = b->barrier_time;
    order_barrier(&r->order, block, id);
    if (b->barrier_time != before) interval_ends(r, b, block); // else not all threads have passed it
}
static void arrived_at(void *self, Warp *warp, uint32_t mask, int id) {
    order_arrive(&((Racecheck *)self)->order, warp, mask, id);
}
static void passed_warp_sync(void *self, Warp *warp, uint32_t mask) {
    if (has_interval(race_block(warp->block))) take_interval_over(self, warp->block);
    order_warp_sync(&((Racecheck *)self)->order, warp, mask);
}
static void arrived_at_cluster(void *self, Warp *warp, uint32_t mask, const Instruction *in) {
    order_cluster_arrive(&((Racecheck *)self)->order, warp, mask, in->flags);
}
static void passed_cluster(void *self, Warp *warp, uint32_t mask, const Instruction *in) {
    if (in->flags & IS_ACQUIRE) order_cluster_wait(&((Racecheck *)self)->order, warp, mask);
}
static void passed_fence(void *self, Warp *warp, uint32_t mask, const Instruction *in) {
    order_fence(&((Racecheck *)self)->order, warp, mask, in->flags);
}

static void ended(void *self) {
    Racecheck *r = self;
    for (RaceBlock *b = r->free_blocks; b;) {
        RaceBlock *next = b->next;
        shadow_free(b->shared);
        interval_free(b->interval);
        order_free(b);
        free(b);
        b = next;
    }
    r->order.machine->race_compared = r->compared;
    order_close(&r->order);
    readers_close(&r->readers);
    sites_close(&r->sites);
    free(r);
}

RaceOrder *racecheck_observe(Machine *m, Observer *observer) {
    Racecheck *r = calloc(1, sizeof *r);
    if (!r || !sites_open(&r->sites, m->program)) {
        free(r);
        return NULL;
    }
    r->reports.machine = m;
    r->reports.sites = &r->sites;
    const uint32_t *grid = m->launch->grid;
    r->order.machine = m;
    r->order.now = 1;
    r->order.is_weak = m->is_weak;
    r->order.blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    r->shared_shift = r->interval_shift = 2;
    r->has_async_proxy = m->program->uses_async_proxy;
    r->is_of_shared_only = !(m->launch->checks & CHECK_RACE);
    r->lanes_left = MOST_OF_SHARED_ONLY;
    *observer = (Observer){.access = access_checked,
                           .chosen = check_access,
                           .async_access = async_checked,
                           .proxy_fence = passed_proxy_fence,
                           .block_start = block_started,
                           .block_end = block_ended,
                           .barrier = passed_barrier,
                           .arrive = arrived_at,
                           .cluster_arrive = arrived_at_cluster,
                           .cluster_wait = passed_cluster,
                           .warp_sync = passed_warp_sync,
                           .fence = passed_fence,
                           .end = ended,
                           .self = r};
    return &r->order;
}
