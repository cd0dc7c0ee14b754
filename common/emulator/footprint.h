// What the blocks of a launch read and wrote: kept for launches of a few blocks out of many, whose results
// alone do not tell whether all the work is done.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_FOOTPRINT_BUFFERS = 8 };

// Indices of elements, as words of 64 bits in a hash table, which takes memory for them alone.
typedef struct {
    uint64_t word, bits; // elements 64 * word to 64 * word + 63; bits 0: a free place
} ElementWord;

typedef struct {
    ElementWord *words;
    size_t count, capacity; // capacity: 0 or a power of two
    bool failed;            // out of memory: it lacks elements
} ElementSet;

// Adds the `count` elements, up to 64, from `first` on. Returns those that were not in the set: bit i is
// element first + i.
uint64_t element_set_add(ElementSet *set, uint64_t first, unsigned count);
bool element_set_has(const ElementSet *set, uint64_t element);
// How many elements from `first` on are in the set, if the first one is, or not in it, if it is not; at most
// about `most`.
uint64_t element_set_run(const ElementSet *set, uint64_t first, uint64_t most);
// The lowest element of the set from `first` on, or UINT64_MAX.
uint64_t element_set_next(const ElementSet *set, uint64_t first);
// The highest one; 0 also if the set is empty.
uint64_t element_set_highest(const ElementSet *set);

// Elements that one block read, and wrote, before any other block did.
typedef struct {
    uint64_t read, written;
} FootprintCount;

typedef struct {
    uint64_t address; // of the buffer; 0: not watched
    uint32_t element_bytes;
    // What launches add:
    ElementSet read, written;
    // Of elements of 4 and 8 bytes, taken as float and double, the values that were loaded: each element
    // once, and as often as it was loaded.
    double sum_once, sum_of_all;
    uint64_t rewritten; // elements that were written again
} FootprintBuffer;

typedef struct {
    FootprintBuffer buffers[MAX_FOOTPRINT_BUFFERS];
    uint64_t most_read; // by one block, of one buffer: more ends the launch
    // Of the last launch:
    FootprintCount most[MAX_FOOTPRINT_BUFFERS]; // by any one block
    FootprintCount all[MAX_FOOTPRINT_BUFFERS];  // by all blocks that ran to their end
    uint64_t ended;                             // so many
    bool takes_over;                            // ended because one block read more than most_read
    bool waits;      // ended because the blocks only wait for something that none of them does
    bool has_polled; // volatile accesses or atomics with a result were done: the blocks may depend on each
                     // other
} Footprint;

void footprint_free(Footprint *footprint);
