#include "emulator/observers/access_trace_writers.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t word;  // of an address
    uint64_t block; // of shared memory, whose addresses every block has; else 0
    uint64_t warp;
    uint32_t event; // 0: free
    uint8_t lane;
    uint8_t bytes; // of the word, one bit each
    bool is_stale; // somebody else wrote it since, of whom nothing is kept
} Writer;

struct TraceWriters {
    Writer *table; // open addressing, at most half full
    size_t capacity, count;
};

enum { FIRST_CAPACITY = 1024, MAX_GROUPS = 128 };

TraceWriters *trace_writers_new(void) { return calloc(1, sizeof(TraceWriters)); }

void trace_writers_free(TraceWriters *writers) {
    if (writers) free(writers->table);
    free(writers);
}

// The entry of a word, or the free one where it belongs.
static Writer *entry_of(Writer *table, size_t capacity, uint64_t word, uint64_t block) {
    size_t slot = (size_t)((word ^ block << 32) * 0x9e3779b97f4a7c15ull >> 32) % capacity;
    while (table[slot].event && (table[slot].word != word || table[slot].block != block))
        slot = (slot + 1) % capacity;
    return &table[slot];
}

static bool grow(TraceWriters *w) {
    size_t capacity = w->capacity ? 2 * w->capacity : FIRST_CAPACITY;
    Writer *table = calloc(capacity, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < w->capacity; i++)
        if (w->table[i].event) *entry_of(table, capacity, w->table[i].word, w->table[i].block) = w->table[i];
    free(w->table);
    w->table = table;
    w->capacity = capacity;
    return true;
}

// ---- One access ------------------------------------------------------------------------------------------

typedef struct {
    TraceSource groups[MAX_GROUPS];
    int count;
} Groups;

static void add_source(Groups *g, const Writer *from, uint32_t lane) {
    int shift = (int)from->lane - (int)lane;
    for (int i = g->count - 1; i >= 0; i--)
        if (g->groups[i].event == from->event && g->groups[i].shift == shift) {
            g->groups[i].mask |= 1u << lane;
            return;
        }
    if (g->count < MAX_GROUPS) g->groups[g->count++] = (TraceSource){from->event, 1u << lane, shift};
}

static void remember(TraceWriters *w, Writer *entry, const Writer *writer) {
    if (!entry->event) w->count++;
    uint8_t others = entry->event == writer->event && entry->lane == writer->lane ? entry->bytes : 0;
    *entry = *writer;
    entry->bytes |= others;
}

bool trace_writers_follow(TraceWriters *w, const Access *a, TraceEvent *event) {
    const bool is_shared = a->memory->space == PTX_SPACE_SHARED, reads = a->kind != ACCESS_STORE,
               writes = a->kind != ACCESS_LOAD;
    if (!is_shared && a->memory->space != PTX_SPACE_GLOBAL) return true;
    if (!event && (!writes || !w->count)) return true;
    Groups groups;
    groups.count = 0;
    // Lanes of an atomic come one after the other, so that each finds what the one before it left.
    FOR_LANES(lane, a->mask) {
        uint64_t from = a->memory->base + a->offsets[lane], to = from + a->bytes;
        for (uint64_t word = from / 4; word <= (to - 1) / 4; word++) {
            if (2 * (w->count + 1) > w->capacity && !grow(w)) return false;
            uint64_t block = is_shared ? a->warp->block->number : 0;
            Writer *entry = entry_of(w->table, w->capacity, word, block);
            uint32_t first = from > word * 4 ? (uint32_t)(from - word * 4) : 0,
                     end = to < word * 4 + 4 ? (uint32_t)(to - word * 4) : 4;
            uint8_t bytes = (uint8_t)((1u << end) - (1u << first));
            bool is_known = entry->event && !entry->is_stale;
            if (event && reads && is_known && entry->bytes & bytes &&
                (entry->warp != event->warp || entry->lane != lane))
                add_source(&groups, entry, lane);
            if (writes && event)
                remember(w, entry,
                         &(Writer){.word = word,
                                   .block = block,
                                   .warp = event->warp,
                                   .event = event->id,
                                   .lane = (uint8_t)lane,
                                   .bytes = bytes});
            else if (writes && entry->event)
                entry->is_stale = true;
        }
    }
    if (!groups.count) return true;
    event->sources = malloc((size_t)groups.count * sizeof *groups.groups);
    if (!event->sources) return false;
    memcpy(event->sources, groups.groups, (size_t)groups.count * sizeof *groups.groups);
    event->source_count = groups.count;
    return true;
}
