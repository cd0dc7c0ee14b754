#include "emulator/launch_pause.h"

#include <stdlib.h>

#include "emulator/observers/race_shadow.h"

// What racecheck keeps with an object belongs to one launch.
typedef struct {
    uint64_t base;
    size_t bytes;
    Shadow *race;
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
            shadow_free(kept[i].race);
    }
}

bool launch_pause(Machine *m, EmulatorPause why) {
    Emulator *e = m->emulator;
    const uint64_t count = e->object_count;
    Kept *kept = calloc(count + 1, sizeof *kept);
    if (!kept) return false;
    take_out(e, kept, count);
    e->paused++;
    const bool goes_on = m->launch->pause(m->launch->pause_self, why);
    e->paused--;
    put_back(e, kept, count);
    free(kept);
    return goes_on;
}
