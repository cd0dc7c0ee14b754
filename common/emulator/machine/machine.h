// The running machine: one launch in flight. Internal to common/emulator.
//
//   Emulator     the device: memory objects, the image                         (emulator.c, memory.c)
//   Machine      one launch: grid, limits, what was found and counted          (launch.c, schedule.c)
//   Block        shared memory, barriers, warps
//   Warp         32 lanes; a list of fragments {pc, mask} that join again at post-dominators
//   Frame        one call of a function: a register file of 32 lanes, lanes inside it
//   Join         where fragments of one frame wait for each other
#pragma once

#include <stddef.h>

#include "emulator/arena.h"
#include "emulator/launch.h"
#include "emulator/machine/observer.h"
#include "emulator/machine/random.h"
#include "emulator/program/program.h"

typedef struct Emulator Emulator;
typedef struct EmulatorKernel EmulatorKernel;
typedef struct EmulatorImage EmulatorImage;

typedef struct Machine Machine;
typedef struct Frame Frame;
typedef struct Join Join;
typedef struct AsyncCopies AsyncCopies; // copies.h
typedef struct Flight Flight;
typedef struct TensorBox TensorBox;             // tensor_box.h
typedef struct Wgmmas Wgmmas;                   // wgmma.h
typedef struct UndefinedValues UndefinedValues; // undefined.h
typedef struct UndefinedOrigins UndefinedOrigins;

// ---- Memory -----------------------------------------------------------------------------------------------

// Objects of an emulator are numbered from here on: the windows of program.h come first.
#define FIRST_OBJECT 16u

// A process has its memory below this address, on x86-64 and aarch64 alike.
#define HOST_ADDRESSES (1ull << 48)

struct Memory {
    char name[128];
    PtxSpace space; // GLOBAL, CONST, SHARED, LOCAL or PARAM
    uint64_t base;  // device address of the first byte
    size_t bytes;
    size_t
        period; // after which the bytes repeat: `data` holds one period and its beginning again; 0: all bytes
    unsigned char *data;
    void *allocation; // what to free (data lies inside it)
    bool read_only;
    bool in_use;
    bool all_initialised;        // then `initialised` need not be looked at
    uint64_t *initialised;       // one bit per byte, or NULL while all_initialised has always been true
    void *race;                  // racecheck's shadow of a launch, or NULL
    const PtxVariable *variable; // of a module-scope variable, and
    const EmulatorImage *image;  // that it belongs to
    struct Heap *heap;           // of the memory of malloc(): heap.h
    uint32_t *parts;     // where several objects share a range of addresses, their indices, by address:
    uint32_t part_count; // this is then no object itself
};

struct EmulatorKernel {
    const EmulatorImage *image;
    const PtxFunction *entry;
    int function;  // index in Program.functions
    int registers; // per thread; 0 until told
    EmulatorKernelInfo info;
};

struct Emulator {
    EmulatorDevice device;
    Memory *objects; // by the top bits of an address; those below FIRST_OBJECT stay unused
    uint64_t object_count, object_capacity;
    uint64_t first_object; // new ones are numbered from here on,
    uint64_t next_object;  // or, if numbers of freed ones are to stay unused for long, from here
    bool keeps_freed;
    int paused;        // launches that are: they point to objects, which stay where they are
    struct Heap *heap; // of malloc() in kernels; NULL until a kernel with it is launched
    size_t heap_bytes;
    struct TextureObject *textures; // texture.h
    uint64_t texture_count;
    EmulatorImage *images; // in the order in which they were loaded
    uint64_t workspace;    // of grid barriers by cooperative groups, of a launch that no other is beside
};

struct EmulatorImage {
    EmulatorImage *next;
    Emulator *emulator;
    const EmulatorImage *original; // whose managed variables are its own too; NULL: none
    Program *program;
    EmulatorKernel *kernels;
    int kernel_count;
};

// A variable's place inside a block's shared memory. Emulated shared memory keeps gaps of a multiple of
// 128 bytes between variables: an index past one array hits nothing, and bank numbers stay as they are.
typedef struct {
    const char *name;
    uint32_t offset, bytes;
} SharedVariable;

enum {
    MAX_LOCAL_BYTES =
        512 << 10, // CUDA C++ Programming Guide, technical specifications: local memory per thread
};

// ---- Execution --------------------------------------------------------------------------------------------

struct Frame {
    Frame *caller; // also the link of the free list
    const Function *function;
    unsigned char *registers;
    size_t register_capacity;
    uint32_t local_base;    // of this frame's .local variables, in each lane's local memory
    uint32_t dynamic_bytes; // of alloca, behind them
    uint32_t live;          // lanes inside this call or a deeper one, not exited
    uint32_t returned;      // lanes that wait for the rest to return
    uint64_t since;         // Warp.polls when the last of them came
    const Instruction *call;
    Join *caller_join;
    int depth;
    Frame *next_made;
    UndefinedValues *undefined; // in registers; NULL: there has been none
};

struct Join {
    Join *parent; // in the same frame; also the link of the free list
    int32_t pc;
    int32_t leave_pc; // lanes that come here instead have left it, for a join further out; -1: none can
    uint32_t live;    // lanes expected, exited ones taken out
    uint32_t arrived;
    uint64_t since; // Warp.polls when the last of them arrived
};

// A load that runs later than the instructions behind it (deferred.c): as if it came only then.
typedef struct {
    const Instruction *in; // NULL: none
    Frame *frame;
    uint32_t mask;
} Deferred;

typedef enum { READY, WAIT_BARRIER, WAIT_SYNC, WAIT_CLUSTER } FragmentState;

// A loop that polls in one place, and looks at nothing else that others may change: while it reads there what
// it has read before, each of its rounds is as the last one.
typedef struct {
    const Instruction *in; // the poll; NULL: no such loop is known
    uint64_t found;        // the hash of what it read
    uint64_t ran, lanes;   // instructions of a round, and the lanes of each of them
} PollLoop;

// What a fragment was like when it polled, to recognise a loop that does nothing else (idle.c).
typedef struct {
    const Instruction *in;   // NULL: it has not polled
    const Instruction *wait; // the last time at an mbarrier; NULL: not since the effect
    uint64_t registers;      // their hash
    uint64_t effects;        // Machine.effects then: of another count, all this is out of date
    uint64_t compared;       // polls since the effect
    bool repeats;
    PollLoop loop; // good until it polls something else, whatever others do
} Poll;

typedef struct {
    FragmentState state;
    int32_t pc;
    uint32_t mask;
    Frame *frame;
    Join *join;           // of `frame`; NULL: nothing to wait for in this frame
    uint32_t member_mask; // WAIT_SYNC: the lanes named
    int barrier;          // WAIT_BARRIER
    Poll poll;
} Fragment;

enum { BARRIER_COUNT = 16, MAX_WARPS = 32 }; // of a block

struct Warp {
    Block *block;
    int index;       // within the block
    uint32_t exists; // lanes that the block has
    uint32_t exited;
    int fragment_count;
    int turn; // fragment to run next
    Fragment fragments[WARP_SIZE];
    uint64_t polls; // volatile loads done, and atomics with a result
    bool impatient; // lanes once had to stop waiting for lanes that poll
    Deferred deferred;
    Memory local; // 32 lanes of local_capacity bytes each, one after the other
    uint32_t local_capacity;
    AsyncCopies *copies;             // cp.async in flight, or NULL: async.c
    uint32_t bulk_groups[WARP_SIZE]; // committed, per lane
    Wgmmas *wgmmas;                  // in flight, or NULL: wgmma.c
    uint32_t counted[BARRIER_COUNT]; // lanes that arrived at a counted barrier in its current phase
    uint32_t at_cluster;             // lanes that have arrived at the barrier of the cluster, and not waited,
    uint32_t cluster_phase;          // in this phase: its lowest bit, per lane
    const Instruction *cluster_at;   // where the last of them arrived
    struct WarpClock *clock;         // the time model's own
    uint32_t rounds[WARP_SIZE]; // of the unrolled loop that a lane is in, as far as it has come: rounds.c
    uint32_t left_loop;         // lanes that have left it, while others of them turn
    uint32_t turning, turned;   // lanes that are in it together, and rounds not yet added to theirs
    uint32_t thread_x[WARP_SIZE], thread_y[WARP_SIZE], thread_z[WARP_SIZE];
};

typedef struct {
    uint32_t arrived;                    // threads, exited lanes of an arrived warp counted in
    uint32_t expected;                   // threads; 0: every thread that has not exited
    uint32_t red_and, red_or, red_count; // of bar.red
    const Instruction *in;               // the first to arrive
    bool is_split;                       // others arrived at another instruction
} Barrier;

// An mbarrier in shared memory; the word there holds its counts (alu/mbarrier.h).
typedef struct {
    uint32_t offset;
    const Instruction *init;
    uint64_t phases; // ended
} Mbarrier;

// Blocks that run together, and can access each other's shared memory: those of a cluster, or one block. The
// cluster of the first of them holds the state of all.
enum { MAX_CLUSTER = 8 }; // CUDA C++ Programming Guide, "Thread Block Clusters": the portable size
typedef struct {
    Block *blocks[MAX_CLUSTER]; // by rank
    uint32_t size, in_flight;   // blocks; those of them whose threads have not all ended
    uint32_t arrived;           // threads, in the current phase of its barrier
    uint32_t phase;
} Cluster;

// In shared addresses of a cluster of several blocks, the bits from here on are 1 + the rank of the block
// whose memory is meant; 0: that of the thread's own.
enum { RANK_SHIFT = 24 };

struct Block {
    Machine *machine;
    uint64_t number; // x + gx * (y + gy * z)
    uint32_t id[3];
    int warp_count;
    Warp *warps;
    int live_warps;            // with a thread that has not exited
    uint32_t idle;             // warps that had nothing to run, and have been released from nothing since
    uint32_t rests[MAX_WARPS]; // turns that a warp sits out, under a weak schedule
    uint32_t resting;          // warps that sit out any
    Memory shared;
    Cluster *cluster; // never NULL
    Cluster own;      // what `cluster` of the blocks of a cluster points to, of its first
    uint32_t rank;
    bool is_stuck; // none of its threads can run before another block of the cluster does something
    Barrier barriers[BARRIER_COUNT];
    Mbarrier *mbarriers;
    int mbarrier_count, mbarrier_capacity;
    Flight *flights; // copies.h
    int flight_count, flight_capacity;
    uint32_t thread_count;
    uint32_t exited_threads, exited_early; // the second: before its last barrier was complete
    void *race_state;                      // racecheck's own
    void *weak_state;                      // of weak memory
};

// The block whose shared memory that is.
static inline Block *block_of_memory(const Memory *memory) {
    return (Block *)((uintptr_t)memory - offsetof(Block, shared));
}

// A store of what its place held before; `at` NULL: none.
typedef struct {
    const unsigned char *at;
    int32_t number; // of the instruction
    uint32_t width;
} UnseenStore;

enum { UNSEEN_STORES = 1024 };

struct Machine {
    Emulator *emulator;
    const Program *program;
    const EmulatorKernel *kernel;
    int kernel_function; // index of its function in the program
    const EmulatorLaunch *launch;
    uint32_t cluster[3]; // blocks of a cluster
    bool is_explicit_cluster;
    EmulatorResult *result;
    uint64_t workspace;    // of grid barriers by cooperative groups
    Memory param;          // the parameter block
    uint32_t shared_bytes; // of a block's emulated shared memory, gaps included
    SharedVariable *shared_variables;
    int shared_variable_count;
    Observer observers[MAX_OBSERVERS];
    int observer_count;
    int access_observers;            // the first of them; no later one listens to accesses
    bool has_exchange_observer;      // one of them listens to exchanges
    const Observer *of_instructions; // that listens to every instruction, or NULL
    const Observer *of_values;       // that has `before` and `after`, or NULL
    const Observer *of_choices;      // that has `chosen`, or NULL
    Tally *tally;                    // of each instruction of the program (Instruction.number), or NULL
    uint64_t lane_steps, step_limit; // the second is what warps leave of launch->max_steps for their lanes
    uint64_t race_compared;          // EmulatorResult
    double began;                    // on the processor's clock; 0: it has not been looked at
    uint64_t looks;                  // at the time
    uint64_t ended_early;            // after so many steps, because the time was over; 0: it was not
    uint64_t blocks_started, blocks_ended;
    bool stopped; // a fatal finding, or cancelled
    const Warp
        *searched;  // NULL until the steps are used up; then whether this one can end is searched: cycle.h
    bool scrambled; // schedule != 0
    bool is_weak;   // a weak schedule: loads may be late, and return older values
    bool holds;     // a schedule that holds blocks back, and a program in which others could wait for them
    Random random;
    uint64_t polls;   // the same of all: what waiting for another block looks like
    uint64_t effects; // instructions that may have changed more than registers, and lanes that parted or met
    bool (*pause)(Machine *machine, EmulatorPause why); // NULL: nobody could change what is polled
    uint64_t paused_at;                    // the count of effects after the last pause; 0: there was none
    uint64_t polls_before, effects_before; // when an effect was last noticed (pause.c)
    uint64_t polls_paused;                 // polls at the last pause
    uint64_t published;                    // stores to global memory and atomics there, each of a warp
    Arena arena;                           // frames and joins
    Frame *all_frames;                     // linked by next_made, to free their register files
    Frame *free_frames;
    Join *free_joins;
    Block **free_blocks; // ended, to be used again
    int free_block_count, free_block_capacity;
    size_t budget, budget_used; // bytes of what is in flight: budget.h
    bool budget_is_asked;       // what the machine has left is known
    size_t output_capacity;
    int finding_capacity;
    bool out_of_memory;
    UnseenStore unseen[UNSEEN_STORES]; // unseen.h
    bool follows_undefined; // undefined values, from memory into registers and from there to their use
    UndefinedOrigins *origins;
    struct MatrixFactors *factors; // alu/matrix.h; NULL until there is one
    struct Children *children;     // child.h; NULL until a thread prepares a launch
    struct Beside *beside;         // beside.h; NULL until memory beside an object is touched
};

// Runs the statement that follows for every lane in `mask`, the lowest first.
#define FOR_LANES(lane, mask)                                                                                \
    for (uint32_t lanes_left_ = (mask), lane;                                                                \
         lanes_left_ && ((lane = (uint32_t)__builtin_ctz(lanes_left_)), 1); lanes_left_ &= lanes_left_ - 1)
