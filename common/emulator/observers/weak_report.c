#include "emulator/observers/weak_report.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/findings.h"
#include "emulator/observers/wording.h"

enum { MOST_SEEN = 64 }; // words of other blocks that a block remembers having read

// The latest version of a word, of another block, that a thread of the block has read.
typedef struct {
    uint32_t word, event;
    uint64_t place;
    int32_t instruction; // that read it
} Seen;

typedef struct {
    uint32_t fence[SCOPES]; // the last one of each scope, in events; 0: none
    Seen seen[MOST_SEEN];
    uint32_t seen_count; // all of them, those that were replaced included
} BlockSeen;

void stale_reads_start(StaleReads *s, Block *block) {
    block->weak_state = calloc(1, sizeof(BlockSeen));
    if (!block->weak_state) s->machine->out_of_memory = s->machine->stopped = true;
}

void stale_reads_end(Block *block) {
    free(block->weak_state);
    block->weak_state = NULL;
}

void stale_reads_fence(StaleReads *s, Block *block, bool of_block) {
    BlockSeen *b = block->weak_state;
    uint32_t event = stale_reads_event(s);
    b->fence[SCOPE_BLOCK] = event;
    if (!of_block) b->fence[SCOPE_GRID] = event;
}

void stale_reads_fences(const Block *block, uint32_t fence[SCOPES]) {
    memcpy(fence, ((const BlockSeen *)block->weak_state)->fence, SCOPES * sizeof *fence);
}

void stale_reads_note(StaleReads *s, const Access *a, uint32_t word, int index) {
    if (!a->is_volatile) return; // no sign for what other accesses may rely on
    const Version *version = &word_at(s->history, word)->versions[index];
    if (version->instruction == INITIALLY) return;
    BlockSeen *b = a->warp->block->weak_state;
    Seen *seen = NULL;
    for (uint32_t i = 0; i < b->seen_count && i < MOST_SEEN && !seen; i++)
        if (b->seen[i].word == word) seen = &b->seen[i];
    if (seen && seen->place >= version->place) return;
    if (!seen) seen = &b->seen[b->seen_count++ % MOST_SEEN];
    *seen = (Seen){word, stale_reads_event(s), version->place, a->in->number};
}

// What shows that a store was missed: a later one of the same block, and where it was read.
typedef struct {
    const Version *missed, *later;
    const Seen *seen;
    bool is_torn; // both are parts of what the load reads at once
} Missed;

// A version of `word`, up to the one at `place`, that the block which stored `missed` stored after it or with
// it.
static const Version *stored_later(const Word *word, uint64_t place, const Version *missed) {
    for (int v = 0; v < word->count && word->versions[v].place <= place; v++) {
        const Version *version = &word->versions[v];
        if (version->instruction == INITIALLY || block_of(version->who) != block_of(missed->who)) continue;
        if (version->event > missed->event || version->store == missed->store) return version;
    }
    return NULL;
}

static bool find_later(const StaleReads *s, const BlockSeen *b, const Access *a, uint32_t lane, uint32_t word,
                       Missed *found) {
    uint64_t base = a->memory->base + a->offsets[lane];
    for (uint32_t i = 0; i < b->seen_count && i < MOST_SEEN; i++) {
        const Seen *seen = &b->seen[i];
        if (seen->word == word) continue;
        const Word *other = word_at(s->history, seen->word);
        bool is_beside = other->address - base < a->bytes;
        const Version *later = stored_later(other, seen->place, found->missed);
        if (!later || (is_beside && (later->is_wide || found->missed->is_wide))) continue;
        found->later = later;
        found->seen = seen;
        found->is_torn = is_beside;
        if (is_beside) break;
    }
    return found->later != NULL;
}

static StaleCause cause_of(const Missed *found, const BlockSeen *reader) {
    const Version *missed = found->missed, *later = found->later;
    if (found->is_torn) return STALE_TORN;
    if (later->store == missed->store) return STALE_TWO_LOADS;
    const bool is_read_in_order = reader->fence[SCOPE_GRID] > found->seen->event;
    if (later->fence[SCOPE_GRID] <= missed->event)
        return later->fence[SCOPE_BLOCK] > missed->event ? STALE_WRITER_OF_BLOCK
               : is_read_in_order                        ? STALE_WRITER
                                                         : STALE_BOTH;
    if (!is_read_in_order)
        return reader->fence[SCOPE_BLOCK] > found->seen->event ? STALE_READER_OF_BLOCK : STALE_READER;
    return STALE_OTHERWISE;
}

static int line_of(const Machine *m, int32_t number) {
    return place_of(m->program, m->program->by_number[number]).line;
}

void stale_reads_check(StaleReads *s, const Access *a, uint32_t lane, uint32_t word, int index) {
    Machine *m = s->machine;
    const BlockSeen *b = a->warp->block->weak_state;
    const Word *w = word_at(s->history, word);
    Missed found = {0};
    for (int v = w->count; --v > index && !found.later;) {
        found.missed = &w->versions[v];
        find_later(s, b, a, lane, word, &found);
    }
    if (!found.later) return;
    Finding *f = add_finding(m, FINDING_STALE_READ, a->warp, (int)lane, a->in,
                             m->program->by_number[found.missed->instruction], false);
    if (!f) return;
    const EmulatorLaunch *launch = m->launch;
    uint32_t thread = thread_of(found.missed->who), block = block_of(found.missed->who);
    f->other_thread[0] = thread % launch->block[0];
    f->other_thread[1] = thread / launch->block[0] % launch->block[1];
    f->other_thread[2] = thread / launch->block[0] / launch->block[1];
    f->other_block[0] = block % launch->grid[0];
    f->other_block[1] = block / launch->grid[0] % launch->grid[1];
    f->other_block[2] = block / launch->grid[0] / launch->grid[1];
    uint64_t at;
    name_object(m, a->warp, a->memory, a->offsets[lane], f->object, &at, &f->object_bytes);
    f->index = (int64_t)at;
    f->address = a->memory->base + a->offsets[lane];
    f->bytes = a->bytes;
    word_stale(f, &(StaleFacts){.cause = cause_of(&found, b),
                                .object = f->object,
                                .index = at,
                                .width = a->in->width,
                                .other_thread = f->other_thread,
                                .other_block = f->other_block,
                                .missed_line = f->other_place.line,
                                .later_line = line_of(m, found.later->instruction),
                                .seen_line = line_of(m, found.seen->instruction)});
}
