#define _DEFAULT_SOURCE // madvise under -std=c17
#include "emulator/observers/race_shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

// ---- Lists of accesses ------------------------------------------------------------------------------------

uint32_t readers_add(ReaderPool *pool, Readers readers) {
    uint32_t at = pool->free;
    if (at)
        pool->free = pool->readers[at].next;
    else {
        if (pool->count == pool->capacity) {
            uint32_t capacity = pool->capacity ? pool->capacity * 2 : 256;
            Readers *grown =
                capacity > pool->capacity ? realloc(pool->readers, capacity * sizeof *grown) : NULL;
            if (!grown) return 0;
            pool->readers = grown;
            pool->capacity = capacity;
        }
        if (!pool->count) pool->count = 1;
        at = pool->count++;
    }
    pool->readers[at] = readers;
    return at;
}

void readers_free(ReaderPool *pool, uint32_t list) {
    while (list) {
        uint32_t next = pool->readers[list].next;
        pool->readers[list].next = pool->free;
        pool->free = list;
        list = next;
    }
}

static uint32_t readers_copied(ReaderPool *pool, uint32_t list) {
    uint32_t copy = 0;
    for (; list; list = pool->readers[list].next) {
        Readers one = pool->readers[list];
        one.next = copy;
        uint32_t added = readers_add(pool, one);
        if (!added) break; // remembers less, which may miss a race and never invents one
        copy = added;
    }
    return copy;
}

// ---- Shadows ----------------------------------------------------------------------------------------------

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
    size_t size = sizeof(Shadow) + count * (4 * sizeof(uint32_t) + 2 * sizeof(uint16_t));
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
        if (s->access_site[i] != SITE_LIST || i % (1u << finer) == 0) continue;
        s->access_who[i] = readers_copied(pool, old->access_who[from]);
        if (!s->access_who[i]) s->access_time[i] = s->access_site[i] = 0;
    }
    free(old);
    return s;
}
