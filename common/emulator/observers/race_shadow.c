#define _DEFAULT_SOURCE // madvise under -std=c17
#include "emulator/observers/race_shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4 << 10, LARGE = 4 << 20 };

// A shadow is five times as large as what it shadows, and a kernel that reads its input once spends most of
// its time in page faults. With pages of 2 MiB there are few of them. Only the whole pages inside are asked
// for, and only advice is given: where the system has no such pages nothing changes.
static void prefer_large_pages(void *from, size_t bytes) {
#ifdef MADV_HUGEPAGE
    size_t before = -(uintptr_t)from % PAGE;
    if (bytes >= LARGE) (void)madvise((char *)from + before, (bytes - before) / PAGE * PAGE, MADV_HUGEPAGE);
#else
    (void)from;
    (void)bytes;
#endif
}

Shadow *shadow_new(size_t bytes, unsigned skew, unsigned shift) {
    size_t count = ((bytes + skew) >> shift) + 1;
    size_t size = sizeof(Shadow) + count * (6 * sizeof(uint32_t) + 2 * sizeof(uint16_t));
    // calloc leaves large arrays to the system, which hands out zeroed pages as they are touched.
    Shadow *s = calloc(1, size);
    if (!s) return NULL;
    prefer_large_pages(s, size);
    uint32_t *words = (uint32_t *)(void *)(s + 1);
    *s = (Shadow){.shift = shift, .skew = skew, .count = count};
    s->write_time = words;
    s->write_who = words + count;
    s->access_time = words + 2 * count;
    s->access_who = words + 3 * count;
    s->write_site = (uint16_t *)(void *)(words + 4 * count);
    s->access_site = s->write_site + count;
    s->access_warps = words + 5 * count;
    s->access_lanes = words + 6 * count;
    return s;
}

Shadow *shadow_refined(Shadow *old, size_t bytes, unsigned shift, ReaderPool *pool) {
    Shadow *s = shadow_new(bytes, old->skew, shift);
    if (!s) return NULL;
    unsigned finer = old->shift - shift;
    for (size_t i = 0; i < s->count && i >> finer < old->count; i++) {
        size_t from = i >> finer;
        if (!old->write_time[from] && !old->access_time[from]) continue; // leaves pages of s untouched
        s->write_time[i] = old->write_time[from];
        s->write_who[i] = old->write_who[from];
        s->write_site[i] = old->write_site[from];
        s->access_time[i] = old->access_time[from];
        s->access_who[i] = old->access_who[from];
        s->access_site[i] = old->access_site[from];
        if (is_group(s->access_site[i])) {
            s->access_warps[i] = old->access_warps[from];
            s->access_lanes[i] = old->access_lanes[from];
        }
        if (!is_list(s->access_site[i]) || i % (1u << finer) == 0) continue;
        s->access_who[i] = readers_copied(pool, old->access_who[from]);
        if (!s->access_who[i]) s->access_time[i] = s->access_site[i] = 0;
    }
    free(old);
    return s;
}

Readers shadow_access(const Shadow *s, size_t g) {
    uint32_t who = s->access_who[g], lane = who % WARP_SIZE;
    uint16_t site = s->access_site[g];
    Readers one = {.time = s->access_time[g], .who = who - lane, .site = site, .is_last = true};
    if (is_group(site)) {
        one.site = (uint16_t)(site - SITE_GROUP);
        one.warps = s->access_warps[g];
        one.lanes = s->access_lanes[g];
    } else {
        one.warps = 1u << warp_of(who);
        one.lanes = 1u << lane;
    }
    return one;
}

void shadow_set_access(Shadow *s, size_t g, const Readers *one) {
    s->access_time[g] = one->time;
    if (one->warps & (one->warps - 1) || one->lanes & (one->lanes - 1)) {
        s->access_who[g] = one->who;
        s->access_site[g] = one->site | SITE_GROUP;
        s->access_warps[g] = one->warps;
        s->access_lanes[g] = one->lanes;
        return;
    }
    s->access_who[g] = (one->who & ~((1u << THREAD_BITS) - 1)) +
                       (uint32_t)__builtin_ctz(one->warps) * WARP_SIZE + (uint32_t)__builtin_ctz(one->lanes);
    s->access_site[g] = one->site;
}
