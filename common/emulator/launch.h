// What a launch is given, on which device, and what comes of it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/counters.h"
#include "emulator/finding.h"
#include "emulator/footprint.h"
#include "emulator/touched.h"

// Figures of the device that kernels can see and launches are checked against.
typedef struct {
    char name[64];
    int compute_major, compute_minor;
    int sm_count;
    int max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    int registers_per_sm, registers_per_block, registers_per_thread;
    int shared_per_sm, shared_per_block, shared_per_block_optin, shared_reserved_per_block;
    uint32_t max_grid[3], max_block[3];
    int clock_khz;
    size_t global_bytes;
} EmulatorDevice;

typedef struct {
    char name[256];
    int parameter_count;
    struct {
        size_t offset, bytes, align;
    } parameters[64];
    size_t parameter_bytes;  // all of them
    size_t static_shared;    // bytes as hardware counts them
    int required_threads[3]; // 0 where the kernel asks for none
    int max_threads[3];
} EmulatorKernelInfo;

enum {
    CHECK_MEMORY = 1, // bounds, alignment and space are always enforced; this bit is accepted for symmetry
    CHECK_INIT = 2,
    CHECK_RACE = 4,
    CHECK_SYNC = 8,
    CHECK_ALL = 15,
    CHECK_SHARED_RACE = 16, // CHECK_RACE of the first 2^19 accesses to shared memory alone
};

enum { ALL_LINES = -1 };          // EmulatorLaunch.guarded_line
enum { EMULATOR_PAGE = 2 << 20 }; // bytes that a GPU maps at a time

// Schedules that are a multiple of 4, other than 0, are weak: loads may return older values, as far as the
// PTX memory model allows. Only where races are checked.
static inline bool schedule_is_weak(uint64_t schedule) { return schedule && schedule % 4 == 0; }
// One seed in a thousand holds blocks back until all others wait.
static inline bool schedule_holds(uint64_t schedule) { return schedule % 1000 == 999; }

// Why a launch lets others do something (EmulatorLaunch.pause).
typedef enum {
    PAUSE_MAY_WAIT,    // it polls memory: it may be waiting for others, or for its own threads
    PAUSE_WAITS,       // it can continue only if another changes what it polls
    PAUSE_WAITS_STILL, // the same, and it has done nothing else since its last pause
} EmulatorPause;

// What the time model may suppose of a launch (EmulatorLaunch.what_if), which computes the same regardless.
enum {
    WHAT_IF_NO_CONFLICTS = 1,  // lanes of a load or store never meet in a bank of shared memory
    WHAT_IF_COALESCED = 2,     // what a load or store touches lies side by side
    WHAT_IF_NO_DIVERGENCE = 4, // lanes that take the same way share warps
};

// What a thread of a kernel asks the device to do behind its own grid: a launch, or a copy
// (EmulatorLaunch.child).
typedef struct {
    const struct EmulatorKernel *kernel; // NULL: a copy
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const void *arguments; // the parameter block; valid during the call
    size_t argument_bytes;
    uint64_t to, from, bytes; // of a copy: addresses
    bool is_tail;             // after everything else that the grid asks for
} EmulatorChild;

typedef struct {
    uint32_t grid[3], block[3];
    uint32_t cluster[3];     // blocks of a cluster; 0: what the kernel asks for, or none
    uint32_t dynamic_shared; // bytes
    const void *arguments;   // the parameter block: each parameter at its offset
    size_t argument_bytes;
    unsigned checks;    // of CHECK_*
    bool count;         // collect counters per instruction
    bool timing;        // follow the launch for the time model (model.h); schedule 0
    uint64_t schedule;  // 0: deterministic and plain; any other: a seed
    uint64_t max_steps; // 0: no limit. An instruction of a warp is 16 steps, and 1 more for each of its
                        // lanes; a volatile load, an atomic and a nanosleep are 128 more. That follows the
                        // emulator's time, and is the same on every machine
    size_t max_output;  // bytes of printf kept; more is FINDING_OUTPUT_LIMIT; 0: the default, 64 KiB
    int max_findings;   // kept; 0: the default, 32
    double max_seconds; // of a processor, for steps that take unforeseeably long; 0: no limit
    size_t trace_bytes; // record the accesses in at most so many bytes of JSON; 0: do not. Schedule 0
    const uint64_t *sample; // run only these blocks of the grid, x + gx * (y + gy * z); NULL: all
    uint64_t sample_count;
    Footprint *footprint; // keep what blocks read and write; NULL: do not
    Touched *touched;     // keep which bytes the launch reads and writes, and where; NULL: do not
    // Loads and stores of this line of the .cu file that lie outside of all memory are left out: such a load
    // gives 0. To find out what a kernel would do if it tested its index. 0: none; ALL_LINES
    int guarded_line;
    // What lies beside an object in its pages of 2 MiB is memory too, as it is on a GPU: a load or a store
    // there is reported and done, and does not end the launch
    bool whole_pages;
    unsigned what_if;       // of WHAT_IF_*: suppositions of `timing`
    uint32_t most_resident; // blocks that run at a time; 0: as many as the device holds, and so where one is
                            // held back
    // Called with pause_self between the turns of warps while threads of the launch poll memory: others,
    // which the emulator knows nothing of, may change that memory meanwhile, and use the same emulator.
    // False: they never will. NULL: there are no others
    bool (*pause)(void *pause_self, EmulatorPause why);
    void *pause_self;
    // Called with child_self for each launch or copy that a thread asks for. The caller does them when this
    // launch has ended, in the order of the calls, each with all that follows from it. Returns an error of
    // the CUDA runtime, which the thread gets; 0: none. NULL: kernels that launch kernels are UNSUPPORTED
    int (*child)(void *child_self, const EmulatorChild *child);
    // Called with child_self when a thread sets the condition of a node of a graph (cudaGraphSetConditional).
    // False: there is none with that handle. NULL: such kernels are UNSUPPORTED
    bool (*condition)(void *child_self, uint64_t handle, uint32_t value);
    void *child_self;
} EmulatorLaunch;

typedef struct {
    bool completed;    // every thread ran to its end
    int finding_count; // kept in `findings`, in the order met
    Finding *findings;
    uint64_t findings_total; // including those not kept
    Counters counters;       // zero unless launch.count
    int line_count;
    LineCounters *lines;        // by file and line; empty unless launch.count
    uint64_t lane_instructions; // executed, always counted
    uint64_t steps;             // as those of max_steps
    uint64_t race_compared;     // granules and earlier accesses to them that were looked at one by one
    double seconds;             // of the host's processor time
    char *output;               // what printf wrote, NUL terminated
    size_t output_bytes;
    struct ModelWork *work; // of model.h; NULL unless launch.timing
    char *trace; // the access trace: $defs/kernel of docs/trace.schema.json; NULL unless launch.trace_bytes
    size_t trace_bytes;
} EmulatorResult;
