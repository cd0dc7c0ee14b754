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

void pause_if_it_may_wait(Machine *m) {
    if (!m->pause) return;
    if (m->effects != m->effects_before) {
        m->effects_before = m->effects;
        m->polls_before = m->polls;
    }
    const bool polls_only = m->polls - m->polls_before >= MANY_POLLS,
               polls_much = m->polls - m->polls_paused >= MOST_POLLS;
    if (!polls_only && !polls_much) return;
    m->pause(m, PAUSE_MAY_WAIT);
    m->effects++; // what was polled may be different now
    look_again(m);
}

bool pause_while_waiting(Machine *m) {
    if (!m->pause) return false;
    const bool goes_on = m->pause(m, m->paused_at == m->effects ? PAUSE_WAITS_STILL : PAUSE_WAITS);
    m->paused_at = ++m->effects;
    look_again(m);
    return goes_on;
}
