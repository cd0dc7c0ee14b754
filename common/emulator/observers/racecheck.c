// racecheck: two accesses to the same bytes, by different threads, at least one of them a write, that
// nothing orders. Whether they happened to run one after the other does not matter, nor that lanes of one
// warp often run together: only barriers, fences and flags order (race_order.h).
//
// Accesses come in four kinds, of which these pairs race when unordered:
//
//                   read    strong read   strong write   write
//   read             -          -            race         race
//   strong read      -          -             -           race
//   strong write    race        -             -           race
//   write           race       race          race         race
//
// Strong are atomics, relaxed and stronger accesses, and volatile ones, since kernels poll volatile flags.
// But volatile makes no data exchange safe, and two exceptions say so:
//   - a volatile store by which a warp writes several words, and a volatile access by another thread of the
//     same block: that is an array being worked on, such as the last steps of a tree reduction, no flag;
//   - atomics and relaxed accesses of .cta scope by threads of different blocks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/observers/race_order.h"
#include "emulator/program/flow.h"

enum {
    SITE_LIMIT = SITE_LIST / 4, // places of the program that shadows can tell apart
    SITE_VARIANTS = 8,          // of an instruction: by AccessKind and by whether it touches several words
    FEW_READERS = 8,            // of one granule remembered, when the oldest is of another block
    MANY_READERS = 40,          // and when it is not: more than a block has warps
};

// A place of the program that accesses memory in one way.
typedef struct {
    int32_t instruction; // number; -1: there were too many
    uint8_t kind;        // RaceKind
    bool is_atomic;      // read-modify-write
    bool observes;       // a strong read, or an atomic that tells what it read
    bool is_volatile;    // the weak promise of C's volatile, nothing stronger
    bool many_words;
    bool of_block; // .cta scope
} Site;

// A pair of places that was reported, to make the ten-thousandth time cheap.
typedef struct {
    uint64_t pair; // 0: an empty slot
    int finding;   // -1: it has none of its own
} Reported;

enum { REPORTED_SLOTS = 1024 };

typedef struct {
    RaceOrder order;
    ReaderPool readers;
    uint16_t *site_of; // [instruction number * SITE_VARIANTS + variant]: 0 or index + 1
    Site sites[SITE_LIMIT];
    uint32_t site_count;
    unsigned shared_shift; // granules of shared memory, the same for all blocks
    RaceBlock *free_blocks;
    Reported reported[REPORTED_SLOTS];
    uint32_t reported_count;
} Racecheck;

// One access while it is checked.
typedef struct {
    Racecheck *r;
    RaceBlock *b;
    const Access *a;
    Shadow *shadow;
    const Site *site;
    uint16_t code;     // of `site`, with its kind
    uint32_t all_time; // everyone who may access this memory is known to here
    uint32_t first;    // lane 0, as clocks name it
    bool within;       // lanes of this one access are compared with each other
} Check;

static bool fail(Racecheck *r) {
    r->order.machine->out_of_memory = r->order.machine->stopped = true;
    return false;
}

// ---- Places -----------------------------------------------------------------------------------------------

// True when the lanes touch more than one place.
static bool touches_many(const Access *a) {
    uint64_t first = a->offsets[__builtin_ctz(a->mask)];
    FOR_LANES(lane, a->mask) if (a->offsets[lane] != first) return true;
    return false;
}

static RaceKind kind_of(const Access *a) {
    if (a->kind == ACCESS_LOAD) return a->is_volatile ? RACE_STRONG_READ : RACE_READ;
    return a->kind == ACCESS_STORE && !a->is_volatile ? RACE_WRITE : RACE_STRONG_WRITE;
}

// The site of an access, with its kind in the lowest bits.
static uint16_t site_of(Racecheck *r, const Access *a) {
    RaceKind kind = kind_of(a);
    bool many = kind == RACE_STRONG_WRITE && touches_many(a);
    uint16_t *known = &r->site_of[(uint32_t)a->in->number * SITE_VARIANTS + (uint32_t)a->kind * 2 + many];
    if (!*known) {
        if (r->site_count == SITE_LIMIT) return (uint16_t)kind; // sites 0 stand for the rest
        r->sites[r->site_count] = (Site){
            .instruction = a->in->number,
            .kind = (uint8_t)kind,
            .is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION,
            .observes = a->kind == ACCESS_ATOMIC || kind == RACE_STRONG_READ,
            .is_volatile = a->is_volatile && !(a->in->flags & IS_RELAXED),
            .many_words = many,
            .of_block = a->in->flags & SCOPE_CTA,
        };
        *known = (uint16_t)++r->site_count;
    }
    return (uint16_t)((*known - 1u) * 4 + (unsigned)kind);
}

static const Site *site_at(const Racecheck *r, uint16_t code) {
    static const Site unknown[4] = {{.instruction = -1, .kind = RACE_READ},
                                    {.instruction = -1, .kind = RACE_STRONG_READ},
                                    {.instruction = -1, .kind = RACE_STRONG_WRITE},
                                    {.instruction = -1, .kind = RACE_WRITE}};
    return code < 4 ? &unknown[code] : &r->sites[code / 4];
}

static bool races(const Site *x, const Site *y, bool same_block) {
    if (x->kind == RACE_WRITE || y->kind == RACE_WRITE) return true;
    if (x->kind != RACE_STRONG_WRITE && y->kind != RACE_STRONG_WRITE) return false;
    if (x->kind == RACE_READ || y->kind == RACE_READ) return true;
    if (!same_block) return x->of_block || y->of_block;
    if (!x->is_volatile || !y->is_volatile || x->is_atomic || y->is_atomic) return false;
    return (x->kind == RACE_STRONG_WRITE && x->many_words) || (y->kind == RACE_STRONG_WRITE && y->many_words);
}

// An access of kind `later` that comes after one of kind `earlier` and is ordered behind it stands for
// both: whatever would race with the earlier one, and is not ordered behind the later, races with that.
static bool stands_for(RaceKind later, RaceKind earlier) {
    return later == earlier || earlier == RACE_STRONG_READ;
}

// ---- Reports ----------------------------------------------------------------------------------------------

// The slot of a pair of places; *is_new tells whether it was just made. NULL: the table is full.
static Reported *reported(Racecheck *r, uint64_t pair, bool *is_new) {
    uint32_t slot = (uint32_t)((pair * 0x9e3779b97f4a7c15ull) >> 32) % REPORTED_SLOTS;
    while (r->reported[slot].pair && r->reported[slot].pair != pair) slot = (slot + 1) % REPORTED_SLOTS;
    *is_new = !r->reported[slot].pair;
    if (!*is_new) return &r->reported[slot];
    if (r->reported_count >= REPORTED_SLOTS * 3 / 4) return NULL;
    r->reported_count++;
    r->reported[slot] = (Reported){pair, -1};
    return &r->reported[slot];
}

static const char *doing(const Site *site) {
    return site->kind < RACE_STRONG_WRITE ? "reads" : site->is_atomic ? "updates atomically" : "writes";
}
static const char *done(const Site *site) {
    return site->kind < RACE_STRONG_WRITE ? "read" : site->is_atomic ? "updated atomically" : "wrote";
}

static const char *hazard(const Site *now, const Site *before) {
    bool writes = now->kind >= RACE_STRONG_WRITE, wrote = before->kind >= RACE_STRONG_WRITE;
    return !writes ? "read-after-write" : wrote ? "write-after-write" : "write-after-read";
}

// What would have ordered the two.
static const char *missing(const Check *c, uint32_t lane, uint32_t other, uint16_t other_code) {
    const Site *site = c->site;
    if (block_of(other) != block_of(c->first))
        return "and nothing orders the two blocks: a fence with an atomic or a flag would, or the end of the "
               "kernel";
    if (thread_of(other) / WARP_SIZE != thread_of(c->first + lane) / WARP_SIZE)
        return "with no barrier between them";
    if (other_code == c->code && site->kind == RACE_WRITE && c->within)
        return "in the same instruction: which value remains is a matter of chance";
    if (site->is_volatile && !site->is_atomic)
        return "with no __syncwarp() between them: volatile does not order lanes of a warp";
    return "with no barrier and no __syncwarp() between them: lanes of a warp need not run together";
}

typedef struct {
    const Program *program;
    int line;
} SourceLine;

static bool accesses_in_line(void *context, const Instruction *in) {
    const SourceLine *at = context;
    return (in->kind == KIND_LOAD || in->kind == KIND_STORE) && place_of(at->program, in).line == at->line;
}

// Whether a load and a store of one line race within one round of a loop: whoever has stored there passes a
// barrier of the block before coming to that line again, so that no round overlaps the next.
static bool is_in_one_round(const Program *p, const Instruction *one, const Instruction *other) {
    if (one->kind == KIND_STORE && other->kind == KIND_LOAD) return is_in_one_round(p, other, one);
    if (one->kind != KIND_LOAD || other->kind != KIND_STORE) return false;
    SourceLine line = {p, place_of(p, one).line};
    if (!line.line || place_of(p, other).line != line.line) return false;
    for (int i = 0; i < p->module->function_count; i++) {
        const Function *f = &p->functions[i];
        if (!f->lowered || one < f->code || one >= f->code + f->count) continue;
        if (!f->ptx->is_entry || other < one || other >= f->code + f->count) return false;
        for (const Instruction *in = one; in < other; in++)
            if (in->kind == KIND_BRANCH || in->kind == KIND_BRANCH_TABLE || in->kind == KIND_CALL)
                return false;
        return always_meets_before(f, other->index, accesses_in_line, &line);
    }
    return false;
}

static void report_race(const Check *c, uint32_t lane, uint64_t offset, uint32_t other, uint16_t other_code,
                        bool same_value) {
    Racecheck *r = c->r;
    Machine *m = r->order.machine;
    const Site *before = site_at(r, other_code);
    bool is_new;
    Reported *slot =
        reported(r, 1ull << 63 | (uint64_t)c->code << 32 | (uint64_t)other_code << 1 | same_value, &is_new);
    if (!slot || !is_new) {
        m->result->findings_total++;
        if (slot && slot->finding >= 0) m->result->findings[slot->finding].count++;
        return;
    }
    const Access *a = c->a;
    const EmulatorLaunch *launch = m->launch;
    uint32_t thread = thread_of(other), block = block_of(other), size = a->in->width;
    unsigned at[3] = {thread % launch->block[0], thread / launch->block[0] % launch->block[1],
                      thread / launch->block[0] / launch->block[1]};
    unsigned of[3] = {block % launch->grid[0], block / launch->grid[0] % launch->grid[1],
                      block / launch->grid[0] / launch->grid[1]};
    char name[128], where[64] = "", of_block[64] = "";
    uint64_t index, bytes;
    name_object(m, a->warp, a->memory, offset, name, &index, &bytes);
    const Instruction *other_in =
        before->instruction >= 0 ? m->program->by_number[before->instruction] : NULL;
    int line = other_in ? place_of(m->program, other_in).line : 0;
    if (line) snprintf(where, sizeof where, " at line %d", line);
    bool is_foreign = block != block_of(c->first);
    bool one_round =
        !is_foreign && !c->site->is_volatile && other_in && is_in_one_round(m->program, a->in, other_in);
    if (is_foreign) snprintf(of_block, sizeof of_block, " of block (%u,%u,%u)", of[0], of[1], of[2]);
    Finding *f = report(
        m, same_value ? FINDING_RACE_SAME_VALUE : FINDING_RACE, a->warp, (int)lane, a->in, other_in, false,
        "%s %s at byte %llu (element %llu) that thread (%u,%u,%u)%s %s%s, %s (%s)%s", doing(c->site), name,
        (unsigned long long)index, (unsigned long long)(index / size), at[0], at[1], at[2], of_block,
        done(before), where,
        one_round ? "in the same round of a loop that has a barrier" : missing(c, lane, other, other_code),
        hazard(c->site, before), same_value ? "; both write the same value" : "");
    if (!f) return;
    slot->finding = m->result->finding_count - 1;
    memcpy(f->other_thread, at, sizeof at);
    memcpy(f->other_block, is_foreign ? of : a->warp->block->id, sizeof of);
    snprintf(f->object, sizeof f->object, "%s", name);
    f->index = (int64_t)index;
    f->object_bytes = bytes;
    f->address = a->memory->base + offset;
    f->bytes = size;
    f->is_store = a->kind != ACCESS_LOAD;
    f->is_atomic = c->site->is_atomic;
}

// ---- One granule ------------------------------------------------------------------------------------------

static inline bool knows(const Check *c, uint32_t lane, uint32_t who, uint32_t time) {
    if (time <= c->all_time) return true;
    return order_knows(&c->r->order, c->b, thread_of(c->first) + lane, who, time);
}

// The first of `lanes` that `who` at `time` is not ordered before; -1: none.
static int unordered(const Check *c, uint32_t lanes, uint32_t who, uint32_t time) {
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

static void check_write(const Check *c, size_t g, uint64_t offset, uint32_t lanes) {
    const Shadow *s = c->shadow;
    int lane = s->write_time[g] ? unordered(c, lanes, s->write_who[g], s->write_time[g]) : -1;
    if (lane < 0) return;
    bool same = c->site->kind == RACE_WRITE && stores_what_is_there(c->a, (uint32_t)lane);
    report_race(c, (uint32_t)lane, offset, s->write_who[g], s->write_site[g], same);
}

static void check_one(const Check *c, uint64_t offset, uint32_t lanes, uint32_t who, uint32_t time,
                      uint16_t site) {
    if (!races(c->site, site_at(c->r, site), block_of(who) == block_of(c->first))) return;
    int lane = unordered(c, lanes, who, time);
    if (lane >= 0) report_race(c, (uint32_t)lane, offset, who, site, false);
}

// Does `lane` know of all accesses in `one`?
static bool knows_all(const Check *c, uint32_t lane, const Readers *one) {
    FOR_LANES(other, one->lanes) if (!knows(c, lane, one->who + other, one->time)) return false;
    return true;
}

// Who reads what another thread wrote comes behind that write, without any fence, as far as their own address
// goes; and an atomic that wrote it had read what was there before (PTX memory model, "Causality Order").
// Returns those of `lanes` for which that does not settle the strong write at `at` of the list that starts
// with `newest`.
static uint32_t lanes_not_behind(const Check *c, uint32_t lanes, uint32_t newest, uint32_t at) {
    const Readers *all = c->r->readers.readers;
    uint32_t behind = 0;
    for (uint32_t newer = newest; newer != at; newer = all[newer].next) {
        const Site *site = site_at(c->r, all[newer].site);
        if (site->kind == RACE_STRONG_WRITE && !site->is_atomic) behind = 0;
        if (!site->observes) continue;
        FOR_LANES(lane, lanes & ~behind) if (knows_all(c, lane, &all[newer])) behind |= 1u << lane;
    }
    return lanes & ~behind;
}

static void check_accesses(const Check *c, size_t g, uint64_t offset, uint32_t lanes) {
    const Shadow *s = c->shadow;
    if (s->access_time[g] <= c->all_time) return; // the newest of a list
    if (s->access_site[g] != SITE_LIST) {
        check_one(c, offset, lanes, s->access_who[g], s->access_time[g], s->access_site[g]);
        return;
    }
    for (uint32_t at = s->access_who[g]; at; at = c->r->readers.readers[at].next) {
        Readers one = c->r->readers.readers[at];
        const Site *site = site_at(c->r, one.site);
        if (!races(c->site, site, block_of(one.who) == block_of(c->first))) continue;
        uint32_t unknown = 0; // of one.lanes
        FOR_LANES(lane, one.lanes)
        if (unordered(c, lanes, one.who + lane, one.time) >= 0) unknown |= 1u << lane;
        if (!unknown) continue;
        bool is_write = site->kind == RACE_STRONG_WRITE;
        uint32_t left = is_write ? lanes_not_behind(c, lanes, s->access_who[g], at) : lanes;
        FOR_LANES(lane, unknown) check_one(c, offset, left, one.who + lane, one.time, one.site);
    }
}

static void record_write(const Check *c, size_t g, uint32_t lane) {
    Shadow *s = c->shadow;
    s->write_time[g] = c->r->order.now;
    s->write_who[g] = c->first + lane;
    s->write_site[g] = c->code;
    if (s->access_site[g] == SITE_LIST) readers_free(&c->r->readers, s->access_who[g]);
    s->access_time[g] = 0;
    s->access_site[g] = 0;
}

// May the access `old` be forgotten for one by `lanes` now? Only the cheap ways to know are tried: clocks
// stay unopened, and a list is a little longer than it need be.
static bool is_replaced(const Check *c, uint32_t lanes, const Readers *old) {
    // Whoever comes later to shared memory is of this block, and knows it too.
    if (old->time <= c->all_time && c->a->memory->space == PTX_SPACE_SHARED) return true;
    if (!stands_for((RaceKind)(c->code & SITE_KIND), (RaceKind)(old->site & SITE_KIND))) return false;
    if (block_of(old->who) != block_of(c->first)) return false;
    if (old->time <= c->b->barrier_time) return true;
    if (old->who != c->first) return false;
    return old->time <= c->b->warp_time[thread_of(c->first) / WARP_SIZE] || !(old->lanes & ~(lanes & -lanes));
}

// Adds `lanes` to the list of granule g, drops what they stand for, and keeps it short.
static void record_in_list(const Check *c, size_t g, uint32_t lanes) {
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
    if (count >= MANY_READERS ||
        (count >= FEW_READERS && block_of(pool->readers[last].who) != block_of(c->first))) {
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
        fail(c->r);
        return;
    }
    s->access_who[g] = added;
}

static void record_access(const Check *c, size_t g, uint32_t lanes) {
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

// `lanes` access the `bytes` at `offset`.
static void check_bytes(const Check *c, uint64_t offset, uint32_t bytes, uint32_t lanes) {
    size_t from = granule_of(c->shadow, offset), to = granule_of(c->shadow, offset + bytes - 1);
    RaceKind kind = (RaceKind)(c->code & SITE_KIND);
    for (size_t g = from; g <= to; g++) {
        uint64_t at = offset + ((uint64_t)(g - from) << c->shadow->shift);
        check_write(c, g, at, lanes);
        if (c->shadow->access_time[g]) check_accesses(c, g, at, lanes);
        if (kind == RACE_WRITE)
            record_write(c, g, 31 - (uint32_t)__builtin_clz(lanes));
        else
            record_access(c, g, lanes);
    }
}

// ---- Whole warps ------------------------------------------------------------------------------------------

// 32 lanes that access granules one after the other, 1 << per_lane each, all of them ordered in the
// simple ways: by the block's barrier, or their own. Checks and records; false (and nothing is recorded) when
// some granule needs a closer look. `count` is a constant where it is called, so that this becomes vectors.
static inline __attribute__((always_inline)) bool check_run(const Check *c, size_t g, uint32_t count,
                                                            uint32_t per_lane, bool is_write) {
    Shadow *s = c->shadow;
    uint32_t all = c->all_time, barrier = c->b->barrier_time, first = c->first, now = c->r->order.now;
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
        bad |= (uint32_t)(access_time[i] > all) & (uint32_t)(mine != 0) &
               ((uint32_t)(other >> THREAD_BITS != 0) | (uint32_t)(access_time[i] > barrier));
    }
    // Lists and strong writes have bit 1 set: a read may not take their place.
    uint16_t sites = 0;
    for (uint32_t i = 0; i < count; i++) sites |= access_site[i];
    if (bad | (sites & 2)) return false;
    uint16_t code = c->code;
    if (is_write) {
        for (uint32_t i = 0; i < count; i++) write_time[i] = now;
        for (uint32_t i = 0; i < count; i++) write_who[i] = first + (i >> per_lane);
        for (uint32_t i = 0; i < count; i++) write_site[i] = code;
        for (uint32_t i = 0; i < count; i++) access_time[i] = 0;
    } else {
        for (uint32_t i = 0; i < count; i++) access_time[i] = now;
        for (uint32_t i = 0; i < count; i++) access_who[i] = first + (i >> per_lane);
        for (uint32_t i = 0; i < count; i++) access_site[i] = code;
    }
    return true;
}

static bool check_contiguous(const Check *c) {
    size_t g = granule_of(c->shadow, c->a->offsets[0]);
    bool is_write = c->code & 2;
    switch (c->a->bytes >> c->shadow->shift) {
    case 1: return is_write ? check_run(c, g, 32, 0, true) : check_run(c, g, 32, 0, false);
    case 2: return is_write ? check_run(c, g, 64, 1, true) : check_run(c, g, 64, 1, false);
    case 4: return is_write ? check_run(c, g, 128, 2, true) : check_run(c, g, 128, 2, false);
    default: return false;
    }
}

// Two lanes that one instruction makes write the same place. Returns the lanes to go on with, one a place.
static uint32_t check_within(Check *c) {
    const Access *a = c->a;
    uint64_t before = 0;
    bool is_rising = true, is_first = true;
    FOR_LANES(lane, a->mask) {
        is_rising &= is_first || a->offsets[lane] > before;
        before = a->offsets[lane];
        is_first = false;
    }
    if (is_rising) return a->mask;
    uint32_t alone = a->mask;
    c->within = true;
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
            report_race(c, lane, a->offsets[lane], c->first + owner[slot], c->code, same);
            alone &= ~(1u << owner[slot]);
        }
        used |= 1ull << slot;
        owner[slot] = (uint8_t)lane;
    }
    c->within = false;
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
        fail(r);
        return NULL;
    }
    if (is_shared)
        b->shared = fresh;
    else
        memory->race = fresh;
    if (is_shared && shift < r->shared_shift) r->shared_shift = shift;
    return fresh;
}

static void access_checked(void *self, const Access *a) {
    Racecheck *r = self;
    Memory *memory = a->memory;
    bool is_shared = memory->space == PTX_SPACE_SHARED;
    if ((!is_shared && memory->space != PTX_SPACE_GLOBAL) || memory->read_only || r->order.off) return;
    RaceBlock *b = race_block(a->warp->block);
    if (a->is_volatile) order_flag(&r->order, a);
    Check check = {.r = r,
                   .b = b,
                   .a = a,
                   .shadow = shadow_for(r, b, memory, a->in->width),
                   .code = site_of(r, a),
                   .all_time = is_shared ? b->barrier_time : b->all_time,
                   .first = b->first + (uint32_t)a->warp->index * WARP_SIZE};
    const Check *c = &check;
    if (!check.shadow) return;
    check.site = site_at(r, check.code);
    if (a->contiguous && !a->is_volatile && check_contiguous(c)) return;
    RaceKind kind = (RaceKind)(check.code & SITE_KIND);
    uint64_t first = a->offsets[__builtin_ctz(a->mask)];
    uint32_t lanes = kind == RACE_WRITE && !a->contiguous ? check_within(&check) : a->mask;
    bool uniform = kind != RACE_WRITE && !a->contiguous && !touches_many(a);
    if (uniform)
        check_bytes(c, first, a->bytes, a->mask);
    else
        FOR_LANES(lane, lanes) check_bytes(c, a->offsets[lane], a->bytes, 1u << lane);
    if (r->order.clocks.failed) fail(r);
}

// ---- The observer -----------------------------------------------------------------------------------------

static void block_started(void *self, Block *block) {
    Racecheck *r = self;
    RaceBlock *b = r->free_blocks;
    if (b)
        r->free_blocks = b->next;
    else if (!(b = calloc(1, sizeof *b))) {
        fail(r);
        return;
    }
    block->race_state = b;
    order_start(&r->order, b, block);
    if (b->shared && b->shared->shift == r->shared_shift) return;
    // What stays in a shadow of a block that has ended is older than this block, and so no trouble.
    free(b->shared);
    b->shared = shadow_new(block->shared.bytes, 0, r->shared_shift);
    if (!b->shared) fail(r);
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
    order_fence(&((Racecheck *)self)->order, warp, mask, in->flags & SCOPE_CTA);
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
    free(r->readers.readers);
    free(r->site_of);
    free(r);
}

bool racecheck_observe(Machine *m, Observer *observer) {
    Racecheck *r = calloc(1, sizeof *r);
    if (r) r->site_of = calloc((size_t)m->program->instruction_count + 1, SITE_VARIANTS * sizeof *r->site_of);
    if (!r || !r->site_of) {
        free(r);
        return false;
    }
    const uint32_t *grid = m->launch->grid;
    r->order.machine = m;
    r->order.now = 1;
    r->order.blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    r->shared_shift = 2;
    r->site_count = 1; // codes below 4 are of no place
    *observer = (Observer){.access = access_checked,
                           .block_start = block_started,
                           .block_end = block_ended,
                           .barrier = passed_barrier,
                           .arrive = arrived_at,
                           .warp_sync = passed_warp_sync,
                           .fence = passed_fence,
                           .end = ended,
                           .self = r};
    return true;
}
