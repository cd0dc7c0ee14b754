#include "emulator/observers/counters.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/machine/sync.h"
#include "emulator/observers/access_counts.h"
#include "emulator/observers/printf_counts.h"
#include "emulator/observers/retried.h"

struct Counting {
    Machine *machine;
    Counters *counts; // of each instruction, by number: what its accesses count for, and at the end the rest
    Tally *tally;     // likewise, by the machine
    BankConflict *conflicts; // the worst of each instruction
    Scatter *scatters;       // likewise
    Retried *retried;
};

static void add_access(Counting *c, const Access *access) {
    Counters *counts = &c->counts[access->in->number];
    const uint64_t before = counts->shared_ld_conflicts + counts->shared_st_conflicts;
    const uint64_t sectors_before = counts->global_ld_sectors + counts->global_st_sectors;
    counters_add_access(counts, access);
    const uint64_t extra = counts->shared_ld_conflicts + counts->shared_st_conflicts - before;
    const uint32_t sectors =
        (uint32_t)(counts->global_ld_sectors + counts->global_st_sectors - sectors_before);
    if (extra > 0) note_bank_conflict(&c->conflicts[access->in->number], (uint32_t)extra, access);
    if (sectors > 0) note_scatter(&c->scatters[access->in->number], sectors, access);
}

static void count_sunk(void *self, const Access *access) { add_access(self, access); }

static void count_access(void *self, const Access *access) {
    Counting *c = self;
    if (access->kind == ACCESS_LOAD && access->in->to_branch) return; // counted by count_sunk()
    add_access(c, access);
    if (is_retried(access)) retried_note(c->retried, access);
}

static int compare_sectors(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void count_texture(void *self, const Instruction *in, const uint64_t *sectors, int count,
                          int requests) {
    Counting *c = self;
    uint64_t sorted[8 * WARP_SIZE];
    memcpy(sorted, sectors, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_sectors);
    c->counts[in->number].texture_requests += (uint64_t)requests;
    for (int i = 0; i < count; i++) c->counts[in->number].texture_sectors += !i || sorted[i] != sorted[i - 1];
}

static void count_printed(void *self, const Instruction *in, uint32_t mask, const Printed *what) {
    Counting *c = self;
    counters_add_printf(&c->counts[in->number], mask, what);
}

static void count_barrier(void *self, Block *block, int id) {
    Counting *c = self;
    retried_count(c->retried, block);
    if (barrier_part(block, id).part == BARRIER_WHOLE) return;
    for (int k = 0; k < block->warp_count; k++) {
        const Warp *w = &block->warps[k];
        for (int i = 0; i < w->fragment_count; i++)
            if (w->fragments[i].mask && w->fragments[i].state == WAIT_BARRIER &&
                w->fragments[i].barrier == id)
                c->counts[instruction_of(&w->fragments[i])->number].partial_barriers++;
    }
}

static void count_end(void *self, Block *block) {
    Counting *c = self;
    retried_count(c->retried, block);
}

static void counting_free(Counting *c) {
    retried_free(c->retried);
    free(c->counts);
    free(c->tally);
    free(c->conflicts);
    free(c->scatters);
    free(c);
}

Counting *counting_new(Machine *m, Observer *observer) {
    size_t count = (size_t)m->program->instruction_count + 1;
    Counting *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (Counting){.machine = m,
                    .counts = calloc(count, sizeof *c->counts),
                    .tally = calloc(count, sizeof *c->tally),
                    .conflicts = calloc(count, sizeof *c->conflicts),
                    .scatters = calloc(count, sizeof *c->scatters)};
    c->retried = c->counts ? retried_new(c->counts) : NULL;
    if (!c->tally || !c->conflicts || !c->scatters || !c->retried) {
        counting_free(c);
        return NULL;
    }
    m->tally = c->tally;
    *observer = (Observer){.self = c,
                           .access = count_access,
                           .sunk = count_sunk,
                           .barrier = count_barrier,
                           .texture = count_texture,
                           .printed = count_printed,
                           .block_end = count_end};
    return c;
}

// ---- Gathering --------------------------------------------------------------------------------------------

// What the machine's tally of an instruction means.
static void add_tally(Counters *counters, const Tally *tally, const Instruction *in) {
    counters->instructions += tally->warps;
    counters->thread_instructions += tally->lanes;
    counters->float_ops += tally->lanes * in->float_ops;
    counters->float_distance += tally->lanes * in->float_ops * in->float_distance;
    switch ((InstructionKind)in->kind) {
    case KIND_BRANCH:
    case KIND_BRANCH_TABLE:
        counters->branches += tally->done;
        counters->branch_divergent += tally->parted;
        if (!in->is_predicated)
            counters->issued_branch_divergent += in->unrolled ? tally->unrolled_parted : tally->parted;
        break;
    case KIND_ALU: counters->issued_branch_divergent += tally->parted; break; // alu/slow_path.h
    case KIND_FENCE: counters->fences += tally->warps; break;
    case KIND_BARRIER: counters->barriers += tally->done; break;
    case KIND_WARP_BARRIER: counters->warp_barriers += tally->done; break;
    case KIND_SHUFFLE: counters->shuffles += tally->done; break;
    case KIND_VOTE: counters->votes += tally->done; break;
    case KIND_MATCH: counters->matches += tally->done; break;
    case KIND_REDUX:
        counters->reductions += tally->done;
        counters->issued_branch_divergent += tally->parted;
        break;
    default: break;
    }
}

// Whether a warp may issue it although none of its lanes comes to it.
static bool is_issued_by_others(const Instruction *in) {
    return in->space == PTX_SPACE_SHARED && in->merged_bytes != MERGED_AWAY &&
           (in->guard >= 0 || in->predicated_back || in->to_round_end);
}

// Under a predicate an access to shared memory is issued by every warp that comes to the branch, or to the
// instruction, and in what is left over of an unrolled loop by every warp that has been in the loop.
static void add_issued(Counters *counters, const Tally *tally, const Instruction *in) {
    if (in->kind == KIND_CP_ASYNC) counters->issued_shared_st = 0; // LDGSTS, which ncu counts apart
    uint64_t *count = in->kind == KIND_LOAD     ? &counters->issued_shared_ld
                      : in->kind == KIND_STORE  ? &counters->issued_shared_st
                      : in->kind == KIND_ATOMIC ? &counters->issued_shared_atom
                                                : NULL;
    if (!count || !is_issued_by_others(in)) return;
    const uint64_t issued = tally[-(int)in->predicated_back].warps;
    if (issued > *count) *count = issued;
    if (in->to_round_end) *count += tally[in->to_round_end].more_rounds;
}

static int compare_lines(const void *a, const void *b) {
    const SourcePlace *x = &((const LineCounters *)a)->place, *y = &((const LineCounters *)b)->place;
    int files = strcmp(x->file, y->file);
    return files ? files : x->line - y->line;
}

static bool gather(const Counting *c, EmulatorResult *result) {
    const Program *program = c->machine->program;
    size_t executed = 0;
    for (int i = 0; i < program->instruction_count; i++) executed += c->tally[i].warps > 0;
    LineCounters *lines = calloc(executed + 1, sizeof *lines);
    if (!lines) return false;
    int count = 0;
    for (int i = 0; i < program->instruction_count; i++) {
        const Instruction *in = program->by_number[i];
        if (!c->tally[i].warps) { // no lane came to it, but a warp may have issued it
            if (!is_issued_by_others(in)) continue;
            Counters issued = {0};
            add_issued(&issued, &c->tally[i], in);
            counters_add(&result->counters, &issued);
            continue;
        }
        LineCounters *line = &lines[count++];
        line->place = place_of(program, in);
        line->counters = c->counts[i];
        line->conflict = c->conflicts[i];
        line->scatter = c->scatters[i];
        add_tally(&line->counters, &c->tally[i], in);
        add_issued(&line->counters, &c->tally[i], in);
        counters_add(&result->counters, &line->counters);
    }
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept && !compare_lines(&lines[kept - 1], &lines[i]))
            line_counters_add(&lines[kept - 1], &lines[i]);
        else
            lines[kept++] = lines[i];
    }
    result->lines = lines;
    result->line_count = kept;
    return true;
}

bool counting_finish(Counting *c, EmulatorResult *result) {
    retried_finish(c->retried);
    bool gathered = gather(c, result);
    c->machine->tally = NULL;
    counting_free(c);
    return gathered;
}
