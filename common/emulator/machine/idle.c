#include "emulator/machine/idle.h"

#include <stdio.h>

#include "emulator/machine/divergence.h"
#include "emulator/machine/findings.h"

static uint64_t grid_blocks(const Machine *m) {
    return (uint64_t)m->launch->grid[0] * m->launch->grid[1] * m->launch->grid[2];
}

const char *blocks_words(const Machine *m, char text[160]) {
    const uint64_t blocks = grid_blocks(m);
    snprintf(text, 160, "of %llu blocks, %llu have ended, %llu are running and %llu have not started",
             (unsigned long long)blocks, (unsigned long long)m->blocks_ended,
             (unsigned long long)(m->blocks_started - m->blocks_ended),
             (unsigned long long)(blocks - m->blocks_started));
    return text;
}

// Every word counts with another odd factor, and no product waits for the one before.
static uint64_t hash_registers(const Frame *frame) {
    const uint64_t *words = (const uint64_t *)(const void *)frame->registers;
    uint64_t hash = 0, factor = 1;
    for (uint32_t i = 0; i < frame->function->register_bytes / 8; i++, factor += 2 * 0x9e3779b97f4a7c15u)
        hash += words[i] * factor;
    return hash;
}

// The registers are compared with those of an earlier poll, which is replaced after 1, 2, 4, 8 ... polls, so
// that a loop of any number of polls comes round to it.
bool poll_repeats(const Machine *m, Fragment *f, const Instruction *in) {
    Poll *poll = &f->poll;
    if (!poll->in || poll->effects != m->effects) {
        *poll = (Poll){.in = in, .effects = m->effects};
        return false;
    }
    const uint64_t registers = hash_registers(f->frame);
    if (poll->compared && poll->in == in && poll->registers == registers) return poll->repeats = true;
    const uint64_t before = poll->compared++;
    if (before & (before + 1)) return false;
    poll->in = in;
    poll->registers = registers;
    return false;
}

// Whether a fragment that is ready may do anything else than poll.
static bool may_move(const Machine *m, const Fragment *f) {
    return !f->poll.repeats || f->poll.effects != m->effects || is_waited_for(f);
}

bool waits_for_ever(Machine *m, Block *const blocks[], uint64_t count) {
    const Warp *first = NULL;
    const Fragment *waiting = NULL;
    if (m->launch->sample) return false; // a block that does not run might end it
    for (uint64_t b = 0; b < count; b++)
        for (int k = 0; k < blocks[b]->warp_count; k++) {
            const Warp *w = &blocks[b]->warps[k];
            for (int i = 0; i < w->fragment_count && w->exited != w->exists; i++) {
                const Fragment *f = &w->fragments[i];
                if (!f->mask || f->state != READY) continue;
                if (may_move(m, f)) return false;
                if (waiting) continue;
                waiting = f;
                first = w;
            }
        }
    if (!waiting) return false;
    char text[160];
    report(
        m, FINDING_STEP_LIMIT, first, __builtin_ctz(waiting->mask), waiting->poll.in,
        "waits here for ever: all threads that still run wait, and none changes what another waits for; %s%s",
        blocks_words(m, text),
        m->blocks_started < grid_blocks(m) ? ", because the device holds no more at a time" : "");
    return true;
}
