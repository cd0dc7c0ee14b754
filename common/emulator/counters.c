// Counts what a GPU's memory pipeline would count for every instruction: requests, sectors, wavefronts.
//
// The rules are those that reproduce Nsight Compute's counts on an H200 (tests/hardware_truth): global
// memory moves in sectors of 32 bytes, shared memory in wavefronts of at most one word from each of 32
// banks of 4 bytes.
#include <string.h>

#include "machine.h"

enum { SECTOR_SHIFT = 5, BANKS = 32, WORD_SHIFT = 2 };

// How many different values there are among those of the lanes in `mask`.
static uint32_t distinct(const uint64_t values[WARP_SIZE], uint32_t mask) {
    uint64_t seen[2 * WARP_SIZE];
    uint64_t used = 0; // one bit per slot of `seen`, an open-addressing table
    uint32_t count = 0;
    FOR_LANES(lane, mask) {
        uint64_t slot = (values[lane] * 0x9e3779b97f4a7c15ull) >> 58;
        while (used >> slot & 1 && seen[slot] != values[lane]) slot = (slot + 1) % (2 * WARP_SIZE);
        if (used >> slot & 1) continue;
        used |= 1ull << slot;
        seen[slot] = values[lane];
        count++;
    }
    return count;
}

static uint32_t sectors_of(const Access *a) {
    uint64_t base = a->memory->base;
    if (a->contiguous) {
        uint64_t first = base + a->offsets[0], last = first + (uint64_t)a->bytes * WARP_SIZE - 1;
        return (uint32_t)((last >> SECTOR_SHIFT) - (first >> SECTOR_SHIFT) + 1);
    }
    uint64_t sectors[WARP_SIZE];
    // An access is aligned to its own size, which is at most 16 bytes, so it lies in one sector.
    FOR_LANES(lane, a->mask) sectors[lane] = (base + a->offsets[lane]) >> SECTOR_SHIFT;
    return distinct(sectors, a->mask);
}

// Lanes of one atomic on one address are served one after the other, each pass a sector again: a sector
// counts as often as its most wanted address.
static uint32_t atomic_sectors(const Access *a, uint32_t *most_lanes) {
    uint32_t left = a->mask, total = 0;
    *most_lanes = 0;
    while (left) {
        uint64_t sector = (a->memory->base + a->offsets[__builtin_ctz(left)]) >> SECTOR_SHIFT;
        uint32_t here = 0, most = 0;
        FOR_LANES(lane, left) if ((a->memory->base + a->offsets[lane]) >> SECTOR_SHIFT == sector) here |= 1u << lane;
        FOR_LANES(lane, here) {
            uint32_t same = 0;
            FOR_LANES(other, here) same += a->offsets[other] == a->offsets[lane];
            if (same > most) most = same;
        }
        total += most;
        if (most > *most_lanes) *most_lanes = most;
        left &= ~here;
    }
    return total;
}

// The largest number of different words that the lanes of one phase want from one bank.
static uint32_t phase_wavefronts(const Access *a, uint32_t lanes) {
    uint64_t words[BANKS][WARP_SIZE];
    uint32_t counts[BANKS] = {0}, most = 0;
    uint32_t per_lane = (a->bytes + 3) / 4;
    FOR_LANES(lane, lanes) {
        for (uint32_t k = 0; k < per_lane; k++) {
            uint64_t word = (a->offsets[lane] >> WORD_SHIFT) + k;
            uint32_t bank = (uint32_t)(word % BANKS), known = 0;
            for (uint32_t i = 0; i < counts[bank] && !known; i++) known = words[bank][i] == word;
            if (known) continue;
            words[bank][counts[bank]++] = word;
            if (counts[bank] > most) most = counts[bank];
        }
    }
    return most;
}

// Wavefronts of a shared-memory access: 32-bit accesses go in one phase of 32 lanes, 64-bit in two of 16,
// 128-bit in four of 8. `least` receives what the same lanes would need without a conflict.
static uint32_t wavefronts_of(const Access *a, uint32_t *least) {
    uint32_t phases = a->bytes <= 4 ? 1 : a->bytes / 4, lanes = WARP_SIZE / phases, total = 0;
    *least = 0;
    if (a->contiguous && a->bytes >= 4) return *least = phases;
    for (uint32_t p = 0; p < phases; p++) {
        uint32_t mask = a->mask & (lanes == 32 ? FULL_MASK : ((1u << lanes) - 1) << (p * lanes));
        if (!mask) continue;
        total += phase_wavefronts(a, mask);
        ++*least;
    }
    return total;
}

static void count_global(Counters *c, const Access *a) {
    uint32_t most, lanes = (uint32_t)__builtin_popcount(a->mask);
    switch (a->kind) {
    case ACCESS_LOAD:
        c->global_ld_requests += a->first;
        c->global_ld_sectors += sectors_of(a);
        c->global_ld_bytes += (uint64_t)lanes * a->bytes;
        break;
    case ACCESS_STORE:
        c->global_st_requests += a->first;
        c->global_st_sectors += sectors_of(a);
        c->global_st_bytes += (uint64_t)lanes * a->bytes;
        break;
    case ACCESS_REDUCTION:
        c->global_red_requests += a->first;
        c->global_red_sectors += atomic_sectors(a, &most);
        if (most > c->atomic_max_lanes) c->atomic_max_lanes = most;
        break;
    case ACCESS_ATOMIC:
        c->global_atom_requests += a->first;
        c->global_atom_sectors += atomic_sectors(a, &most);
        if (most > c->atomic_max_lanes) c->atomic_max_lanes = most;
        break;
    }
}

static void count_shared(Counters *c, const Access *a) {
    uint32_t least, wavefronts = wavefronts_of(a, &least), most;
    switch (a->kind) {
    case ACCESS_LOAD:
        c->shared_ld += a->first;
        c->shared_ld_wavefronts += wavefronts;
        c->shared_ld_conflicts += wavefronts - least;
        break;
    case ACCESS_STORE:
        c->shared_st += a->first;
        c->shared_st_wavefronts += wavefronts;
        c->shared_st_conflicts += wavefronts - least;
        break;
    default:
        c->shared_atom += a->first;
        c->shared_atom_wavefronts += wavefronts;
        atomic_sectors(a, &most);
        if (most > c->atomic_max_lanes) c->atomic_max_lanes = most;
        break;
    }
}

// Local memory lies interleaved: word w of all 32 lanes together, so that equal offsets are contiguous.
static void count_local(Counters *c, const Access *a) {
    uint64_t sectors[WARP_SIZE];
    uint32_t count = 0;
    for (uint32_t k = 0; k < (a->bytes + 3) / 4; k++) {
        FOR_LANES(lane, a->mask) {
            uint64_t word = (a->offsets[lane] % a->warp->local_capacity) / 4 + k;
            sectors[lane] = (word * WARP_SIZE + lane) * 4 >> SECTOR_SHIFT;
        }
        count += distinct(sectors, a->mask);
    }
    if (a->kind == ACCESS_LOAD) {
        c->local_ld_requests += a->first;
        c->local_ld_sectors += count;
    } else {
        c->local_st_requests += a->first;
        c->local_st_sectors += count;
    }
}

static void count_access(void *self, const Access *a) {
    Machine *m = self;
    Counters *c = &m->counts[a->in->number];
    switch (a->memory->space) {
    case PTX_SPACE_GLOBAL: count_global(c, a); break;
    case PTX_SPACE_SHARED: count_shared(c, a); break;
    case PTX_SPACE_LOCAL: count_local(c, a); break;
    case PTX_SPACE_CONST: c->const_ld += a->first; break;
    default: break;
    }
}

bool counters_observe(Machine *m, Observer *observer) {
    *observer = (Observer){.access = count_access, .self = m};
    return true;
}
