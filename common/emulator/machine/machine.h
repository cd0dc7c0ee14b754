// The running machine: one launch in flight. Internal to common/emulator.
//
//   Emulator     the device: memory objects, the image                         (emulator.c, memory.c)
//   Machine      one launch: grid, limits, what was found and counted          (launch.c, schedule.c)
//   Block        shared memory, barriers, warps
//   Warp         32 lanes; a list of fragments {pc, mask} that join again at post-dominators
//   Frame        one call of a function: a register file of 32 lanes, lanes inside it
//   Join         where fragments of one frame wait for each other
#ifndef WARPBOOK_MACHINE_H
#define WARPBOOK_MACHINE_H

#include "emulator/arena.h"
#include "emulator/emulator.h"
#include "emulator/program/program.h"

typedef struct Machine Machine;
typedef struct Block Block;
typedef struct Warp Warp;
typedef struct Frame Frame;
typedef struct Join Join;
typedef struct AsyncCopies AsyncCopies;
typedef struct Timing Timing;           // warp_clocks.c
typedef struct WarpClock WarpClock;     // likewise
typedef struct AccessTrace AccessTrace; // access_trace.c

// ---- Memory -----------------------------------------------------------------------------------------------

// Objects of an emulator are numbered from here on: the windows of program.h come first.
#define FIRST_OBJECT 16u

typedef struct Memory {
    char name[128];
    PtxSpace space; // GLOBAL, CONST, SHARED, LOCAL or PARAM
    uint64_t base;  // device address of the first byte
    size_t bytes;
    unsigned char *data;
    void *allocation; // what to free (data lies inside it)
    bool read_only;
    bool in_use;
    bool all_initialised;        // then `initialised` need not be looked at
    uint64_t *initialised;       // one bit per byte, or NULL while all_initialised has always been true
    void *race;                  // racecheck's shadow of a launch, or NULL
    const PtxVariable *variable; // of a module-scope variable
} Memory;

struct EmulatorKernel {
    const PtxFunction *entry;
    int function;  // index in Program.functions
    int registers; // per thread; 0 until told
    EmulatorKernelInfo info;
};

struct Emulator {
    EmulatorDevice device;
    Memory *objects; // by the top bits of an address; those below FIRST_OBJECT stay unused
    uint64_t object_count, object_capacity;
    Program *program; // of the image, or NULL
    EmulatorKernel *kernels;
    int kernel_count;
    uint64_t workspace; // of grid barriers by cooperative groups
};

// A variable's place inside a block's shared memory. Emulated shared memory keeps gaps of a multiple of
// 128 bytes between variables: an index past one array hits nothing, and bank numbers stay as they are.
typedef struct {
    const char *name;
    uint32_t offset, bytes;
} SharedVariable;

// ---- Observers --------------------------------------------------------------------------------------------

typedef enum { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_REDUCTION } AccessKind;

// Observers that remember an instruction keep its `number`: `in` may be gone when the call returns.
//
// One warp instruction's access to one memory object. An instruction that touches several objects makes
// several of these; `first` is true on the first.
typedef struct {
    Warp *warp;
    const Instruction *in;
    AccessKind kind;
    Memory *memory;
    uint32_t mask;   // lanes of this access
    uint32_t bytes;  // per lane, all elements of a vector together
    bool contiguous; // full mask and offset[l] == offset[0] + l * bytes
    bool first;
    bool is_volatile;        // .volatile, .relaxed and stronger, atomics
    const uint64_t *offsets; // [32] byte offsets in `memory`; entries of inactive lanes are meaningless
    const void *values;      // of a store: [32] lanes of the first element, in register layout; else NULL
} Access;

typedef struct Observer {
    // Each may be NULL. `self` is the observer's own state.
    void (*access)(void *self, const Access *access);
    // An access of which `lane` is refused: `memory` and `offsets` hold nothing. [32] addresses.
    void (*fault)(void *self, const Access *access, const uint64_t *addresses, unsigned lane);
    void (*block_start)(void *self, Block *block);
    void (*block_end)(void *self, Block *block);
    // All threads in `block` that wait at barrier `id` are about to go on.
    void (*barrier)(void *self, Block *block, int id);
    // The lanes of `mask` arrive at barrier `id` and go on without waiting: bar.arrive.
    void (*arrive)(void *self, Warp *warp, uint32_t mask, int id);
    // The lanes of `mask` pass bar.warp.sync (or another *.sync that orders memory) together.
    void (*warp_sync)(void *self, Warp *warp, uint32_t mask);
    void (*fence)(void *self, Warp *warp, uint32_t mask, const Instruction *in);
    // The lanes of `mask` shuffle, vote, match, reduce, elect or pass bar.warp.sync together. `from`: of a
    // shuffle, the lane that each reads (its own where that would be out of range); else NULL.
    void (*exchange)(void *self, Warp *warp, const Instruction *in, uint32_t mask, const uint32_t *from);
    void (*end)(void *self); // after the launch: frees `self`
    void *self;
} Observer;

enum {
    MAX_OBSERVERS = 5,
    MAX_LOCAL_BYTES =
        512 << 10, // CUDA C++ Programming Guide, technical specifications: local memory per thread
};

// ---- Execution --------------------------------------------------------------------------------------------

struct Frame {
    Frame *caller; // also the link of the free list
    const Function *function;
    unsigned char *registers;
    size_t register_capacity;
    uint32_t local_base; // of this frame's .local variables, in each lane's local memory
    uint32_t live;       // lanes inside this call or a deeper one, not exited
    uint32_t returned;   // lanes that wait for the rest to return
    uint64_t since;      // Warp.polls when the last of them came
    const Instruction *call;
    Join *caller_join;
    int depth;
    Frame *next_made;
};

struct Join {
    Join *parent; // in the same frame; also the link of the free list
    int32_t pc;
    uint32_t live; // lanes expected, exited ones taken out
    uint32_t arrived;
    uint64_t since; // Warp.polls when the last of them arrived
};

typedef enum { READY, WAIT_BARRIER, WAIT_SYNC } FragmentState;

typedef struct {
    FragmentState state;
    int32_t pc;
    uint32_t mask;
    Frame *frame;
    Join *join;           // of `frame`; NULL: nothing to wait for in this frame
    uint32_t member_mask; // WAIT_SYNC: the lanes named
    int barrier;          // WAIT_BARRIER
} Fragment;

struct Warp {
    Block *block;
    int index;       // within the block
    uint32_t exists; // lanes that the block has
    uint32_t exited;
    int fragment_count;
    int turn; // fragment to run next
    Fragment fragments[WARP_SIZE];
    uint32_t active_now; // of the fragment that is running
    uint64_t polls;      // volatile loads and atomics done
    bool impatient;      // lanes once had to stop waiting for lanes that poll
    Memory local;        // 32 lanes of local_capacity bytes each, one after the other
    uint32_t local_capacity;
    AsyncCopies *copies; // cp.async in flight, or NULL: async.c
    WarpClock *clock;    // where the launch is timed, else NULL
    uint32_t thread_x[WARP_SIZE], thread_y[WARP_SIZE], thread_z[WARP_SIZE];
};

typedef struct {
    uint32_t arrived;                    // threads, exited lanes of an arrived warp counted in
    uint32_t expected;                   // threads; 0: every thread that has not exited
    uint32_t red_and, red_or, red_count; // of bar.red
    const Instruction *in;               // the first to arrive
} Barrier;

enum { BARRIER_COUNT = 16 };

struct Block {
    Machine *machine;
    uint64_t number; // x + gx * (y + gy * z)
    uint32_t id[3];
    int warp_count;
    Warp *warps;
    int live_warps; // with a thread that has not exited
    int turn;
    Memory shared;
    Barrier barriers[BARRIER_COUNT];
    uint32_t thread_count;
    uint32_t exited_threads;
    void *race_state; // racecheck's own
};

typedef struct {
    uint64_t state;
} Random;

struct Machine {
    Emulator *emulator;
    const Program *program;
    const EmulatorKernel *kernel;
    int kernel_function; // index of its function in the program
    const EmulatorLaunch *launch;
    EmulatorResult *result;
    Memory param;          // the parameter block
    uint32_t shared_bytes; // of a block's emulated shared memory, gaps included
    SharedVariable *shared_variables;
    int shared_variable_count;
    Observer observers[MAX_OBSERVERS];
    int observer_count;
    Counters *counts;   // per instruction of the program (Instruction.number), or NULL
    Timing *timing;     // or NULL
    AccessTrace *trace; // or NULL
    bool has_exchange_observer;
    uint64_t lane_steps, step_limit;
    bool stopped;   // a fatal finding, or cancelled
    bool scrambled; // schedule != 0
    Random random;
    uint64_t polls;    // volatile loads and atomics done: what waiting for another block looks like
    Arena arena;       // frames and joins
    Frame *all_frames; // linked by next_made, to free their register files
    Frame *free_frames;
    Join *free_joins;
    Block **free_blocks; // ended, to be used again
    int free_block_count, free_block_capacity;
    uint64_t frame_bytes; // of register files in use, against a limit
    size_t output_capacity;
    int finding_capacity;
    bool out_of_memory;
};

// ---- Who provides what ------------------------------------------------------------------------------------

// findings.c
// Records a finding at `in` by `lane` of `warp` (-1: the whole warp); returns it for the caller to fill in
// more, or NULL when one of the same kind, line and other line is there already (its count is raised) or
// none can be kept. A fatal one stops the machine.
Finding *report(Machine *machine, FindingKind kind, const Warp *warp, int lane, const Instruction *in,
                const Instruction *other, bool fatal, const char *format, ...)
    __attribute__((format(printf, 8, 9)));
// "thread (5,0,0) of block (2,0,0)" into `text`.
const char *thread_words(char text[96], const Warp *warp, int lane);
// What `offset` in `memory` belongs to, as people know it: "in", "shared tile"; *index is the byte in it and
// *bytes its size.
void name_object(const Machine *machine, const Warp *warp, const Memory *memory, uint64_t offset,
                 char name[128], uint64_t *index, uint64_t *bytes);

// memory.c
Memory *memory_at(Emulator *emulator, uint64_t address);
// A store that is not an instruction of the program: what an asynchronous copy brings.
void execute_store(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);
void mark_initialised(Memory *memory, uint64_t offset, uint64_t bytes);
bool is_initialised(const Memory *memory, uint64_t offset, uint64_t bytes);
// Resolves the addresses of `mask`'s lanes: calls `body` once per memory object touched, after bounds,
// space and alignment were checked; stops the machine and calls nothing on a fault.
typedef void AccessBody(Machine *machine, Fragment *fragment, const Access *access);
void resolve_access(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask,
                    AccessKind kind, uint32_t bytes, AccessBody *body);
// Makes each lane's local memory hold at least `bytes`; false after a finding.
bool grow_local(Machine *machine, Warp *warp, uint32_t bytes, const Instruction *in);
// Reads one lane's bytes through a generic address, for vprintf. False when any byte is out of bounds.
bool read_generic(Machine *machine, const Warp *warp, int lane, uint64_t address, void *to, size_t bytes);

// sync.c
// After threads have exited: barriers and warp-wide waits that they held up may complete.
void recheck_waits(Machine *machine, Warp *warp);
void report_deadlock(Machine *machine, Block *block);
// The lanes of a warp that wait at a barrier of its block.
uint32_t lanes_at_barrier(const Warp *warp, int id);

// divergence.c
// Where a block can go no further: lets lanes that only wait to join others, and that will wait for nobody
// afterwards, go on to their end without them. True when there were any.
bool release_bystanders(Machine *machine, Block *block);

// execute.c
// Runs up to `budget` instructions of one warp; returns how many it ran (0: nothing could run).
uint64_t run_warp(Machine *machine, Warp *warp, uint64_t budget);
void warp_start(Machine *machine, Warp *warp);

// async.c
void async_forget(AsyncCopies *copies); // what a block that ended never waited for
void async_free(AsyncCopies *copies);

// syscall.c: vprintf and __assertfail
void execute_syscall(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);

// schedule.c
void run_grid(Machine *machine);
uint64_t random_next(Random *random);
static inline bool random_one_in(Random *random, uint32_t n) {
    return (uint32_t)(random_next(random) >> 32) % n == 0;
}

// Observers: each fills `observer` and returns true, or false when memory ran out.
bool counters_observe(Machine *machine, Observer *observer);
// Adds what one access counts for, requests, sectors, wavefronts and the like, to `counters`.
void counters_add_access(Counters *counters, const Access *access);
// Wavefronts of one access to shared memory.
uint32_t shared_wavefronts(const Access *access);
bool racecheck_observe(Machine *machine, Observer *observer);
bool initcheck_observe(Machine *machine, Observer *observer);

#define FOR_LANES(lane, mask)                                                                                \
    for (uint32_t lanes_left_ = (mask), lane;                                                                \
         lanes_left_ && ((lane = (uint32_t)__builtin_ctz(lanes_left_)), 1); lanes_left_ &= lanes_left_ - 1)

#endif
