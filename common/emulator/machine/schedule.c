// Which block and which warp runs when.
//
// Schedule 0 runs one block after the other, warp by warp; a block that does not come to its end within a
// turn (it may be waiting for another block) makes room for the next. Any other schedule is a seed: it
// permutes the blocks, keeps a few in flight, and draws a warp and a number of instructions again and again.
// The same seed gives the same run.
#include "emulator/machine/schedule.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/machine/async.h"
#include "emulator/machine/bulk.h"
#include "emulator/machine/budget.h"
#include "emulator/machine/divergence.h"
#include "emulator/machine/execute.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/hold.h"
#include "emulator/machine/idle.h"
#include "emulator/machine/pause.h"
#include "emulator/machine/wgmma.h"

enum {
    BLOCK_POLLS = 512, // polls (Machine.polls) of a block before the next block gets a turn (schedule 0)
    WARP_TURN = 2000,  // of a warp, before the next warp of the block
    LONGEST_TURN = 10, // its length under a seed has fewer bits
    HELD_TURN = 6,     // the same, where most blocks only wait
    SCRAMBLED_IN_FLIGHT = 8, // blocks at a time under a seed, at most,
    SCRAMBLED_WARPS = 128,   // of no more warps than this: the state of more leaves the processor's cache
    TIME_INTERVAL = 64,      // turns between two looks at the time
    PATIENCE = 256,          // polls for each block in flight before a rest ends
};

// Takes a launch the rest of its steps when it has used up its time.
static void look_at_the_time(Machine *m) {
    struct timespec now;
    if (m->launch->max_seconds <= 0 || ++m->looks % TIME_INTERVAL || m->ended_early || m->searched) return;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (m->began == 0) m->began = seconds;
    if (seconds - m->began < m->launch->max_seconds) return;
    m->ended_early =
        (m->launch->max_steps ? m->launch->max_steps : UINT64_MAX) - m->step_limit + m->lane_steps;
    m->step_limit = 0;
}

// ---- Blocks -----------------------------------------------------------------------------------------------

static size_t block_bytes(const Block *b) {
    return sizeof *b + (size_t)b->warp_count * sizeof *b->warps + b->machine->shared_bytes;
}

static void block_release(Block *b) {
    if (!b) return;
    b->machine->budget_used -= block_bytes(b);
    for (int i = 0; b->warps && i < b->warp_count; i++)
        b->machine->budget_used -= (size_t)b->warps[i].local_capacity * WARP_SIZE;
    for (int i = 0; b->warps && i < b->warp_count; i++) {
        free(b->warps[i].local.allocation);
        free(b->warps[i].local.initialised);
        async_free(b->warps[i].copies);
        wgmma_free(b->warps[i].wgmmas);
    }
    free(b->warps);
    free(b->mbarriers);
    free(b->flights);
    free(b->shared.allocation);
    free(b->shared.initialised);
    free(b);
}

static Block *block_new(Machine *m) {
    const EmulatorLaunch *launch = m->launch;
    Block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->machine = m;
    b->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    b->warp_count = (int)((b->thread_count + WARP_SIZE - 1) / WARP_SIZE);
    if (!budget_take(m, NULL, block_bytes(b), "a block")) {
        free(b);
        return NULL;
    }
    b->warps = calloc((size_t)b->warp_count, sizeof *b->warps);
    size_t bytes = m->shared_bytes ? (m->shared_bytes + 63) / 64 * 64 : 64;
    b->shared = (Memory){.name = "shared memory",
                         .space = PTX_SPACE_SHARED,
                         .base = SHARED_WINDOW,
                         .bytes = m->shared_bytes,
                         .in_use = true};
    b->shared.allocation = b->shared.data = aligned_alloc(64, bytes);
    b->shared.initialised = calloc(bytes / 64 + 1, sizeof(uint64_t));
    if (!b->warps || !b->shared.data || !b->shared.initialised) {
        block_release(b);
        return NULL;
    }
    uint32_t thread = 0;
    for (int i = 0; i < b->warp_count; i++) {
        Warp *w = &b->warps[i];
        w->block = b;
        w->index = i;
        for (unsigned lane = 0; lane < WARP_SIZE && thread < b->thread_count; lane++, thread++) {
            w->exists |= 1u << lane;
            w->thread_x[lane] = thread % launch->block[0];
            w->thread_y[lane] = thread / launch->block[0] % launch->block[1];
            w->thread_z[lane] = thread / launch->block[0] / launch->block[1];
        }
    }
    return b;
}

static Block *block_start(Machine *m, uint64_t number) {
    Block *b = m->free_block_count ? m->free_blocks[--m->free_block_count] : block_new(m);
    if (!b) {
        m->out_of_memory = !m->stopped;
        m->stopped = true;
        return NULL;
    }
    m->blocks_started++;
    m->effects++;
    b->number = number;
    b->id[0] = (uint32_t)(number % m->launch->grid[0]);
    b->id[1] = (uint32_t)(number / m->launch->grid[0] % m->launch->grid[1]);
    b->id[2] = (uint32_t)(number / m->launch->grid[0] / m->launch->grid[1]);
    b->live_warps = b->warp_count;
    b->cluster = &b->own;
    b->own = (Cluster){.blocks = {b}, .size = 1, .in_flight = 1};
    b->rank = 0;
    b->is_stuck = false;
    b->idle = 0;
    b->exited_threads = b->exited_early = 0;
    memset(b->barriers, 0, sizeof b->barriers);
    b->mbarrier_count = 0;
    if (m->shared_bytes) {
        // Garbage that is the same in every run: a NaN as a float, no plausible index as an integer.
        memset(b->shared.data, 0xff, m->shared_bytes);
        memset(b->shared.initialised, 0, (m->shared_bytes + 63) / 64 * sizeof(uint64_t));
    }
    for (int i = 0; i < b->warp_count && !m->stopped; i++) {
        Warp *w = &b->warps[i];
        if (w->local_capacity) memset(w->local.initialised, 0, (size_t)w->local_capacity * WARP_SIZE / 8);
        async_forget(w->copies);
        wgmma_forget(w->wgmmas);
        memset(w->bulk_groups, 0, sizeof w->bulk_groups);
        warp_start(m, w);
    }
    return b;
}

static void tell_start(Machine *m, Block *b) {
    for (int i = 0; i < m->observer_count && !m->stopped; i++)
        if (m->observers[i].block_start) m->observers[i].block_start(m->observers[i].self, b);
}

static uint32_t cluster_blocks(const Machine *m) { return m->cluster[0] * m->cluster[1] * m->cluster[2]; }

// The number of the block of rank `rank` in cluster `number`; of the clusters x comes first, as of blocks.
static uint64_t block_in_cluster(const Machine *m, uint64_t number, uint32_t rank) {
    uint64_t at[3], clusters = number, ranks = rank;
    for (int i = 0; i < 3; i++) {
        const uint64_t across = m->launch->grid[i] / m->cluster[i];
        at[i] = clusters % across * m->cluster[i] + ranks % m->cluster[i];
        clusters /= across;
        ranks /= m->cluster[i];
    }
    return at[0] + m->launch->grid[0] * (at[1] + m->launch->grid[1] * at[2]);
}

static uint64_t cluster_of(const Machine *m, uint64_t block) {
    uint64_t number = 0, scale = 1, rest = block;
    for (int i = 0; i < 3; i++) {
        const uint64_t across = m->launch->grid[i] / m->cluster[i];
        number += rest % m->launch->grid[i] / m->cluster[i] * scale;
        rest /= m->launch->grid[i];
        scale *= across;
    }
    return number;
}

// Starts all blocks of a cluster; false when the machine was stopped, and none of them is kept.
static bool cluster_start(Machine *m, uint64_t number, Block **blocks) {
    const uint32_t size = cluster_blocks(m);
    for (uint32_t rank = 0; rank < size; rank++) {
        blocks[rank] = block_start(m, size > 1 ? block_in_cluster(m, number, rank) : number);
        if (blocks[rank] && !m->stopped) continue;
        for (uint32_t i = 0; i <= rank; i++) block_release(blocks[i]);
        return false;
    }
    if (!blocks[0]) return false; // never: a cluster has a block
    Cluster *cluster = &blocks[0]->own;
    *cluster = (Cluster){.size = size, .in_flight = size};
    for (uint32_t rank = 0; rank < size; rank++) {
        cluster->blocks[rank] = blocks[rank];
        blocks[rank]->cluster = cluster;
        blocks[rank]->rank = rank;
    }
    for (uint32_t rank = 0; rank < size; rank++) tell_start(m, blocks[rank]);
    return true;
}

// A block that ended, or (when the machine was stopped) that never will.
static void block_end(Machine *m, Block *b) {
    TELL_OBSERVERS(m, block_end, b);
    if (m->free_block_count < m->free_block_capacity && !m->stopped)
        m->free_blocks[m->free_block_count++] = b;
    else
        block_release(b);
}

// All threads of the block have ended. The blocks of a cluster stay until the last has ended.
static void leave_cluster(Machine *m, Block *b) {
    Cluster *cluster = b->cluster;
    bulk_end(m, b);
    if (--cluster->in_flight) return;
    const Cluster all = *cluster; // it lies in the first block
    for (uint32_t rank = 0; rank < all.size; rank++)
        bulk_end(m, all.blocks[rank]); // copies name other blocks
    for (uint32_t rank = 0; rank < all.size; rank++) {
        m->blocks_ended++;
        block_end(m, all.blocks[rank]);
    }
}

// No thread of `b` can run. A deadlock, if that is so of all blocks of its cluster.
static void stop_at_deadlock(Machine *m, Block *b) {
    b->is_stuck = true;
    for (uint32_t rank = 0; rank < b->cluster->size; rank++)
        if (b->cluster->blocks[rank]->live_warps && !b->cluster->blocks[rank]->is_stuck) return;
    m->stopped = true;
    TELL_OBSERVERS(m, deadlock, b);
}

// Runs one block to its end, or until it has polled memory so often that it may be waiting for another
// block. Without polls a block cannot wait for another, and running it to its end keeps few in flight.
static void block_run(Machine *m, Block *b) {
    uint64_t start = m->polls;
    while (b->live_warps && m->polls - start < BLOCK_POLLS && !m->stopped) {
        uint64_t round = 0;
        for (int k = 0; k < b->warp_count && !m->stopped; k++) {
            Warp *w = &b->warps[k];
            if (w->exited == w->exists) continue;
            round += run_warp(m, w, WARP_TURN);
        }
        look_at_the_time(m);
        pause_if_it_polls_much(m);
        if (round) {
            b->is_stuck = false;
            if (m->polls != start && block_waits(m, b)) return; // the rest of its turn would change nothing
            continue;
        }
        if (!b->live_warps || m->stopped || release_bystanders(m, b)) continue;
        stop_at_deadlock(m, b);
        return; // unless it has stopped, other blocks of the cluster run first
    }
}

// Warps that are not known to have nothing to run, a bit each.
static uint32_t busy_warps(const Block *b) { return UINT32_MAX >> (MAX_WARPS - b->warp_count) & ~b->idle; }

// Those of the warps `some` that rest do so for `turns` less, which is no more than the shortest rest.
static void shorten_rests(Block *b, uint32_t some, uint32_t turns) {
    FOR_LANES(i, some & b->resting) {
        b->rests[i] -= turns;
        if (!b->rests[i]) b->resting &= ~(1u << i);
    }
}

// Under a seed: one warp of the block, for a while: the first that can run, from one on that is drawn.
static void block_step(Machine *m, Block *b) {
    const uint64_t draw = random_next(&m->random);
    const uint64_t budget = 1ull << (m->holds ? draw % HELD_TURN : draw % LONGEST_TURN);
    const uint32_t from = UINT32_MAX << (uint32_t)(draw >> 32) % (uint32_t)b->warp_count; // these come first
    const uint32_t busy = busy_warps(b), resting = b->resting & busy;
    for (uint32_t left = busy; left;) {
        const int i = __builtin_ctz(left & from ? left & from : left);
        left &= ~(1u << i);
        if (resting >> i & 1) {
            shorten_rests(b, 1u << i, 1);
            continue;
        }
        Warp *w = &b->warps[i];
        if (m->is_weak && random_one_in(&m->random, 64)) rest(m, w);
        if (w->exited != w->exists && run_warp(m, w, budget)) {
            b->is_stuck = false;
            return;
        }
        b->resting &= ~(1u << i); // it waits for others: while they see it rest, they would wait for it
        b->idle |= 1u << i;
        if (m->stopped || !b->live_warps) return;
    }
    if (!resting && !release_bystanders(m, b)) stop_at_deadlock(m, b);
}

// ---- Rests, under weak schedules --------------------------------------------------------------------------

static bool is_ready(const Block *b) { return busy_warps(b) & ~b->resting; }
static bool is_resting(const Block *b) { return b->resting && !is_ready(b); }

static void shorten_all_rests(Block **flight, uint64_t count) {
    uint32_t shortest = UINT32_MAX;
    for (uint64_t i = 0; i < count; i++) FOR_LANES(k, flight[i]->resting)
    if (flight[i]->rests[k] < shortest) shortest = flight[i]->rests[k];
    for (uint64_t i = 0; i < count; i++) shorten_rests(flight[i], UINT32_MAX, shortest);
}

// A block with a warp that, as far as is known, can run and does not rest; `count`: none has.
static uint64_t ready_block(Block **flight, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (is_ready(flight[i])) return i;
    return count;
}

// Of `count` numbers. No division: most draws are of blocks whose warps rest.
static uint64_t random_below(Random *random, uint64_t count) {
    return (uint64_t)((unsigned __int128)random_next(random) * count >> 64);
}

// Draws blocks until one has a warp that may run. A warp rests so that others run before it: if as many
// draws as there are blocks have found only resting warps, one that does not rest is looked for, and if there
// is none, the rests of all are shorter by the shortest.
static uint64_t draw_awake(Machine *m, Block **flight, uint64_t count) {
    Random random = m->random; // in a register
    uint64_t chosen = random_below(&random, count);
    for (uint64_t resting = 0; is_resting(flight[chosen]);) {
        shorten_rests(flight[chosen], UINT32_MAX, 1);
        chosen = count;
        if (++resting == count) {
            chosen = ready_block(flight, count);
            if (chosen == count) shorten_all_rests(flight, count);
            resting = 0;
        }
        if (chosen == count) chosen = random_below(&random, count);
    }
    m->random = random;
    return chosen;
}

// ---- The grid ---------------------------------------------------------------------------------------------

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Block `i` of the order that a seed draws: i -> (a i + c) mod total with a prime to total.
typedef struct {
    uint64_t a, c, total;
} Order;

static Order order_drawn(Machine *m, uint64_t total) {
    Order order = {1, 0, total};
    if (!m->scrambled || total < 2) return order;
    order.c = random_next(&m->random) % total;
    do order.a = random_next(&m->random) % total;
    while (greatest_common_divisor(order.a, total) != 1);
    return order;
}

static uint64_t order_at(Order order, uint64_t i) {
    return (uint64_t)(((unsigned __int128)order.a * i + order.c) % order.total);
}

static uint64_t warps_of_block(const EmulatorLaunch *launch) {
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return (threads + WARP_SIZE - 1) / WARP_SIZE;
}

// How many blocks run at once, as the device would hold them: a grid barrier may count on so many.
static uint64_t blocks_in_flight(const Machine *m) {
    const EmulatorDevice *device = &m->emulator->device;
    const EmulatorLaunch *launch = m->launch;
    const uint64_t warps = warps_of_block(launch);
    uint64_t each = (uint64_t)device->max_threads_per_sm / (warps * WARP_SIZE);
    uint64_t shared =
        launch->dynamic_shared + m->kernel->info.static_shared + (uint64_t)device->shared_reserved_per_block;
    if (shared && (uint64_t)device->shared_per_sm / shared < each)
        each = (uint64_t)device->shared_per_sm / shared;
    if (each > (uint64_t)device->max_blocks_per_sm) each = (uint64_t)device->max_blocks_per_sm;
    if (m->kernel->registers) {
        // Registers are given out to warps in units of 256 (CUDA Occupancy Calculator, allocation
        // granularity).
        uint64_t per_warp = ((uint64_t)m->kernel->registers * WARP_SIZE + 255) / 256 * 256;
        uint64_t fits = (uint64_t)device->registers_per_sm / per_warp / warps;
        if (fits < each) each = fits;
    }
    const uint64_t all = (each ? each : 1) * (uint64_t)device->sm_count;
    if (!launch->most_resident || m->holds) return all;
    return launch->most_resident < all ? launch->most_resident : all;
}

// The cluster, or the block, that place `number` of the sample names.
static uint64_t sampled(const Machine *m, uint64_t number) {
    const uint64_t block = m->launch->sample[number];
    return cluster_blocks(m) > 1 ? cluster_of(m, block) : block;
}

// Whether no block of the cluster at place `i` of the order has come before.
static bool is_first_of_cluster(const Machine *m, Order order, uint64_t i) {
    const uint64_t cluster = sampled(m, order_at(order, i));
    for (uint64_t k = 0; k < i; k++)
        if (sampled(m, order_at(order, k)) == cluster) return false;
    return true;
}

// Whether a thread can wait for what a thread of another block does: only an instruction that polls looks
// again.
static bool may_poll(const Program *p) {
    for (int i = 0; i < p->instruction_count; i++) {
        const Instruction *in = p->by_number[i];
        if (in->kind == KIND_NANOSLEEP || in->kind == KIND_MBARRIER_WAIT) return true;
        if ((in->kind == KIND_LOAD || in->kind == KIND_ATOMIC) && can_poll(in)) return true;
    }
    return false;
}

// How many blocks are in flight at most under a seed.
static uint64_t most_scrambled(const Machine *m) {
    const uint64_t fit = SCRAMBLED_WARPS / warps_of_block(m->launch);
    return fit < SCRAMBLED_IN_FLIGHT ? fit : SCRAMBLED_IN_FLIGHT;
}

void run_grid(Machine *m) {
    const EmulatorLaunch *launch = m->launch;
    uint64_t total =
        launch->sample ? launch->sample_count : (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    // What starts together: a cluster, which is one block unless the launch says otherwise.
    const uint32_t size = cluster_blocks(m);
    const bool is_sample = launch->sample != NULL;
    const bool holds = m->holds = schedule_holds(launch->schedule) && may_poll(m->program);
    uint64_t limit = blocks_in_flight(m) / size * size;
    if (limit > total && !(is_sample && size > 1)) limit = total;
    if (limit < size) limit = size;
    Hold hold = {0};
    uint64_t window = m->scrambled ? 1 + random_next(&m->random) % most_scrambled(m) : limit;
    if (holds) window = HELD_IN_FLIGHT;
    if (window > limit) window = limit;
    if (window < size) window = size;
    if (!is_sample) total /= size;
    Order order = order_drawn(m, total);
    Block **flight = calloc(limit, sizeof *flight);
    m->free_block_capacity = (int)(window < 64 ? window : 64);
    m->free_blocks = calloc((size_t)m->free_block_capacity, sizeof *m->free_blocks);
    uint64_t count = 0, next = 0, turn = 0, stuck = 0, stuck_effects = 0, stuck_polls = 0, quiet = 0,
             polls_then = 0;
    if (!flight || !m->free_blocks) {
        free(flight);
        free(m->free_blocks);
        m->free_blocks = NULL;
        m->out_of_memory = m->stopped = true;
        return;
    }
    while ((next < total || count) && !m->stopped) {
        if (m->scrambled) {
            look_at_the_time(m);
            pause_if_it_may_wait(m);
        }
        // Schedule 0: a new block whenever there is room, so that no block waits for one that never starts.
        uint64_t chosen;
        bool start = next < total && count + size <= window;
        if (start) {
            const uint64_t number = order_at(order, next++);
            if (is_sample && size > 1 && !is_first_of_cluster(m, order, next - 1)) continue;
            if (!cluster_start(m, is_sample ? sampled(m, number) : number, flight + count)) break;
            chosen = count;
            count += size;
            if (m->scrambled && count + size <= window) continue;
        } else if (count)
            chosen = holds          ? hold_choose(m, &hold, flight, count)
                     : m->is_weak   ? draw_awake(m, flight, count)
                     : m->scrambled ? random_next(&m->random) % count
                                    : turn++ % count;
        else
            break; // not reached: the window is at least one block wide
        Block *b = flight[chosen];
        const uint64_t effects = m->effects;
        if (m->stopped) break;
        if (m->scrambled)
            block_step(m, b);
        else
            block_run(m, b);
        // Those that poll may wait for a warp that rests.
        if (m->is_weak && m->polls - polls_then > PATIENCE * count) {
            polls_then = m->polls;
            shorten_all_rests(flight, count);
        }
        if (holds) hold_update(m, &hold, b, count);
        // Every block in flight has had two turns, no other may start, and nothing has changed.
        quiet = start || m->effects != effects || m->scrambled ? 0 : quiet + 1;
        if (quiet >= 2 * count && !m->stopped) {
            if (waits_for_ever(m, flight, count)) break;
            pause_if_it_may_wait(m);
            quiet = 0;
        }
        if (!b->live_warps) {
            leave_cluster(m, b);
            flight[chosen] = flight[--count];
            stuck = 0;
        } else if (m->scrambled && !hold.block && ++stuck % 256 == 0) {
            const bool is_all = window >= limit || next == total;
            if (is_all && m->effects == stuck_effects && waits_for_ever(m, flight, count)) break;
            stuck_effects = m->effects;
            // Nothing ends: perhaps the blocks in flight wait for one that has not started. They would poll.
            if (stuck % 4096 == 0) {
                if (m->polls != stuck_polls) window = 2 * window < limit ? 2 * window : limit;
                stuck_polls = m->polls;
            }
        }
    }
    for (uint64_t i = 0; i < count; i++) leave_cluster(m, flight[i]);
    for (int i = 0; i < m->free_block_count; i++) block_release(m->free_blocks[i]);
    free(flight);
    free(m->free_blocks);
    m->free_blocks = NULL;
    m->free_block_count = 0;
}
