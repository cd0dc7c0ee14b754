#include "emulator/observers/touched.h"

#include <stdlib.h>

#include "emulator/touched.h"

typedef struct {
    const Machine *machine;
    Touched *touched;
    TouchedPage *last; // that an access was to
    uint16_t *sites;   // of each instruction, by its number: index + 1; 0: none yet
    size_t site_capacity;
} Watch;

static bool grow_sites(Watch *watch) {
    const size_t more = watch->site_capacity ? 2 * watch->site_capacity : 32;
    SourcePlace *grown = more < UINT16_MAX ? realloc(watch->touched->sites, more * sizeof *grown) : NULL;
    if (!grown) return false;
    watch->touched->sites = grown;
    watch->site_capacity = more;
    return true;
}

static uint16_t site_of(Watch *watch, const Instruction *in) {
    Touched *t = watch->touched;
    uint16_t *site = &watch->sites[in->number];
    if (*site) return (uint16_t)(*site - 1);
    if (t->site_count == watch->site_capacity && !grow_sites(watch)) {
        t->is_incomplete = true;
        return 0;
    }
    t->sites[t->site_count] = place_of(watch->machine->program, in);
    *site = (uint16_t)++t->site_count;
    return (uint16_t)(*site - 1);
}

static void mark(TouchedWord *word, unsigned bytes, bool is_weak, uint16_t site) {
    if (!word->bytes || (is_weak && !word->is_weak)) word->site = site;
    word->bytes |= (uint8_t)bytes;
    word->is_weak |= is_weak;
}

static void mark_range(Watch *watch, uint64_t address, uint64_t bytes, const Access *access, uint16_t site) {
    const uint64_t end = address + bytes;
    while (address < end) {
        const uint64_t word = address / 4, first = address % 4,
                       count = end - address < 4 - first ? end - address : 4 - first;
        const unsigned bits = ((1u << count) - 1) << first;
        address += count;
        if (!watch->last || watch->last->number != word / TOUCHED_WORDS)
            watch->last = touched_page_made(watch->touched, word / TOUCHED_WORDS);
        if (!watch->last) continue;
        if (access->kind != ACCESS_STORE)
            mark(&watch->last->read[word % TOUCHED_WORDS], bits, !access->is_volatile, site);
        if (access->kind != ACCESS_LOAD)
            mark(&watch->last->written[word % TOUCHED_WORDS], bits, !access->is_volatile, site);
    }
}

static void access_watched(void *self, const Access *access) {
    Watch *watch = self;
    const Memory *memory = access->memory;
    const bool is_shared_by_launches = memory->space == PTX_SPACE_GLOBAL || memory->space == PTX_SPACE_CONST;
    if (!is_shared_by_launches || memory->heap || memory->base == watch->machine->workspace) return;
    const uint16_t site = site_of(watch, access->in);
    if (access->contiguous) {
        mark_range(watch, memory->base + access->offsets[0], (uint64_t)access->bytes * WARP_SIZE, access,
                   site);
        return;
    }
    FOR_LANES(lane, access->mask)
    mark_range(watch, memory->base + access->offsets[lane], access->bytes, access, site);
}

static void fence_seen(void *self, Warp *warp, uint32_t mask, const Instruction *in) {
    (void)warp, (void)mask, (void)in;
    const Watch *watch = self;
    watch->touched->has_fence = true;
}

static void end_watch(void *self) {
    Watch *watch = self;
    free(watch->sites);
    free(watch);
}

bool touched_observe(Machine *m, Observer *observer) {
    Watch *watch = calloc(1, sizeof *watch);
    uint16_t *sites = calloc((size_t)m->program->instruction_count + 1, sizeof *sites);
    if (!watch || !sites) {
        free(watch);
        free(sites);
        return false;
    }
    watch->machine = m;
    watch->sites = sites;
    watch->touched = m->launch->touched;
    watch->site_capacity = watch->touched->site_count; // of launches before this one
    *observer = (Observer){.self = watch, .end = end_watch, .access = access_watched, .fence = fence_seen};
    return true;
}
