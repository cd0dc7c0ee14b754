#include "emulator/observers/weak_history.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 256,
    MAX_READERS = 1 << 20,
    NEAR = 16,
    CHUNK_WORDS = 512,
};
static const uint64_t STEP = 1 << 20; // between two places, for stores that count as overwritten

struct VersionChunk {
    struct VersionChunk *next;
    Version versions[CHUNK_WORDS][FIRST_VERSIONS];
};

bool history_open(History *h, RaceOrder *order) {
    *h = (History){.order = order,
                   .slot_count = FIRST_SLOTS,
                   .view_capacity = FIRST_SLOTS,
                   .word_count = 1,
                   .row_count = 1,
                   .known = 1,
                   .page_count = 1,
                   .page_capacity = 16,
                   .chunk_used = CHUNK_WORDS,
                   .reader_count = 1,
                   .begin = UINT64_MAX};
    h->slots = calloc(h->slot_count, sizeof *h->slots);
    h->views = calloc(h->view_capacity, sizeof *h->views);
    h->pages = calloc(h->page_capacity, sizeof *h->pages);
    return h->slots && h->views && h->pages;
}

void history_close(History *h) {
    for (uint32_t i = 1; i < h->word_count; i++)
        if (h->words[i].capacity > FIRST_VERSIONS) free(h->words[i].versions);
    for (struct VersionChunk *chunk = h->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(h->words);
    free(h->rows);
    free(h->values);
    free(h->pages);
    free(h->slots);
    free(h->views);
    free(h->readers);
}

static uint64_t mixed(uint64_t key) {
    key *= 0x9e3779b97f4a7c15ull;
    return key ^ key >> 32;
}

// At least `count` elements of `bytes` each in *array.
static bool make_room(void *array, uint32_t *capacity, uint32_t count, size_t bytes) {
    if (count <= *capacity) return true;
    uint32_t grown = count < 16 ? 16 : count * 2;
    void *moved = realloc(*(void **)array, (size_t)grown * bytes);
    if (!moved) return false;
    *(void **)array = moved;
    *capacity = grown;
    return true;
}

// ---- Words ------------------------------------------------------------------------------------------------

static uint32_t slot_of(const History *h, uint64_t number) {
    uint32_t slot = (uint32_t)mixed(number) & (h->slot_count - 1);
    while (h->slots[slot] && h->pages[h->slots[slot]].number != number)
        slot = (slot + 1) & (h->slot_count - 1);
    return slot;
}

uint32_t history_look_for_page(History *h, uint64_t number) {
    const uint32_t page = h->slots[slot_of(h, number)];
    if (page) h->last_page = page;
    return page;
}

bool history_has(History *h, uint64_t address, uint64_t bytes) {
    if (address >= h->end || address + bytes <= h->begin) return false;
    const uint64_t first = address / WORD_BYTES, end = (address + bytes + WORD_BYTES - 1) / WORD_BYTES;
    for (uint64_t at = first, next; at < end; at = next) {
        next = (at / PAGE_WORDS + 1) * PAGE_WORDS < end ? (at / PAGE_WORDS + 1) * PAGE_WORDS : end;
        const uint32_t page = history_page(h, at / PAGE_WORDS);
        uint32_t any = 0;
        for (uint64_t word = at; page && word < next; word++) any |= h->pages[page].words[word % PAGE_WORDS];
        if (any) return true;
    }
    return false;
}

static bool more_slots(History *h) {
    uint32_t *old = h->slots;
    uint32_t *slots = calloc((size_t)h->slot_count * 2, sizeof *slots);
    if (!slots) return false;
    h->slots = slots;
    h->slot_count *= 2;
    for (uint32_t i = 1; i < h->page_count; i++) h->slots[slot_of(h, h->pages[i].number)] = i;
    free(old);
    return true;
}

// The index of a new page; 0: memory ran out.
static uint32_t add_page(History *h, uint64_t number) {
    if (h->page_count * 2 >= h->slot_count && !more_slots(h)) return 0;
    if (!make_room(&h->pages, &h->page_capacity, h->page_count + 1, sizeof *h->pages)) return 0;
    const uint32_t page = h->page_count++;
    h->pages[page] = (Page){.number = number};
    if (number * PAGE_BYTES < h->begin) h->begin = number * PAGE_BYTES;
    if ((number + 1) * PAGE_BYTES > h->end) h->end = (number + 1) * PAGE_BYTES;
    return h->last_page = h->slots[slot_of(h, number)] = page;
}

static Version *first_versions(History *h) {
    if (h->chunk_used == CHUNK_WORDS) {
        struct VersionChunk *chunk = malloc(sizeof *chunk);
        if (!chunk) return NULL;
        chunk->next = h->chunks;
        h->chunks = chunk;
        h->chunk_used = 0;
    }
    return h->chunks->versions[h->chunk_used++];
}

void history_is_now(History *h, uint32_t index, uint32_t value) {
    Word *w = word_at(h, index);
    const Version *last = newest(w);
    if (last->value == value) return;
    w->versions[0] = (Version){.value = value, .instruction = INITIALLY, .place = last->place + STEP};
    w->count = 1;
}

// A new word at `address`, without versions. 0: memory ran out.
static uint32_t add_word(History *h, uint64_t address) {
    Version *versions = first_versions(h);
    h->failed = !versions || !make_room(&h->words, &h->word_capacity, h->word_count + 1, sizeof *h->words);
    if (h->failed) return 0;
    h->words[h->word_count] = (Word){.address = address, .versions = versions, .capacity = FIRST_VERSIONS};
    return h->word_count++;
}

// The entry of a page that says what history the word at `address` has. NULL: memory ran out.
static uint32_t *entry_of(History *h, uint64_t address) {
    uint32_t page = history_page(h, address / PAGE_BYTES);
    if (!page) page = add_page(h, address / PAGE_BYTES);
    h->failed = h->failed || !page;
    return page ? &h->pages[page].words[address / WORD_BYTES % PAGE_WORDS] : NULL;
}

uint32_t history_word(History *h, uint64_t address, uint32_t value) {
    uint32_t index = history_find(h, address);
    if (index) {
        history_is_now(h, index, value);
        return index;
    }
    if (history_is_full(h)) return 0;
    uint32_t *entry = entry_of(h, address);
    if (!entry || !(index = add_word(h, address))) return 0;
    h->known++;
    history_add(h, index, (Version){.value = value, .instruction = INITIALLY}, false);
    return *entry = index;
}

// ---- Rows -------------------------------------------------------------------------------------------------

uint32_t history_row(History *h, uint64_t address, const void *data, uint32_t count) {
    if (h->failed || h->known + count > MAX_WORDS) return 0;
    h->failed = !make_room(&h->rows, &h->row_capacity, h->row_count + 1, sizeof *h->rows) ||
                !make_room(&h->values, &h->value_capacity, h->value_count + count, sizeof *h->values);
    if (h->failed) return 0;
    h->rows[h->row_count] = (Row){.address = address, .values = h->value_count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *entry = entry_of(h, address + (uint64_t)i * WORD_BYTES);
        if (!entry) return 0;
        *entry = IN_ROW | h->row_count;
        memcpy(&h->values[h->value_count + i].before, (const unsigned char *)data + (size_t)i * WORD_BYTES,
               WORD_BYTES);
    }
    h->value_count += count;
    h->known += count;
    return h->row_count++;
}

void history_row_stored(History *h, uint32_t row, Version version, uint32_t words, const void *data) {
    Row *r = &h->rows[row];
    r->version = version;
    r->words = words;
    for (uint32_t i = 0; i < words * WARP_SIZE; i++)
        memcpy(&h->values[r->values + i].stored, (const unsigned char *)data + (size_t)i * WORD_BYTES,
               WORD_BYTES);
}

uint32_t history_out_of_row(History *h, uint64_t address) {
    if (h->failed) return 0;
    uint32_t *entry = entry_of(h, address);
    const Row *row = &h->rows[*entry & ~(uint32_t)IN_ROW];
    const uint32_t at = (uint32_t)(address - row->address) / WORD_BYTES;
    const RowValue *value = &h->values[row->values + at];
    const uint32_t index = add_word(h, address & ~(uint64_t)(WORD_BYTES - 1));
    *entry = index;
    if (!index) return 0;
    history_add(h, index, (Version){.value = value->before, .instruction = INITIALLY}, false);
    if (!row->words) return index;
    Version version = row->version;
    version.who += at / row->words;
    version.store += at / row->words;
    version.event += at;
    version.value = value->stored;
    history_add(h, index, version, false);
    return index;
}

// ---- Versions ---------------------------------------------------------------------------------------------

bool history_add(History *h, uint32_t index, Version version, bool is_overwritten) {
    Word *w = word_at(h, index);
    if (w->count == MAX_VERSIONS) {
        memmove(w->versions, w->versions + 1, (MAX_VERSIONS - 1) * sizeof *w->versions);
        w->count--;
    }
    if (w->count == w->capacity) {
        const int capacity = w->capacity * 2;
        const bool is_first = w->capacity == FIRST_VERSIONS;
        Version *grown = realloc(is_first ? NULL : w->versions, (size_t)capacity * sizeof *grown);
        if (!grown) {
            h->failed = true;
            return false;
        }
        if (is_first) memcpy(grown, w->versions, FIRST_VERSIONS * sizeof *grown);
        w->versions = grown;
        w->capacity = capacity;
    }
    if (is_overwritten) {
        Version *last = newest(w);
        version.place = last[-1].place + (last->place - last[-1].place) / 2;
        w->versions[w->count] = *last;
        w->versions[w->count - 1] = version;
    } else {
        version.place = w->count ? newest(w)->place + STEP : STEP;
        w->versions[w->count] = version;
    }
    w->count++;
    return true;
}

// ---- Threads ----------------------------------------------------------------------------------------------

// A slot for the member `number` of a group: NEAR members in a row, which a warp accesses together, are in
// one line of the cache. Its first place in the line depends on the group, so that groups of one member fill
// all slots.
static uint64_t near(uint64_t group, uint64_t number) {
    const uint64_t key = mixed(group);
    return key * NEAR + ((key >> 40) + number) % NEAR;
}

// The next one to try. The distance is odd, so that all slots come in turn.
static uint32_t next_slot(uint32_t slot, uint32_t count) { return (slot + NEAR + 1) & (count - 1); }

static View *view_of(History *h, uint32_t word, uint32_t who) {
    uint64_t key = (uint64_t)word << 32 | who;
    // Neighbouring threads most often access neighbouring words.
    uint64_t group = (uint64_t)(uint32_t)(word - who) << 32 | who / NEAR;
    uint32_t slot = (uint32_t)near(group, who) & (h->view_capacity - 1);
    while (h->views[slot].key && h->views[slot].key != key) slot = next_slot(slot, h->view_capacity);
    return &h->views[slot];
}

static bool more_views(History *h) {
    History grown = {.view_capacity = h->view_capacity * 2};
    grown.views = calloc(grown.view_capacity, sizeof *grown.views);
    if (!grown.views) return false;
    for (uint32_t i = 0; i < h->view_capacity; i++)
        if (h->views[i].key)
            *view_of(&grown, (uint32_t)(h->views[i].key >> 32), (uint32_t)h->views[i].key) = h->views[i];
    free(h->views);
    h->views = grown.views;
    h->view_capacity = grown.view_capacity;
    return true;
}

// No thread of `b` can read anything older: what was there before the launch, or what the block stored
// itself.
static bool ends_search(const RaceBlock *b, const Version *version) {
    return version->instruction == INITIALLY || block_of(version->who) == block_of(b->first);
}

void history_seen(History *h, const RaceBlock *b, uint32_t thread, uint32_t index, int seen) {
    uint32_t who = b->first + thread;
    Word *w = word_at(h, index);
    Version *version = &w->versions[seen];
    // Nothing older can be read after these anyway, and the store itself tells other threads all that a read
    // of it would.
    if (version->instruction == INITIALLY || version->who == who) return;
    View *view = view_of(h, index, who);
    if (view->place >= version->place) return;
    if (!view->key) {
        if (h->view_count * 2 >= h->view_capacity) {
            if (!more_views(h)) {
                h->failed = true;
                return;
            }
            view = view_of(h, index, who);
        }
        view->key = (uint64_t)index << 32 | who;
        h->view_count++;
    }
    view->place = version->place;
    if (h->reader_count >= MAX_READERS ||
        !make_room(&h->readers, &h->reader_capacity, h->reader_count + 1, sizeof *h->readers)) {
        h->failed = true;
        return;
    }
    h->readers[h->reader_count] = (Reader){who, h->order->now, version->readers};
    version->readers = h->reader_count++;
}

// Is `version`, or a read of it, ordered before what `thread` does now?
static bool is_behind(History *h, RaceBlock *b, uint32_t thread, const Version *version, bool is_plain) {
    if (ends_search(b, version) || order_knows(h->order, b, thread, version->who, version->time, is_plain))
        return true;
    for (uint32_t r = version->readers; r; r = h->readers[r].next)
        if (order_knows(h->order, b, thread, h->readers[r].who, h->readers[r].time, is_plain)) return true;
    return false;
}

int oldest_readable(History *h, RaceBlock *b, uint32_t thread, uint32_t index, bool is_plain) {
    const Word *w = word_at(h, index);
    int at = w->count - 1;
    if (h->failed || ends_search(b, &w->versions[at])) return at;
    uint64_t seen = view_of(h, index, b->first + thread)->place;
    while (at > 0 && w->versions[at].place > seen && !is_behind(h, b, thread, &w->versions[at], is_plain))
        at--;
    return at;
}

bool may_be_overwritten(History *h, RaceBlock *b, uint32_t thread, uint32_t index) {
    const Word *w = word_at(h, index);
    const Version *last = newest(w);
    return w->count > 1 && !h->failed && !last->is_atomic && !last->is_wide &&
           last->place - last[-1].place > 1 && oldest_readable(h, b, thread, index, false) < w->count - 1;
}
