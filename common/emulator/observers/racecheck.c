// racecheck: two accesses to the same bytes, by different threads, at least one of them a write, that
// nothing orders. Whether they happened to run one after the other does not matter, nor that lanes of one
// warp often run together: only barriers, fences and flags order (race_order.h).
#include "emulator/observers/racecheck.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/observers/race_granule.h"

// Races after which nothing more is looked for: a kernel whose every access races would take minutes.
enum { ENOUGH_RACES = 1 << 15 };

// ---- Whole warps ------------------------------------------------------------------------------------------

// 32 lanes that access granules one after the other, 1 << per_lane each, all of them ordered in the
// simple ways: by the block's barrier, or their own. Checks and records; false (and nothing is recorded) when
// some granule needs a closer look. `count` is a constant where it is called, so that this becomes vectors.
static inline __attribute__((always_inline)) bool check_run(const RaceCheck *c, size_t g, uint32_t count,
                                                            uint32_t per_lane, bool is_write) {
    Shadow *s = c->shadow;
    uint32_t all = c->all_time, barrier = c->b->barrier_time, first = c->first, now = c->now;
    uint32_t *write_time = s->write_time + g, *write_who = s->write_who + g;
    uint32_t *access_time = s->access_time + g, *access_who = s->access_who + g;
    uint16_t *write_site = s->write_site + g, *access_site = s->access_site + g;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = write_who[i] ^ first, mine = write_who[i] - first - (i >> per_lane);
        bad |= (uint32_t)(write_time[i] > all) & (uint32_t)(mine != 0) &
               ((uint32_t)(other >> THREAD_BITS != 0) | (uint32_t)(write_time[i] > barrier));
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = access_who[i] ^ first, mine = access_who[i] - first - (i >> per_lane);
        mine |= access_site[i] & SITE_GROUP;
        bad |= (uint32_t)(access_time[i] > all) & (uint32_t)(mine != 0) &
               ((uint32_t)(other >> THREAD_BITS != 0) | (uint32_t)(access_time[i] > barrier));
    }
    // Strong writes have bit 1 set: a read may not take their place. Nor that of lists.
    for (uint32_t i = 0; i < count; i++) bad |= access_site[i] & 2 || access_site[i] >= SITE_READERS;
    if (bad) return false;
    uint16_t code = c->code;
    if (is_write) {
        for (uint32_t i = 0; i < count; i++) write_time[i] = now;
        for (uint32_t i = 0; i < count; i++) write_who[i] = first + (i >> per_lane);
        for (uint32_t i = 0; i < count; i++) write_site[i] = code;
    } else {
        for (uint32_t i = 0; i < count; i++) access_time[i] = now;
        for (uint32_t i = 0; i < count; i++) access_who[i] = first + (i >> per_lane);
        for (uint32_t i = 0; i < count; i++) access_site[i] = code;
    }
    return true;
}

static bool check_contiguous(const RaceCheck *c) {
    size_t g = granule_of(c->shadow, c->a->offsets[0]);
    bool is_write = c->code & 2;
    switch (c->a->bytes >> c->shadow->shift) {
    case 1: return is_write ? check_run(c, g, 32, 0, true) : check_run(c, g, 32, 0, false);
    case 2: return is_write ? check_run(c, g, 64, 1, true) : check_run(c, g, 64, 1, false);
    case 4: return is_write ? check_run(c, g, 128, 2, true) : check_run(c, g, 128, 2, false);
    default: return false;
    }
}

// Two lanes that write the same place in one instruction. Returns the lanes to continue with, one per place:
// writers[l] are all that write the place of lane l.
static uint32_t check_within(const RaceCheck *c, uint32_t writers[WARP_SIZE]) {
    const Access *a = c->a;
    FOR_LANES(lane, a->mask) writers[lane] = 1u << lane;
    uint64_t before = 0;
    bool is_rising = true, is_first = true;
    FOR_LANES(lane, a->mask) {
        is_rising &= is_first || a->offsets[lane] > before;
        before = a->offsets[lane];
        is_first = false;
    }
    if (is_rising) return a->mask;
    uint32_t alone = a->mask;
    uint8_t owner[2 * WARP_SIZE]; // an open-addressing table of lanes
    uint64_t used = 0;
    FOR_LANES(lane, a->mask) {
        uint64_t slot = (a->offsets[lane] * 0x9e3779b97f4a7c15ull) >> 58;
        while (used >> slot & 1 && a->offsets[owner[slot]] != a->offsets[lane])
            slot = (slot + 1) % (2 * WARP_SIZE);
        if (used >> slot & 1) {
            uint32_t width = a->in->literal[1];
            const unsigned char *values = a->values;
            bool same = values && !memcmp(values + lane * width, values + owner[slot] * width, a->in->width);
            report_race(&c->r->reports, &(Race){.access = a,
                                                .lane = lane,
                                                .me = c->first + lane,
                                                .other = c->first + owner[slot],
                                                .code = c->code,
                                                .other_code = c->code,
                                                .offset = a->offsets[lane],
                                                .same_value = same,
                                                .is_one_access = true});
            alone &= ~(1u << owner[slot]);
            writers[lane] |= writers[owner[slot]];
        }
        used |= 1ull << slot;
        owner[slot] = (uint8_t)lane;
    }
    return alone;
}

static Shadow *shadow_for(Racecheck *r, RaceBlock *b, Memory *memory, uint32_t width) {
    bool is_shared = memory->space == PTX_SPACE_SHARED;
    unsigned shift = width >= 4 ? 2 : width / 2;
    Shadow *s = is_shared ? b->shared : memory->race;
    if (s && s->shift <= shift) return s;
    Shadow *fresh = s ? shadow_refined(s, memory->bytes, shift, &r->readers)
                      : shadow_new(memory->bytes, (unsigned)memory->base & 3, shift);
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

static void access_checked(void *self, const Access *a) {
    Racecheck *r = self;
    Memory *memory = a->memory;
    bool is_shared = memory->space == PTX_SPACE_SHARED;
    if ((!is_shared && memory->space != PTX_SPACE_GLOBAL) || memory->read_only || r->order.off) return;
    RaceBlock *b = race_block(a->warp->block);
    if (a->is_volatile) order_flag(&r->order, a);
    RaceCheck check = {.r = r,
                       .b = b,
                       .a = a,
                       .shadow = shadow_for(r, b, memory, a->in->width),
                       .code = site_of(&r->sites, a),
                       .all_time = is_shared ? b->barrier_time : b->all_time,
                       .first = b->first + (uint32_t)a->warp->index * WARP_SIZE,
                       .now = b->epoch[a->warp->index]};
    const RaceCheck *c = &check;
    if (!check.shadow) return;
    check.site = site_at(&r->sites, check.code);
    if (a->kind == ACCESS_LOAD && a->in->flags & IS_NC) check_read_only(c);
    if (a->contiguous && !a->is_volatile && check_contiguous(c)) return;
    RaceKind kind = (RaceKind)(check.code & SITE_KIND);
    uint64_t first = a->offsets[__builtin_ctz(a->mask)];
    uint32_t writers[WARP_SIZE];
    bool is_scattered_write = kind == RACE_WRITE && !a->contiguous;
    uint32_t lanes = is_scattered_write ? check_within(c, writers) : a->mask;
    bool uniform = kind != RACE_WRITE && !a->contiguous && !touches_many(a);
    if (uniform)
        check_bytes(c, first, a->bytes, a->mask);
    else
        FOR_LANES(lane, lanes)
    check_bytes(c, a->offsets[lane], a->bytes, is_scattered_write ? writers[lane] : 1u << lane);
    if (r->order.clocks.failed) order_no_memory(&r->order);
    if (r->reports.races >= ENOUGH_RACES) r->order.off = true;
}

// ---- The observer -----------------------------------------------------------------------------------------

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
    if (b->shared && b->shared->shift == r->shared_shift) return;
    // What stays in a shadow of a block that has ended is older than this block, and so no trouble.
    free(b->shared);
    b->shared = shadow_new(block->shared.bytes, 0, r->shared_shift);
    if (!b->shared) order_no_memory(&r->order);
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
    order_barrier(&((Racecheck *)self)->order, block, id);
}
static void arrived_at(void *self, Warp *warp, uint32_t mask, int id) {
    order_arrive(&((Racecheck *)self)->order, warp, mask, id);
}
static void passed_warp_sync(void *self, Warp *warp, uint32_t mask) {
    order_warp_sync(&((Racecheck *)self)->order, warp, mask);
}
static void passed_fence(void *self, Warp *warp, uint32_t mask, const Instruction *in) {
    order_fence(&((Racecheck *)self)->order, warp, mask, in->flags);
}

static void ended(void *self) {
    Racecheck *r = self;
    for (RaceBlock *b = r->free_blocks; b;) {
        RaceBlock *next = b->next;
        free(b->shared);
        order_free(b);
        free(b);
        b = next;
    }
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
    r->shared_shift = 2;
    *observer = (Observer){.access = access_checked,
                           .block_start = block_started,
                           .block_end = block_ended,
                           .barrier = passed_barrier,
                           .arrive = arrived_at,
                           .warp_sync = passed_warp_sync,
                           .fence = passed_fence,
                           .end = ended,
                           .self = r};
    return &r->order;
}
