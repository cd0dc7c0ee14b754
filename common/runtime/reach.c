#include "runtime/reach.h"

#include <stdlib.h>
#include <string.h>

// ---- What an operation uses -------------------------------------------------------------------------------

static ReachRows rows_of(const Allocation *a, const void *pointer, const Copy *c, size_t pitch,
                         size_t slice) {
    if (!a) return (ReachRows){0};
    return (ReachRows){allocation_device_address(a, pointer), c->width, c->height, c->depth, pitch, slice};
}

Reach reach_of(const Op *op) {
    Reach reach = {0};
    if (op->kind == OP_COPY) {
        const Copy *c = &op->copy;
        const CopySides sides = copy_sides(c);
        reach.read = rows_of(sides.from, c->from, c, c->from_pitch, c->from_slice);
        reach.written = rows_of(sides.to, c->to, c, c->to_pitch, c->to_slice);
    } else if (op->kind == OP_FREE || op->kind == OP_ALLOCATE) {
        const Allocation *a = op->memory;
        if (!a->is_freed) reach.written = (ReachRows){a->device, a->size, 1, 1, 0, 0};
    }
    return reach;
}

size_t reach_span(const ReachRows *r) {
    return r->width ? (r->depth - 1) * r->slice + (r->height - 1) * r->pitch + r->width : 0;
}

void reach_free(Reach *reach) {
    if (reach->touched) touched_free(reach->touched);
    free(reach->touched);
    reach->touched = NULL;
}

// ---- Rows with rows ---------------------------------------------------------------------------------------

static uint64_t row_at(const ReachRows *r, size_t index) {
    return r->start + index / r->height * r->slice + index % r->height * r->pitch;
}
static size_t row_count(const ReachRows *r) { return r->start && r->width ? r->height * r->depth : 0; }

// Rows are in the order of their addresses.
static uint64_t rows_meet_rows(const ReachRows *a, const ReachRows *b) {
    size_t i = 0, j = 0;
    while (i < row_count(a) && j < row_count(b)) {
        const uint64_t x = row_at(a, i), y = row_at(b, j);
        if (x < y + b->width && y < x + a->width) return x > y ? x : y;
        if (x < y)
            i++;
        else
            j++;
    }
    return 0;
}

// ---- Rows with a kernel -----------------------------------------------------------------------------------

static const TouchedWord *word_of(const Touched *t, uint64_t address, bool written) {
    const TouchedPage *page = touched_page(t, address / TOUCHED_PAGE);
    if (!page) return NULL;
    const TouchedWord *word = &(written ? page->written : page->read)[address % TOUCHED_PAGE / 4];
    return word->bytes >> (address % 4) & 1 ? word : NULL;
}

// A byte that a kernel only polls, and that the rows write, is how the two talk.
static bool rows_meet_touched(const ReachRows *rows, bool rows_write, const Touched *t, Meeting *m,
                              const SourcePlace **place, bool *touched_writes) {
    for (size_t i = 0; i < row_count(rows); i++) {
        const uint64_t start = row_at(rows, i), end = start + rows->width;
        for (uint64_t at = start; at < end;) {
            if (!touched_page(t, at / TOUCHED_PAGE)) {
                at = (at / TOUCHED_PAGE + 1) * TOUCHED_PAGE;
                continue;
            }
            const TouchedWord *word = word_of(t, at, true);
            *touched_writes = word != NULL;
            if (!word && rows_write) {
                word = word_of(t, at, false);
                if (word && !word->is_weak) word = NULL;
            }
            if (word) {
                m->address = at;
                *place = &t->sites[word->site];
                return true;
            }
            at++;
        }
    }
    return false;
}

// ---- Two kernels ------------------------------------------------------------------------------------------

// A word that one writes and the other uses. `strong`: both by atomics or the like.
static bool words_meet(const TouchedWord *a, const TouchedWord *b, bool *strong) {
    const bool meets = (a->bytes & b->bytes) != 0, is_strong = !a->is_weak && !b->is_weak;
    *strong |= meets && is_strong;
    return meets && !is_strong;
}

// True if they meet; *communicate if they may wait for each other.
static bool touched_meet(const Touched *a, const Touched *b, Meeting *m, bool *communicate) {
    bool found = false, strong = false;
    for (size_t p = 0; p < a->capacity; p++) {
        const TouchedPage *one = a->pages[p], *other = one ? touched_page(b, one->number) : NULL;
        for (size_t w = 0; other && w < TOUCHED_WORDS; w++) {
            const TouchedWord *uses[3][2] = {{&one->written[w], &other->written[w]},
                                             {&one->written[w], &other->read[w]},
                                             {&one->read[w], &other->written[w]}};
            for (int i = 0; i < 3; i++) {
                if (!words_meet(uses[i][0], uses[i][1], &strong)) continue;
                const uint64_t address = one->number * TOUCHED_PAGE + w * 4;
                if (found && m->address <= address) continue;
                *m = (Meeting){address, i < 2, i != 1, &a->sites[uses[i][0]->site],
                               &b->sites[uses[i][1]->site]};
                found = true;
            }
        }
    }
    *communicate = strong && a->has_fence && b->has_fence;
    return found;
}

// ---- All --------------------------------------------------------------------------------------------------

bool reach_meet(const Reach *a, const Reach *b, Meeting *m) {
    *m = (Meeting){0};
    bool communicate = false;
    if (a->touched && b->touched)
        return touched_meet(a->touched, b->touched, m, &communicate) && !communicate;
    if (a->touched) {
        m->second_writes = true;
        if (rows_meet_touched(&b->written, true, a->touched, m, &m->first, &m->first_writes)) return true;
        m->second_writes = false;
        return rows_meet_touched(&b->read, false, a->touched, m, &m->first, &m->first_writes);
    }
    if (b->touched) {
        m->first_writes = true;
        if (rows_meet_touched(&a->written, true, b->touched, m, &m->second, &m->second_writes)) return true;
        m->first_writes = false;
        return rows_meet_touched(&a->read, false, b->touched, m, &m->second, &m->second_writes);
    }
    const ReachRows *pairs[3][2] = {
        {&a->written, &b->written}, {&a->written, &b->read}, {&a->read, &b->written}};
    for (int i = 0; i < 3; i++) {
        m->address = rows_meet_rows(pairs[i][0], pairs[i][1]);
        m->first_writes = i < 2;
        m->second_writes = i != 1;
        if (m->address) return true;
    }
    return false;
}

bool reach_is_strong_at(const Reach *r, uint64_t address) {
    if (!r->touched) return false;
    const TouchedWord *read = word_of(r->touched, address, false),
                      *written = word_of(r->touched, address, true);
    return (read || written) && !(read && read->is_weak) && !(written && written->is_weak);
}

bool reach_meets_host(const Reach *r, uint64_t address, bool writes, Meeting *m) {
    const Reach host = {.read = {address, !writes, 1, 1, 0, 0}, .written = {address, writes, 1, 1, 0, 0}};
    return reach_meet(r, &host, m);
}
