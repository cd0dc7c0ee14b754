#include "emulator/observers/race_site.h"

#include <stdlib.h>

enum { SITE_VARIANTS = 8 }; // of an instruction: by AccessKind and by whether it touches several words

bool sites_open(Sites *s, const Program *program) {
    s->of = calloc((size_t)program->instruction_count + 1, SITE_VARIANTS * sizeof *s->of);
    s->count = 1; // codes below 4 are of no place
    return s->of != NULL;
}

void sites_close(Sites *s) { free(s->of); }

bool touches_many(const Access *a) {
    uint64_t first = a->offsets[__builtin_ctz(a->mask)];
    FOR_LANES(lane, a->mask) if (a->offsets[lane] != first) return true;
    return false;
}

static RaceKind kind_of(const Access *a) {
    if (a->kind == ACCESS_LOAD) return a->is_volatile ? RACE_STRONG_READ : RACE_READ;
    return a->kind == ACCESS_STORE && !a->is_volatile ? RACE_WRITE : RACE_STRONG_WRITE;
}

uint16_t site_of(Sites *s, const Access *a) {
    RaceKind kind = kind_of(a);
    bool many = kind == RACE_STRONG_WRITE && touches_many(a);
    uint16_t *known = &s->of[(uint32_t)a->in->number * SITE_VARIANTS + (uint32_t)a->kind * 2 + many];
    if (!*known) {
        if (s->count == SITE_LIMIT) return (uint16_t)kind; // sites 0 stand for the rest
        s->sites[s->count] = (Site){
            .instruction = a->in->number,
            .kind = (uint8_t)kind,
            .is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION,
            .observes = a->kind == ACCESS_ATOMIC || kind == RACE_STRONG_READ,
            .is_volatile = a->is_volatile && !(a->in->flags & IS_RELAXED),
            .many_words = many,
            // Bulk copies and threads of other blocks of a cluster use an mbarrier whatever the scope of what
            // its operations order.
            .of_block = a->in->flags & SCOPE_CTA && a->in->kind != KIND_MBARRIER &&
                        a->in->kind != KIND_MBARRIER_WAIT && a->in->kind != KIND_CP_ASYNC_ARRIVE,
        };
        *known = (uint16_t)++s->count;
    }
    return (uint16_t)((*known - 1u) * 4 + (unsigned)kind);
}

const Site *site_at(const Sites *s, uint16_t code) {
    static const Site unknown[4] = {{.instruction = -1, .kind = RACE_READ},
                                    {.instruction = -1, .kind = RACE_STRONG_READ},
                                    {.instruction = -1, .kind = RACE_STRONG_WRITE},
                                    {.instruction = -1, .kind = RACE_WRITE}};
    return code < 4 ? &unknown[code] : &s->sites[code / 4];
}

bool sites_race(const Site *x, const Site *y, bool same_block) {
    if (x->kind == RACE_WRITE || y->kind == RACE_WRITE) return true;
    if (x->kind != RACE_STRONG_WRITE && y->kind != RACE_STRONG_WRITE) return false;
    if (x->kind == RACE_READ || y->kind == RACE_READ) return true;
    if (!same_block) return x->of_block || y->of_block;
    if (!x->is_volatile || !y->is_volatile || x->is_atomic || y->is_atomic) return false;
    return (x->kind == RACE_STRONG_WRITE && x->many_words) || (y->kind == RACE_STRONG_WRITE && y->many_words);
}
