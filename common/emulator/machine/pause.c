#include "emulator/machine/pause.h"

enum {
    MANY_POLLS = 1 << 14, // without an effect: a thread that counts its polls waits as others do
    MOST_POLLS = 1 << 17, // with effects, such as those of a thread that reports after each poll
};

static void look_again(Machine *m) {
    m->effects_before = m->effects;
    m->polls_before = m->polls;
    m->polls_paused = m->polls;
}

// Whether there has been an effect since this was last asked.
static bool note_effects(Machine *m) {
    if (m->effects == m->effects_before) return false;
    m->effects_before = m->effects;
    m->polls_before = m->polls;
    return true;
}

static void give_way(Machine *m) {
    m->pause(m, PAUSE_MAY_WAIT);
    m->effects++; // what was polled may be different now
    look_again(m);
}

void pause_if_it_polls_much(Machine *m) {
    if (m->pause && note_effects(m) && m->polls - m->polls_paused >= MOST_POLLS) give_way(m);
}

void pause_if_it_may_wait(Machine *m) {
    pause_if_it_polls_much(m);
    if (m->pause && m->polls - m->polls_before >= MANY_POLLS) give_way(m);
}

bool pause_while_waiting(Machine *m) {
    if (!m->pause) return false;
    const bool goes_on = m->pause(m, m->paused_at == m->effects ? PAUSE_WAITS_STILL : PAUSE_WAITS);
    m->paused_at = ++m->effects;
    look_again(m);
    return goes_on;
}
