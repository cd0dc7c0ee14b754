#include "emulator/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16 };

// Under AddressSanitizer each allocation is a separate block, so that an access past its end is detected.
#if defined(__SANITIZE_ADDRESS__)
#define ONE_BLOCK_EACH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONE_BLOCK_EACH 1
#endif
#endif
#ifndef ONE_BLOCK_EACH
#define ONE_BLOCK_EACH 0
#endif

static const size_t smallest_block = 32 * 1024;
static const size_t largest_block = 1024 * 1024;

struct ArenaBlock {
    ArenaBlock *older;
    size_t bytes; // of `memory`
    _Alignas(ALIGNMENT) unsigned char memory[];
};

void arena_open(Arena *arena, size_t limit) { *arena = (Arena){.limit = limit}; }

void arena_close(Arena *arena) {
    for (ArenaBlock *block = arena->blocks; block;) {
        ArenaBlock *older = block->older;
        free(block);
        block = older;
    }
    *arena = (Arena){.limit = arena->limit};
}

static ArenaBlock *add_block(Arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t whole = sizeof(ArenaBlock) + bytes;
    if (arena->limit && (whole > arena->limit || arena->taken > arena->limit - whole)) {
        arena->was_limited = true;
        return NULL;
    }
    ArenaBlock *block = calloc(1, whole);
    if (!block) return NULL;
    block->older = arena->blocks;
    block->bytes = bytes;
    arena->blocks = block;
    arena->taken += whole;
    return block;
}

void *arena_alloc(Arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    if (ONE_BLOCK_EACH) {
        ArenaBlock *block = add_block(arena, bytes);
        return block ? block->memory : NULL;
    }
    size_t rounded = bytes ? (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT;
    if (rounded <= (size_t)(arena->end - arena->next)) {
        void *memory = arena->next;
        arena->next += rounded;
        return memory;
    }
    // Blocks grow with the arena: a small module stays small, a large one needs few calls to calloc.
    size_t usual = arena->taken / 2;
    if (usual < smallest_block) usual = smallest_block;
    if (usual > largest_block) usual = largest_block;
    if (rounded > usual / 4) { // a separate block; the shared one keeps its free bytes
        ArenaBlock *block = add_block(arena, rounded);
        return block ? block->memory : NULL;
    }
    ArenaBlock *block = add_block(arena, usual);
    if (!block) return NULL;
    arena->next = block->memory + rounded;
    arena->end = block->memory + usual;
    return block->memory;
}

void *arena_array(Arena *arena, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 2 / size) return NULL;
    return arena_alloc(arena, count * size);
}

char *arena_string(Arena *arena, const char *text, size_t length) {
    if (length >= SIZE_MAX / 2) return NULL;
    char *copy = arena_alloc(arena, length + 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void *arena_grow(Arena *arena, void *array, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return array;
    size_t larger = *capacity < 8 ? 8 : *capacity;
    while (larger < needed) {
        if (larger > SIZE_MAX / 4) return NULL;
        larger *= 2;
    }
    if (larger == *capacity) larger = needed;
    void *grown = arena_array(arena, larger, size);
    if (!grown) return NULL;
    if (*capacity && array) memcpy(grown, array, *capacity * size);
    *capacity = larger;
    return grown;
}
