#include "runtime/hazard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/mangle.h"
#include "runtime/report.h"

// An operation that has run.
typedef struct {
    OpKind kind;
    unsigned long number;
    int stream;        // its place in every Known
    const void *queue; // the stream
    Known known;
    Place place;
    char name[256]; // "the kernel fill", "cudaMemcpyAsync"
    Reach reach;
    bool is_kept_from_host; // its memory is protected
    bool has_waited;        // for others, while it ran
    bool talks_to_host;     // by atomics or volatile accesses, which order the two
} Done;

enum { MOST_DONE = 2048, MOST_PAGES = 1 << 14 };
static Done *done[MOST_DONE];
static size_t done_count, page_count;
static bool is_expected;
static Known host;

void hazard_expect(void) { is_expected = true; }
bool hazard_is_expected(void) { return is_expected; }
const Known *hazard_host(void) { return &host; }

static size_t pages_of(const Reach *reach) { return reach->touched ? reach->touched->page_count : 0; }

static void drop(size_t index) {
    Done *d = done[index];
    page_count -= pages_of(&d->reach);
    reach_free(&d->reach);
    known_free(&d->known);
    free(d);
    memmove(done + index, done + index + 1, (--done_count - index) * sizeof *done);
}

// ---- Words ------------------------------------------------------------------------------------------------

static void name_of(const Op *op, char *name, size_t bytes) {
    char kernel[200];
    switch (op->kind) {
    case OP_LAUNCH:
        symbol_source_name(op->launch.function->name, kernel, sizeof kernel);
        snprintf(name, bytes, "the kernel %s", kernel);
        break;
    case OP_COPY: snprintf(name, bytes, "%s", op->copy.call); break;
    case OP_FREE: snprintf(name, bytes, "cudaFreeAsync"); break;
    default: snprintf(name, bytes, "cudaMallocAsync"); break;
    }
}

// "reads (vector.cu:12)".
static void use_of(OpKind kind, bool writes, const SourcePlace *place, char *words, size_t bytes) {
    const char *verb = kind == OP_FREE       ? "frees"
                       : kind == OP_ALLOCATE ? "allocates"
                       : writes              ? "writes"
                                             : "reads";
    if (place && place->line)
        snprintf(words, bytes, "%s in %s:%d", verb, place_short(place->file), place->line);
    else
        snprintf(words, bytes, "%s", verb);
}

static void note_allocation(uint64_t address) {
    char words[4400];
    const Allocation *a = allocation_at((const void *)address);
    if (!a) return;
    allocation_words(a, words, sizeof words);
    report_note("%s; the first such byte is at offset %llu", words,
                (unsigned long long)(address - a->device));
}

// `late` was asked for after `early`.
static void report_unordered(const Done *early, const Done *late, const Meeting *m) {
    char one[700], two[700], where[4200];
    const bool is_in_graph = early->queue == late->queue;
    use_of(early->kind, m->first_writes, m->first, one, sizeof one);
    use_of(late->kind, m->second_writes, m->second, two, sizeof two);
    place_text(&early->place, where, sizeof where);
    report_host(UNORDERED, &late->place,
                "%s %s memory that %s of %s, in another %s, %s, and nothing orders the two: %s", late->name,
                two, early->name, where, is_in_graph ? "branch of the graph" : "stream", one,
                is_in_graph
                    ? "let one of the nodes depend on the other"
                    : "record an event after the one and let the other stream wait for it, or synchronise in "
                      "between");
    note_allocation(m->address);
}

static void report_early(const Place *place, OpKind kind, const char *name, const Place *asked, bool writes,
                         const Meeting *m) {
    char use[700], where[4200];
    use_of(kind, m->first_writes, m->first, use, sizeof use);
    place_text(asked, where, sizeof where);
    report_host(
        READ_TOO_EARLY, place,
        "the host %s memory that %s of %s %s, and has not waited for it: synchronise the stream, an event "
        "or the device first",
        writes ? "writes" : "reads", name, where, use);
    note_allocation(m->address);
}

// ---- Operations -------------------------------------------------------------------------------------------

Reach hazard_before(const Op *op) {
    if (!options()->checks || !is_expected) return (Reach){0};
    Reach reach = reach_of(op);
    if (op->kind != OP_LAUNCH || page_count >= MOST_PAGES) return reach;
    reach.touched = calloc(1, sizeof *reach.touched);
    if (reach.touched) reach.touched->most_pages = MOST_PAGES - page_count;
    return reach;
}

static void compare(const Done *before, const Done *now) {
    Meeting m;
    if (known_has(&now->known, before->stream, before->number) ||
        known_has(&before->known, now->stream, now->number))
        return;
    const bool is_before = before->number < now->number;
    const Done *early = is_before ? before : now, *late = is_before ? now : before;
    if (reach_meet(&early->reach, &late->reach, &m)) report_unordered(early, late, &m);
}

void hazard_after(const Op *op, Reach reach) {
    const bool uses_memory = reach.touched || reach.read.start || reach.written.start;
    Done *d = uses_memory ? calloc(1, sizeof *d) : NULL;
    if (!d) {
        reach_free(&reach);
        return;
    }
    *d = (Done){.kind = op->kind,
                .number = op->number,
                .stream = op->lane,
                .queue = op->stream,
                .place = op->place,
                .reach = reach,
                .has_waited = op->has_paused,
                .is_kept_from_host = true};
    name_of(op, d->name, sizeof d->name);
    known_join(&d->known, &op->known);
    for (size_t i = 0; i < done_count; i++) compare(done[i], d);
    if (done_count == MOST_DONE) drop(0);
    done[done_count++] = d;
    page_count += pages_of(&reach);
}

// ---- The host ---------------------------------------------------------------------------------------------

static bool host_knows(const Done *d) { return d->talks_to_host || known_has(&host, d->stream, d->number); }

bool hazard_host_waited(const Known *known) {
    bool changed = false;
    known_join(&host, known);
    for (size_t i = 0; i < done_count; i++) {
        if (!done[i]->is_kept_from_host || !host_knows(done[i])) continue;
        done[i]->is_kept_from_host = false;
        changed = true;
    }
    return changed;
}

void hazard_forget(const Op *pending) {
    for (size_t i = done_count; i-- > 0;) {
        bool is_known = known_has(&host, done[i]->stream, done[i]->number);
        for (const Op *op = pending; op && is_known; op = op->next)
            is_known = known_has(&op->known, done[i]->stream, done[i]->number);
        if (is_known) drop(i);
    }
}

// A kernel talks to the host where it waits for it, or orders its accesses with fences. One that only adds to
// a total, if by atomics, does not.
static bool may_talk(bool has_waited, const Touched *touched) {
    return touched && (has_waited || touched->has_fence);
}

bool hazard_of_host(uint64_t address, bool writes, const Place *place) {
    for (size_t i = 0; i < done_count; i++) {
        Meeting m;
        Done *d = done[i];
        if (host_knows(d)) continue;
        if (may_talk(d->has_waited, d->reach.touched) && reach_is_strong_at(&d->reach, address)) {
            d->talks_to_host |= d->reach.touched->has_fence;
            continue;
        }
        if (!reach_meets_host(&d->reach, address, writes, &m)) continue;
        report_early(place, d->kind, d->name, &d->place, writes, &m);
        return true;
    }
    return false;
}

bool hazard_of_host_with(const Op *op, uint64_t address, bool writes, const Place *place) {
    Meeting m;
    char name[256];
    Reach reach = reach_of(op);
    reach.touched = (Touched *)(uintptr_t)op->touched; // which is not changed
    // A kernel that executes fences and waits for the host may be in order with it.
    if (op->has_paused && op->touched && op->touched->has_fence) return false;
    if (may_talk(op->has_paused, op->touched) && reach_is_strong_at(&reach, address)) return false;
    if (!reach_meets_host(&reach, address, writes, &m)) return false;
    name_of(op, name, sizeof name);
    report_early(place, op->kind, name, &op->place, writes, &m);
    return true;
}

static bool lies_in(const Allocation *a, uint64_t address) { return address - a->device < a->size; }

// Whether a kernel wrote to a page that it touched.
static bool writes_to(const TouchedPage *page) {
    for (size_t w = 0; w < TOUCHED_WORDS; w++)
        if (page->written[w].bytes) return true;
    return false;
}

// The parts of one operation: 0 and 1 are those of a copy, the others pages of a kernel.
static bool part_of(const Done *d, const Allocation *a, size_t *within, HazardPart *part) {
    while (*within < 2 + (d->reach.touched ? d->reach.touched->capacity : 0)) {
        const size_t at = (*within)++;
        if (at < 2) {
            const ReachRows *r = at ? &d->reach.written : &d->reach.read;
            if (!r->start || !lies_in(a, r->start)) continue;
            *part = (HazardPart){r->start, reach_span(r), at != 0};
            return true;
        }
        const TouchedPage *page = d->reach.touched->pages[at - 2];
        if (!page || !lies_in(a, page->number * TOUCHED_PAGE)) continue;
        *part = (HazardPart){page->number * TOUCHED_PAGE, TOUCHED_PAGE, writes_to(page)};
        return true;
    }
    return false;
}

bool hazard_part(const Allocation *a, size_t *index, size_t *within, HazardPart *part) {
    for (; *index < done_count; ++*index, *within = 0)
        if (!host_knows(done[*index]) && part_of(done[*index], a, within, part)) return true;
    return false;
}
