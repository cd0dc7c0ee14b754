// From addresses to memory objects. Internal to common/emulator.
#pragma once

#include "emulator/machine/machine.h"

// The object that `address` lies in; NULL: none.
Memory *memory_at(Emulator *emulator, uint64_t address);
// The object in whose range of addresses it lies, if perhaps not in the object; NULL: none.
Memory *memory_near(const Emulator *emulator, uint64_t address);
// Resolves the addresses of `mask`'s lanes: calls `body` once per memory object touched, after bounds,
// space and alignment were checked; stops the machine on a fault, of which observers are told.
typedef void AccessBody(Machine *machine, Fragment *fragment, const Access *access);
void resolve_access(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask,
                    AccessKind kind, uint32_t bytes, AccessBody *body);
// The object that holds all of [address, address + bytes) and the offset in it; NULL when there is none
// in the space that the instruction names.
Memory *find_object(Machine *machine, Warp *warp, const Instruction *in, uint64_t address, uint64_t bytes,
                    uint64_t *offset);
// The same for one lane, and stops the machine if there is none, or if the address is not a multiple of
// `align`: false.
bool resolve_lane(Machine *machine, Warp *warp, const Instruction *in, AccessKind kind, unsigned lane,
                  const uint64_t addresses[WARP_SIZE], uint32_t bytes, uint32_t align, Memory **memory,
                  uint64_t *offset);
// Stops the machine at an access that would change memory that is read-only.
void refuse_read_only(Machine *machine, const Access *access);

// The addresses of the lanes, as the instruction's address register and offset give them.
void lane_addresses(const unsigned char *registers, const Instruction *in, uint64_t addresses[WARP_SIZE]);

// Around what an access does to memory, observers told included.
static inline void access_begins(const Machine *machine, const Access *access) {
    const Observer *o = machine->of_values;
    if (o) o->before(o->self, access);
}
static inline void access_ends(const Machine *machine, const Access *access) {
    const Observer *o = machine->of_values;
    if (o) o->after(o->self, access);
}

// Tells observers of an access that is about to be done.
static inline void observe_access(const Machine *machine, const Access *access) {
    for (int i = 0; i < machine->access_observers; i++)
        if (machine->observers[i].access) machine->observers[i].access(machine->observers[i].self, access);
}

// The same of one lane of an mbarrier operation or a bulk copy.
static inline void observe_async(const Machine *machine, Warp *warp, const Instruction *in, AccessKind kind,
                                 unsigned lane, Memory *memory, uint64_t offset, uint32_t bytes,
                                 bool is_volatile) {
    uint64_t offsets[WARP_SIZE];
    offsets[lane] = offset;
    const Access access = {.warp = warp,
                           .in = in,
                           .kind = kind,
                           .memory = memory,
                           .mask = 1u << lane,
                           .bytes = bytes,
                           .first = true,
                           .is_volatile = is_volatile,
                           .offsets = offsets};
    TELL_OBSERVERS(machine, async_access, &access);
}

// The same access to one period of memory that repeats.
const Access *fold_access(const Access *access, Access *folded, uint64_t offsets[WARP_SIZE]);

// One lane's bytes behind a generic address, for vprintf, and where they lie. NULL when any is out of bounds.
const unsigned char *generic_bytes(const Machine *machine, const Warp *warp, int lane, uint64_t address,
                                   size_t bytes, const Memory **memory, uint64_t *offset);
