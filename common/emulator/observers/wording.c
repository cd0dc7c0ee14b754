#include "emulator/observers/wording.h"

#include <inttypes.h>

#include "emulator/observers/say.h"

// ---- memcheck ---------------------------------------------------------------------------------------------

static void say_before(Finding *finding, const char *does, const MemoryFacts *f, const char *space) {
    say(finding, "%s %u bytes that begin %" PRId64 " byte%s before %s%s, which has %" PRIu64, does, f->bytes,
        -f->index, f->index == -1 ? "" : "s", space, f->object, f->object_bytes);
}

static void say_past_buffer(Finding *finding, const char *does, const MemoryFacts *f) {
    int64_t past = f->index - (int64_t)f->object_bytes;
    char where[96];
    if (f->index < 0) {
        say_before(finding, does, f, "");
        return;
    }
    if (past >= 0)
        snprintf(where, sizeof where, "they end %" PRId64 " bytes past its end", past + (int64_t)f->bytes);
    else
        snprintf(where, sizeof where, "across the end");
    say(finding, "%s %u bytes at byte %" PRId64 " of %s, which has %" PRIu64 ": %s", does, f->bytes, f->index,
        f->object, f->object_bytes, where);
}

void word_memory(Finding *finding, const MemoryFacts *f) {
    static const char *const doing[] = {"reads", "writes", "updates atomically", "updates atomically"};
    const char *does = doing[f->kind];
    switch (f->fault) {
    case MEMORY_NULL_POINTER:
        say(finding, "%s %u bytes through a null pointer (address 0x%" PRIx64 ")", does, f->bytes,
            f->address);
        break;
    case MEMORY_NO_BUFFER:
        say(finding, "%s %u bytes at 0x%" PRIx64 ", outside every buffer", does, f->bytes, f->address);
        break;
    case MEMORY_OTHER_SPACE:
        say(finding,
            "%s %u bytes at 0x%" PRIx64 ", which is %s memory, with an instruction for global memory", does,
            f->bytes, f->address, f->object);
        break;
    case MEMORY_PAST_BUFFER: say_past_buffer(finding, does, f); break;
    case MEMORY_PAST_SHARED:
        if (f->index < 0) {
            say_before(finding, does, f, "shared ");
            break;
        }
        say(finding, "%s %u bytes at byte %" PRId64 " of shared %s, which has %" PRIu64, does, f->bytes,
            f->index, f->object, f->object_bytes);
        break;
    case MEMORY_SHARED_GAP:
        say(finding, "%s %u bytes of shared memory at 0x%" PRIx64 ", outside every variable", does, f->bytes,
            f->address);
        break;
    case MEMORY_NO_SHARED:
        say(finding, "%s %u bytes of shared memory at 0x%" PRIx64 ", but the block has none", does, f->bytes,
            f->address);
        break;
    case MEMORY_OF_ENDED:
        say(finding,
            "%s %u bytes of shared memory of %s, whose threads have all ended: a barrier of the cluster must "
            "come "
            "between this and its end",
            does, f->bytes, f->object);
        break;
    case MEMORY_OF_RANK:
        say(finding,
            "%s %u bytes of shared memory of the block of rank %" PRId64 ", but the cluster has %" PRIu64
            " blocks",
            does, f->bytes, f->index, f->object_bytes);
        break;
    case MEMORY_OF_CLUSTER:
        say(finding,
            "%s %u bytes of shared memory of the block of rank %" PRId64
            " with an instruction for its own: .shared::cluster is for others",
            does, f->bytes, f->index);
        break;
    case MEMORY_OUTSIDE_LOCAL:
        if ((int64_t)f->address < 0) {
            say(finding,
                "%s %u bytes of local memory that begin %" PRId64 " bytes before the thread's arrays", does,
                f->bytes, -(int64_t)f->address);
            break;
        }
        say(finding, "%s %u bytes of local memory at byte %" PRId64 ", outside the thread's arrays", does,
            f->bytes, (int64_t)f->address);
        break;
    case MEMORY_MISALIGNED:
        say(finding, "%s %u bytes at 0x%" PRIx64 ", which is not a multiple of %u", does, f->bytes,
            f->address, f->bytes);
        break;
    case MEMORY_FREED:
        say(finding,
            "%s %u bytes at byte %" PRId64 " of an allocation of %" PRIu64 " bytes that free() has released",
            does, f->bytes, f->index, f->object_bytes);
        break;
    case MEMORY_READ_ONLY:
        say(finding, "%s %s, which is read-only", f->kind == ACCESS_STORE ? "writes to" : "updates",
            f->object);
        break;
    }
}

// ---- initcheck --------------------------------------------------------------------------------------------

void word_uninitialised(Finding *finding, uint32_t bytes, uint64_t index, const char *object) {
    say(finding, "reads %u bytes at byte %" PRIu64 " of %s, which nothing has written", bytes, index, object);
}

void word_undefined(Finding *finding, uint32_t bytes, uint64_t index, const char *object) {
    say(finding, "reads %u bytes at byte %" PRIu64 " of %s, which hold no defined value", bytes, index,
        object);
}

void word_undelivered(Finding *finding, uint32_t bytes, uint64_t index, const char *object,
                      const Instruction *copy, int line) {
    char where[32] = "";
    if (line) snprintf(where, sizeof where, " at line %d", line);
    say(finding,
        "reads %u bytes at byte %" PRIu64
        " of %s, which the asynchronous copy%s has not delivered (%s must come "
        "first)",
        bytes, index, object, where,
        copy->kind == KIND_BULK || copy->kind == KIND_ASYNC_STORE
            ? "the wait for its mbarrier"
            : "cp.async.wait_group or .wait_all, __pipeline_wait_prior(),");
}

void word_pending(Finding *finding) {
    say(finding, "multiplies with wgmma.mma_async, whose sums are read before they are there "
                 "(wgmma.commit_group and wgmma.wait_group must come first)");
}

void word_unset(Finding *finding) { say(finding, "reads a variable that nothing has set"); }

void word_unknown_undefined(Finding *finding) { say(finding, "has a value that nothing has set"); }

void word_use(Finding *finding, UndefinedUse use) {
    static const char *const uses[UNDEFINED_USES] = {[USE_ADDRESS] = "an address depends",
                                                     [USE_BRANCH] = "a condition depends",
                                                     [USE_STORE] = "a stored value depends",
                                                     [USE_ATOMIC] = "an atomic depends",
                                                     [USE_PRINT] = "what printf prints depends"};
    say(finding, ", and %s on it", uses[use]);
    if (finding->other_place.line) say(finding, " at line %d", finding->other_place.line);
}

void word_ended(Finding *finding, uint32_t threads) {
    say(finding, "; %" PRIu32 " thread%s of the block had ended before the barrier", threads,
        threads == 1 ? "" : "s");
}

// ---- synccheck --------------------------------------------------------------------------------------------

static const char *operation_words(const Instruction *in) {
    switch (in->kind) {
    case KIND_BARRIER: return "a barrier of the block";
    case KIND_CLUSTER_BARRIER: return "the barrier of the cluster";
    case KIND_SHUFFLE: return "a shuffle";
    case KIND_VOTE: return "a vote";
    case KIND_MATCH: return "a match";
    case KIND_REDUX: return "a reduction";
    case KIND_ELECT: return "an election";
    case KIND_WGMMA:
    case KIND_MMA: return "a matrix multiplication";
    case KIND_MATRIX_MOVE: return "ldmatrix, stmatrix or movmatrix";
    default: return "__syncwarp()";
    }
}

void word_divergent_barrier(Finding *finding) {
    say(finding, "and others of its warp meet at two different barriers: all threads of a block must "
                 "reach the same __syncthreads()");
}

void word_partial_barrier(Finding *finding, uint32_t absent, uint32_t threads, const char *first) {
    say(finding,
        "waits at a barrier that %u of the block's %u threads never execute: they have ended, the "
        "first is %s",
        absent, threads, first);
}

void word_separate_barriers(Finding *finding, uint32_t absent, uint32_t threads, const char *first,
                            int other_line) {
    say(finding, "waits at a barrier that %u of the block's %u threads do not execute: %s waits at another",
        absent, threads, first);
    if (other_line) say(finding, ", at line %d", other_line);
}

void word_bad_barrier(Finding *finding, uint32_t id, uint32_t threads) {
    say(finding,
        "uses barrier %u for %u threads: barriers are 0 to 15, and the number of threads is a "
        "multiple of 32 up to the block's size",
        id, threads);
}

void word_mask(Finding *finding, MaskFault fault, const Instruction *in, uint32_t members, int lane,
               uint32_t other_members) {
    const char *operation = operation_words(in);
    switch (fault) {
    case MASK_WITHOUT_CALLER:
        say(finding, "executes %s with mask 0x%08x, which does not name it", operation, members);
        break;
    case MASK_OF_OTHERS:
        say(finding,
            "executes %s with mask 0x%08x, which names lane %d; that lane gives mask 0x%08x: all "
            "lanes that a mask names must give the same",
            operation, members, lane, other_members);
        break;
    case MASK_OF_EXITED:
        say(finding, "executes %s with mask 0x%08x, which names lane %d; that lane has exited", operation,
            members, lane);
        break;
    case MASK_EXITED_MEANWHILE:
        say(finding, "waits in %s with mask 0x%08x for lane %d, which exits without taking part", operation,
            members, lane);
        break;
    }
}

void word_bad_cluster_barrier(Finding *finding, ClusterFault fault) {
    static const char *const words[] = {
        [CLUSTER_DIVERGED] = "arrives at another barrier.cluster.aligned than other threads of its warp",
        [CLUSTER_ARRIVED_TWICE] = "arrives at the barrier of the cluster again before it has waited there",
        [CLUSTER_NOT_ARRIVED] = "waits at the barrier of the cluster without having arrived there"};
    say(finding, "%s", words[fault]);
}

// "which line 12 initialises", of finding->other_place.
static const char *initialised_words(char text[48], const Finding *finding) {
    const int line = finding->other_place.line ? finding->other_place.line : finding->place.line;
    text[0] = '\0';
    if (line) snprintf(text, 48, " that line %d initialises", line);
    return text;
}

void word_bad_mbarrier(Finding *finding, MbarrierFault fault, const MbarrierFacts *f) {
    char initialised[48];
    initialised_words(initialised, finding);
    switch (fault) {
    case MBARRIER_ABSENT:
        say(finding,
            "uses an mbarrier in %s, but none is initialised there: mbarrier.init comes first, and a barrier "
            "of "
            "the block after it",
            f->name);
        break;
    case MBARRIER_BAD_COUNT:
        say(finding, "gives %u arrivals to the mbarrier in %s: a number is 1 to 1048575", f->count, f->name);
        break;
    case MBARRIER_BAD_BYTES:
        say(finding,
            "makes the mbarrier in %s expect %u bytes more, and it expects %d: all together may be at most "
            "1048575",
            f->name, f->count, f->bytes);
        break;
    case MBARRIER_TOO_MANY:
        say(finding,
            "arrives %u times at the mbarrier in %s%s, but its phase waits for %u of %u arrivals: the number "
            "that "
            "it is initialised with must be that of all arrivals of a phase",
            f->count, f->name, initialised, f->pending, f->expected);
        break;
    case MBARRIER_ENDED:
        say(finding,
            "arrives with .noComplete at the mbarrier in %s%s, but no other arrival is pending: this one "
            "ends the "
            "phase",
            f->name, initialised);
        break;
    }
}

void word_mbarrier_deadlock(Finding *finding, const MbarrierFacts *f) {
    char initialised[48];
    say(finding, "waits for ever at the mbarrier in %s%s, for the end of a phase of parity %u", f->name,
        initialised_words(initialised, finding), f->parity);
    if (!f->init) return;
    say(finding,
        ": %" PRIu64 " %s ended, and the current one, of parity %u, still waits for %u of %u arrivals",
        f->phases, f->phases == 1 ? "phase has" : "phases have", (unsigned)(f->phases & 1), f->pending,
        f->expected);
    if (f->bytes > 0) say(finding, " and for %d bytes of copies", f->bytes);
    if (f->bytes < 0)
        say(finding, ", and copies have brought %d bytes that no expect_tx has announced", -f->bytes);
    if (f->threads > 1) say(finding, ". %u threads wait for mbarriers", f->threads);
}

void word_absent_source(Finding *finding, int lane, AbsentSource why) {
    static const char *const reasons[] = {[SOURCE_EXITED] = "has exited",
                                          [SOURCE_NOT_IN_BLOCK] = "does not exist in this block",
                                          [SOURCE_NOT_IN_MASK] = "is not in the mask",
                                          [SOURCE_ELSEWHERE] = "does not take part"};
    say(finding, "reads lane %d by a shuffle, but that lane %s: the value is undefined", lane, reasons[why]);
}

void word_deadlock(Finding *finding, const DeadlockFacts *f) {
    char elsewhere[64] = "", absent[192] = "";
    if (f->elsewhere)
        snprintf(elsewhere, sizeof elsewhere, "; %u wait%s at line %d", f->elsewhere,
                 f->elsewhere == 1 ? "s" : "", f->elsewhere_line);
    if (f->absent)
        snprintf(absent, sizeof absent, "; %u never arrived, the first is %s", f->absent, f->absent_thread);
    say(finding, "waits for ever at %s: %u thread%s of the block wait%s here%s%s", operation_words(f->in),
        f->here, f->here == 1 ? "" : "s", f->here == 1 ? "s" : "", elsewhere, absent);
}

void word_stuck(Finding *finding, const uint32_t block[3]) {
    say(finding, "no thread of block (%u,%u,%u) can continue", block[0], block[1], block[2]);
}

// ---- racecheck --------------------------------------------------------------------------------------------

static const char *missing_words(RaceOrderMissing missing) {
    switch (missing) {
    case RACE_OF_BLOCKS:
        return "and nothing orders the two blocks: a fence with an atomic or a flag would, or the end of the "
               "kernel";
    case RACE_OF_BLOCKS_THAT_SHARE: return "and nothing orders the two blocks";
    case RACE_OF_BLOCK_THAT_READS:
        return "and no fence of this block comes between the atomic or flag that announces it and this read";
    case RACE_OF_WARPS: return "with no barrier between them";
    case RACE_OF_COPY:
        return "by an asynchronous copy, and between the two comes no wait for the copy by the thread that "
               "started it with a barrier after that wait";
    case RACE_BY_READ_ONLY_PATH:
        return "by a load that is for data which no kernel writes while it runs (__ldg, or a pointer that is "
               "const and __restrict__): it may return an old value, whatever orders the two";
    case RACE_IN_ONE_ROUND: return "in the same round of a loop that has a barrier";
    case RACE_IN_ONE_INSTRUCTION: return "in the same instruction: which value remains is a matter of chance";
    case RACE_OF_VOLATILE_LANES:
        return "with no __syncwarp() between them: volatile does not order lanes of a warp";
    case RACE_OF_LANES: break;
    }
    return "with no barrier and no __syncwarp() between them: lanes of a warp need not run together";
}

void word_race(Finding *finding, const RaceFacts *f) {
    const char *does = !f->access.is_write ? "reads" : f->access.is_atomic ? "updates atomically" : "writes";
    const char *did = !f->other.is_write ? "read" : f->other.is_atomic ? "updated atomically" : "wrote";
    const char *hazard = !f->access.is_write ? "read-after-write"
                         : f->other.is_write ? "write-after-write"
                                             : "write-after-read";
    const unsigned *thread = f->other_thread, *block = f->other_block;
    char of_block[64] = "", where[64] = "";
    if (block) snprintf(of_block, sizeof of_block, " of block (%u,%u,%u)", block[0], block[1], block[2]);
    if (f->other_line) snprintf(where, sizeof where, " at line %d", f->other_line);
    say(finding,
        "%s %s at byte %" PRIu64 " (element %" PRIu64
        " of %u bytes) that thread (%u,%u,%u)%s %s%s, %s (%s)%s",
        does, f->object, f->index, f->index / f->width, f->width, thread[0], thread[1], thread[2], of_block,
        did, where, missing_words(f->missing), hazard, f->same_value ? "; both write the same value" : "");
}

// ---- Weak memory ------------------------------------------------------------------------------------------

// " at line 12", or nothing where the line is not known.
void word_stale(Finding *finding, const StaleFacts *f) {
    char missed[32], later[32], seen[32];
    const unsigned *thread = f->other_thread, *block = f->other_block;
    at_line(missed, f->missed_line);
    at_line(later, f->later_line);
    at_line(seen, f->seen_line);
    say(finding,
        "reads %s at byte %" PRIu64 " (element %" PRIu64 " of %u bytes) and misses the value that thread "
        "(%u,%u,%u) of block (%u,%u,%u) had stored there%s, ",
        f->object, f->index, f->index / f->width, f->width, thread[0], thread[1], thread[2], block[0],
        block[1], block[2], missed);
    if (f->cause == STALE_TORN) {
        say(finding,
            "but gets the other part of the value, stored%s: two stores do not arrive as one. One store of "
            "both parts would",
            later);
        return;
    }
    if (f->cause == STALE_TWO_LOADS) {
        say(finding,
            "although its block had already read%s the other part of what the same store wrote: two loads "
            "read the two parts, and those may run in any order. One load of both parts gets both",
            seen);
        return;
    }
    say(finding, "although its block had already read%s what that block stored later%s: ", seen, later);
    switch (f->cause) {
    case STALE_BOTH:
        say(finding, "no fence orders the two stores. There must be a __threadfence() between them, and one "
                     "between the two reads");
        break;
    case STALE_WRITER:
        say(finding,
            "no fence orders the two stores. There must be a __threadfence() between them; the two reads "
            "have one");
        break;
    case STALE_WRITER_OF_BLOCK:
        say(finding, "the fence between the two stores is of block scope, which does not reach other blocks. "
                     "__threadfence() does");
        break;
    case STALE_READER: say(finding, "no fence orders the two reads. Put __threadfence() between them"); break;
    case STALE_READER_OF_BLOCK:
        say(finding, "the fence between the two reads is of block scope, which does not reach other blocks. "
                     "__threadfence() does");
        break;
    default:
        say(finding, "the fences and scopes used do not order the two stores, or not the two reads");
        break;
    }
}
