#include "emulator/machine/pause.h"

#include <stdlib.h>

enum {
    MANY_POLLS = 1 << 14, // without an effect: a thread that counts its polls waits as others do
    MOST_POLLS = 1 << 17, // with effects, such as those of a thread that reports after each poll
};

// What racecheck keeps with an object belongs to one launch.
typedef struct {
    uint64_t base;
    size_t bytes;
    void *race;
} Kept;

static void take_out(Emulator *e, Kept *kept, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        Memory *memory = &e->objects[i];
        kept[i] = (Kept){memory->base, memory->bytes, memory->race};
        memory->race = NULL;
    }
}

// What another launch has left, of objects that this one has not used, goes with it.
static void put_back(Emulator *e, Kept *kept, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        Memory *memory = &e->objects[i];
        const bool is_same = memory->base == kept[i].base && memory->bytes == kept[i].bytes;
        if (is_same && !memory->race)
            memory->race = kept[i].race;
        else
            free(kept[i].race);
    }
}

static bool pause_for(Machine *m, EmulatorPause why) {
    Emulator *e = m->emulator;
    const uint64_t count = e->object_count;
    Kept *kept = calloc(count + 1, sizeof *kept);
    if (!kept) return false;
    take_out(e, kept, count);
    const bool goes_on = m->launch->pause(m->launch->pause_self, why);
    put_back(e, kept, count);
    free(kept);
    return goes_on;
}

static void look_again(Machine *m) {
    m->effects_before = m->effects;
    m->polls_before = m->polls;
    m->polls_paused = m->polls;
}

void pause_if_it_may_wait(Machine *m) {
    if (!m->launch->pause) return;
    if (m->effects != m->effects_before) {
        m->effects_before = m->effects;
        m->polls_before = m->polls;
    }
    const bool polls_only = m->polls - m->polls_before >= MANY_POLLS,
               polls_much = m->polls - m->polls_paused >= MOST_POLLS;
    if (!polls_only && !polls_much) return;
    pause_for(m, PAUSE_MAY_WAIT);
    m->effects++; // what was polled may be different now
    look_again(m);
}

bool pause_while_waiting(Machine *m) {
    if (!m->launch->pause) return false;
    const bool goes_on = pause_for(m, m->paused_at == m->effects ? PAUSE_WAITS_STILL : PAUSE_WAITS);
    m->paused_at = ++m->effects;
    look_again(m);
    return goes_on;
}
