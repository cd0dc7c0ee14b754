// The machine runs the loop of the PTX. Here its rounds are counted by lane, and put together as machine code
// has them: four at a time, two, one.
#include "emulator/machine/rounds.h"

#include "emulator/program/unrolled.h"

enum { AT_A_TIME = 4 };

// Whether a bit of the number of rounds is set in some lanes of `lanes`, and whether in others not.
static void ask(const Warp *w, uint32_t lanes, uint32_t bit, bool *in_some, bool *not_in_all) {
    FOR_LANES(lane, lanes) {
        *in_some |= (w->rounds[lane] & bit) != 0;
        *not_in_all |= (w->rounds[lane] & bit) == 0;
    }
}

// A round of the unrolled loop parts lanes if some of them leave after it: for each number of such rounds but
// the last, that is once.
static uint32_t partings(const Warp *w, uint32_t lanes) {
    uint32_t left = lanes, parts = 0;
    while (left) {
        const uint32_t turns = w->rounds[__builtin_ctz(left)] / AT_A_TIME;
        FOR_LANES(lane, left) if (w->rounds[lane] / AT_A_TIME == turns) left &= ~(1u << lane);
        parts++;
    }
    return parts - 1;
}

static void tally_loop(const Warp *w, const Instruction *in, Tally *tally, uint32_t lanes) {
    uint32_t most = 0;
    bool two = false, not_two = false, one = false, not_one = false;
    FOR_LANES(lane, lanes) if (w->rounds[lane] > most) most = w->rounds[lane];
    ask(w, lanes, 2, &two, &not_two);
    ask(w, lanes, 1, &one, &not_one);
    uint32_t issued = most / AT_A_TIME * AT_A_TIME;
    if (two || in->unrolled & TWO_PREDICATED) issued += 2;
    if (one || in->unrolled & ONE_PREDICATED) issued++;
    if (in->unrolled & PEEL_PREDICATED) issued++;
    tally->more_rounds += issued - most;
    tally->unrolled_parted += partings(w, lanes);
    if (two && not_two && !(in->unrolled & TWO_PREDICATED)) tally->unrolled_parted++;
    if (one && not_one && !(in->unrolled & ONE_PREDICATED)) tally->unrolled_parted++;
}

// Adds the rounds that lanes have turned together to the count of each, before others turn.
static void settle(Warp *w, uint32_t next) {
    FOR_LANES(lane, w->turning) w->rounds[lane] += w->turned;
    w->turned = 0;
    w->turning = next;
}

void end_round(Warp *w, const Instruction *in, Tally *tally, uint32_t mask, uint32_t active) {
    if (active != w->turning) settle(w, active);
    w->turned++;
    if (mask == active) return;
    settle(w, mask);
    w->left_loop |= active & ~mask;
    if (mask) return;
    tally_loop(w, in, tally, w->left_loop);
    FOR_LANES(lane, w->left_loop) w->rounds[lane] = 0;
    w->left_loop = 0;
}
