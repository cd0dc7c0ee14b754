// Addresses to bytes: finds the memory object behind every lane's address, and checks bounds, space and
// alignment.
//
// Most accesses of a well-written kernel are contiguous: 32 lanes, one object, one after the other. That
// case is recognised first and needs no work per lane.
#include "emulator/machine/resolve.h"

#include <string.h>

#include "emulator/machine/beside.h"
#include "emulator/machine/heap.h"

// ---- Refusing ---------------------------------------------------------------------------------------------

static void refuse(Machine *m, const Fault *fault) {
    m->stopped = true;
    TELL_OBSERVERS(m, fault, fault);
}

void refuse_read_only(Machine *m, const Access *access) {
    unsigned lane = (unsigned)__builtin_ctz(access->mask);
    refuse(m, &(Fault){.kind = FAULT_READ_ONLY,
                       .lane = lane,
                       .access = access,
                       .memory = access->memory,
                       .offset = access->offsets[lane]});
}

// ---- Resolving --------------------------------------------------------------------------------------------

// Of objects that share a range, the last that begins at the address or before, else the first.
static Memory *part_near(const Emulator *emulator, const Memory *range, uint64_t address) {
    uint32_t low = 0, high = range->part_count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (emulator->objects[range->parts[middle]].base <= address)
            low = middle;
        else
            high = middle;
    }
    return &emulator->objects[range->parts[low]];
}

Memory *memory_near(const Emulator *emulator, uint64_t address) {
    uint64_t object = address >> ADDRESS_SHIFT;
    if (object < FIRST_OBJECT || object >= emulator->object_count) return NULL;
    Memory *memory = &emulator->objects[object];
    if (memory->part_count) return part_near(emulator, memory, address);
    return memory->in_use && memory->base >> ADDRESS_SHIFT == object ? memory
                                                                     : NULL; // no part of another range
}

Memory *memory_at(Emulator *emulator, uint64_t address) {
    Memory *memory = memory_near(emulator, address);
    return memory && address - memory->base < memory->bytes ? memory : NULL;
}

// True when [offset, offset + bytes) lies in one shared variable of the block.
static bool shared_is_owned(const Machine *m, uint64_t offset, uint64_t bytes) {
    for (int i = 0; i < m->shared_variable_count; i++) {
        const SharedVariable *v = &m->shared_variables[i];
        if (offset - v->offset < v->bytes && v->bytes - (offset - v->offset) >= bytes) return true;
    }
    return false;
}

// The shared memory that an offset in the window of shared memory lies in: that of the warp's block, or of
// another block of its cluster that still runs.
static Memory *find_shared(const Machine *m, Warp *w, const Instruction *in, uint64_t address, uint64_t bytes,
                           uint64_t *offset) {
    Block *b = w->block;
    const Cluster *cluster = b->cluster;
    *offset = address;
    if (cluster->size > 1 && address >> RANK_SHIFT) {
        const uint64_t rank = (address >> RANK_SHIFT) - 1;
        if (rank >= cluster->size || (in->space == PTX_SPACE_SHARED && !(in->flags & IN_CLUSTER)))
            return NULL;
        b = cluster->blocks[rank];
        *offset = address & ((1u << RANK_SHIFT) - 1);
        if (!b->live_warps) return NULL;
    }
    return shared_is_owned(m, *offset, bytes) ? &b->shared : NULL;
}

Memory *find_object(Machine *m, Warp *w, const Instruction *in, uint64_t address, uint64_t bytes,
                    uint64_t *offset) {
    uint64_t window = address >> ADDRESS_SHIFT;
    if (in->space == PTX_SPACE_SHARED ||
        (in->space == PTX_SPACE_NONE && window == SHARED_WINDOW >> ADDRESS_SHIFT)) {
        return find_shared(m, w, in, in->space == PTX_SPACE_SHARED ? address : address - SHARED_WINDOW, bytes,
                           offset);
    }
    if (in->space == PTX_SPACE_PARAM) {
        *offset = address - PARAM_WINDOW;
        return *offset < m->param.bytes && m->param.bytes - *offset >= bytes ? &m->param : NULL;
    }
    if (in->space == PTX_SPACE_NONE && window == PARAM_WINDOW >> ADDRESS_SHIFT) {
        *offset = address - PARAM_WINDOW;
        return *offset < m->param.bytes && m->param.bytes - *offset >= bytes ? &m->param : NULL;
    }
    Memory *memory = memory_near(m->emulator, address);
    if (!memory) return NULL;
    *offset = address - memory->base;
    if (*offset >= memory->bytes || memory->bytes - *offset < bytes) return NULL;
    if (in->space == PTX_SPACE_CONST && memory->space != PTX_SPACE_CONST) return NULL;
    if (memory->heap && !heap_owns(memory->heap, *offset, bytes)) return NULL;
    return memory;
}

// The addresses of all lanes, less what is subtracted from each.
static inline void addresses_less(const unsigned char *registers, const Instruction *in, uint64_t less,
                                  uint64_t addresses[WARP_SIZE]) {
    if (in->flags & ADDRESS_32) {
        const uint32_t *base = source(registers, in, 0);
        uint32_t offset = (uint32_t)in->offset;
        for (unsigned lane = 0; lane < WARP_SIZE; lane++)
            addresses[lane] = (uint64_t)(base[lane] + offset) - less;
    } else {
        const uint64_t *base = source(registers, in, 0);
        uint64_t offset = (uint64_t)in->offset - less;
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) addresses[lane] = base[lane] + offset;
    }
}

void lane_addresses(const unsigned char *registers, const Instruction *in, uint64_t addresses[WARP_SIZE]) {
    addresses_less(registers, in, 0, addresses);
}

// The address of one lane.
static uint64_t lane_address(const unsigned char *registers, const Instruction *in, unsigned lane) {
    const void *base = source(registers, in, 0);
    return in->flags & ADDRESS_32 ? ((const uint32_t *)base)[lane] + (uint32_t)in->offset
                                  : ((const uint64_t *)base)[lane] + (uint64_t)in->offset;
}

// What the addresses of an access have in common.
typedef struct {
    uint64_t low, high; // the lowest and the highest address
    uint64_t all;       // of all bits in them
    bool is_contiguous, is_one_place;
} Span;

// Whether the numbers of 32 lanes follow each other in steps of `bytes`, or are equal. Without
// branches, which becomes vectors.
#define SHAPE_OF(type, numbers, is_contiguous, is_one_place)                                                 \
    do {                                                                                                     \
        type steps = 0, differences = 0;                                                                     \
        for (unsigned lane = 1; lane < WARP_SIZE; lane++) {                                                  \
            const type difference = (numbers)[lane] - (numbers)[lane - 1];                                   \
            steps |= difference ^ bytes;                                                                     \
            differences |= difference;                                                                       \
        }                                                                                                    \
        (is_contiguous) = !steps;                                                                            \
        (is_one_place) = !differences;                                                                       \
    } while (0)

// The span of an access of all lanes whose addresses are contiguous or one and the same: the usual cases,
// found without a comparison of 64 bits, and without the addresses. False: it is neither.
static inline bool simple_span(const unsigned char *registers, const Instruction *in, uint32_t bytes,
                               Span *span) {
    const uint64_t first = lane_address(registers, in, 0);
    bool is_contiguous, is_one_place;
    if (in->flags & ADDRESS_32) {
        const uint32_t *base = source(registers, in, 0);
        SHAPE_OF(uint32_t, base, is_contiguous, is_one_place);
        if (first + (WARP_SIZE - 1) * (uint64_t)bytes > UINT32_MAX)
            is_contiguous = false; // it begins again at 0
    } else {
        const uint64_t *base = source(registers, in, 0);
        SHAPE_OF(uint64_t, base, is_contiguous, is_one_place);
    }
    // A multiple of `bytes`, a power of two, is followed by multiples: the first address speaks for all bits.
    *span = (Span){first, is_contiguous ? first + (WARP_SIZE - 1) * (uint64_t)bytes : first, first,
                   is_contiguous, is_one_place};
    return is_contiguous || is_one_place;
}

// What the addresses of the lanes `mask` have in common. With a constant mask there is no choice to make.
#define SPAN_OF(type, base, offset, mask, span)                                                              \
    do {                                                                                                     \
        const type first = (type)((base)[__builtin_ctz(mask)] + (offset));                                   \
        type low = first, high = first, all = 0;                                                             \
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {                                                  \
            const type a = (mask) >> lane & 1 ? (type)((base)[lane] + (offset)) : first;                     \
            low = a < low ? a : low;                                                                         \
            high = a > high ? a : high;                                                                      \
            all |= a;                                                                                        \
        }                                                                                                    \
        (span) = (Span){low, high, all, false, low == high};                                                 \
    } while (0)

static Span span_of(const unsigned char *registers, const Instruction *in, uint32_t mask) {
    Span span;
    if (in->flags & ADDRESS_32) {
        const uint32_t *base = source(registers, in, 0), offset = (uint32_t)in->offset;
        if (mask == FULL_MASK)
            SPAN_OF(uint32_t, base, offset, FULL_MASK, span);
        else
            SPAN_OF(uint32_t, base, offset, mask, span);
    } else {
        const uint64_t *base = source(registers, in, 0), offset = (uint64_t)in->offset;
        if (mask == FULL_MASK)
            SPAN_OF(uint64_t, base, offset, FULL_MASK, span);
        else
            SPAN_OF(uint64_t, base, offset, mask, span);
    }
    return span;
}

static void resolve_local(Machine *m, Fragment *f, Access *access, uint64_t addresses[WARP_SIZE],
                          AccessBody *body) {
    Warp *w = access->warp;
    uint64_t base = access->in->space == PTX_SPACE_LOCAL ? 0 : LOCAL_WINDOW;
    uint32_t top = f->frame->local_base + f->frame->function->local_bytes + f->frame->dynamic_bytes;
    FOR_LANES(lane, access->mask) {
        uint64_t offset = addresses[lane] - base;
        if (offset < top && offset % access->bytes) {
            refuse(m, &(Fault){FAULT_MISALIGNED, lane, access, addresses, &w->local, offset, false});
            return;
        }
        if (offset >= top || top - offset < access->bytes) {
            refuse(m, &(Fault){FAULT_OUTSIDE_LOCAL, lane, access, addresses, NULL, 0, false});
            return;
        }
        addresses[lane] = offset + (uint64_t)lane * w->local_capacity;
    }
    access->memory = &w->local;
    body(m, f, access);
}

// Lanes that reach outside in a guarded line: a load gives 0, a store does nothing. The others.
static uint32_t leave_out(Machine *m, Fragment *f, const Access *access, const uint64_t addresses[WARP_SIZE],
                          uint32_t lanes) {
    const Instruction *in = access->in;
    const bool is_load = access->kind == ACCESS_LOAD;
    if ((!is_load && access->kind != ACCESS_STORE) ||
        (m->launch->guarded_line != ALL_LINES && place_of(m->program, in).line != m->launch->guarded_line))
        return lanes;
    uint32_t inside = 0;
    FOR_LANES(lane, lanes) {
        uint64_t offset;
        if (find_object(m, access->warp, in, addresses[lane], access->bytes, &offset)) {
            inside |= 1u << lane;
            continue;
        }
        for (unsigned e = 0; e < in->elements && is_load; e++) {
            const size_t width = in->literal[1];
            if (in->dst[e] >= 0) memset(f->frame->registers + in->dst[e] + lane * width, 0, width);
        }
    }
    return inside;
}

// What such a lane finds there if the launch has whole pages, or NULL.
static Memory *beside(Machine *m, const Access *access, const uint64_t addresses[WARP_SIZE], unsigned lane,
                      uint64_t *offset) {
    const PtxSpace space = access->in->space;
    const bool can_be = m->launch->whole_pages && (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE) &&
                        (access->kind == ACCESS_LOAD || access->kind == ACCESS_STORE);
    Memory *memory = can_be ? memory_beside(m, memory_near(m->emulator, addresses[lane]), addresses[lane],
                                            access->bytes, offset)
                            : NULL;
    if (memory) TELL_OBSERVERS(m, fault, &(Fault){FAULT_OUTSIDE, lane, access, addresses, NULL, 0, true});
    return memory;
}

// Lanes that are not all in one object: one object after the other, and local memory first.
static void resolve_scattered(Machine *m, Fragment *f, Access *access, uint64_t addresses[WARP_SIZE],
                              AccessBody *body) {
    uint32_t left = access->mask, local = 0;
    FOR_LANES(lane, left)
    if (access->in->space == PTX_SPACE_NONE &&
        addresses[lane] >> ADDRESS_SHIFT == LOCAL_WINDOW >> ADDRESS_SHIFT)
        local |= 1u << lane;
    if (local) {
        access->mask = local;
        resolve_local(m, f, access, addresses, body);
        access->first = false;
        left &= ~local;
        if (m->stopped) return;
    }
    if (m->launch->guarded_line) left = leave_out(m, f, access, addresses, left);
    uint64_t offsets[WARP_SIZE] = {0};
    access->offsets = offsets;
    while (left) {
        uint32_t group = 0;
        Memory *memory = NULL;
        access->mask = left; // a lane that is refused is one of these
        FOR_LANES(lane, left) {
            uint64_t offset = 0;
            Memory *mine = find_object(m, access->warp, access->in, addresses[lane], access->bytes, &offset);
            const bool is_aligned = addresses[lane] % access->bytes == 0;
            // The end of memory is only missed because of the alignment, which a GPU looks at first.
            if (!mine && !is_aligned)
                mine = find_object(m, access->warp, access->in, addresses[lane], 1, &offset);
            if (!mine) mine = beside(m, access, addresses, lane, &offset);
            if (!mine || !is_aligned) {
                refuse(m, &(Fault){mine ? FAULT_MISALIGNED : FAULT_OUTSIDE, lane, access, addresses, mine,
                                   mine ? offset : 0, false});
                access->offsets = NULL;
                return;
            }
            if (memory && mine != memory) continue;
            memory = mine;
            offsets[lane] = offset;
            group |= 1u << lane;
        }
        access->memory = memory;
        access->mask = group;
        body(m, f, access);
        if (m->stopped) break;
        access->first = false;
        left &= ~group;
    }
    access->offsets = NULL; // they go with this function
}

void resolve_access(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask, AccessKind kind,
                    uint32_t bytes, AccessBody *body) {
    uint64_t addresses[WARP_SIZE];
    const unsigned char *registers = f->frame->registers;
    Access access = {.warp = w,
                     .in = in,
                     .kind = kind,
                     .mask = mask,
                     .bytes = bytes,
                     .first = true,
                     .is_volatile = in->flags & IS_VOLATILE,
                     .offsets = addresses};
    if (in->space == PTX_SPACE_LOCAL) {
        lane_addresses(registers, in, addresses);
        resolve_local(m, f, &access, addresses, body);
        return;
    }
    const bool is_one_lane = !(mask & (mask - 1));
    Span span;
    if (is_one_lane) {
        const uint64_t address = lane_address(registers, in, (unsigned)__builtin_ctz(mask));
        span = (Span){address, address, address, false, true};
    } else if (mask != FULL_MASK || !simple_span(registers, in, bytes, &span)) {
        span = span_of(registers, in, mask);
    }
    uint64_t offset;
    Memory *memory = !(span.all & (bytes - 1)) && span.high - span.low < 1ull << 39
                         ? find_object(m, w, in, span.low, span.high - span.low + bytes, &offset)
                         : NULL;
    if (!memory) {
        lane_addresses(registers, in, addresses);
        resolve_scattered(m, f, &access, addresses, body);
        return;
    }
    access.contiguous = span.is_contiguous;
    access.is_one_place = span.is_one_place;
    if (is_one_lane)
        addresses[__builtin_ctz(mask)] = offset;
    else
        addresses_less(registers, in, span.low - offset, addresses);
    access.memory = memory;
    body(m, f, &access);
}

const Access *fold_access(const Access *access, Access *folded, uint64_t offsets[WARP_SIZE]) {
    *folded = *access;
    folded->offsets = offsets;
    const uint64_t first =
        access->offsets[0] % access->memory->period; // of a contiguous access all else follows
    for (unsigned lane = 0; lane < WARP_SIZE; lane++)
        offsets[lane] = access->contiguous ? first + (uint64_t)lane * access->bytes
                                           : access->offsets[lane] % access->memory->period;
    return folded;
}

bool resolve_lane(Machine *m, Warp *w, const Instruction *in, AccessKind kind, unsigned lane,
                  const uint64_t addresses[WARP_SIZE], uint32_t bytes, uint32_t align, Memory **memory,
                  uint64_t *offset) {
    *memory = find_object(m, w, in, addresses[lane], bytes, offset);
    const Access access = {
        .warp = w, .in = in, .kind = kind, .mask = 1u << lane, .bytes = *memory ? align : bytes};
    if (!*memory)
        refuse(m, &(Fault){FAULT_OUTSIDE, lane, &access, addresses, NULL, 0, false});
    else if (addresses[lane] % align)
        refuse(m, &(Fault){FAULT_MISALIGNED, lane, &access, addresses, *memory, *offset, false});
    return !m->stopped;
}

// ---- For vprintf ------------------------------------------------------------------------------------------

const unsigned char *generic_bytes(const Machine *m, const Warp *w, int lane, uint64_t address, size_t bytes,
                                   const Memory **memory, uint64_t *offset) {
    const uint64_t window = address >> ADDRESS_SHIFT;
    if (window == LOCAL_WINDOW >> ADDRESS_SHIFT) {
        *offset = address - LOCAL_WINDOW;
        if (*offset >= w->local_capacity || w->local_capacity - *offset < bytes) return NULL;
        *offset += (uint64_t)lane * w->local_capacity;
        *memory = &w->local;
    } else if (window == SHARED_WINDOW >> ADDRESS_SHIFT) {
        *offset = address - SHARED_WINDOW;
        if (!shared_is_owned(m, *offset, bytes)) return NULL;
        *memory = &w->block->shared;
    } else {
        *memory = memory_at(m->emulator, address);
        if (!*memory) return NULL;
        *offset = address - (*memory)->base;
        if ((*memory)->bytes - *offset < bytes) return NULL;
    }
    return (*memory)->data + ((*memory)->period ? *offset % (*memory)->period : *offset);
}
