#include "emulator/machine/budget.h"

#include "support/memory_left.h"
#include "emulator/machine/findings.h"

// The first part is granted without asking, since asking takes as long as a small kernel. The reserve is for
// what is not counted here: shadows of memory, and other processes.
static const size_t GRANTED = (size_t)256 << 20, RESERVE = (size_t)512 << 20;
enum { RESERVED_SHARE = 8 };

bool budget_take(Machine *m, const Warp *w, size_t bytes, const char *what) {
    m->budget_used += bytes;
    if (m->budget_used <= m->budget) return true;
    if (!m->budget) {
        m->budget = GRANTED;
        if (m->budget_used <= m->budget) return true;
    }
    if (!m->budget_is_asked) {
        const size_t left = memory_left(), share = left / RESERVED_SHARE;
        const size_t reserve = share < RESERVE ? share : RESERVE;
        m->budget_is_asked = true;
        m->budget = m->budget_used - bytes + left - reserve < left ? SIZE_MAX
                                                                   : m->budget_used - bytes + left - reserve;
        if (left == SIZE_MAX) m->budget = SIZE_MAX;
        if (m->budget_used <= m->budget) return true;
    }
    m->budget_used -= bytes;
    report(m, FINDING_RESOURCE, w, -1, NULL,
           "%llu blocks in flight take %zu MiB for registers, shared and local memory; %zu bytes more for %s "
           "do not fit in the "
           "%zu MiB that this machine can give: launch fewer or smaller blocks",
           (unsigned long long)(m->blocks_started - m->blocks_ended), m->budget_used >> 20, bytes, what,
           m->budget >> 20);
    return false;
}
