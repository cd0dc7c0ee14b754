// Seconds from work: how long each part of a GPU would be busy, and how these times go together.
#include "emulator/model/time.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { SECTORS_A_LINE = 4 };
static const double sector_bytes = 32, line_bytes = 128, pair_bytes = 64, warp_lanes = 32;

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
static double above_zero(double a) { return a > 0 ? a : 0; }
static double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }
static double round_up(double value, double unit) { return ceil(value / unit) * unit; }

// Times of things that overlap. With an exponent of 1 they follow each other, with a high one the longest
// hides the rest.
static double overlapped(const double times[], int count, double exponent) {
    double longest = 0, sum = 0;
    for (int i = 0; i < count; i++) longest = most(longest, times[i]);
    if (longest <= 0) return 0;
    for (int i = 0; i < count; i++) sum += pow(times[i] / longest, exponent);
    return longest * pow(sum, 1 / exponent);
}

// ---- Where blocks run -------------------------------------------------------------------------------------

double model_resident_blocks(const ModelDevice *d, const ModelShape *s) {
    double warps = ceil(s->block_threads / warp_lanes);
    double blocks = least(d->blocks_per_sm, floor(d->warps_per_sm / warps));
    if (s->registers > 0) { // an SM's four partitions hand out whole warps, 256 registers at a time
        double per_warp = round_up(s->registers * warp_lanes, 256);
        blocks = least(blocks, floor(floor(d->registers_per_sm / 4 / per_warp) * 4 / warps));
    }
    double shared = round_up(s->shared_bytes + d->shared_reserved_per_block, 128);
    if (shared > 0) blocks = least(blocks, floor(d->shared_per_sm / shared));
    return above_zero(blocks);
}

typedef struct {
    double warps;           // of a block
    double blocks;          // of the SM that has most
    double side_by_side;    // blocks on that SM at a time
    double rounds;          // of blocks, one after the other in one place
    double warps_on_sm;     // at a time
    double warps_on_device; // likewise
    double share;           // of all work, that SM's
} Placement;

static Placement place(const ModelDevice *d, const ModelShape *s) {
    Placement p = {.warps = ceil(s->block_threads / warp_lanes)};
    double resident = most(1, model_resident_blocks(d, s)), average = s->blocks / d->sm_count;
    p.blocks = ceil(average);
    p.side_by_side = least(resident, p.blocks);
    // Few rounds are whole ones; many blur.
    p.rounds = p.blocks <= resident       ? 1
               : p.blocks <= 4 * resident ? ceil(p.blocks / resident)
                                          : average / resident + 0.5;
    p.warps_on_sm = p.side_by_side * p.warps;
    p.warps_on_device = least(resident * d->sm_count, s->blocks) * p.warps;
    p.share = p.blocks / s->blocks;
    return p;
}

// ---- Caches -----------------------------------------------------------------------------------------------

// Sectors that a load finds in the L1, in the L2, or nowhere but in memory.
typedef struct {
    double l1, l2, dram;
} Found;

// Of sectors that are touched again after `bytes` of others, the share still in the cache. A cache is not a
// strict LRU list: around its size the share falls from 1 to 0.
static double still_there(double bytes, double capacity) { return 1 / (1 + pow(bytes / capacity, 12)); }

static Found find(const Placement *p, const ModelWork *w, double l1, double l2,
                  const double distance[MODEL_BINS], bool is_in_l1) {
    Found found = {0};
    double footprint = (w->first + w->stored_first) * sector_bytes;
    for (int i = 0; i < MODEL_BINS; i++) {
        if (distance[i] <= 0) continue;
        double lines = ldexp(1, i);
        double on_sm = least(lines * p->warps_on_sm * line_bytes, footprint * SECTORS_A_LINE * p->share);
        double on_device = least(lines * p->warps_on_device * line_bytes, footprint);
        double near = is_in_l1 ? still_there(on_sm, l1) : 0, far = still_there(on_device, l2);
        found.l1 += distance[i] * near;
        found.l2 += distance[i] * (1 - near) * far;
        found.dram += distance[i] * (1 - near) * (1 - far);
    }
    return found;
}

// ---- Bytes ------------------------------------------------------------------------------------------------

typedef struct {
    double dram, l2;   // seconds
    double dram_bytes; // both ways
} Traffic;

static Traffic move(const ModelDevice *d, const Placement *p, const ModelShape *s, const ModelWork *w) {
    double shared =
        p->side_by_side * (s->shared_bytes > 0 ? s->shared_bytes + d->shared_reserved_per_block : 0);
    double l1 = most(d->l1_bytes - shared, 16 << 10), l2 = d->l2_bytes * d->l2_usable;
    Found warp = find(p, w, l1, l2, w->warp_distance, true),
          block = find(p, w, l1, l2, w->block_distance, true),
          grid = find(p, w, l1, l2, w->grid_distance, false);
    // Where loads of a warp come too late, its stores to the same sectors do.
    double store_again = above_zero(w->store_sectors - w->stored_first) * share_of(warp.dram, w->again_warp);
    double late = warp.dram + block.dram + grid.dram + store_again;
    double missed = w->first + late - store_again + warp.l2 + block.l2 + grid.l2;

    // Memory moves pairs of sectors at least. What comes again too late comes from here and there, unless
    // whole lines do.
    double in_lines =
        least(1, above_zero((share_of(w->load_sectors, w->load_lines) - 1) / (SECTORS_A_LINE - 1)));
    // A sector that is stored to in parts and has left the L2 in between is read and written each time.
    double reads = w->first_pairs * pair_bytes,
           scattered = (late + store_again) * (1 - in_lines) * pair_bytes;
    double in_order = late * in_lines * sector_bytes;
    double writes = above_zero(w->stored_first * sector_bytes - d->dirty_bytes) +
                    2 * w->atomic_sectors * sector_bytes; // an atomic reads its sector first
    double both = reads + scattered + in_order + writes;
    double mixed = 2 * share_of(least(writes, both - writes), both);
    Traffic t = {.dram_bytes = both};
    t.dram = ((reads + in_order) / d->dram_read + scattered / d->dram_scattered + writes / d->dram_write) /
             d->peak_bytes_per_s * (1 + d->dram_mixed * mixed);

    double local = w->local_stores * d->l2_local;
    double lines = w->load_lines * share_of(missed, w->load_sectors) + w->store_lines + local;
    t.l2 = lines * d->l2_line + (missed + w->store_sectors + SECTORS_A_LINE * local) * d->l2_sector +
           w->atomic_operations * d->atomic_l2;
    return t;
}

// ---- The SM -----------------------------------------------------------------------------------------------

// Seconds that the SM with most blocks needs, were there no waiting.
static double units(const ModelDevice *d, const Placement *p, const ModelWork *w, ModelEstimate *e) {
    double lines = w->load_lines + w->store_lines * d->store_line + w->local_loads + w->local_stores;
    double issue = (w->issued + w->fused) / d->issue;
    double load_store = most(lines + w->shared_wavefronts * d->wavefront, w->lsu);
    const double pipes[] = {issue, w->pipe_alu / d->alu, w->pipe_special / d->special,
                            w->pipe_double / d->doubles};
    double seconds = p->share / d->clock_hz;
    const double wide = most(pipes[0], pipes[1]);
    e->issue = most(wide, most(pipes[2], pipes[3])) * seconds;
    if (pipes[3] > most(wide, pipes[2]))
        e->narrow = "the SMs' units for doubles";
    else if (pipes[2] > wide)
        e->narrow = "the SMs' units for roots, divisions, powers and the like";
    e->load_store = load_store * seconds;
    // A warp that is to issue to a busy arithmetic pipe waits, and its slot is lost. Loads and stores are
    // queued: the unit is busy while others issue.
    const double both[] = {overlapped(pipes, 4, d->sharing), load_store};
    return overlapped(both, 2, d->queued) * seconds;
}

// Seconds of the chain of dependent operations: that of a block, as often as blocks follow each other in a
// place.
static double latency(const ModelDevice *d, const Placement *p, const ModelWork *w, double spread) {
    double trips = w->block_time.dram_trips;
    double waits = w->meeting_spread + spread * above_zero(trips - w->meetings);
    double cycles = w->block_time.cycles + w->block_time.l2_trips * d->l2_latency + trips * d->dram_latency +
                    waits * d->dram_latency_spread;
    double change = d->warp_cycles * p->warps;
    return (p->rounds * cycles / w->blocks + (p->rounds - 1) * change) / d->clock_hz;
}

// ---- All of it --------------------------------------------------------------------------------------------

// What keeps the kernel from being faster: a part that is busy most of the time; else nothing is, and it
// waits.
static const double busy = 2.0 / 3;

static ModelLimiter limiter_of(const ModelEstimate *e) {
    double running = e->seconds - e->launch, memory = most(most(e->dram, e->l2), e->load_store);
    if (e->launch > running) return MODEL_LAUNCH;
    if (e->chain > busy * running) return MODEL_CHAIN;
    if (e->atomics > running / 2) return MODEL_ATOMICS;
    if (most(memory, e->issue) < busy * running) return MODEL_LATENCY;
    return memory >= e->issue ? MODEL_MEMORY : MODEL_INSTRUCTIONS;
}

// Why no part is busy is not known: what comes nearest to it is said.
static void say_waiting(const ModelEstimate *e, double running, char *to, size_t room) {
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"memory", e->dram},
                 {"the L2", e->l2},
                 {"the load and store units", e->load_store},
                 {e->narrow ? e->narrow : "the SMs with instructions", e->issue}};
    int busiest = 0;
    for (int i = 1; i < (int)(sizeof parts / sizeof parts[0]); i++)
        if (parts[i].seconds > parts[busiest].seconds) busiest = i;
    snprintf(to, room, "waiting: nothing is busy most of the time; most of all %s, for %.0f %% of it",
             parts[busiest].name, 100 * parts[busiest].seconds / running);
}

static void say(ModelEstimate *e, const ModelDevice *d, const ModelShape *s) {
    double running = e->seconds - e->launch;
    char *to = e->words;
    size_t room = sizeof e->words;
    switch (e->limiter) {
    case MODEL_LAUNCH:
        snprintf(to, room, "the launch itself: %.1f of %.1f us", e->launch * 1e6, e->seconds * 1e6);
        break;
    case MODEL_ATOMICS:
        snprintf(to, room, "atomics that queue at one address: %.0f of %.0f us", e->atomics * 1e6,
                 e->seconds * 1e6);
        break;
    case MODEL_CHAIN:
        snprintf(to, room, "blocks that wait for one another: %.2f us for each of %.0f, one after the other",
                 e->chain / s->blocks * 1e6, s->blocks);
        break;
    case MODEL_INSTRUCTIONS:
        snprintf(to, room, "instructions: the SMs are busy with them for %.0f %% of the time%s%s",
                 100 * least(1, e->issue / running), e->narrow ? ", most of all " : "",
                 e->narrow ? e->narrow : "");
        break;
    case MODEL_MEMORY:
        if (e->dram >= most(e->l2, e->load_store))
            snprintf(to, room, "memory: busy for %.0f %% of the time", 100 * least(1, e->dram / running));
        else if (e->l2 >= e->load_store)
            snprintf(to, room, "the L2: busy for %.0f %% of the time", 100 * least(1, e->l2 / running));
        else
            snprintf(to, room, "the load and store units: busy for %.0f %% of the time",
                     100 * least(1, e->load_store / running));
        break;
    case MODEL_LATENCY:
        if (e->blocks > busy * running)
            snprintf(to, room, "blocks: %.0f of them begin and end, one after the other", s->blocks);
        else if (e->bytes_in_flight < 512 && s->blocks < d->sm_count)
            snprintf(to, room,
                     "bytes in flight: %.0f bytes on %.0f of %.0f SMs, %.0f KiB on each would fill it",
                     e->bytes_in_flight, s->blocks, d->sm_count, e->bytes_to_fill / 1024);
        else if (e->bytes_in_flight < 0.9 * e->bytes_to_fill && s->blocks < d->sm_count)
            snprintf(to, room,
                     "bytes in flight: %.1f KiB on %.0f of %.0f SMs, %.0f KiB on each would fill it",
                     e->bytes_in_flight / 1024, s->blocks, d->sm_count, e->bytes_to_fill / 1024);
        else if (e->bytes_in_flight < 0.9 * e->bytes_to_fill)
            snprintf(to, room, "bytes in flight: %.*f KiB an SM, %.0f KiB would fill it",
                     e->bytes_in_flight < 10240 ? 1 : 0, e->bytes_in_flight / 1024, e->bytes_to_fill / 1024);
        else
            say_waiting(e, running, to, room);
        break;
    }
}

// Bytes of a block, from which on memory is taken to be busy while others wait. Those of tests/data/chains.cu
// load 8 at most, those of the chains in tests/wrong/ch16 32 KiB; nothing between was measured.
static const double loads_of_a_link = 1024;

// A few trips are in the measured times of a launch.
double model_collecting_seconds(const ModelDevice *d, const ModelWork *w) {
    const ModelTime *time = &w->collecting;
    const double cycles = time->cycles + (time->l2_trips - TRIPS_OF_COLLECTING) * d->l2_latency +
                          time->dram_trips * d->dram_latency;
    return above_zero(cycles) / d->clock_hz;
}

// Of the warps on an SM, the share that has loads on their way while the slowest of a block has: others have
// ended, or load nothing. 1 if it is most of them.
static double loading_share(const Placement *p, const ModelWork *w) {
    const double share = share_of(w->warp_time.dram_trips, p->warps * w->block_time.dram_trips);
    return share > 0 && share < 0.5 ? share : 1;
}

void model_estimate(const ModelDevice *d, const ModelShape *s, const ModelWork *w, ModelEstimate *e) {
    *e = (ModelEstimate){0};
    Placement p = place(d, s);
    double trips = w->warp_time.dram_trips, places = share_of(w->regions, trips);
    double spread = places > 1 ? sqrt(2 * log(places)) : 0;
    Traffic t = move(d, &p, s, w);
    bool is_touching = w->load_sectors + w->store_sectors > 0;
    e->launch = d->launch + (is_touching ? d->first_access : 0) + w->code * d->code;
    e->latency = latency(d, &p, w, spread);
    e->dram = t.dram;
    e->l2 = t.l2;
    e->dram_bytes = t.dram_bytes;
    e->units = units(d, &p, w, e);
    e->blocks = s->blocks * d->block;
    // A slice takes one operation after the other; an addition of floats also waits for the one before on its
    // word.
    e->atomics =
        most((w->atomic_slice - w->atomic_whole) * d->atomic_word + w->atomic_whole * d->atomic_sector,
             w->atomic_floats * d->atomic_float);

    // Waiting and moving bytes are two sides of one thing, and overlap least: the busier memory is, the
    // longer a trip takes.
    const double memory[] = {e->latency, e->dram},
                 written = share_of(w->stored_first * sector_bytes, t.dram_bytes);
    double waiting = overlapped(memory, 2, 1 + d->overlap * exp(-d->overlap_written * written));
    // The fewer run side by side, the less they overlap. Warps that meet at barriers keep pace, and their
    // block counts as one. Alone on its SM it competes with no other: the latency includes its use of the
    // units.
    double parties = w->barriers < w->warps ? p.warps_on_sm : p.side_by_side;
    const double all[] = {e->l2, waiting, e->blocks, parties > 1 ? e->units : 0},
                 exponent = 1 + d->together * pow(parties, d->parties);
    double running = most(overlapped(all, 4, exponent), e->units);
    // Atomics of blocks that run one after the other overlap with the rest; those of the last ones come at
    // the end. By as much as these wait for the units of their SM, which serve one after the other, all but
    // one end earlier; blocks that wait for memory end together.
    double last = e->atomics / p.rounds, apart = running - overlapped(all, 3, exponent);
    last -= least(last, apart) * (1 - 1 / p.side_by_side);
    running = most(running, e->atomics - last) + last;
    // Blocks that look back wait once for each round except the first, when memory is idle.
    if (w->links == 0)
        running += (p.rounds - 1) * (share_of(w->passed_on, w->blocks) * d->told +
                                     share_of(w->told_plainly, w->blocks) * d->told_plainly);
    // A chain of blocks has its own length, however many run side by side. Its links are longer where each
    // block loads something before it waits.
    const bool is_loading = w->first * sector_bytes > loads_of_a_link * w->blocks;
    e->chain = (w->chain.cycles + w->chain.l2_trips * d->l2_latency + w->chain.dram_trips * d->dram_latency) /
                   d->clock_hz +
               (is_loading ? w->links * d->told : 0);
    running = most(running, e->chain) + model_collecting_seconds(d, w);
    e->seconds = e->launch + running;

    double cycles = d->dram_latency + spread * d->dram_latency_spread;
    e->bytes_in_flight = loading_share(&p, w) * p.warps_on_sm * share_of(w->first * sector_bytes, trips);
    e->bytes_to_fill = d->peak_bytes_per_s * d->dram_read / d->sm_count * cycles / d->clock_hz;
    e->limiter = limiter_of(e);
    say(e, d, s);
}

void model_estimate_next(const ModelDevice *d, const ModelEstimate *next, ModelEstimate *sum) {
    double more = next->seconds - d->launch - d->first_access + d->next_launch;
    ModelEstimate kept = more > sum->seconds ? *next : *sum; // the words of the longer one
    double seconds = sum->seconds + more;
    *sum = kept;
    sum->seconds = seconds;
}
