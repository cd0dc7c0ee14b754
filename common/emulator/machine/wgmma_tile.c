#include "emulator/machine/wgmma_tile.h"

#include <string.h>

#include "emulator/machine/initialised.h"
#include "emulator/machine/resolve.h"
#include "emulator/machine/undefined_step.h"

enum {
    PIECE = 16,
    ROW = 2 * PIECE,      // bytes of a row, whatever its type: k makes it so
    GROUP = 8,            // rows that lie together
    ADDRESSES = 0x3ffff,  // of shared memory, as descriptors hold them
    BLOCK_OF = 8 * PIECE, // bytes of 8 x 8 elements of 16 bits
    LOOK_UP = 7,          // swizzling: bits from here on of an address
    TURNED = 4,           // are added without carry to bits from here on
};

// ---- Places -----------------------------------------------------------------------------------------------

typedef struct {
    uint32_t start, leading, stride;
    uint32_t span; // bytes of a row that swizzling turns; 0: no swizzling
} Tile;

static Tile tile_of(uint64_t descriptor) {
    static const uint32_t spans[] = {0, 128, 64, 32};
    return (Tile){.start = (uint32_t)(descriptor & 0x3fff) << 4,
                  .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                  .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                  .span = spans[descriptor >> 62]};
}

// Half `half` of a row, whose bytes follow each other.
static uint32_t place(const Tile *t, int row, int half) {
    const uint32_t group = (uint32_t)(row / GROUP) * t->stride, within = (uint32_t)(row % GROUP);
    if (!t->span) return t->start + group + within * PIECE + (uint32_t)half * t->leading;
    return t->start + group + within * t->span + (uint32_t)half * PIECE;
}

// Elements of 8 rows from 8 * `group` on at `k`: they follow each other, and then those of the next k.
static uint32_t turned_place(const Tile *t, int group, int k) {
    const uint32_t block = (uint32_t)(k / GROUP), within = (uint32_t)(k % GROUP);
    if (!t->span) return t->start + (uint32_t)group * t->stride + block * t->leading + within * PIECE;
    const uint32_t of_span = t->span / PIECE; // groups
    return t->start + (uint32_t)group / of_span * t->leading + block * t->stride + within * t->span +
           (uint32_t)group % of_span * PIECE;
}

static uint32_t swizzled(const Tile *t, uint32_t at) {
    if (t->span) at ^= (at >> LOOK_UP & (t->span / PIECE - 1)) << TURNED;
    return at & ADDRESSES;
}

void wgmma_pieces(TilePieces *pieces, uint64_t descriptor, bool is_turned, int first, int rows) {
    const Tile tile = tile_of(descriptor);
    pieces->count = rows * 2;
    pieces->is_turned = is_turned;
    for (int i = 0; i < pieces->count; i++)
        pieces->at[i] = swizzled(&tile, is_turned ? turned_place(&tile, (first + i / 16 * 8) / 8, i % 16)
                                                  : place(&tile, first + i / 2, i % 2));
}

// ---- Bytes ------------------------------------------------------------------------------------------------

// All pieces are in one variable, or each for itself is in some.
static bool are_inside(Machine *m, Warp *w, const Instruction *in, const TilePieces *pieces) {
    uint64_t low = UINT32_MAX, high = 0, offset;
    for (int i = 0; i < pieces->count; i++) {
        low = pieces->at[i] < low ? pieces->at[i] : low;
        high = pieces->at[i] > high ? pieces->at[i] : high;
    }
    if (find_object(m, w, in, low, high + PIECE - low, &offset)) return true;
    for (int i = 0; i < pieces->count; i++) {
        const uint64_t addresses[WARP_SIZE] = {pieces->at[i]};
        Memory *memory;
        if (!resolve_lane(m, w, in, ACCESS_LOAD, 0, addresses, PIECE, PIECE, &memory, &offset)) return false;
    }
    return true;
}

bool wgmma_gather(Machine *m, Warp *w, const Instruction *in, const TilePieces *pieces, void *to) {
    if (!are_inside(m, w, in, pieces)) return false;
    const unsigned char *shared = w->block->shared.data;
    if (!pieces->is_turned) {
        for (int i = 0; i < pieces->count; i++)
            memcpy((unsigned char *)to + i * PIECE, shared + pieces->at[i], PIECE);
        return true;
    }
    uint16_t *elements = to;
    for (int i = 0; i < pieces->count; i++) {
        uint16_t piece[8];
        memcpy(piece, shared + pieces->at[i], PIECE);
        for (int row = 0; row < 8; row++) elements[(i / 16 * 8 + row) * 16 + i % 16] = piece[row];
    }
    return true;
}

// One access for each 32 pieces.
static Access access_to(const Machine *m, Warp *w, const Instruction *in, const TilePieces *pieces, int first,
                        uint64_t offsets[WARP_SIZE]) {
    (void)m;
    const int count = pieces->count - first < (int)WARP_SIZE ? pieces->count - first : (int)WARP_SIZE;
    bool contiguous = count == WARP_SIZE;
    for (int i = 0; i < count; i++) {
        offsets[i] = pieces->at[first + i];
        contiguous = contiguous && offsets[i] == offsets[0] + (uint64_t)i * PIECE;
    }
    return (Access){.warp = w,
                    .in = in,
                    .kind = ACCESS_LOAD,
                    .memory = &w->block->shared,
                    .mask = count == WARP_SIZE ? FULL_MASK : (1u << count) - 1,
                    .bytes = PIECE,
                    .contiguous = contiguous,
                    .first = !first,
                    .offsets = offsets};
}

void wgmma_observe(const Machine *m, Warp *w, const Instruction *in, const TilePieces *pieces) {
    for (int first = 0; first < pieces->count; first += (int)WARP_SIZE) {
        uint64_t offsets[WARP_SIZE];
        const Access access = access_to(m, w, in, pieces, first, offsets);
        TELL_OBSERVERS(m, async_access, &access);
    }
}

void wgmma_origins(Machine *m, Warp *w, const Instruction *in, const TilePieces *pieces, uint64_t *origins) {
    const Memory *shared = &w->block->shared;
    memset(origins, 0, (size_t)pieces->count / 2 * sizeof *origins);
    for (int i = 0; i < pieces->count; i++) {
        if (is_initialised(shared, pieces->at[i], PIECE)) continue;
        const int row = pieces->is_turned ? i / 16 * 8 : i / 2;
        uint64_t offsets[WARP_SIZE];
        const Access access = access_to(m, w, in, pieces, i, offsets);
        bool is_unsure;
        const uint64_t stored = undefined_stored_at(m, w->block, shared, pieces->at[i], &is_unsure),
                       origin = stored ? stored : undefined_read(m, &access, 1);
        for (int r = row; r < row + (pieces->is_turned ? 8 : 1); r++)
            if (!origins[r]) origins[r] = origin;
    }
}
