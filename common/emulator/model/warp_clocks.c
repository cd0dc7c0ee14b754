// The clock of every warp: when could each instruction start, if the warp were alone on its SM?
//
// Within a stretch of straight code an instruction starts when its operands are there: ptxas has moved loads
// up as far as that allows. A stretch ends at a branch that goes back, at a barrier and the like; by then
// everything in it has started, since a warp issues in order. So the loads of a stretch wait together, and
// those of the next turn of a loop wait behind the additions of this one. A block's barrier brings its warps'
// clocks together.
//
// Trips to memory are counted apart from cycles: their length is a matter of the device and its load.
#include "emulator/model/warp_clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/sync.h"
#include "emulator/model/block_chain.h"
#include "emulator/model/cost.h"
#include "emulator/model/sectors.h"
#include "emulator/model/stamp.h"
#include "emulator/observers/access_counts.h"

// Latencies of Hopper in cycles: bench/variants/calibrate.cu.
static const double latency_l1 = 36, latency_shared = 19, latency_conflict = 2, latency_barrier = 20,
                    latency_branch = 2;
// Registers of a thread that hold no loaded value on its way: addresses, counters, sums.
static const int other_registers = 10;
// Trips to the L2 that a fence takes after another one, and after accesses of the warp: on an H200 0.13 and
// 0.31 us. tests/data/chains.csv
static const int trips_of_fence = 1, trips_of_first_fence = 2;
static const double gathering = 6; // instructions for adding up the lanes of a warp

enum { MOST_REGIONS = 64, RECENT_REGIONS = 32 };

typedef struct WarpClock {
    Stamp now;                   // nothing starts before: the beginning of this stretch
    Stamp latest;                // start of the stretch's last instruction
    double issued;               // slots of the stretch
    Stamp stored, stored_shared; // start of the last store, which later loads of the same memory stay behind
    Stamp load_start;            // of the load that is being executed
    int turns;                   // of an unrolled loop since its last boundary
    int loading;                 // registers that loads of the present batch will fill
    Stamp loaded;                // when they all have
    Toucher touched;
    bool has_stored;  // to global memory
    bool is_unfenced; // it has accessed global memory since its last fence
    // Of the whole block, kept with its first warp: what its warps took of the SM since its last barrier.
    Stamp phase; // when that was
    double phase_issued, phase_lsu;
    uint64_t regions[MOST_REGIONS]; // that they waited for in it, distinct
    int region_count;
    Waiting waiting; // for other blocks
    // Of this warp alone:
    uint32_t polls;                  // block_chain_access()
    uint64_t recent[RECENT_REGIONS]; // the regions that it came to last
    int next_recent;
    struct WarpClock *next;
    Stamp ready[]; // of registers
} WarpClock;

struct Timing {
    Machine *machine;
    ProgramCosts *costs;
    Sectors *sectors;
    BlockChain *chain;
    int load_registers; // that a thread has for what is being loaded; 0: unknown
    WarpClock *all;     // linked by next
    ModelWork work;
    ModelTime collected; // ModelWork.collecting, summed over blocks
    bool *has_run;       // by Instruction.number
    unsigned what_if;    // of WHAT_IF_*
};

static void add_time(ModelTime *sum, ModelTime more) {
    sum->cycles += more.cycles;
    sum->l2_trips += more.l2_trips;
    sum->dram_trips += more.dram_trips;
}

static ModelTime less(ModelTime a, ModelTime b) {
    return (ModelTime){a.cycles - b.cycles, a.l2_trips - b.l2_trips, a.dram_trips - b.dram_trips};
}

static ModelTime divided(ModelTime a, double by) {
    return (ModelTime){a.cycles / by, a.l2_trips / by, a.dram_trips / by};
}

static double nominal(const ModelTime *time) {
    return time->cycles + nominal_l2 * time->l2_trips + nominal_dram * time->dram_trips;
}

// Ends a stretch: all of it has started.
static void end_stretch(WarpClock *c) {
    c->now = later(after(c->now, c->issued), c->latest);
    c->latest = c->now;
    c->issued = 0;
    c->loading = 0;
    c->touched.before = c->touched.lines;
}

// ---- Instructions -----------------------------------------------------------------------------------------

static bool ends_stretch(const Instruction *in) {
    switch ((InstructionKind)in->kind) {
    case KIND_BARRIER:
    case KIND_WARP_BARRIER:
    case KIND_FENCE:
    case KIND_CALL:
    case KIND_RETURN:
    case KIND_EXIT:
    case KIND_BRANCH_TABLE:
    case KIND_CP_ASYNC_WAIT: return true;
    case KIND_LOAD: return (in->flags & IS_VOLATILE) != 0;
    case KIND_STORE: return (in->flags & IS_RELEASE) != 0;
    case KIND_ATOMIC: return !(in->flags & NO_RESULT) || in->flags & IS_RELEASE;
    default: return false;
    }
}

// What a branch that became predicates makes a warp issue besides the way that it takes; lanes that take both
// ways issue all of it.
static double skipped_by(const InstructionCost *cost, uint32_t mask, uint32_t active) {
    return (double)(mask == active ? cost->skipped_if_taken : mask ? 0 : cost->skipped);
}

static void follow_branch(WarpClock *c, const Instruction *in, const InstructionCost *cost, uint32_t mask,
                          uint32_t active) {
    if (cost->is_predicated) {
        c->issued += skipped_by(cost, mask, active);
        return;
    }
    bool is_back = in->target <= in->index;
    if (is_back && mask && ++c->turns % cost->unrolled) return;
    end_stretch(c);
    if (mask) c->now = after(c->now, latency_branch);
    c->latest = c->now;
}

// Loads wait for registers, too: where those of a batch would be more than a thread has, the next one starts
// when the batch is there.
static Stamp batch(const Timing *t, WarpClock *c, const Instruction *in, Stamp start) {
    int registers = in->elements * (in->width > 4 ? in->width / 4 : 1);
    if (t->load_registers && c->loading && c->loading + registers > t->load_registers) {
        start = later(start, c->loaded);
        c->loading = 0;
    }
    c->loading += registers;
    return start;
}

// Everything that the warp has stored is visible then.
static Stamp fence(WarpClock *c, Stamp start) {
    const int trips = c->is_unfenced ? trips_of_first_fence : trips_of_fence;
    for (int k = 0; k < trips; k++) start = after_l2(start);
    c->is_unfenced = false;
    return start;
}

static void observe_instruction(void *self, Warp *w, const Instruction *in, uint32_t mask, uint32_t active) {
    Timing *t = self;
    const InstructionCost *cost = &t->costs->of[in->number];
    WarpClock *c = w->clock;
    if (!c) return;
    ModelWork *work = &t->work;
    if (ends_stretch(in)) end_stretch(c);
    Stamp start = c->now;
    for (int k = 0; k < cost->source_count; k++) start = later(start, c->ready[cost->sources[k]]);

    // Lanes that take the same way fill a share of a warp.
    double share = t->what_if & WHAT_IF_NO_DIVERGENCE
                       ? (double)__builtin_popcount(active) / __builtin_popcount(w->exists & ~w->exited)
                       : 1;
    double issued = share * (double)cost->issued / (cost->unrolled > 1 ? cost->unrolled : 1);
    c->issued += issued;
    work->issued += issued;
    if (!t->has_run[in->number]) {
        t->has_run[in->number] = true;
        work->code += (double)cost->issued;
    }
    w->block->warps[0].clock->phase_issued += issued;
    if (!mask && in->kind != KIND_BRANCH) return; // issued, and nothing happens
    work->pipe_alu += share * (double)cost->pipe_alu;
    work->pipe_special += share * (double)cost->pipe_special;
    work->pipe_double += share * (double)cost->pipe_double;
    work->fused += share * (double)cost->fused;
    work->lsu += share * cost->is_lsu;

    switch ((InstructionKind)in->kind) {
    case KIND_BRANCH:
        c->latest = later(c->latest, start);
        if (cost->is_predicated) work->issued += skipped_by(cost, mask, active);
        follow_branch(c, in, cost, mask, active);
        return;
    case KIND_LOAD:
    case KIND_ROW_LOAD:
        if (!cost->is_lsu) break;
        if (!(in->flags & IS_NC)) {
            if (in->space != PTX_SPACE_SHARED) start = later(start, c->stored);
            if (in->space != PTX_SPACE_GLOBAL) start = later(start, c->stored_shared);
        }
        c->is_unfenced |= in->space != PTX_SPACE_SHARED;
        c->load_start = start = batch(t, c, in, start);
        break;
    case KIND_STORE:
    case KIND_ROW_STORE:
    case KIND_ATOMIC:
        if (in->flags & IS_RELEASE && !(in->flags & SCOPE_CTA)) c->latest = start = fence(c, start);
        c->load_start = start;
        if (in->space != PTX_SPACE_SHARED) {
            c->stored = later(c->stored, start);
            c->has_stored = c->is_unfenced = true;
        }
        if (in->space != PTX_SPACE_GLOBAL) c->stored_shared = later(c->stored_shared, start);
        break;
    case KIND_CP_ASYNC: c->load_start = start; break;
    case KIND_FENCE: c->latest = c->now = fence(c, start); break;
    case KIND_BARRIER: work->barriers++; break;
    default: break;
    }
    c->latest = later(c->latest, start);
    for (int k = 0; k < cost->destination_count; k++)
        c->ready[cost->destinations[k]] = after(start, (double)cost->latency);
}

// ---- Memory -----------------------------------------------------------------------------------------------

// The registers that the access fills are there after `latency` more cycles, or trips.
static void fill(const Timing *t, WarpClock *c, const Access *a, Stamp there) {
    const InstructionCost *cost = &t->costs->of[a->in->number];
    for (int k = 0; k < cost->destination_count; k++) {
        Stamp *ready = &c->ready[cost->destinations[k]];
        *ready = a->first ? there : later(*ready, there);
    }
    c->loaded = later(c->loaded, there);
}

// A region that a warp loads from: new to it, and to those of its block in this phase?
static void come_to(Timing *t, WarpClock *c, WarpClock *of_block, uint64_t region) {
    for (int k = 0; k < RECENT_REGIONS; k++)
        if (c->recent[k] == region + 1) return; // where it is at home, memory answers soon
    c->recent[c->next_recent++ % RECENT_REGIONS] = region + 1;
    t->work.regions++;
    for (int k = of_block->region_count; k-- > 0;)
        if (of_block->regions[k] == region) return;
    if (of_block->region_count < MOST_REGIONS) of_block->regions[of_block->region_count++] = region;
}

static void follow_global(Timing *t, WarpClock *c, const Access *a) {
    ModelWork *work = &t->work;
    Touch touch = sectors_touch(t->sectors, a, &c->touched, work);
    WarpClock *of_block = a->warp->block->warps[0].clock;
    of_block->phase_lsu += touch.lines;
    Stamp start = after(c->load_start, touch.lines > 1 ? touch.lines - 1 : 0);
    if (a->kind == ACCESS_ATOMIC) {
        work->atomic_waits++;
        fill(t, c, a, after_l2(start));
    } else if (a->kind == ACCESS_LOAD) {
        work->far_loads += touch.is_far;
        Stamp there = touch.is_far    ? after_dram(start)
                      : touch.is_near ? after(start, latency_l1)
                                      : after_l2(start);
        fill(t, c, a, there);
        for (uint32_t k = 0; k < touch.region_count; k++) come_to(t, c, of_block, touch.regions[k]);
        if (a->in->kind == KIND_CP_ASYNC) c->latest = later(c->latest, start);
    }
}

// Integer atomics of a whole warp on one word: ptxas adds the lanes up first, and one of them goes to memory.
static bool is_gathered(const Access *a) {
    if (a->kind != ACCESS_REDUCTION || a->in->type == PTX_F32 || a->in->type == PTX_F64) return false;
    uint64_t offset = a->offsets[__builtin_ctz(a->mask)];
    FOR_LANES(lane, a->mask) if (a->offsets[lane] != offset) return false;
    return true;
}

static void observe_access(void *self, const Access *a) {
    Timing *t = self;
    WarpClock *c = a->warp->clock;
    if (!c) return;
    switch (a->memory->space) {
    case PTX_SPACE_GLOBAL: follow_global(t, c, a); break;
    case PTX_SPACE_SHARED: {
        bool gathered = is_gathered(a);
        uint32_t wavefronts = gathered                            ? 1
                              : t->what_if & WHAT_IF_NO_CONFLICTS ? shared_wavefronts_at_best(a)
                                                                  : shared_wavefronts(a);
        if (gathered) {
            c->issued += gathering;
            t->work.issued += gathering;
        }
        if ((a->kind == ACCESS_REDUCTION || a->kind == ACCESS_ATOMIC) && !is_increment(a))
            wavefronts *= 2; // it is read and written
        t->work.shared_wavefronts += wavefronts;
        a->warp->block->warps[0].clock->phase_lsu += wavefronts;
        double cycles = latency_shared + latency_conflict * (double)(wavefronts ? wavefronts - 1 : 0);
        if (a->kind == ACCESS_LOAD || a->kind == ACCESS_ATOMIC) fill(t, c, a, after(c->load_start, cycles));
        break;
    }
    case PTX_SPACE_LOCAL: {
        uint32_t words = (a->bytes + 3) / 4;
        if (a->kind == ACCESS_LOAD) fill(t, c, a, after(c->load_start, latency_l1));
        *(a->kind == ACCESS_LOAD ? &t->work.local_loads : &t->work.local_stores) += words;
        break;
    }
    default: break;
    }
}

static void observe_before(void *self, const Access *a) {
    Timing *t = self;
    WarpClock *c = a->warp->clock;
    if (!c || a->memory->space != PTX_SPACE_GLOBAL) return;
    WarpClock *of_block = a->warp->block->warps[0].clock;
    if (!block_chain_access(t->chain, a, &of_block->waiting, &c->polls, c->load_start))
        t->machine->out_of_memory = t->machine->stopped = true;
}

static void observe_after(void *self, const Access *a) {
    (void)a;
    block_chain_done(((Timing *)self)->chain);
}

// ---- Blocks -----------------------------------------------------------------------------------------------

static WarpClock *clock_new(Timing *t) {
    WarpClock *c = calloc(1, sizeof *c + ((size_t)t->costs->register_count + 1) * sizeof(Stamp));
    if (!c) {
        t->machine->out_of_memory = t->machine->stopped = true;
        return NULL;
    }
    c->next = t->all;
    t->all = c;
    return c;
}

static void observe_start(void *self, Block *b) {
    Timing *t = self;
    const Machine *m = t->machine;
    int from = t->costs->first_register[m->kernel_function];
    int count = t->costs->first_register[m->kernel_function + 1] - from;
    for (int i = 0; i < b->warp_count; i++) {
        Warp *w = &b->warps[i];
        if (!w->clock) w->clock = clock_new(t);
        WarpClock *c = w->clock;
        if (!c) return;
        WarpClock *next = c->next;
        memset(c, 0, sizeof *c);
        memset(&c->ready[from], 0, (size_t)count * sizeof(Stamp));
        c->next = next;
        c->issued = 1; // every kernel begins with a load of its stack pointer
        t->work.issued++;
        c->touched.number = b->number * (uint64_t)b->warp_count + (uint64_t)i + 1;
    }
}

// A phase of a block, from barrier to barrier, takes at least as long as its warps need of the SM: four
// instructions a cycle, one line or wavefront a cycle.
static Stamp end_phase(Timing *t, Block *b, Stamp last) {
    WarpClock *c = b->warps[0].clock;
    if (!c) return last;
    double least = c->phase_issued / 4 > c->phase_lsu ? c->phase_issued / 4 : c->phase_lsu;
    if (c->phase.at + least > last.at) last = after(last, c->phase.at + least - last.at);
    c->phase_issued = c->phase_lsu = 0;
    double trips = (double)(last.dram_trips - c->phase.dram_trips);
    if (trips > 0) {
        double places = c->region_count / trips;
        t->work.meetings++;
        t->work.meeting_spread += places > 1 ? sqrt(2 * log(places)) : 0;
    }
    c->region_count = 0;
    c->phase = last;
    return last;
}

static void observe_barrier(void *self, Block *b, int id) {
    Timing *t = self;
    Stamp last = {0};
    for (int pass = 0; pass < 2; pass++) {
        if (pass) last = end_phase(t, b, last);
        for (int i = 0; i < b->warp_count; i++) {
            const Warp *w = &b->warps[i];
            if (!lanes_at_barrier(w, id) || !w->clock) continue;
            if (pass == 0)
                last = later(last, w->clock->now);
            else
                w->clock->now = w->clock->latest = after(last, latency_barrier);
        }
    }
}

static void observe_end(void *self, Block *b) {
    Timing *t = self;
    ModelWork *work = &t->work;
    Stamp last = {0};
    work->blocks++;
    for (int i = 0; i < b->warp_count; i++) {
        WarpClock *c = b->warps[i].clock;
        if (!c) continue;
        end_stretch(c);
        if (c->has_stored)
            c->now = later(c->now, after_l2(c->stored)); // it ends when its stores have arrived
        last = later(last, c->now);
        add_time(&work->warp_time, time_of(c->now));
        work->warps++;
    }
    last = end_phase(t, b, last);
    add_time(&work->block_time, time_of(last));
    if (last.at > nominal(&work->block_most)) work->block_most = time_of(last);
    const WarpClock *of_block = b->warps[0].clock;
    if (!of_block || !of_block->waiting.is_collecting) return;
    const ModelTime collecting = less(time_of(last), time_of(of_block->waiting.collecting));
    add_time(&t->collected, collecting);
    if (nominal(&collecting) > nominal(&work->collecting)) work->collecting = collecting;
}

// ---- The whole --------------------------------------------------------------------------------------------

static void timing_free(Timing *t) {
    while (t->all) {
        WarpClock *next = t->all->next;
        free(t->all);
        t->all = next;
    }
    free(t->has_run);
    sectors_free(t->sectors);
    block_chain_free(t->chain);
    program_costs_free(t->costs);
    free(t);
}

Timing *timing_new(Machine *m, Observer *observer) {
    Timing *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->machine = m;
    if (m->kernel->registers > other_registers) t->load_registers = m->kernel->registers - other_registers;
    t->costs = program_costs_new(m->program);
    t->what_if = m->launch->what_if;
    t->sectors = sectors_new(m->emulator, t->what_if & WHAT_IF_COALESCED);
    t->chain = block_chain_new();
    t->has_run = calloc((size_t)m->program->instruction_count + 1, sizeof *t->has_run);
    if (!t->costs || !t->sectors || !t->chain || !t->has_run) {
        timing_free(t);
        return NULL;
    }
    *observer = (Observer){.instruction = observe_instruction,
                           .access = observe_access,
                           .before = observe_before,
                           .after = observe_after,
                           .block_start = observe_start,
                           .block_end = observe_end,
                           .barrier = observe_barrier,
                           .self = t};
    return t;
}

void timing_finish(Timing *t, ModelWork *work) {
    sectors_summary(t->sectors, &t->work);
    if (t->work.blocks > 0)
        t->work.collecting = less(t->work.collecting, divided(t->collected, t->work.blocks));
    block_chain_summary(t->chain, t->work.blocks, &t->work);
    *work = t->work;
    timing_free(t);
}
