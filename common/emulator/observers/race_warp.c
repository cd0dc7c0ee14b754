#include "emulator/observers/race_warp.h"

// `count` is a constant wherever these are called, so that the loops become vectors. Granule i is accessed by
// lane i >> per_lane.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

// Nonzero if some granule's last write needs a closer look.
ALWAYS_INLINE uint32_t odd_writes(const RaceCheck *c, size_t g, uint32_t count, uint32_t per_lane) {
    const uint32_t *write_time = c->shadow->write_time + g, *write_who = c->shadow->write_who + g;
    uint32_t all = c->all_time, barrier = c->b->barrier_time, first = c->first, odd = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = write_who[i] ^ first, mine = write_who[i] - first - (i >> per_lane);
        odd |= (uint32_t)(write_time[i] > all) & (uint32_t)(mine != 0) &
               ((uint32_t)(other >> THREAD_BITS != 0) | (uint32_t)(write_time[i] > barrier));
    }
    return odd;
}

// What else was accessed is over, or was accessed by the same threads.
ALWAYS_INLINE bool check_run(const RaceCheck *c, size_t g, uint32_t count, uint32_t per_lane, bool is_write) {
    Shadow *s = c->shadow;
    uint32_t all = c->all_time, barrier = c->b->barrier_time, first = c->first, now = c->now;
    uint32_t *write_time = s->write_time + g, *write_who = s->write_who + g;
    uint32_t *access_time = s->access_time + g, *access_who = s->access_who + g;
    uint16_t *write_site = s->write_site + g, *access_site = s->access_site + g;
    uint32_t odd = odd_writes(c, g, count, per_lane);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = access_who[i] ^ first, mine = access_who[i] - first - (i >> per_lane);
        mine |= access_site[i] & SITE_GROUP;
        odd |= (uint32_t)(access_time[i] > all) & (uint32_t)(mine != 0) &
               ((uint32_t)(other >> THREAD_BITS != 0) | (uint32_t)(access_time[i] > barrier));
    }
    // Strong writes have bit 1 set: a read may not take their place. Nor that of lists.
    uint16_t odd_sites = 0;
    for (uint32_t i = 0; i < count; i++)
        odd_sites |= (uint16_t)(access_site[i] & 2) | (uint16_t)(access_site[i] >= SITE_READERS);
    if (odd | odd_sites) return false;
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

// The same lanes of other warps of the block read the granules at this time and place too, or nothing did.
ALWAYS_INLINE bool join_run(const RaceCheck *c, size_t g, uint32_t count, uint32_t per_lane) {
    Shadow *s = c->shadow;
    uint32_t all = c->all_time, barrier = c->b->barrier_time, first = c->first, now = c->now;
    uint32_t *access_time = s->access_time + g, *access_who = s->access_who + g;
    uint32_t *access_warps = s->access_warps + g, *access_lanes = s->access_lanes + g;
    uint16_t *access_site = s->access_site + g, code = c->code, group = code | SITE_GROUP;
    uint32_t warps[128], odd = odd_writes(c, g, count, per_lane);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t site = access_site[i], time = access_time[i], other = access_who[i] ^ first,
                 lane = i >> per_lane;
        uint32_t is_ours = other >> THREAD_BITS == 0;
        uint32_t is_over = (uint32_t)(time <= all) | (is_ours & (uint32_t)(time <= barrier)) |
                           ((uint32_t)(other == lane) & (uint32_t)(site < SITE_GROUP));
        uint32_t in_group = (uint32_t)(site == group) & (uint32_t)(access_lanes[i] == 1u << lane);
        uint32_t is_alone = (uint32_t)(site == code) & (uint32_t)(other % WARP_SIZE == lane);
        uint32_t is_alike = is_ours & (uint32_t)(time == now) & (in_group | is_alone);
        odd |= (is_over | is_alike) ^ 1u;
        odd |= site & 2;
        odd |= (uint32_t)(site >= SITE_READERS);
        uint32_t before = in_group ? access_warps[i] : 1u << (access_who[i] / WARP_SIZE % WARP_SIZE);
        warps[i] = is_alike ? before : 0;
    }
    if (odd) return false;
    uint32_t bit = 1u << warp_of(first);
    for (uint32_t i = 0; i < count; i++) access_warps[i] = warps[i] | bit;
    for (uint32_t i = 0; i < count; i++) access_lanes[i] = 1u << (i >> per_lane);
    for (uint32_t i = 0; i < count; i++) access_time[i] = now;
    for (uint32_t i = 0; i < count; i++) access_who[i] = first;
    for (uint32_t i = 0; i < count; i++) access_site[i] = group;
    return true;
}

bool check_contiguous(const RaceCheck *c) {
    size_t g = granule_of(c->shadow, c->a->offsets[0]);
    bool is_write = c->code & 2;
    switch (c->a->bytes >> c->shadow->shift) {
    case 1:
        if (is_write) return check_run(c, g, 32, 0, true);
        return check_run(c, g, 32, 0, false) || join_run(c, g, 32, 0);
    case 2:
        if (is_write) return check_run(c, g, 64, 1, true);
        return check_run(c, g, 64, 1, false) || join_run(c, g, 64, 1);
    case 4:
        if (is_write) return check_run(c, g, 128, 2, true);
        return check_run(c, g, 128, 2, false) || join_run(c, g, 128, 2);
    default: return false;
    }
}

uint32_t lanes_by_place(const Access *a, uint32_t together[WARP_SIZE]) {
    FOR_LANES(lane, a->mask) together[lane] = 1u << lane;
    uint64_t before = 0;
    bool is_rising = true, is_first = true;
    FOR_LANES(lane, a->mask) {
        is_rising &= is_first || a->offsets[lane] > before;
        before = a->offsets[lane];
        is_first = false;
    }
    if (is_rising) return a->mask;
    uint32_t highest = a->mask;
    uint8_t owner[2 * WARP_SIZE]; // an open-addressing table of lanes
    uint64_t used = 0;
    FOR_LANES(lane, a->mask) {
        uint64_t slot = (a->offsets[lane] * 0x9e3779b97f4a7c15ull) >> 58;
        while (used >> slot & 1 && a->offsets[owner[slot]] != a->offsets[lane])
            slot = (slot + 1) % (2 * WARP_SIZE);
        if (used >> slot & 1) {
            highest &= ~(1u << owner[slot]);
            together[lane] |= together[owner[slot]];
        }
        used |= 1ull << slot;
        owner[slot] = (uint8_t)lane;
    }
    return highest;
}
