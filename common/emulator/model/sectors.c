// Which loads can a cache answer? A sector that the same warp, another warp of its block or another block
// touched before may still be in the L1 or the L2, if not too much came between. On a GPU all resident warps
// run at once, here one after the other. So distances are counted on the warps' own clocks, in lines of 128
// bytes that a warp touched, and the time model multiplies them by how many warps run side by side.
#include "emulator/model/sectors.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD_SHIFT = 2,
    SECTOR_SHIFT = 5,
    LINE_SHIFT = 7,
    SECTORS_A_LINE = 4,
    SECTORS_A_KIB = 8 * SECTORS_A_LINE,
    SECTORS_A_REGION = 128,
    NEAR_LINES = 32
};

typedef struct {
    uint32_t warp, lines; // of the last touch: number in the grid, from 1, and what it had touched by then
    uint32_t block;       // number + 1; 0: not touched yet
    uint32_t atomics;     // operations
    uint32_t whole;       // of these, those on all words of the sector
    bool is_stored, is_shared, adds_floats; // shared: atomics of several blocks
} Note;

typedef struct {
    Note *notes;
    uint64_t count;
    bool has_atomics; // else none is looked for in a buffer of gigabytes
    // Where accesses are to be coalesced: the place of each word + 1, in the order in which words are
    // touched; 0: not yet. NULL: every word is where it is.
    uint32_t *places;
    uint64_t next_place;
} Notes;

struct Sectors {
    Notes *of;             // by memory object
    const Memory *objects; // of the emulator
    uint64_t object_count;
    bool is_coalesced;
};

Sectors *sectors_new(const Emulator *emulator, bool is_coalesced) {
    Sectors *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->is_coalesced = is_coalesced;
    s->objects = emulator->objects;
    s->object_count = emulator->object_count;
    s->of = calloc(s->object_count + 1, sizeof *s->of);
    if (!s->of) {
        free(s);
        return NULL;
    }
    return s;
}

void sectors_free(Sectors *s) {
    if (!s) return;
    for (uint64_t i = 0; i < s->object_count; i++) {
        free(s->of[i].notes);
        free(s->of[i].places);
    }
    free(s->of);
    free(s);
}

// The notes on an object, made when it is first touched; NULL when memory ran out.
static Notes *notes_of(Sectors *s, const Memory *memory) {
    const uint64_t object = (uint64_t)(memory - s->objects);
    if (object >= s->object_count) return NULL;
    Notes *notes = &s->of[object];
    if (!notes->notes) {
        // A whole number of lines, so that a sector's neighbours can be looked at.
        notes->count = ((((memory->base & 31) + memory->bytes) >> LINE_SHIFT) + 2) * SECTORS_A_LINE;
        if (s->is_coalesced) {
            notes->places = calloc(notes->count << (SECTOR_SHIFT - WORD_SHIFT), sizeof *notes->places);
            notes->count *= 2; // accesses begin at multiples of their size, which leaves gaps
        }
        notes->notes = calloc(notes->count, sizeof *notes->notes);
    }
    return notes->notes && (notes->places || !s->is_coalesced) ? notes : NULL;
}

// The power of two that is nearest on a logarithmic scale.
static int bin_of(uint32_t distance) {
    int bin = 0;
    for (uint64_t square = (uint64_t)distance * distance; square > 2 && bin < MODEL_BINS - 1; square >>= 2)
        bin++;
    return bin;
}

static void add_region(Touch *touch, uint64_t region) {
    for (uint32_t k = touch->region_count; k-- > 0;)
        if (touch->regions[k] == region) return;
    if (touch->region_count < TOUCHED_REGIONS) touch->regions[touch->region_count++] = region;
}

// One sector that a load touches; `partner` is the other one of its pair.
static void note_load(const Note *n, const Note *partner, const Toucher *warp, uint32_t block, Touch *touch,
                      ModelWork *work) {
    uint32_t distance = warp->lines > n->lines ? warp->lines - n->lines : n->lines - warp->lines;
    if (n->is_stored) work->loads_stored++;
    if (!n->block) {
        work->first++;
        work->first_pairs += !partner->block;
        touch->is_far = true;
        touch->is_near = false;
    } else if (n->warp == (uint32_t)warp->number) {
        if (n->lines >= warp->before) distance = 0; // loads in a row: other warps hardly come between
        work->again_warp++;
        work->warp_distance[bin_of(distance)]++;
        touch->is_near = touch->is_near && distance <= NEAR_LINES && !n->is_stored;
    } else if (n->block == block) {
        work->again_block++;
        work->block_distance[bin_of(distance)]++;
        touch->is_near = false;
    } else {
        work->again_grid++;
        work->grid_distance[bin_of(distance)]++;
        touch->is_near = false;
    }
}

// The sectors that an access would touch if the words that no access has touched before lay side by side, in
// the order of its lanes; returns how many.
static uint32_t coalesced_sectors(Notes *notes, const Access *a, uint64_t first,
                                  uint64_t sectors[WARP_SIZE * 2]) {
    uint32_t words = (a->bytes + 3) / 4, count = 0;
    uint64_t size = 1;
    while (size < (uint64_t)words * (uint32_t)__builtin_popcount(a->mask)) size *= 2;
    if (size > 1 << (LINE_SHIFT - WORD_SHIFT)) size = 1 << (LINE_SHIFT - WORD_SHIFT);
    bool is_new = false;
    FOR_LANES(lane, a->mask) {
        for (uint32_t k = 0; k < words; k++) {
            uint32_t *place = &notes->places[((first + a->offsets[lane]) >> WORD_SHIFT) + k];
            if (!*place) {
                if (!is_new) notes->next_place = (notes->next_place + size - 1) & ~(size - 1);
                is_new = true;
                *place = (uint32_t)++notes->next_place;
            }
            uint64_t sector = (*place - 1) >> (SECTOR_SHIFT - WORD_SHIFT);
            bool is_known = count == 2 * WARP_SIZE;
            for (uint32_t j = count; j-- > 0 && !is_known;) is_known = sectors[j] == sector;
            if (!is_known) sectors[count++] = sector;
        }
    }
    return count;
}

// The distinct sectors of an access, ascending by lane; returns how many.
static uint32_t sectors_of(const Access *a, uint64_t first, uint64_t sectors[WARP_SIZE * 2]) {
    uint32_t count = 0;
    if (a->contiguous) {
        uint64_t from = (first + a->offsets[0]) >> SECTOR_SHIFT;
        uint64_t to = (first + a->offsets[0] + (uint64_t)a->bytes * WARP_SIZE - 1) >> SECTOR_SHIFT;
        for (uint64_t k = from; k <= to && count < 2 * WARP_SIZE; k++) sectors[count++] = k;
        return count;
    }
    FOR_LANES(lane, a->mask) {
        uint64_t sector = (first + a->offsets[lane]) >> SECTOR_SHIFT;
        bool is_known = false;
        for (uint32_t k = count; k-- > 0 && !is_known;) is_known = sectors[k] == sector;
        if (!is_known) sectors[count++] = sector;
    }
    return count;
}

static uint32_t lines_of(const uint64_t sectors[WARP_SIZE * 2], uint32_t count) {
    uint32_t lines = 0;
    for (uint32_t k = 0; k < count; k++) {
        bool is_known = false;
        for (uint32_t j = k; j-- > 0 && !is_known;)
            is_known = sectors[j] / SECTORS_A_LINE == sectors[k] / SECTORS_A_LINE;
        lines += !is_known;
    }
    return lines;
}

// An operation takes lanes of that sector which are on different addresses: as many operations as lanes meet
// on one address.
static void note_atomics(Note *n, const Access *a, uint64_t first, uint64_t sector, ModelWork *work) {
    uint32_t here = 0, most = 0;
    FOR_LANES(lane, a->mask) if ((first + a->offsets[lane]) >> SECTOR_SHIFT == sector) here |= 1u << lane;
    FOR_LANES(lane, here) {
        uint32_t same = 0;
        FOR_LANES(other, here) same += a->offsets[other] == a->offsets[lane];
        if (same > most) most = same;
    }
    n->atomics += most;
    if ((uint32_t)__builtin_popcount(here) * a->bytes == most << SECTOR_SHIFT) n->whole += most;
    n->adds_floats |= a->in->type == PTX_F32 || a->in->type == PTX_F64;
    work->atomic_operations += most;
}

static void count_access(const Access *a, const Touch *touch, ModelWork *work) {
    uint32_t lanes = (uint32_t)__builtin_popcount(a->mask);
    switch (a->kind) {
    case ACCESS_LOAD:
        work->load_requests += a->first;
        work->load_lines += touch->lines;
        work->load_sectors += touch->sectors;
        work->load_bytes += (double)lanes * a->bytes;
        break;
    case ACCESS_STORE:
        work->store_requests += a->first;
        work->store_lines += touch->lines;
        work->store_sectors += touch->sectors;
        break;
    default: work->atomic_requests += a->first; break;
    }
}

// What no object has (machine/beside.h): nothing is known of it, as if it were touched for the first time.
static Touch touch_beside(const Access *a, ModelWork *work) {
    uint64_t sectors[WARP_SIZE * 2] = {0};
    Touch touch = {.is_far = true, .sectors = sectors_of(a, a->memory->base & 31, sectors)};
    touch.lines = lines_of(sectors, touch.sectors);
    count_access(a, &touch, work);
    return touch;
}

Touch sectors_touch(Sectors *s, const Access *a, Toucher *warp, ModelWork *work) {
    Touch touch = {.is_near = true};
    if ((uint64_t)(a->memory - s->objects) >= s->object_count) return touch_beside(a, work);
    Notes *notes = notes_of(s, a->memory);
    const Block *b = a->warp->block;
    if (!notes) {
        b->machine->out_of_memory = b->machine->stopped = true;
        return touch;
    }
    bool is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION;
    uint64_t sectors[WARP_SIZE * 2] = {0}, first = a->memory->base & 31;
    touch.sectors = notes->places && !is_atomic ? coalesced_sectors(notes, a, first, sectors)
                                                : sectors_of(a, first, sectors);
    touch.lines = lines_of(sectors, touch.sectors);
    count_access(a, &touch, work);
    uint32_t block = (uint32_t)b->number + 1;
    for (uint32_t k = 0; k < touch.sectors; k++) {
        if (sectors[k] >= notes->count) continue;
        Note *n = &notes->notes[sectors[k]];
        if (a->kind == ACCESS_LOAD) {
            const uint64_t place =
                notes->places ? (first + a->offsets[__builtin_ctz(a->mask)]) >> SECTOR_SHIFT : sectors[k];
            if (!n->block) add_region(&touch, a->memory->base + place / SECTORS_A_REGION);
            note_load(n, &notes->notes[sectors[k] ^ 1], warp, block, &touch, work);
        } else if (!n->is_stored) {
            n->is_stored = true;
            work->stored_first += a->kind == ACCESS_STORE;
        }
        if (is_atomic && n->atomics && n->block != block) n->is_shared = true;
        n->warp = (uint32_t)warp->number;
        n->lines = warp->lines;
        n->block = block;
    }
    notes->has_atomics |= is_atomic;
    if (is_atomic)
        for (uint32_t k = 0; k < touch.sectors; k++)
            if (sectors[k] < notes->count)
                note_atomics(&notes->notes[sectors[k]], a, first, sectors[k], work);
    warp->lines += touch.lines;
    return touch;
}

// Each line has its slice of the L2. Lines 0, 1, 4 and 5 of an aligned KiB have one slice, the other four
// another, and the next KiB mostly two more: an H200's times of atomics on two lines show it
// (`atomic_line_1_ns` to 7 of the record's calibration). An allocation is taken to begin with a whole KiB.
static void add_up_atomics(const Notes *of, ModelWork *work) {
    double operations[2] = {0}, whole[2] = {0};
    for (uint64_t k = 0; of->has_atomics && k < of->count; k++) {
        const Note *n = &of->notes[k];
        if (k % SECTORS_A_KIB == 0) operations[0] = operations[1] = whole[0] = whole[1] = 0;
        work->atomic_sectors += n->atomics && !n->is_shared;
        if (!n->is_shared) continue;
        const uint64_t slice = k / (2 * SECTORS_A_LINE) % 2;
        operations[slice] += n->atomics;
        whole[slice] += n->whole;
        if (operations[slice] > work->atomic_slice) {
            work->atomic_slice = operations[slice];
            work->atomic_whole = whole[slice];
        }
        if (n->adds_floats && n->atomics > work->atomic_floats) work->atomic_floats = n->atomics;
    }
}

void sectors_summary(const Sectors *s, ModelWork *work) {
    for (uint64_t i = 0; i < s->object_count; i++) add_up_atomics(&s->of[i], work);
}
