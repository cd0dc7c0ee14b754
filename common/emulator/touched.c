#include "emulator/touched.h"

#include <stdlib.h>
#include <string.h>

// The place of a page, or the free one where it belongs. Linear probing: some place is always free.
static TouchedPage **find(const Touched *t, uint64_t number) {
    size_t at = (size_t)((number * 0x9e3779b97f4a7c15u) >> 32) & (t->capacity - 1);
    while (t->pages[at] && t->pages[at]->number != number) at = (at + 1) & (t->capacity - 1);
    return &t->pages[at];
}

TouchedPage *touched_page(const Touched *t, uint64_t number) { return t->capacity ? *find(t, number) : NULL; }

static bool grow(Touched *t) {
    const size_t before = t->capacity, capacity = before ? 2 * before : 64;
    TouchedPage **const old = t->pages, **const pages = calloc(capacity, sizeof *pages);
    if (!pages) return false;
    t->pages = pages;
    t->capacity = capacity;
    for (size_t i = 0; i < before; i++)
        if (old[i]) *find(t, old[i]->number) = old[i];
    free(old);
    return true;
}

TouchedPage *touched_page_made(Touched *t, uint64_t number) {
    TouchedPage *page = touched_page(t, number);
    if (page) return page;
    const bool has_room = !t->most_pages || t->page_count < t->most_pages;
    if (has_room && (2 * t->page_count < t->capacity || grow(t))) page = calloc(1, sizeof *page);
    if (!page) {
        t->is_incomplete = true;
        return NULL;
    }
    page->number = number;
    t->page_count++;
    return *find(t, number) = page;
}

void touched_free(Touched *t) {
    for (size_t i = 0; i < t->capacity; i++) free(t->pages[i]);
    free(t->pages);
    free(t->sites);
    *t = (Touched){0};
}
