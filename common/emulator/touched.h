// Which bytes of global and constant memory a launch read and wrote, and in which lines: to find out whether
// it disturbs other work that may run at the same time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/status.h"

// What was done to one aligned word of 4 bytes by reads, or by writes.
typedef struct {
    uint8_t bytes; // a bit for each
    bool is_weak;  // one at least was neither volatile nor relaxed nor an atomic
    uint16_t site; // where: of a weak access if there was one, else of the first
} TouchedWord;

enum { TOUCHED_PAGE = 4096, TOUCHED_WORDS = TOUCHED_PAGE / 4 };

typedef struct {
    uint64_t number; // address / TOUCHED_PAGE
    TouchedWord read[TOUCHED_WORDS], written[TOUCHED_WORDS];
} TouchedPage;

typedef struct {
    size_t most_pages;           // kept; 0: no limit
    TouchedPage **pages;         // a hash table; NULL: a free place
    size_t page_count, capacity; // capacity: 0 or a power of two
    SourcePlace *sites;
    size_t site_count;
    bool has_fence;     // a fence was executed: the launch may wait for others by itself
    bool is_incomplete; // memory ran out, or there were too many pages
} Touched;

// Zero a Touched, perhaps set most_pages, and give it to one launch, or to several one after the other. This
// frees what it holds.
void touched_free(Touched *touched);
// The page of that number; NULL: nothing there was touched.
TouchedPage *touched_page(const Touched *touched, uint64_t number);
// The same, made if it is missing; NULL when it cannot be kept.
TouchedPage *touched_page_made(Touched *touched, uint64_t number);
