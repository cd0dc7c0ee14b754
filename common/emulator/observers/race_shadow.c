#define _DEFAULT_SOURCE // madvise and MAP_ANONYMOUS under -std=c17
#include "emulator/observers/race_shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4 << 10, MAPPED = 1 << 20, LARGE = 4 << 20 };

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

enum {
    GRANULE_BYTES = 6 * sizeof(uint32_t) + 2 * sizeof(uint16_t),
    ALIGNMENT = 16, // of what follows the lines' patterns, which are bytes
};

static void place_arrays(Shadow *s, void *at, size_t count) {
    uint32_t *words = at;
    s->count = count;
    s->write_time = words;
    s->write_who = words + count;
    s->access_time = words + 2 * count;
    s->access_who = words + 3 * count;
    s->access_warps = words + 4 * count;
    s->access_lanes = words + 5 * count;
    s->write_site = (uint16_t *)(void *)(words + 6 * count);
    s->access_site = s->write_site + count;
}

// Zeros. Large shadows are mapped, so that only what is touched takes pages and time; calloc may find them a
// place among freed memory, which it then clears.
static Shadow *zeroed(size_t size) {
    if (size < MAPPED) return calloc(1, size);
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    prefer_large_pages(at, size);
    return at;
}

void shadow_free(Shadow *s) {
    if (s && s->size >= MAPPED)
        munmap(s, s->size);
    else
        free(s);
}

Shadow *shadow_new(size_t bytes, unsigned skew, unsigned shift, bool has_lines) {
    const size_t count = ((bytes + skew) >> shift) + 1, lines = has_lines ? count / LINE_GRANULES + 1 : 0;
    const size_t size = sizeof(Shadow) + count * GRANULE_BYTES,
                 of_lines = (lines * (GRANULE_BYTES + 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                 more = has_lines ? sizeof(Shadow) + of_lines : 0;
    Shadow *s = zeroed(more + size);
    if (!s) return NULL;
    *s = (Shadow){.shift = shift, .skew = skew, .size = more + size};
    place_arrays(s, (unsigned char *)(s + 1) + more, count);
    if (!has_lines) return s;
    s->lines = s + 1;
    place_arrays(s->lines, s + 2, lines);
    s->pattern = (unsigned char *)(s + 2) + lines * GRANULE_BYTES;
    return s;
}

// The readers of a line's first granule as those of another one: by lanes further on.
static uint32_t list_of_other_lanes(ReaderPool *pool, uint32_t list, unsigned further) {
    const uint32_t copied = readers_copied(pool, list);
    for (uint32_t at = copied; at; at = pool->readers[at].next) {
        Readers *one = &pool->readers[at];
        one->lanes <<= further;
        for (unsigned warp = 0; one->table && warp < WARP_SIZE; warp++)
            pool->tables[one->table].lanes[warp] <<= further;
    }
    return copied;
}

void shadow_split(Shadow *s, size_t line, ReaderPool *pool) {
    Shadow *l = s->lines;
    const uint8_t pattern = s->pattern[line];
    s->pattern[line] = LINE_SPLIT;
    if (pattern == LINE_EMPTY || pattern == LINE_SPLIT) return;
    const uint16_t site = l->access_site[line];
    for (unsigned k = LINE_GRANULES; k-- > 0;) { // the first last: it takes the list
        const size_t g = line * LINE_GRANULES + k;
        const unsigned further = k >> (pattern - 1);
        if (g >= s->count) continue;
        if (l->write_time[line]) {
            s->write_time[g] = l->write_time[line];
            s->write_who[g] = l->write_who[line] + further;
            s->write_site[g] = l->write_site[line];
        }
        if (!l->access_time[line]) continue;
        s->access_time[g] = l->access_time[line];
        s->access_site[g] = site;
        s->access_who[g] = l->access_who[line];
        if (is_list(site)) {
            if (k) s->access_who[g] = list_of_other_lanes(pool, l->access_who[line], further);
            if (!s->access_who[g]) s->access_time[g] = s->access_site[g] = 0; // no memory: remembers less
        } else if (is_group(site)) {
            s->access_warps[g] = l->access_warps[line];
            s->access_lanes[g] = l->access_lanes[line] << further;
        } else
            s->access_who[g] += further;
    }
}

Shadow *shadow_refined(Shadow *old, size_t bytes, unsigned shift, ReaderPool *pool) {
    Shadow *s = shadow_new(bytes, old->skew, shift, old->lines);
    if (!s) return NULL;
    unsigned finer = old->shift - shift;
    for (size_t line = 0; old->lines && line < old->lines->count; line++) {
        if (old->pattern[line] == LINE_EMPTY) continue; // leaves pages of s untouched
        shadow_split(old, line, pool);
        for (size_t k = line << finer; k < (line + 1) << finer && k < s->lines->count; k++)
            s->pattern[k] = LINE_SPLIT;
    }
    for (size_t i = 0; i < s->count && i >> finer < old->count; i++) {
        size_t from = i >> finer;
        if (s->lines && s->pattern[i / LINE_GRANULES] != LINE_SPLIT) {
            i |= LINE_GRANULES - 1; // the rest of the line
            continue;
        }
        if (!old->write_time[from] && !old->access_time[from]) continue;
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
    shadow_free(old);
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
