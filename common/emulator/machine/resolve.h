// From addresses to memory objects. Internal to common/emulator.
#pragma once

#include "emulator/machine/machine.h"

// The object that `address` lies in; NULL: none.
Memory *memory_at(Emulator *emulator, uint64_t address);
// Resolves the addresses of `mask`'s lanes: calls `body` once per memory object touched, after bounds,
// space and alignment were checked; stops the machine on a fault, of which observers are told.
typedef void AccessBody(Machine *machine, Fragment *fragment, const Access *access);
void resolve_access(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask,
                    AccessKind kind, uint32_t bytes, AccessBody *body);
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

// The same access to one period of memory that repeats.
const Access *fold_access(const Access *access, Access *folded, uint64_t offsets[WARP_SIZE]);

// One lane's bytes behind a generic address, for vprintf, and where they lie. NULL when any is out of bounds.
const unsigned char *generic_bytes(const Machine *machine, const Warp *warp, int lane, uint64_t address,
                                   size_t bytes, const Memory **memory, uint64_t *offset);
