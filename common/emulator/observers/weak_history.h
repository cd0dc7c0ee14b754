// The values that words of global memory have had since the launch began, in the order of coherence.
#pragma once

#include "emulator/observers/race_order.h"

enum {
    WORD_BYTES = 4,
    MAX_VERSIONS = 64,   // of a word remembered; a load cannot return an older one
    INITIALLY = -1,      // Version.instruction of what was there before the launch
    MAX_WORDS = 1 << 18, // with a history; loads of other words return the latest value
};

// One value of a word, and the store that wrote it.
typedef struct {
    uint32_t value;
    uint32_t who, time; // of the thread that stored it, as clocks have them
    uint32_t event;     // when, in events of the launch
    uint32_t store;     // the same in all words of one store of one lane
    uint32_t readers;   // a list: what is ordered after one of these reads is ordered after the store
    uint64_t place;     // in the order of coherence: greater is later
    int32_t instruction;
    bool is_atomic;
    bool is_wide; // of a store of more than one word
    // When the block had last executed a fence, in events: 0 never
    uint32_t fence[SCOPES];
} Version;

enum { FIRST_VERSIONS = 2 }; // of most words there are no more: what was there, and one store

typedef struct {
    uint64_t address;
    Version *versions; // the last is in memory
    int count, capacity;
    uint32_t pick; // weak_memory.c's own
} Word;

// Words that lie side by side, which a warp most often accesses together.
enum { PAGE_WORDS = 64, PAGE_BYTES = PAGE_WORDS * WORD_BYTES };
typedef struct {
    uint64_t number;            // its address / PAGE_BYTES
    uint32_t words[PAGE_WORDS]; // an index each, or a row's number with IN_ROW; 0: no history
} Page;

typedef struct {
    uint32_t who, time, next;
} Reader;

// Words that a warp stored to at once, none of which had a history before. Most are never looked at again, so
// they become a Word each only when one is (Page.words has IN_ROW and the row's number until then).
enum { IN_ROW = 1 << 30 };
typedef struct {
    uint64_t address;
    Version version; // of the first word; `who`, `store` and `event` of the others count on from there
    uint32_t words;  // for each lane; 0: not stored yet
    uint32_t values; // the first of its values in History.values
} Row;

typedef struct {
    uint32_t before, stored;
} RowValue;

// How far a thread has read or written a word itself.
typedef struct {
    uint64_t key; // word and thread; 0: an empty slot
    uint64_t place;
} View;

typedef struct {
    RaceOrder *order;
    Word *words; // [0] is not used
    uint32_t word_count, word_capacity;
    Row *rows; // [0] is not used
    uint32_t row_count, row_capacity;
    RowValue *values;
    uint32_t value_count, value_capacity;
    uint32_t known; // words with a history, those in rows included, and 1
    Page *pages;    // those of words with a history; [0] is not used, and empty
    uint32_t page_count, page_capacity;
    uint64_t begin, end; // addresses: no page is outside
    uint32_t last_page;  // that was looked for, or 0
    uint32_t *slots;     // of pages, by number: an index or 0
    uint32_t slot_count;
    struct VersionChunk *chunks; // where the first versions of words lie
    uint32_t chunk_used;         // of the first chunk
    View *views;
    uint32_t view_count, view_capacity;
    Reader *readers; // [0] is not used
    uint32_t reader_count, reader_capacity;
    bool failed; // memory ran out: what has no history has no older values
} History;

bool history_open(History *history, RaceOrder *order);
void history_close(History *history);

// The index of the page with that number; 0: none of its words has a history.
uint32_t history_look_for_page(History *history, uint64_t number);
static inline uint32_t history_page(History *history, uint64_t number) {
    if (history->pages[history->last_page].number == number) return history->last_page;
    return history_look_for_page(history, number);
}

// Takes the word at `address` out of its row; returns its index. Words may move.
uint32_t history_out_of_row(History *history, uint64_t address);
// The index of the word at `address`; 0: it has no history. Words may move (Word *).
static inline uint32_t history_find(History *history, uint64_t address) {
    const Page *page = &history->pages[history_page(history, address / PAGE_BYTES)];
    const uint32_t index = page->words[address / WORD_BYTES % PAGE_WORDS];
    return index & IN_ROW ? history_out_of_row(history, address) : index;
}
// Whether any word of those `bytes` has one.
bool history_has(History *history, uint64_t address, uint64_t bytes);
// Whether no other word can get one.
static inline bool history_is_full(const History *history) {
    return history->failed || history->known == MAX_WORDS;
}
// The same; a word without a history gets one that begins with `value`.
uint32_t history_word(History *history, uint64_t address, uint32_t value);
// The same of `count` words in a row, none of which has a history; their values lie at `data`. They become a
// row, whose number is returned; 0: they get no history.
uint32_t history_row(History *history, uint64_t address, const void *data, uint32_t count);
// A warp has stored to all words of a row, `words` for each lane; `version` is what it did to the first of
// them. The values lie at `data`.
void history_row_stored(History *history, uint32_t row, Version version, uint32_t words, const void *data);
// That word has this value. If another work than the launch stored it, during a pause, all loads from now on
// get it.
void history_is_now(History *history, uint32_t index, uint32_t value);
static inline Word *word_at(const History *history, uint32_t index) { return &history->words[index]; }
static inline Version *newest(const Word *word) { return &word->versions[word->count - 1]; }

// Makes `version` the newest of a word, or, if `is_overwritten`, the one before. False when memory ran out.
bool history_add(History *history, uint32_t word, Version version, bool is_overwritten);

// The oldest version of word `index` that `thread` of `b` may read, by a plain load or otherwise, as an
// index.
int oldest_readable(History *history, RaceBlock *b, uint32_t thread, uint32_t index, bool is_plain);
// `thread` has read or written version `seen` of word `index`.
void history_seen(History *history, const RaceBlock *b, uint32_t thread, uint32_t index, int seen);
// May what `thread` stores now count as overwritten by the newest version?
bool may_be_overwritten(History *history, RaceBlock *b, uint32_t thread, uint32_t word);
