// Addresses to bytes: finds the memory object behind every lane's address, checks bounds, space and
// alignment, and moves values between memory and registers.
//
// Most accesses of a well-written kernel are contiguous: 32 lanes, one object, one after the other. That
// case is recognised first and needs no work per lane.
#include "emulator/machine/handlers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- What is initialised ----------------------------------------------------------------------------------

// One bit per byte: visits the 64-bit words that a range touches.
#define FOR_BIT_WORDS(word, bits, offset, bytes)                                                             \
    for (uint64_t at_ = (offset), end_ = (offset) + (bytes), word, bits, step_; at_ < end_; at_ += step_)    \
        if (word = at_ / 64, step_ = 64 - at_ % 64, step_ = step_ < end_ - at_ ? step_ : end_ - at_,         \
            bits = (step_ == 64 ? ~0ull : ((1ull << step_) - 1)) << (at_ % 64), 1)

void mark_initialised(Memory *memory, uint64_t offset, uint64_t bytes) {
    if (memory->all_initialised || !memory->initialised) return;
    FOR_BIT_WORDS(word, bits, offset, bytes) memory->initialised[word] |= bits;
}

bool is_initialised(const Memory *memory, uint64_t offset, uint64_t bytes) {
    if (memory->all_initialised || !memory->initialised) return true;
    FOR_BIT_WORDS(word, bits, offset, bytes) if ((memory->initialised[word] & bits) != bits) return false;
    return true;
}

// ---- Local memory -----------------------------------------------------------------------------------------

bool grow_local(Machine *m, Warp *w, uint32_t bytes, const Instruction *in) {
    uint32_t capacity = w->local_capacity ? w->local_capacity : 64;
    while (capacity < bytes) capacity *= 2;
    if (capacity == w->local_capacity) return true;
    size_t total = (size_t)capacity * WARP_SIZE;
    unsigned char *data = malloc(total);
    uint64_t *initialised = calloc(total / 64, sizeof *initialised);
    if (!data || !initialised) {
        free(data);
        free(initialised);
        report(m, FINDING_STACK_OVERFLOW, w, -1, in, NULL, true,
               "%u bytes of local memory per thread do not fit in this machine's memory", bytes);
        return false;
    }
    memset(data, 0xee, total); // recognisable garbage
    for (size_t lane = 0; lane < WARP_SIZE && w->local_capacity; lane++) {
        memcpy(data + lane * capacity, w->local.data + lane * w->local_capacity, w->local_capacity);
        memcpy(initialised + lane * capacity / 64, w->local.initialised + lane * w->local_capacity / 64,
               w->local_capacity / 8);
    }
    free(w->local.allocation);
    free(w->local.initialised);
    w->local = (Memory){.name = "local memory",
                        .space = PTX_SPACE_LOCAL,
                        .base = LOCAL_WINDOW,
                        .bytes = total,
                        .data = data,
                        .allocation = data,
                        .initialised = initialised,
                        .in_use = true};
    w->local_capacity = capacity;
    return true;
}

// ---- Faults -----------------------------------------------------------------------------------------------

static const char *access_words(AccessKind kind) {
    static const char *const words[] = {"reads", "writes", "updates atomically", "updates atomically"};
    return words[kind];
}

static void fill_access(Finding *finding, AccessKind kind, uint64_t address, uint32_t bytes,
                        const Memory *memory, int64_t index) {
    if (!finding) return;
    finding->address = address;
    finding->bytes = bytes;
    finding->is_store = kind != ACCESS_LOAD;
    finding->is_atomic = kind == ACCESS_ATOMIC || kind == ACCESS_REDUCTION;
    if (memory) {
        snprintf(finding->object, sizeof finding->object, "%s", memory->name);
        finding->index = index;
        finding->object_bytes = memory->bytes;
    }
}

// The object that an address outside all objects was most likely meant for: the one in whose address
// range it lies.
static const Memory *nearest(const Machine *m, uint64_t address) {
    uint64_t object = address >> ADDRESS_SHIFT;
    if (object < FIRST_OBJECT || object >= m->emulator->object_count) return NULL;
    const Memory *memory = &m->emulator->objects[object];
    return memory->in_use ? memory : NULL;
}

static void fault_shared(Machine *m, Warp *w, int lane, const Instruction *in, AccessKind kind,
                         uint32_t bytes, uint64_t offset) {
    // Name the variable that ends last before the address, and say how far past its end it is.
    const SharedVariable *best = NULL;
    for (int i = 0; i < m->shared_variable_count; i++) {
        const SharedVariable *v = &m->shared_variables[i];
        if (v->offset <= offset && (!best || v->offset > best->offset)) best = v;
    }
    Finding *finding;
    if (!best) {
        finding = report(m, FINDING_OUT_OF_BOUNDS, w, lane, in, NULL, true,
                         m->shared_variable_count
                             ? "%s %u bytes of shared memory at 0x%" PRIx64 ", outside every variable"
                             : "%s %u bytes of shared memory at 0x%" PRIx64 ", but the block has none",
                         access_words(kind), bytes, offset);
        fill_access(finding, kind, SHARED_WINDOW + offset, bytes, NULL, 0);
        return;
    }
    int64_t index = (int64_t)(offset - best->offset);
    finding = report(m, FINDING_OUT_OF_BOUNDS, w, lane, in, NULL, true,
                     "%s %u bytes at byte %" PRId64 " of shared %s, which has %u", access_words(kind), bytes,
                     index, best->name, best->bytes);
    fill_access(finding, kind, SHARED_WINDOW + offset, bytes, NULL, 0);
    if (finding) {
        snprintf(finding->object, sizeof finding->object, "shared %s", best->name);
        finding->index = index;
        finding->object_bytes = best->bytes;
    }
}

static void fault(Machine *m, Warp *w, int lane, const Instruction *in, AccessKind kind, uint32_t bytes,
                  uint64_t address) {
    uint64_t window = address >> ADDRESS_SHIFT;
    Finding *finding;
    if (in->space == PTX_SPACE_SHARED ||
        (in->space == PTX_SPACE_NONE && window == SHARED_WINDOW >> ADDRESS_SHIFT)) {
        fault_shared(m, w, lane, in, kind, bytes,
                     in->space == PTX_SPACE_SHARED ? address : address - SHARED_WINDOW);
        return;
    }
    if (in->space == PTX_SPACE_LOCAL ||
        (in->space == PTX_SPACE_NONE && window == LOCAL_WINDOW >> ADDRESS_SHIFT)) {
        uint64_t offset = in->space == PTX_SPACE_LOCAL ? address : address - LOCAL_WINDOW;
        finding = report(m, FINDING_OUT_OF_BOUNDS, w, lane, in, NULL, true,
                         "%s %u bytes of local memory at byte %" PRId64 ", outside the thread's arrays",
                         access_words(kind), bytes, (int64_t)offset);
        fill_access(finding, kind, address, bytes, NULL, 0);
        return;
    }
    const Memory *memory = nearest(m, address);
    if (memory && memory->space == PTX_SPACE_GLOBAL) {
        int64_t index = (int64_t)(address - memory->base);
        int64_t past = index - (int64_t)memory->bytes;
        char where[96];
        if (index < 0)
            snprintf(where, sizeof where, "%" PRId64 " bytes before the first", -index);
        else if (past >= 0)
            snprintf(where, sizeof where, "they end %" PRId64 " bytes past the last", past + (int64_t)bytes);
        else
            snprintf(where, sizeof where, "across the end");
        finding = report(m, FINDING_OUT_OF_BOUNDS, w, lane, in, NULL, true,
                         "%s %u bytes at byte %" PRId64 " of %s, which has %zu: %s", access_words(kind),
                         bytes, index, memory->name, memory->bytes, where);
        fill_access(finding, kind, address, bytes, memory, index);
        return;
    }
    if (address < 4096)
        finding = report(m, FINDING_OUT_OF_BOUNDS, w, lane, in, NULL, true,
                         "%s %u bytes through a null pointer (address 0x%" PRIx64 ")", access_words(kind),
                         bytes, address);
    else if (window >= 1 && window <= 4)
        finding =
            report(m, FINDING_WRONG_SPACE, w, lane, in, NULL, true,
                   "%s %u bytes at 0x%" PRIx64 ", which is %s memory, with an instruction for global memory",
                   access_words(kind), bytes, address,
                   window == 1   ? "shared"
                   : window == 2 ? "local"
                   : window == 3 ? "parameter"
                                 : "code, not");
    else
        finding =
            report(m, FINDING_OUT_OF_BOUNDS, w, lane, in, NULL, true,
                   "%s %u bytes at 0x%" PRIx64 ", outside every buffer", access_words(kind), bytes, address);
    fill_access(finding, kind, address, bytes, NULL, 0);
}

static void fault_misaligned(Machine *m, Warp *w, int lane, const Instruction *in, AccessKind kind,
                             uint32_t bytes, uint64_t address, const Memory *memory, uint64_t offset) {
    Finding *finding = report(m, FINDING_MISALIGNED, w, lane, in, NULL, true,
                              "%s %u bytes at 0x%" PRIx64 ", which is not a multiple of %u",
                              access_words(kind), bytes, address, bytes);
    fill_access(finding, kind, address, bytes, memory, (int64_t)offset);
}

// ---- Resolving --------------------------------------------------------------------------------------------

Memory *memory_at(Emulator *emulator, uint64_t address) {
    uint64_t object = address >> ADDRESS_SHIFT;
    if (object < FIRST_OBJECT || object >= emulator->object_count) return NULL;
    Memory *memory = &emulator->objects[object];
    return memory->in_use && address - memory->base < memory->bytes ? memory : NULL;
}

// True when [offset, offset + bytes) lies in one shared variable of the block.
static bool shared_is_owned(const Machine *m, uint64_t offset, uint64_t bytes) {
    for (int i = 0; i < m->shared_variable_count; i++) {
        const SharedVariable *v = &m->shared_variables[i];
        if (offset - v->offset < v->bytes && v->bytes - (offset - v->offset) >= bytes) return true;
    }
    return false;
}

// The object that holds all of [address, address + bytes) and the offset in it; NULL when there is none
// in the space that the instruction names.
static Memory *find_object(Machine *m, Warp *w, const Instruction *in, uint64_t address, uint64_t bytes,
                           uint64_t *offset) {
    uint64_t window = address >> ADDRESS_SHIFT;
    if (in->space == PTX_SPACE_SHARED ||
        (in->space == PTX_SPACE_NONE && window == SHARED_WINDOW >> ADDRESS_SHIFT)) {
        *offset = in->space == PTX_SPACE_SHARED ? address : address - SHARED_WINDOW;
        return shared_is_owned(m, *offset, bytes) ? &w->block->shared : NULL;
    }
    if (in->space == PTX_SPACE_PARAM) {
        *offset = address - PARAM_WINDOW;
        return *offset < m->param.bytes && m->param.bytes - *offset >= bytes ? &m->param : NULL;
    }
    if (in->space == PTX_SPACE_NONE && window == PARAM_WINDOW >> ADDRESS_SHIFT) {
        *offset = address - PARAM_WINDOW;
        return *offset < m->param.bytes && m->param.bytes - *offset >= bytes ? &m->param : NULL;
    }
    if (window < FIRST_OBJECT || window >= m->emulator->object_count) return NULL;
    Memory *memory = &m->emulator->objects[window];
    *offset = address - memory->base;
    if (!memory->in_use || *offset >= memory->bytes || memory->bytes - *offset < bytes) return NULL;
    if (in->space == PTX_SPACE_CONST && memory->space != PTX_SPACE_CONST) return NULL;
    return memory;
}

static void lane_addresses(const unsigned char *registers, const Instruction *in,
                           uint64_t addresses[WARP_SIZE]) {
    if (in->flags & ADDRESS_32) {
        const uint32_t *base = source(registers, in, 0);
        uint32_t offset = (uint32_t)in->offset;
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) addresses[lane] = base[lane] + offset;
    } else {
        const uint64_t *base = source(registers, in, 0);
        uint64_t offset = (uint64_t)in->offset;
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) addresses[lane] = base[lane] + offset;
    }
}

static bool is_contiguous(const uint64_t addresses[WARP_SIZE], uint64_t bytes) {
    uint64_t off = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) off |= addresses[lane] - addresses[0] - lane * bytes;
    return off == 0;
}

static void resolve_local(Machine *m, Fragment *f, Access *access, uint64_t addresses[WARP_SIZE],
                          AccessBody *body) {
    Warp *w = access->warp;
    uint64_t base = access->in->space == PTX_SPACE_LOCAL ? 0 : LOCAL_WINDOW;
    uint32_t top = f->frame->local_base + f->frame->function->local_bytes;
    FOR_LANES(lane, access->mask) {
        uint64_t offset = addresses[lane] - base;
        if (offset >= top || top - offset < access->bytes) {
            fault(m, w, (int)lane, access->in, access->kind, access->bytes, addresses[lane]);
            return;
        }
        if (offset % access->bytes) {
            fault_misaligned(m, w, (int)lane, access->in, access->kind, access->bytes, addresses[lane],
                             &w->local, offset);
            return;
        }
        addresses[lane] = offset + (uint64_t)lane * w->local_capacity;
    }
    access->memory = &w->local;
    body(m, f, access);
}

static void observe_fault(Machine *m, const Access *access, const uint64_t *addresses, unsigned lane) {
    for (int i = 0; i < m->observer_count; i++)
        if (m->observers[i].fault) m->observers[i].fault(m->observers[i].self, access, addresses, lane);
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
    uint64_t offsets[WARP_SIZE] = {0};
    access->offsets = offsets;
    while (left) {
        uint32_t group = 0;
        Memory *memory = NULL;
        FOR_LANES(lane, left) {
            uint64_t offset = 0;
            Memory *mine = find_object(m, access->warp, access->in, addresses[lane], access->bytes, &offset);
            if (!mine) {
                observe_fault(m, access, addresses, lane);
                fault(m, access->warp, (int)lane, access->in, access->kind, access->bytes, addresses[lane]);
                access->offsets = NULL;
                return;
            }
            if (addresses[lane] % access->bytes) {
                observe_fault(m, access, addresses, lane);
                fault_misaligned(m, access->warp, (int)lane, access->in, access->kind, access->bytes,
                                 addresses[lane], mine, offset);
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
    lane_addresses(f->frame->registers, in, addresses);
    Access access = {.warp = w,
                     .in = in,
                     .kind = kind,
                     .mask = mask,
                     .bytes = bytes,
                     .first = true,
                     .is_volatile = in->flags & IS_VOLATILE,
                     .offsets = addresses};
    if (in->space == PTX_SPACE_LOCAL) {
        resolve_local(m, f, &access, addresses, body);
        return;
    }
    uint64_t low, high, all;
    if (mask == FULL_MASK && is_contiguous(addresses, bytes)) {
        access.contiguous = true;
        low = all = addresses[0];
        high = addresses[WARP_SIZE - 1];
    } else {
        uint32_t first = (uint32_t)__builtin_ctz(mask);
        low = high = all = addresses[first];
        FOR_LANES(lane, mask) {
            uint64_t a = addresses[lane];
            low = a < low ? a : low;
            high = a > high ? a : high;
            all |= a;
        }
    }
    uint64_t offset;
    Memory *memory = all % bytes == 0 && high - low < 1ull << 39
                         ? find_object(m, w, in, low, high - low + bytes, &offset)
                         : NULL;
    if (!memory) {
        access.contiguous = false;
        resolve_scattered(m, f, &access, addresses, body);
        return;
    }
    uint64_t back = low - offset; // address to offset
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) addresses[lane] -= back;
    access.memory = memory;
    body(m, f, &access);
}

static void observe(Machine *m, const Access *access) {
    for (int i = 0; i < m->observer_count; i++)
        if (m->observers[i].access) m->observers[i].access(m->observers[i].self, access);
}

// ---- Loads ------------------------------------------------------------------------------------------------

// One element of a vector, from memory of stride `bytes` when contiguous, else lane by lane.
#define LOAD_LANES(type)                                                                                     \
    do {                                                                                                     \
        type *to = (type *)to_bytes;                                                                         \
        if (access->contiguous) {                                                                            \
            const unsigned char *from = data + access->offsets[0];                                           \
            for (unsigned lane = 0; lane < WARP_SIZE; lane++)                                                \
                memcpy(&to[lane], from + lane * access->bytes, sizeof(type));                                \
        } else if (access->mask == FULL_MASK) {                                                              \
            for (unsigned lane = 0; lane < WARP_SIZE; lane++)                                                \
                memcpy(&to[lane], data + access->offsets[lane], sizeof(type));                               \
        } else                                                                                               \
            FOR_LANES(lane, access->mask) memcpy(&to[lane], data + access->offsets[lane], sizeof(type));     \
    } while (0)

static void load_extended(const Access *access, const unsigned char *data, unsigned char *to_bytes) {
    const Instruction *in = access->in;
    bool is_signed = in->type == PTX_S8 || in->type == PTX_S16 || in->type == PTX_S32;
    FOR_LANES(lane, access->mask) {
        uint64_t value = 0;
        memcpy(&value, data + access->offsets[lane], in->width);
        if (is_signed && value >> (in->width * 8 - 1)) value |= ~0ull << (in->width * 8 - 1);
        memcpy(to_bytes + lane * in->literal[1], &value, in->literal[1]);
    }
}

static void load_body(Machine *m, Fragment *f, const Access *access) {
    const Instruction *in = access->in;
    observe(m, access);
    for (unsigned e = 0; e < in->elements; e++) {
        if (in->dst[e] < 0) continue;
        const unsigned char *data = access->memory->data + e * in->width;
        unsigned char *to_bytes = f->frame->registers + in->dst[e];
        if (in->literal[1] != in->width)
            load_extended(access, data, to_bytes);
        else if (access->contiguous && in->elements == 1)
            memcpy(to_bytes, data + access->offsets[0], (size_t)in->width * WARP_SIZE);
        else if (in->width == 4)
            LOAD_LANES(uint32_t);
        else if (in->width == 8)
            LOAD_LANES(uint64_t);
        else
            LOAD_LANES(uint16_t);
    }
}

// Loads a kernel parameter at a fixed offset, which is the same for all lanes; false when it is anything
// else.
static bool load_parameter(const Machine *m, Fragment *f, const Instruction *in, uint32_t mask) {
    if (in->space != PTX_SPACE_PARAM || !in->src[0].constant || mask != FULL_MASK) return false;
    uint64_t address = *(const uint64_t *)in->src[0].constant + (uint64_t)in->offset - PARAM_WINDOW;
    if (address >= m->param.bytes || m->param.bytes - address < (uint64_t)in->width * in->elements ||
        address % in->width || in->literal[1] != in->width)
        return false;
    for (unsigned e = 0; e < in->elements; e++) {
        if (in->dst[e] < 0) continue;
        unsigned char *to = f->frame->registers + in->dst[e];
        const unsigned char *from = m->param.data + address + e * in->width;
        if (in->width == 8) {
            uint64_t value;
            memcpy(&value, from, 8);
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) ((uint64_t *)(void *)to)[lane] = value;
        } else if (in->width == 4) {
            uint32_t value;
            memcpy(&value, from, 4);
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) ((uint32_t *)(void *)to)[lane] = value;
        } else
            for (unsigned lane = 0; lane < WARP_SIZE; lane++) memcpy(to + lane * in->width, from, in->width);
    }
    return true;
}

Step run_load(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    if (!load_parameter(m, f, in, mask))
        resolve_access(m, w, f, in, mask, ACCESS_LOAD, (uint32_t)in->width * in->elements, load_body);
    return after_access(m, w, in);
}

// ---- Stores -----------------------------------------------------------------------------------------------

#define STORE_LANES(type)                                                                                    \
    do {                                                                                                     \
        const type *from = (const type *)from_bytes;                                                         \
        if (access->contiguous) {                                                                            \
            unsigned char *to = data + access->offsets[0];                                                   \
            for (unsigned lane = 0; lane < WARP_SIZE; lane++)                                                \
                memcpy(to + lane * access->bytes, &from[lane], sizeof(type));                                \
        } else                                                                                               \
            FOR_LANES(lane, access->mask) memcpy(data + access->offsets[lane], &from[lane], sizeof(type));   \
    } while (0)

static void store_body(Machine *m, Fragment *f, const Access *const_access) {
    Access access_copy = *const_access, *access = &access_copy;
    const Instruction *in = access->in;
    Memory *memory = access->memory;
    if (memory->read_only || memory->space == PTX_SPACE_CONST || memory->space == PTX_SPACE_PARAM) {
        uint32_t lane = (uint32_t)__builtin_ctz(access->mask);
        Finding *finding = report(m, FINDING_READ_ONLY, access->warp, (int)lane, in, NULL, true,
                                  "writes to %s, which is read-only", memory->name);
        fill_access(finding, ACCESS_STORE, memory->base + access->offsets[lane], access->bytes, memory,
                    (int64_t)access->offsets[lane]);
        return;
    }
    access->values = source(f->frame->registers, in, 1);
    observe(m, access);
    for (unsigned e = 0; e < in->elements; e++) {
        unsigned char *data = memory->data + e * in->width;
        const unsigned char *from_bytes = source(f->frame->registers, in, 1 + (int)e);
        if (in->literal[1] != in->width) FOR_LANES(lane, access->mask)
        memcpy(data + access->offsets[lane], from_bytes + lane * in->literal[1], in->width);
        else if (access->contiguous && in->elements == 1)
            memcpy(data + access->offsets[0], from_bytes, (size_t)in->width * WARP_SIZE);
        else if (in->width == 4) STORE_LANES(uint32_t);
        else if (in->width == 8) STORE_LANES(uint64_t);
        else STORE_LANES(uint16_t);
    }
    if (memory->all_initialised) return;
    if (access->contiguous)
        mark_initialised(memory, access->offsets[0], (uint64_t)access->bytes * WARP_SIZE);
    else
        FOR_LANES(lane, access->mask) mark_initialised(memory, access->offsets[lane], access->bytes);
}

void execute_store(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    resolve_access(m, w, f, in, mask, ACCESS_STORE, (uint32_t)in->width * in->elements, store_body);
}

Step run_store(Machine *m, Warp *w, Fragment *f, const Instruction *in, uint32_t mask) {
    execute_store(m, w, f, in, mask);
    return after_access(m, w, in);
}

// ---- For vprintf ------------------------------------------------------------------------------------------

bool read_generic(Machine *m, const Warp *w, int lane, uint64_t address, void *to, size_t bytes) {
    uint64_t window = address >> ADDRESS_SHIFT;
    const Memory *memory;
    uint64_t offset;
    if (window == LOCAL_WINDOW >> ADDRESS_SHIFT) {
        offset = address - LOCAL_WINDOW;
        if (offset >= w->local_capacity || w->local_capacity - offset < bytes) return false;
        memcpy(to, w->local.data + (size_t)lane * w->local_capacity + offset, bytes);
        return true;
    }
    if (window == SHARED_WINDOW >> ADDRESS_SHIFT) {
        offset = address - SHARED_WINDOW;
        if (!shared_is_owned(m, offset, bytes)) return false;
        memcpy(to, w->block->shared.data + offset, bytes);
        return true;
    }
    memory = memory_at(m->emulator, address);
    if (!memory) return false;
    offset = address - memory->base;
    if (memory->bytes - offset < bytes) return false;
    memcpy(to, memory->data + offset, bytes);
    return true;
}
