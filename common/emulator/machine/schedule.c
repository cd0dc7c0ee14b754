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
#include "emulator/machine/divergence.h"
#include "emulator/machine/execute.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/idle.h"

enum {
    BLOCK_POLLS = 512, // volatile loads and atomics of a block before the next block gets a turn (schedule 0)
    WARP_TURN = 2000,  // of a warp, before the next warp of the block
    SCRAMBLED_IN_FLIGHT = 8, // blocks at a time under a seed
    TIME_INTERVAL = 64,      // turns between two looks at the time
};

// Takes a launch the rest of its steps when it has used up its time.
static void look_at_the_time(Machine *m) {
    struct timespec now;
    if (m->launch->max_seconds <= 0 || ++m->looks % TIME_INTERVAL || m->ended_early) return;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (m->began == 0) m->began = seconds;
    if (seconds - m->began < m->launch->max_seconds) return;
    m->ended_early =
        (m->launch->max_steps ? m->launch->max_steps : UINT64_MAX) - m->step_limit + m->lane_steps;
    m->step_limit = 0;
}

// ---- Blocks -----------------------------------------------------------------------------------------------

static void block_release(Block *b) {
    if (!b) return;
    for (int i = 0; b->warps && i < b->warp_count; i++) {
        free(b->warps[i].local.allocation);
        free(b->warps[i].local.initialised);
        async_free(b->warps[i].copies);
    }
    free(b->warps);
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
        m->out_of_memory = m->stopped = true;
        return NULL;
    }
    m->blocks_started++;
    m->effects++;
    b->number = number;
    b->id[0] = (uint32_t)(number % m->launch->grid[0]);
    b->id[1] = (uint32_t)(number / m->launch->grid[0] % m->launch->grid[1]);
    b->id[2] = (uint32_t)(number / m->launch->grid[0] / m->launch->grid[1]);
    b->live_warps = b->warp_count;
    b->idle = 0;
    b->exited_threads = 0;
    b->turn = 0;
    memset(b->barriers, 0, sizeof b->barriers);
    if (m->shared_bytes) {
        // Garbage that is the same in every run: a NaN as a float, no plausible index as an integer.
        memset(b->shared.data, 0xff, m->shared_bytes);
        memset(b->shared.initialised, 0, (m->shared_bytes + 63) / 64 * sizeof(uint64_t));
    }
    for (int i = 0; i < b->warp_count && !m->stopped; i++) {
        Warp *w = &b->warps[i];
        if (w->local_capacity) memset(w->local.initialised, 0, (size_t)w->local_capacity * WARP_SIZE / 8);
        async_forget(w->copies);
        warp_start(m, w);
    }
    for (int i = 0; i < m->observer_count && !m->stopped; i++)
        if (m->observers[i].block_start) m->observers[i].block_start(m->observers[i].self, b);
    return b;
}

// A block that ended, or (when the machine was stopped) that never will.
static void block_end(Machine *m, Block *b) {
    TELL_OBSERVERS(m, block_end, b);
    if (m->free_block_count < m->free_block_capacity && !m->stopped)
        m->free_blocks[m->free_block_count++] = b;
    else
        block_release(b);
}

static void stop_at_deadlock(Machine *m, const Block *b) {
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
            Warp *w = &b->warps[(b->turn + k) % b->warp_count];
            if (w->exited == w->exists) continue;
            round += run_warp(m, w, WARP_TURN);
        }
        if (!round && b->live_warps && !m->stopped && !release_bystanders(m, b)) stop_at_deadlock(m, b);
        look_at_the_time(m);
    }
}

// Under a seed: one warp of the block, for a while.
static void block_step(Machine *m, Block *b) {
    uint64_t draw = random_next(&m->random);
    uint64_t budget = 1ull << (draw % 10);
    int start = (int)((draw >> 32) % (uint64_t)b->warp_count);
    bool is_resting = false;
    for (int k = 0, i = start; k < b->warp_count; k++, i++) {
        if (i == b->warp_count) i = 0;
        if (b->idle >> i & 1) { // its numbers are drawn even so: what a seed gives does not depend on this
            if (m->is_weak && random_one_in(&m->random, 64)) (void)random_next(&m->random);
            continue;
        }
        Warp *w = &b->warps[i];
        if (w->rest) {
            w->rest--;
            is_resting = true;
            continue;
        }
        if (m->is_weak && random_one_in(&m->random, 64)) rest(m, w);
        if (w->exited != w->exists && run_warp(m, w, budget)) return;
        w->rest = 0; // it waits for others: while they see it rest, they would wait for it
        b->idle |= 1u << i;
        if (m->stopped || !b->live_warps) return;
    }
    if (!is_resting && !release_bystanders(m, b)) stop_at_deadlock(m, b);
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

// How many blocks the device would hold at once, which is how many a grid barrier may count on.
static uint64_t blocks_in_flight(const Machine *m) {
    const EmulatorDevice *device = &m->emulator->device;
    const EmulatorLaunch *launch = m->launch;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
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
    return (each ? each : 1) * (uint64_t)device->sm_count;
}

void run_grid(Machine *m) {
    const EmulatorLaunch *launch = m->launch;
    uint64_t total =
        launch->sample ? launch->sample_count : (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t limit = blocks_in_flight(m);
    if (limit > total) limit = total;
    uint64_t window = m->scrambled ? 1 + random_next(&m->random) % SCRAMBLED_IN_FLIGHT : limit;
    if (window > limit) window = limit;
    Order order = order_drawn(m, total);
    Block **flight = calloc(limit, sizeof *flight);
    m->free_block_capacity = (int)(window < 64 ? window : 64);
    m->free_blocks = calloc((size_t)m->free_block_capacity, sizeof *m->free_blocks);
    uint64_t count = 0, next = 0, turn = 0, stuck = 0, quiet = 0;
    if (!flight || !m->free_blocks) {
        free(flight);
        free(m->free_blocks);
        m->free_blocks = NULL;
        m->out_of_memory = m->stopped = true;
        return;
    }
    while ((next < total || count) && !m->stopped) {
        if (m->scrambled) look_at_the_time(m);
        // Schedule 0: a new block whenever there is room, so that no block waits for one that never starts.
        uint64_t chosen;
        bool start = next < total && count < window;
        if (start) {
            const uint64_t number = order_at(order, next++);
            flight[count] = block_start(m, launch->sample ? launch->sample[number] : number);
            if (!flight[count]) break;
            chosen = count++;
            if (m->scrambled && count < window) continue;
        } else if (count)
            chosen = m->scrambled ? random_next(&m->random) % count : turn++ % count;
        else
            break; // not reached: the window is at least one block wide
        Block *b = flight[chosen];
        const uint64_t effects = m->effects;
        if (m->stopped) break;
        if (m->scrambled)
            block_step(m, b);
        else
            block_run(m, b);
        // Every block in flight has had two turns, no other may start, and nothing has changed.
        quiet = start || m->effects != effects || m->scrambled ? 0 : quiet + 1;
        if (quiet >= 2 * count && !m->stopped) {
            if (waits_for_ever(m, flight, count)) break;
            quiet = 0;
        }
        if (!b->live_warps) {
            m->blocks_ended++;
            block_end(m, b);
            flight[chosen] = flight[--count];
            stuck = 0;
        } else if (m->scrambled && ++stuck % 4096 == 0 && window < limit) {
            // Nothing ends: perhaps the blocks in flight wait for one that has not started.
            window = 2 * window < limit ? 2 * window : limit;
        }
    }
    for (uint64_t i = 0; i < count; i++) block_end(m, flight[i]);
    for (int i = 0; i < m->free_block_count; i++) block_release(m->free_blocks[i]);
    free(flight);
    free(m->free_blocks);
    m->free_blocks = NULL;
    m->free_block_count = 0;
}
