// Warpbook's PTX emulator: a GPU to run nvcc's PTX on where there is none.
//
// The order of use: emulator_open() makes a device; emulator_load() parses and decodes a PTX image;
// emulator_allocate() and its neighbours manage device memory; emulator_launch() runs one kernel to the
// end and tells what it found and counted. Nothing here prints, exits or keeps global state, so several
// devices may live in one process (each used from one thread at a time).
//
// Ownership: whatever a function returns through a pointer belongs to the Emulator unless its comment
// says otherwise, and lives until emulator_close().
#ifndef WARPBOOK_EMULATOR_H
#define WARPBOOK_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/status.h"

typedef struct Emulator Emulator;             // one device: memory, at most one image, figures
typedef struct EmulatorKernel EmulatorKernel; // an entry of the loaded image

// ---- Findings: what a kernel did wrong --------------------------------------------------------------------

typedef enum {
    FINDING_NONE,
    FINDING_OUT_OF_BOUNDS,
    FINDING_MISALIGNED,
    FINDING_WRONG_SPACE, // an address that is in no buffer of the space that the instruction names
    FINDING_READ_ONLY,   // a store to constant memory or to a read-only buffer
    FINDING_UNINITIALISED,
    FINDING_RACE,
    FINDING_RACE_SAME_VALUE, // an information, never a failure
    FINDING_DIVERGENT_BARRIER,
    FINDING_BAD_MASK,         // a *.sync whose mask names an exited lane or leaves out the caller
    FINDING_SHUFFLE_INACTIVE, // a shuffle that reads a lane that does not take part
    FINDING_DEADLOCK,
    FINDING_TRAP,
    FINDING_ASSERT,
    FINDING_STACK_OVERFLOW, // call depth or local memory
    FINDING_STEP_LIMIT,
    FINDING_OUTPUT_LIMIT, // printf
    FINDING_BAD_LAUNCH,   // grid, block or shared memory beyond the device's limits
    FINDING_RESOURCE,     // the kernel needs more registers, shared or local memory than there is
    FINDING_BAD_CALL,     // an indirect call or branch to what is no function or target
    FINDING_UNSUPPORTED,  // met while running
    FINDING_KINDS
} FindingKind;

// The verdict that a finding leads to: "OOB", "RACE" ...; "INFO" for an information.
const char *finding_verdict(FindingKind kind);
// "out of bounds", "race": the kind in words.
const char *finding_name(FindingKind kind);

typedef struct {
    FindingKind kind;
    bool fatal; // the kernel was stopped here
    SourcePlace place;
    SourcePlace other_place; // the other side of a race, the definition of a barrier; line 0 when none
    unsigned block[3];
    unsigned thread[3];
    unsigned other_thread[3];
    unsigned other_block[3];
    int warp, lane; // within the block; -1 when they do not apply
    uint64_t address;
    unsigned bytes; // of the access
    bool is_store;
    bool is_atomic;
    char object[128]; // the buffer or variable, "in" or "shared tile"; "" when none
    int64_t index;    // byte offset in that object; may be negative or past the end
    uint64_t object_bytes;
    uint64_t count;     // how often this finding (same kind, same two lines) was met
    char message[1024]; // one or two sentences for a person: what happened, with the numbers
} Finding;

// ---- Counters: named as the columns of hardware_truth/counters.csv ----------------------------------------

typedef struct {
    uint64_t instructions;        // executed by warps (PTX instructions)
    uint64_t thread_instructions; // the same by lanes, guard predicate applied
    uint64_t global_ld_requests, global_ld_sectors, global_ld_bytes;
    uint64_t global_st_requests, global_st_sectors, global_st_bytes;
    uint64_t global_red_requests, global_red_sectors;
    uint64_t global_atom_requests, global_atom_sectors;
    uint64_t shared_ld, shared_st, shared_atom; // warp instructions
    uint64_t shared_ld_wavefronts, shared_st_wavefronts, shared_atom_wavefronts;
    uint64_t shared_ld_conflicts, shared_st_conflicts;
    uint64_t local_ld_requests, local_ld_sectors, local_st_requests, local_st_sectors;
    uint64_t const_ld;
    uint64_t branches, branch_divergent;
    uint64_t barriers;      // warp instructions: bar.sync, barrier.sync and their kin
    uint64_t warp_barriers; // bar.warp.sync
    uint64_t shuffles, votes, matches, reductions;
    uint64_t fences;
    uint64_t atomic_max_lanes; // the most lanes of one request on one address (a maximum, not a sum)
    uint64_t float_ops;        // floating-point operations by lanes; a fused multiply-add is two
} Counters;

// Adds `more` to `sum`, field by field (atomic_max_lanes: the larger).
void counters_add(Counters *sum, const Counters *more);

// The fields of Counters as data, in order, for writers of JSON and tables.
typedef struct {
    const char *name;
    size_t offset; // of a uint64_t
} CounterField;
extern const CounterField counter_fields[];
extern const int counter_field_count;
uint64_t counter_value(const Counters *counters, int field);

typedef struct {
    SourcePlace place;
    Counters counters;
} LineCounters;

// ---- The device -------------------------------------------------------------------------------------------

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

// The H200's figures, the default.
extern const EmulatorDevice emulator_h200;

// Opens a device with those figures (NULL: the H200). Returns NULL when memory runs out.
Emulator *emulator_open(const EmulatorDevice *device);
void emulator_close(Emulator *emulator);
const EmulatorDevice *emulator_device(const Emulator *emulator);

// ---- Memory -----------------------------------------------------------------------------------------------

// Allocates `bytes` (0 is allowed) in an address range of its own; the address returned is
// `misalignment` bytes (0 to 255) past a 256-byte boundary, and every byte outside is out of bounds.
// The memory is uninitialised for initcheck. `name` is copied; findings call the buffer by it.
// Returns 0 on failure and fills `error`.
uint64_t emulator_allocate(Emulator *emulator, size_t bytes, unsigned misalignment, const char *name,
                           EmulatorError *error);
bool emulator_free(Emulator *emulator, uint64_t address, EmulatorError *error);
// Host to device and back; the range must lie inside one buffer. Writing marks bytes initialised.
bool emulator_write(Emulator *emulator, uint64_t address, const void *from, size_t bytes,
                    EmulatorError *error);
bool emulator_read(Emulator *emulator, void *to, uint64_t address, size_t bytes, EmulatorError *error);
// Fills with a repeated 32-bit pattern (a last part of a word gets its first bytes).
// `initialised` false leaves the bytes uninitialised for initcheck: poison.
bool emulator_fill(Emulator *emulator, uint64_t address, uint32_t pattern, size_t bytes, bool initialised,
                   EmulatorError *error);
// Stores by a kernel to a read-only buffer are findings.
bool emulator_set_read_only(Emulator *emulator, uint64_t address, bool read_only, EmulatorError *error);
// The host memory behind a device range of one buffer, for fast access, or NULL. Writes through it do
// not mark bytes initialised.
void *emulator_host_pointer(Emulator *emulator, uint64_t address, size_t bytes);

// ---- Images -----------------------------------------------------------------------------------------------

// Loads a PTX image in place of the one before. `name` is for messages. The text is copied.
bool emulator_load(Emulator *emulator, const char *ptx, size_t bytes, const char *name, EmulatorError *error);
const EmulatorKernel *emulator_find_kernel(const Emulator *emulator, const char *name);
int emulator_kernel_count(const Emulator *emulator);
const EmulatorKernel *emulator_kernel_at(const Emulator *emulator, int index);

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
void emulator_kernel_info(const EmulatorKernel *kernel, EmulatorKernelInfo *info);

// Registers per thread as ptxas reports them, for launch checks and the time model; 0 until told.
void emulator_set_registers(EmulatorKernel *kernel, int registers);

// Sets every module-scope variable back to its initial value, as loading the image afresh would.
void emulator_reset_variables(Emulator *emulator);
// True when a module-scope .global variable no longer holds its initial value; `name` receives it.
bool emulator_variables_changed(const Emulator *emulator, char name[256]);

// ---- Launching --------------------------------------------------------------------------------------------

enum {
    CHECK_MEMORY = 1, // bounds, alignment and space are always enforced; this bit is accepted for symmetry
    CHECK_INIT = 2,
    CHECK_RACE = 4,
    CHECK_SYNC = 8,
    CHECK_ALL = 15,
};

typedef struct {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared; // bytes
    const void *arguments;   // the parameter block: each parameter at its offset
    size_t argument_bytes;
    unsigned checks;             // of CHECK_*
    bool count;                  // collect counters per instruction
    bool timing;                 // follow the launch for the time model (model.h); schedule 0
    bool flush_float_atomics;    // reserved for devices that flush subnormals in global float atomics
    uint64_t schedule;           // 0: deterministic and plain; any other: a seed
    uint64_t max_steps;          // lane instructions; 0: no limit
    size_t max_output;           // bytes of printf kept; more is FINDING_OUTPUT_LIMIT; 0: the default, 64 KiB
    int max_findings;            // kept; 0: the default, 32
    const volatile bool *cancel; // checked now and then; NULL: never
    size_t trace_bytes; // record the accesses in at most so many bytes of JSON; 0: do not. Schedule 0
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
    double seconds;             // of host time
    char *output;               // what printf wrote, NUL terminated
    size_t output_bytes;
    struct ModelWork *work; // of model.h; NULL unless launch.timing
    char *trace; // the access trace: $defs/kernel of docs/trace.schema.json; NULL unless launch.trace_bytes
    size_t trace_bytes;
} EmulatorResult;

// Runs `kernel` to its end, a fatal finding, or a limit. Returns false (and fills `error`) only when the
// call itself is wrong; what the kernel does wrong stands in `result`, which the caller releases with
// emulator_result_free() in either case.
bool emulator_launch(Emulator *emulator, const EmulatorKernel *kernel, const EmulatorLaunch *launch,
                     EmulatorResult *result, EmulatorError *error);
void emulator_result_free(EmulatorResult *result);

#endif
