#include "emulator/observers/race_lines.h"

// The check of the first granule of a line, by the lane that accesses it.
typedef struct {
    RaceCheck check;
    uint32_t lane, me;
    bool is_write;
} LineCheck;

static LineCheck of_line(const RaceCheck *c, unsigned lane) {
    LineCheck l = {.check = *c, .lane = lane, .me = c->first + lane, .is_write = c->site->kind == RACE_WRITE};
    l.check.shadow = c->shadow->lines;
    return l;
}

static bool may_take(const LineCheck *l, size_t line) {
    const RaceCheck *c = &l->check;
    const Shadow *s = c->shadow;
    if (s->write_time[line]) {
        if (c->a->in->flags & IS_NC) return false;
        if (!is_settled(c, s->write_time[line], s->write_who[line], l->me)) return false;
    }
    if (!l->is_write || s->access_time[line] <= c->all_time) return true; // a line has no accesses but reads
    const uint16_t site = s->access_site[line];
    if (is_list(site)) return false;
    return is_settled(c, s->access_time[line], s->access_who[line], is_group(site) ? UINT32_MAX : l->me);
}

static void take(const LineCheck *l, size_t line) {
    const RaceCheck *c = &l->check;
    Shadow *s = c->shadow;
    if (l->is_write) {
        s->write_time[line] = c->now;
        s->write_who[line] = l->me;
        s->write_site[line] = c->code;
        return;
    }
    const uint16_t site = s->access_site[line];
    const uint32_t me = is_group(site) ? UINT32_MAX : l->me;
    if (is_list(site) || !is_settled(c, s->access_time[line], s->access_who[line], me)) {
        remember_read(c, line, 1u << l->lane);
        return;
    }
    s->access_time[line] = c->now;
    s->access_who[line] = l->me;
    s->access_site[line] = c->code;
}

enum { RUN = 16 }; // lanes, of which each accesses what follows the one before

// Whether the active lanes are whole runs, each of whole lines, and no line is in two of them.
static bool is_of_lines(const RaceCheck *c) {
    const Access *a = c->a;
    const Shadow *s = c->shadow;
    const uint32_t lower = a->mask & 0xffff, upper = a->mask >> RUN;
    const uint64_t *offsets = a->offsets, bytes = a->bytes;
    if (!s->lines || a->is_volatile || bytes < 1u << s->shift) return false;
    if (a->contiguous) return granule_of(s, offsets[0]) % LINE_GRANULES == 0;
    if ((lower && lower != 0xffff) || (upper && upper != 0xffff)) return false;
    uint64_t steps = 0;
    for (unsigned lane = 0; lane < RUN && lower; lane++) steps |= offsets[lane] - offsets[0] - lane * bytes;
    for (unsigned lane = 0; lane < RUN && upper; lane++)
        steps |= offsets[RUN + lane] - offsets[RUN] - lane * bytes;
    if (steps) return false;
    if (lower && granule_of(s, offsets[0]) % LINE_GRANULES) return false;
    if (upper && granule_of(s, offsets[RUN]) % LINE_GRANULES) return false;
    const uint64_t apart = offsets[0] < offsets[RUN] ? offsets[RUN] - offsets[0] : offsets[0] - offsets[RUN];
    return !lower || !upper || apart >= RUN * bytes;
}

bool lines_take(const RaceCheck *c) {
    if (!is_of_lines(c)) return false;
    Shadow *s = c->shadow;
    const unsigned per_lane = c->a->bytes >> s->shift, shift = (unsigned)__builtin_ctz(per_lane);
    const uint8_t pattern = (uint8_t)(1 + shift);
    for (int is_second = 0; is_second < 2; is_second++) // is each to be taken; takes each
        for (unsigned run = 0; run < WARP_SIZE; run += RUN) {
            const size_t first = granule_of(s, c->a->offsets[run]) / LINE_GRANULES;
            for (unsigned j = 0; j < per_lane && c->a->mask >> run & 1; j++) {
                const LineCheck l = of_line(c, run + (j * LINE_GRANULES >> shift));
                const uint8_t before = s->pattern[first + j];
                if (is_second) {
                    s->pattern[first + j] = pattern;
                    take(&l, first + j);
                } else if (before != LINE_EMPTY && (before != pattern || !may_take(&l, first + j)))
                    return false;
            }
        }
    return true;
}

void lines_split(const RaceCheck *c) {
    Shadow *s = c->shadow;
    if (!s->lines) return;
    FOR_LANES(lane, c->a->mask) {
        const size_t from = granule_of(s, c->a->offsets[lane]) / LINE_GRANULES,
                     to = granule_of(s, c->a->offsets[lane] + c->a->bytes - 1) / LINE_GRANULES;
        for (size_t line = from; line <= to; line++)
            if (s->pattern[line] != LINE_SPLIT) shadow_split(s, line, &c->r->readers);
    }
}
