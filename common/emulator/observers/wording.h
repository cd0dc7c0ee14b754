// What the checks report, in words: one or two sentences, behind "thread (5,0,0) of block (2,0,0)".
//
// A check passes facts; each function here adds the text to the finding's message.
#pragma once

#include "emulator/finding.h"
#include "emulator/machine/observer.h"

// ---- memcheck ---------------------------------------------------------------------------------------------

typedef enum {
    MEMORY_NULL_POINTER,
    MEMORY_NO_BUFFER,     // the address is in none
    MEMORY_OTHER_SPACE,   // an instruction for global memory, and an address of `object`: "shared"
    MEMORY_PAST_BUFFER,   // before or behind `object`, or across its end
    MEMORY_PAST_SHARED,   // likewise, of a variable in shared memory
    MEMORY_SHARED_GAP,    // shared memory that belongs to no variable
    MEMORY_NO_SHARED,     // the block has no shared memory
    MEMORY_OF_ENDED,      // shared memory of block `object` of the cluster, whose threads have all ended
    MEMORY_OF_RANK,       // shared memory of block `index` of a cluster of `object_bytes` blocks
    MEMORY_OF_CLUSTER,    // shared memory of another block, by an instruction for that of the thread's own
    MEMORY_OUTSIDE_LOCAL, // outside the thread's arrays
    MEMORY_MISALIGNED,
    MEMORY_READ_ONLY,
    MEMORY_FREED, // it was an allocation of `object_bytes` bytes
} MemoryFault;

typedef struct {
    MemoryFault fault;
    AccessKind kind;
    uint32_t bytes;
    uint64_t address;      // in shared and local memory: the offset there
    const char *object;    // its name; NULL where there is none
    int64_t index;         // of the first byte in `object`
    uint64_t object_bytes; // its size
} MemoryFacts;

void word_memory(Finding *finding, const MemoryFacts *facts);

// ---- initcheck --------------------------------------------------------------------------------------------

// Reads `bytes` at byte `index` of `object`.
void word_uninitialised(Finding *finding, uint32_t bytes, uint64_t index, const char *object);

// The same, of memory that the asynchronous copy `copy` in line `line` has yet to write.
void word_undelivered(Finding *finding, uint32_t bytes, uint64_t index, const char *object,
                      const Instruction *copy, int line);
// The same, of memory in which an undefined value may have been stored.
void word_undefined(Finding *finding, uint32_t bytes, uint64_t index, const char *object);
// Reads a variable without a value.
void word_pending(Finding *finding);
void word_unset(Finding *finding);
// Has an undefined value from somewhere.
void word_unknown_undefined(Finding *finding);
// Behind any of these: what it is used for, at finding->other_place.
void word_use(Finding *finding, UndefinedUse use);
// Behind these: so many threads of the block had ended before its last barrier.
void word_ended(Finding *finding, uint32_t threads);

// ---- synccheck --------------------------------------------------------------------------------------------

void word_divergent_barrier(Finding *finding);
// A barrier that `absent` of `threads` threads do not execute: they have ended, `first` among them, or pass
// another barrier, in line `other_line`, instead.
void word_partial_barrier(Finding *finding, uint32_t absent, uint32_t threads, const char *first);
void word_separate_barriers(Finding *finding, uint32_t absent, uint32_t threads, const char *first,
                            int other_line);
void word_bad_barrier(Finding *finding, uint32_t id, uint32_t threads);

typedef enum {
    MASK_WITHOUT_CALLER,
    MASK_OF_OTHERS,        // it names `lane`, which gives `other_members`
    MASK_OF_EXITED,        // it names `lane`, which has exited
    MASK_EXITED_MEANWHILE, // likewise, while this one waited
} MaskFault;

// `in`, with the mask `members`.
void word_mask(Finding *finding, MaskFault fault, const Instruction *in, uint32_t members, int lane,
               uint32_t other_members);

void word_bad_cluster_barrier(Finding *finding, ClusterFault fault);
// `in` is given an mbarrier that it cannot be used on.
void word_bad_mbarrier(Finding *finding, MbarrierFault fault, const MbarrierFacts *facts);
// Waits for ever for the end of a phase.
void word_mbarrier_deadlock(Finding *finding, const MbarrierFacts *facts);

typedef enum { SOURCE_EXITED, SOURCE_NOT_IN_BLOCK, SOURCE_NOT_IN_MASK, SOURCE_ELSEWHERE } AbsentSource;

// A shuffle reads `lane`.
void word_absent_source(Finding *finding, int lane, AbsentSource why);

typedef struct {
    const Instruction *in;     // where the first lane found waits
    unsigned here;             // threads that wait there
    unsigned elsewhere;        // and at other places, the first of them in line
    int elsewhere_line;        //
    unsigned absent;           // that do not wait, and have not exited
    const char *absent_thread; // the first of them
} DeadlockFacts;

void word_deadlock(Finding *finding, const DeadlockFacts *facts);
// Where no lane waits and none can run.
void word_stuck(Finding *finding, const uint32_t block[3]);

// ---- racecheck --------------------------------------------------------------------------------------------

// An access, as far as its order is concerned.
typedef struct {
    bool is_write;
    bool is_atomic; // read-modify-write
} RaceAccess;

// What would have ordered the two accesses.
typedef enum {
    RACE_OF_BLOCKS,
    RACE_OF_BLOCKS_THAT_SHARE, // both store there, or the two are in one line, which both blocks execute
    RACE_OF_WARPS,
    RACE_OF_COPY,             // an asynchronous one wrote, for which its thread has to wait first
    RACE_OF_BLOCK_THAT_READS, // it has met what the other published, and makes no fence
    RACE_BY_READ_ONLY_PATH,   // ld.global.nc of what the launch writes
    RACE_IN_ONE_ROUND,        // of a loop that has a barrier
    RACE_IN_ONE_INSTRUCTION,  // of two lanes
    RACE_OF_VOLATILE_LANES,
    RACE_OF_LANES,
} RaceOrderMissing;

typedef struct {
    RaceAccess access, other;
    RaceOrderMissing missing;
    const char *object;
    uint64_t index; // of the byte
    unsigned width; // bytes of the accessed type
    const unsigned *other_thread;
    const unsigned *other_block; // NULL: the same
    int other_line;              // 0: unknown
    bool same_value;             // both write it
} RaceFacts;

void word_race(Finding *finding, const RaceFacts *facts);

// A bulk copy reads what a store at finding->other_place has written, without a fence between the proxies.
void word_proxy_race(Finding *finding, const char *object, uint64_t index, bool is_copy);
// A store to bytes that the bulk copy at finding->other_place may not have read yet, or may yet write.
void word_unfenced_wgmma(Finding *finding);
void word_copy_race(Finding *finding, const char *object, uint64_t index, bool is_source);
void word_bad_copy(Finding *finding, CopyFault fault, uint32_t bytes);

// ---- Weak memory ------------------------------------------------------------------------------------------

// What let a thread miss a store although its block had seen a later one of the same block.
typedef enum {
    STALE_TORN,            // the two are parts of what it reads at once
    STALE_TWO_LOADS,       // one store wrote both
    STALE_BOTH,            // no fence between the two stores, and none between the two reads
    STALE_WRITER,          // none between the two stores
    STALE_WRITER_OF_BLOCK, // only one of block scope
    STALE_READER,          // no fence between the two reads
    STALE_READER_OF_BLOCK, // only one of block scope
    STALE_OTHERWISE,       // scopes, or fences of other threads
} StaleCause;

typedef struct {
    StaleCause cause;
    const char *object;
    uint64_t index;                             // of the byte
    unsigned width;                             // bytes of the accessed type
    const unsigned *other_thread, *other_block; // that stored
    int missed_line, later_line;                // of the two stores; 0: unknown
    int seen_line;                              // of the read of the later one
} StaleFacts;

void word_stale(Finding *finding, const StaleFacts *facts);
