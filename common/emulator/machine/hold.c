#include "emulator/machine/hold.h"

enum {
    QUIET_TURNS = 384, // of each block in flight, until they are taken to wait: a turn is a part of one warp
    HELD_TURNS = 768,  // the same, where they wait with atomics
    MOST_LEFT = 16,    // changes of memory from one hold to the next
    MOST_HOLDS = 3,    // of a run: each takes as long as the waiting
};

uint64_t hold_choose(Machine *m, Hold *hold, Block *const flight[], uint64_t count) {
    const uint64_t chosen = random_next(&m->random) % count;
    if (count == 1) hold->block = NULL;
    return flight[chosen] == hold->block ? (chosen + 1) % count : chosen;
}

void hold_update(Machine *m, Hold *hold, Block *b, uint64_t count) {
    const bool has_published = m->published != hold->published;
    hold->published = m->published;
    hold->quiet = has_published ? 0 : hold->quiet + 1;
    hold->turns++;
    if (hold->block && (hold->quiet > QUIET_TURNS * count || hold->turns > HELD_TURNS * count)) {
        hold->block = NULL;
        hold->quiet = 0;
        hold->left = 1 + random_next(&m->random) % MOST_LEFT;
    } else if (!hold->block && has_published && b->live_warps && hold->held < MOST_HOLDS &&
               (hold->left == 0 || --hold->left == 0)) {
        hold->block = b;
        hold->turns = 0;
        hold->held++;
    }
}
