// What the machine tells those who watch it: memcheck, racecheck, counters, the access trace, the time model.
//
// The machine itself checks nothing. It reports events through these hooks, and stops if it cannot continue;
// observers find and report a kernel's errors.
#pragma once

#include "emulator/program/program.h"

typedef struct Machine Machine;
typedef struct Block Block;
typedef struct Warp Warp;
typedef struct Memory Memory;

typedef enum { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_REDUCTION } AccessKind;

// One warp instruction's access to one memory object. An instruction that touches several objects makes
// several of these; `first` is true on the first.
//
// Observers that remember an instruction keep its `number`: `in` may be gone when the call returns.
typedef struct {
    Warp *warp;
    const Instruction *in;
    AccessKind kind;
    Memory *memory;
    uint32_t mask;     // lanes of this access
    uint32_t bytes;    // per lane, all elements of a vector together
    bool contiguous;   // full mask and offset[l] == offset[0] + l * bytes
    bool is_one_place; // all lanes of `mask` have one offset; may be false where that is not known
    bool first;
    bool is_volatile;        // .volatile, .relaxed and stronger, atomics
    const uint64_t *offsets; // [32] byte offsets in `memory`; entries of inactive lanes are meaningless
    const void *values;      // of a store: [32] lanes of the first element, in register layout; else NULL
} Access;

typedef enum {
    FAULT_OUTSIDE,       // no object of the space that the instruction names holds all of the bytes
    FAULT_OUTSIDE_LOCAL, // nor do the thread's own arrays
    FAULT_MISALIGNED,
    FAULT_READ_ONLY, // a store or an atomic
} FaultKind;

// An access that the machine refuses, because of its lane `lane`.
typedef struct {
    FaultKind kind;
    unsigned lane;
    const Access *access;      // of FAULT_READ_ONLY all of it, else all but `memory` and `offsets`
    const uint64_t *addresses; // [32]; NULL of FAULT_READ_ONLY
    const Memory *memory;      // where the lane's bytes lie, and
    uint64_t offset;           // the first of them; NULL and 0 where they lie outside
    bool is_done;              // anyway: EmulatorLaunch.whole_pages
} Fault;

// Where an undefined value comes from.
typedef enum {
    UNDEFINED_REGISTER, // never written
    UNDEFINED_MEMORY,   // never written
    UNDEFINED_LANE,     // a shuffle that reads a lane which takes no part
    UNDEFINED_PENDING,  // a sum of wgmma, before the wait for it
} UndefinedSource;

// What came of it. Anything else, such as computing with it, makes no difference yet.
typedef enum {
    USE_ADDRESS,
    USE_BRANCH, // or whether an instruction is executed, how a barrier or a shuffle is
    USE_STORE,  // to global memory
    USE_ATOMIC, // its operand
    USE_PRINT,  // by printf
    UNDEFINED_USES
} UndefinedUse;

// A warp instruction that read undefined values.
typedef struct {
    UndefinedSource source;
    int32_t number; // of the instruction
    uint32_t block[3];
    int warp;               // in the block
    uint32_t ended;         // threads of the block that had ended before its last barrier
    uint32_t lanes;         // that read
    const Memory *memory;   // of UNDEFINED_MEMORY: what is read; good while the block runs
    uint32_t bytes;         // of the access
    bool is_unsure;         // an undefined value may have been stored there
    uint64_t at[WARP_SIZE]; // of UNDEFINED_MEMORY the offset, of UNDEFINED_LANE the lane read
    int32_t copy;           // of UNDEFINED_MEMORY: of the asynchronous copy that has not delivered it, or -1
    uint32_t members;       // of UNDEFINED_LANE: those of the shuffle
    uint32_t exited;        // of UNDEFINED_LANE: of the warp, then
} UndefinedOrigin;

// What is wrong with an operation on an mbarrier, which is undefined; the machine stops.
typedef enum {
    MBARRIER_ABSENT,    // none is initialised there
    MBARRIER_BAD_COUNT, // not 1 to 2^20 - 1
    MBARRIER_BAD_BYTES, // more than 2^20 - 1
    MBARRIER_TOO_MANY,  // arrivals, more than the phase waits for
    MBARRIER_ENDED,     // an arrival with .noComplete ends the phase
} MbarrierFault;

// What is wrong with a bulk copy.
typedef enum {
    COPY_SIZE,    // not a multiple of 16; the machine stops
    COPY_LEFT,    // the block ends while the copy brings bytes into shared memory
    COPY_NOWHERE, // to the block of that rank, which the cluster lacks, or which has ended; the machine stops
    COPY_UNREAD,  // the block ends before the copy has read its shared memory
    // Of tensor copies; the machine stops:
    COPY_MAP,    // what its operand names is not a tensor map
    COPY_RANK,   // of another number of dimensions
    COPY_PLACE,  // its first coordinate, in bytes, is not a multiple of 16
    COPY_BEFORE, // a store, with a coordinate less than 0
    COPY_TYPE,   // a reduction that the type of the tensor does not have
    COPY_ALIGN,  // its shared memory is not at a multiple of 128
} CopyFault;

// What is wrong at a barrier of the cluster; the machine stops.
typedef enum { CLUSTER_DIVERGED, CLUSTER_ARRIVED_TWICE, CLUSTER_NOT_ARRIVED } ClusterFault;

// An mbarrier when it was misused, or is waited for for ever.
typedef struct {
    const char *name;        // of the variable
    const Instruction *init; // NULL: none is there
    uint64_t phases;         // that have ended
    uint32_t pending;        // arrivals that the current phase waits for,
    uint32_t expected;       // of so many
    int32_t bytes;           // and bytes that copies have not brought yet
    uint32_t parity;         // of the phase that is waited for
    uint32_t count;          // given by the instruction
    uint32_t threads;        // that wait for an mbarrier
} MbarrierFacts;

// What a warp printed with one call of printf: of each figure the most of a lane.
typedef struct {
    uint32_t format_bytes, strings, string_bytes; // without the zeros at the ends
    uint32_t arguments, wide_arguments;           // wide: of 8 bytes
} Printed;

typedef struct Observer {
    // Each may be NULL. `self` is the observer's own state.
    void *self;
    // Every instruction, before the lanes of `mask`, of `active`, execute it. One observer at most listens.
    void (*instruction)(void *self, Warp *warp, const Instruction *in, uint32_t mask, uint32_t active);
    void (*block_start)(void *self, Block *block);
    void (*block_end)(void *self, Block *block);
    void (*end)(void *self); // after the launch: frees `self`

    // ---- Memory
    void (*access)(void *self, const Access *access); // before it is done
    void (*fault)(void *self, const Fault *fault);    // instead; the machine stops
    // Of a load with Instruction.to_choice, done before: the lanes whose value the selection takes. One
    // observer at most has this.
    void (*chosen)(void *self, const Access *access);
    // A load with Instruction.to_branch, done before, counts for these lanes: they go the way that needs its
    // value.
    void (*sunk)(void *self, const Access *access);
    void (*fence)(void *self, Warp *warp, uint32_t mask, const Instruction *in);
    void (*proxy_fence)(void *self, Warp *warp, uint32_t mask); // between loads and stores, and bulk copies
    // What `lane` does at `in` depends on an undefined value. `origin`: NULL if it is not known any more.
    void (*undefined_use)(void *self, const Warp *warp, int lane, const Instruction *in, UndefinedUse use,
                          const UndefinedOrigin *origin);
    // Around a load, store or atomic, `access` included. What `before` puts into memory is what a load
    // returns; `after` puts back what it replaced. One observer at most has these.
    void (*before)(void *self, const Access *access);
    void (*after)(void *self, const Access *access);
    // A texture or surface instruction touched these sectors, some perhaps more than once, in so many
    // requests.
    void (*texture)(void *self, const Instruction *in, const uint64_t *sectors, int count, int requests);
    // The lanes of `mask` have printed.
    void (*printed)(void *self, const Instruction *in, uint32_t mask, const Printed *what);

    // What an mbarrier operation or a bulk copy does to memory, for its order. Loads and stores have no part
    // in it.
    void (*async_access)(void *self, const Access *access);

    void (*bad_copy)(void *self, const Warp *warp, int lane, const Instruction *in, CopyFault fault,
                     uint32_t bytes);

    // wgmma.mma_async by a warp that has not executed wgmma.fence.
    void (*unfenced_wgmma)(void *self, const Warp *warp, const Instruction *in);

    // ---- Mbarriers
    void (*bad_mbarrier)(void *self, const Warp *warp, int lane, const Instruction *in, MbarrierFault fault,
                         const MbarrierFacts *facts);
    // `lane` and all others wait, and nothing will end the phase that it waits for; the machine stops.
    void (*mbarrier_deadlock)(void *self, const Warp *warp, int lane, const Instruction *in,
                              const MbarrierFacts *facts);

    // ---- Barriers of the block
    // All threads in `block` that wait at barrier `id` are about to continue.
    void (*barrier)(void *self, Block *block, int id);
    // The lanes of `mask` arrive at barrier `id` and continue without waiting: bar.arrive.
    void (*arrive)(void *self, Warp *warp, uint32_t mask, int id);
    // `lane` names a barrier, or a number of threads for it, that cannot be; the machine stops.
    void (*bad_barrier)(void *self, const Warp *warp, int lane, const Instruction *in, uint32_t id,
                        uint32_t threads);
    // No thread of `block` can run: those that are left wait for each other; the machine stops.
    void (*deadlock)(void *self, const Block *block);

    // ---- The barrier of the cluster
    void (*cluster_arrive)(void *self, Warp *warp, uint32_t mask, const Instruction *in); // before it counts
    void (*cluster_wait)(void *self, Warp *warp, uint32_t mask, const Instruction *in);   // and continue
    void (*bad_cluster_barrier)(void *self, const Warp *warp, int lane, const Instruction *in,
                                ClusterFault fault);

    // ---- Shuffles, votes and other *.sync
    // The lanes of `mask` arrive at a *.sync together; those of `group` give one mask, masks[l] of lane l.
    // Not called if that mask has just these lanes and `group` is all of them.
    void (*members)(void *self, const Warp *warp, const Instruction *in, const uint32_t *masks,
                    uint32_t group, uint32_t mask);
    // The lanes of `mask` have waited at a *.sync for others of `members`, which now have exited.
    void (*deserted)(void *self, const Warp *warp, const Instruction *in, uint32_t mask, uint32_t members);
    // The lanes of `mask` pass bar.warp.sync (or another *.sync that orders memory) together.
    void (*warp_sync)(void *self, Warp *warp, uint32_t mask);
    // The lanes of `mask` shuffle, vote, match, reduce, elect or pass bar.warp.sync together. `from`: of a
    // shuffle, the lane that each reads (its own where that would be out of range); else NULL.
    void (*exchange)(void *self, Warp *warp, const Instruction *in, uint32_t mask, const uint32_t *from);
} Observer;

enum { MAX_OBSERVERS = 12 };

// How often an instruction was executed: kept by the machine where somebody counts, as a call for every
// instruction would cost more.
typedef struct {
    uint64_t warps;  // that came to it
    uint64_t lanes;  // of them, that executed it
    uint64_t done;   // of a branch, and of what lanes wait for each other in: times it was carried out
    uint64_t parted; // of a branch: times that lanes went different ways
    // Of the branch that closes a loop that ptxas unrolls (machine/rounds.h):
    uint64_t more_rounds;     // rounds that machine code issues beyond those that a lane needs
    uint64_t unrolled_parted; // times that its branches part lanes
} Tally;

// Calls `hook` of all observers of `machine` that have it, with the arguments that follow.
#define TELL_OBSERVERS(machine, hook, ...)                                                                   \
    do {                                                                                                     \
        for (int i_ = 0; i_ < (machine)->observer_count; i_++)                                               \
            if ((machine)->observers[i_].hook)                                                               \
                (machine)->observers[i_].hook((machine)->observers[i_].self, __VA_ARGS__);                   \
    } while (0)
