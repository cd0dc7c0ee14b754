// An arena: many allocations, released all at once.
//
// Memory comes zeroed and aligned to 16 bytes. Every function that allocates returns NULL when the
// machine has no more memory or the arena's own limit is reached, and the arena stays usable. The limit
// is what keeps a hostile input from taking the whole machine.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct {
    ArenaBlock *blocks;  // newest first
    unsigned char *next; // free bytes of the newest shared block
    unsigned char *end;
    size_t taken;     // bytes of all blocks
    size_t limit;     // that `taken` may not exceed; 0: none
    bool was_limited; // an allocation failed because of it
} Arena;

// Makes an empty arena that will hold at most `limit` bytes (0: no limit). Allocates nothing.
void arena_open(Arena *arena, size_t limit);
// Releases everything that came from the arena. It may be used again, as after arena_open().
void arena_close(Arena *arena);

// `bytes` zeroed bytes; 0 bytes give a valid pointer too.
void *arena_alloc(Arena *arena, size_t bytes);
// `count` zeroed elements of `size` bytes; NULL also when the product overflows.
void *arena_array(Arena *arena, size_t count, size_t size);
// A NUL-terminated copy of `length` bytes.
char *arena_string(Arena *arena, const char *text, size_t length);

// Makes room in a growing array: returns an array of at least `needed` elements of `size` bytes that
// starts with the `*capacity` elements of `array`, and sets `*capacity`. Returns `array` itself while
// that is large enough. Capacities double, so that n appends copy O(n) elements; the arena keeps the
// outgrown arrays. On failure returns NULL and leaves `*capacity` alone.
void *arena_grow(Arena *arena, void *array, size_t *capacity, size_t needed, size_t size);
