// Barriers, fences and waits at other places.
#include "driver/judge/repair/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Places between instructions -------------------------------------------------------------------------

// The one of the finding's two lines that comes first; 0: there is none.
static int first_line(const Kernel *kernel) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || !finding->place.line) return 0;
    const int one = finding->place.line, other = finding->other_place.line;
    return other && other < one ? other : one;
}

// Whether a block of that kind that begins after the first line of the finding is around a line. Not all
// threads may come into an if, and for a loop the place before it is enough.
static bool is_in_later(const Kernel *kernel, int source, BlockKind kind) {
    const SourceBlocks *blocks = &kernel->blocks;
    const int first = first_line(kernel);
    if (!first || source < 1 || source > blocks->count) return false;
    for (int b = blocks->inside[source]; b >= 0; b = blocks->blocks[b].parent)
        if (blocks->blocks[b].head > first && blocks->blocks[b].kind == kind) return true;
    return false;
}

// How far an instruction is from the two lines of the finding.
static int distance(const Kernel *kernel, int source) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || !finding->place.line) return 0;
    const int here = abs(source - finding->place.line);
    const int there = finding->other_place.line ? abs(source - finding->other_place.line) : here;
    return here < there ? here : there;
}

// A place between instructions, and the line of kernel.cu that it is before or behind.
typedef struct {
    int at, distance, source;
    int near; // the line before which a statement would be there, in most cases; 0: there is none
    ChangeSide side;
    bool ends_round; // of an unrolled loop
    int loop;        // among the blocks of kernel.cu, where it does
    int copies;      // of the body of that loop, at least
    bool is_ordered; // a barrier is there
    int alike;       // places on this side of the line, and ends of rounds of the loop that have a barrier
    bool repeats;    // another round of one
} Place;

static int compare_places(const void *left, const void *right) {
    const Place *a = left, *b = right;
    return a->distance != b->distance ? a->distance - b->distance : a->at - b->at;
}

static bool same_side(const Place *a, const Place *b) { return a->source == b->source && a->side == b->side; }

static bool is_ordered_end(const Place *place, int loop) {
    return place->ends_round && place->loop == loop && place->is_ordered;
}

// More than any number of lines: after all places that are in none.
enum { IN_LOOP = 1 << 19, IN_BRANCH = 1 << 20 };

// The innermost loop around both lines; -1: none.
static int loop_around_both(const SourceBlocks *blocks, int line, int other) {
    int loop = block_around(blocks, line, BLOCK_LOOP);
    while (loop >= 0 && (blocks->blocks[loop].kind != BLOCK_LOOP || !block_holds(blocks, loop, other)))
        loop = blocks->blocks[loop].parent;
    return loop;
}

// How often an unrolled loop's body is in the PTX, at least: as often as its rarest access.
static int copies_of(const Kernel *kernel, const Block *loop) {
    int fewest = 0;
    for (int line = loop->head; line <= loop->end; line++) {
        int loads = 0, stores = 0;
        for (int i = kernel->first; i < kernel->end; i++) {
            PtxInstruction in;
            if (kernel->lines->lines[i].source != line || !ptx_instruction(&kernel->lines->lines[i], &in))
                continue;
            loads += is_access(&in, "ld");
            stores += is_access(&in, "st");
        }
        if (loads > 0 && (fewest == 0 || loads < fewest)) fewest = loads;
        if (stores > 0 && (fewest == 0 || stores < fewest)) fewest = stores;
    }
    return fewest;
}

// Behind a line. If an earlier one follows, a round of the loop around both ends there, and what is in it
// has ended. `places`: those before.
static void find_end_of_round(const Kernel *kernel, int next, const Place *places, int count, Place *place) {
    const SourceBlocks *blocks = &kernel->blocks;
    const int loop = loop_around_both(blocks, place->source, next);
    place->near = line_behind(kernel, place->source);
    if (loop < 0 || next >= place->source) return;
    if (blocks->inside[place->source] != loop) place->near = blocks->blocks[loop].end;
    place->ends_round = is_in_unrolled_loop(kernel, place->at, blocks->blocks[loop].end);
    if (!place->ends_round) return;
    place->loop = loop;
    for (int p = count - 1; p >= 0; p--) { // each round of the loop ends at a place
        if (!places[p].ends_round || places[p].loop != loop) continue;
        place->copies = places[p].copies;
        return;
    }
    place->copies = copies_of(kernel, &blocks->blocks[loop]);
}

static void take_place(const Kernel *kernel, int next, Place *places, int count, Place place) {
    place.near = place.source;
    if (place.side == SIDE_BEHIND) find_end_of_round(kernel, next, places, count, &place);
    for (int p = 0; p < count && !place.repeats; p++) place.repeats = same_side(&places[p], &place);
    place.distance = distance(kernel, next);
    // The first round of an unrolled loop begins where the loop does.
    if (is_in_later(kernel, place.near, BLOCK_LOOP) &&
        (place.repeats || !is_in_unrolled_loop(kernel, place.at, place.near)))
        place.distance += IN_LOOP;
    if (is_in_later(kernel, place.near, BLOCK_IF) || is_in_later(kernel, place.near, BLOCK_ELSE))
        place.distance += IN_BRANCH;
    places[count] = place;
}

static bool is_block_barrier(const PtxInstruction *in) {
    return (opcode_is(in, "bar") || opcode_is(in, "barrier")) && !opcode_has(in, "warp");
}

// Where another line of the source begins behind the first access, nearest to the finding first.
static int list_places(const Kernel *kernel, Place **places) {
    int count = 0, previous = 0;
    bool has_access = false, is_behind_barrier = false;
    *places = calloc((size_t)kernel->end - (size_t)kernel->first + 1, sizeof **places);
    for (int i = kernel->first; *places && i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if (!ptx_instruction(line, &in)) continue;
        // Instructions of no line follow a branch to the end of its statement.
        const int source = line->source ? line->source : previous;
        if (has_access && source && (line->is_join || source != previous)) {
            // Back at the head of a loop: this is the end of its body.
            const ChangeSide side = source < previous   ? SIDE_BEHIND
                                    : source > previous ? SIDE_BEFORE
                                    : line->source      ? SIDE_WITHIN
                                                        : SIDE_BEHIND;
            const int at = side == SIDE_BEHIND ? previous : source;
            const Place place = {.at = i, .source = at, .side = side, .is_ordered = is_behind_barrier};
            take_place(kernel, source, *places, count++, place);
        }
        previous = source;
        is_behind_barrier = is_block_barrier(&in);
        if (is_access(&in, "st") || is_access(&in, "ld") || opcode_is(&in, "atom") || opcode_is(&in, "red") ||
            opcode_is(&in, "cp"))
            has_access = true;
    }
    for (int p = 0; p < count; p++)
        for (int k = 0; k < count; k++)
            (*places)[p].alike +=
                same_side(&(*places)[p], &(*places)[k]) ||
                ((*places)[p].ends_round && is_ordered_end(&(*places)[k], (*places)[p].loop));
    if (*places) qsort(*places, (size_t)count, sizeof **places, compare_places);
    return count;
}

typedef struct {
    ChangeKind kind;
    const char *what, *instruction;
    int first, end;    // of the places, the nearest first
    bool removes_here; // and no barrier any more in the line of the finding
} Insertion;

static bool is_barrier_of_finding(const Kernel *kernel, int at) {
    PtxInstruction in;
    return kernel->lines->lines[at].source == kernel->symptoms->finding->place.line &&
           ptx_instruction(&kernel->lines->lines[at], &in) && is_block_barrier(&in);
}

// A statement at the end of a loop's body is behind each copy of it except the last, behind which it changes
// nothing: whether what is inserted is at fewer places.
static bool misses_rounds(const Place *place, bool is_unrolled) {
    return place->ends_round && (is_unrolled ? place->alike : 1) < place->copies - 1;
}

// Says where kernel.cu has the place, or that no line has it.
static void say_place(const Kernel *kernel, const Insertion *insertion, const Place *place, bool is_unrolled,
                      Change *change) {
    if (!change) return;
    const bool is_behind = place->side == SIDE_BEHIND;
    const int near = place->near;
    const int line = near && !misses_rounds(place, is_unrolled)
                         ? line_before_place(kernel, place->at, near, is_unrolled || place->ends_round)
                         : 0;
    change->side = place->side;
    if (place->side == SIDE_WITHIN || kernel->blocks.count == 0) {
        change->source = place->source;
    } else if (line == 0) {
        change->source = 0;
        snprintf(change->words, sizeof change->words,
                 insertion->removes_here ? "%s to a place that no line of kernel.cu stands for"
                                         : "one more %s, at a place that no line of kernel.cu stands for",
                 insertion->what);
        return;
    } else if (!is_behind || line != line_behind(kernel, place->source)) {
        change->source = line;
        change->side = SIDE_BEFORE;
    }
    static const char *const where[] = {"before", "after", "between the accesses of"};
    say_at(change, insertion->what, where[change->side]);
}

static Change *insert_at(const Kernel *kernel, const Insertion *insertion, const Place *place,
                         bool is_unrolled) {
    Change *change = changes_add(kernel->changes, insertion->kind, place->source);
    say_place(kernel, insertion, place, is_unrolled, change);
    change_insert(kernel->changes, change, place->at, "\t%s", insertion->instruction);
    for (int i = kernel->first; i < kernel->end && insertion->removes_here; i++)
        if (is_barrier_of_finding(kernel, i)) change_replace(kernel->changes, change, i, "%s", "");
    return change;
}

// All rounds of the unrolled loops that those of the places from `first` to `end` - 1 are in.
static void insert_in_all_rounds(const Kernel *kernel, const Insertion *insertion, const Place *places,
                                 int count, int first, int end, bool is_later) {
    for (int p = first; p < end; p++) {
        if (places[p].repeats || is_in_later(kernel, places[p].near, BLOCK_LOOP) != is_later) continue;
        Change *all = NULL;
        for (int k = 0; k < count; k++) {
            if (k == p || !same_side(&places[k], &places[p])) continue;
            if (!all) all = insert_at(kernel, insertion, &places[p], true);
            change_insert(kernel->changes, all, places[k].at, "\t%s", insertion->instruction);
        }
    }
}

// Whether it is the first round's, and has a line together with those of all other rounds alone.
static bool has_line_in_all(const Place *place) {
    return !place->repeats && misses_rounds(place, false) && !misses_rounds(place, true);
}

static void insert_in_one_round(const Kernel *kernel, const Insertion *insertion, const Place *places,
                                int first, int end, bool has_line_in_more) {
    for (int p = first; p < end; p++)
        if (has_line_in_all(&places[p]) == has_line_in_more) insert_at(kernel, insertion, &places[p], false);
}

// Those of the places from `first` to `end` - 1. A line of an unrolled loop has several: all of them, then
// each; or the other way if one before the loop may be enough. One that has a line in
// all rounds alone comes last.
static void insert_at_places(const Kernel *kernel, const Insertion *insertion, const Place *places, int count,
                             int first, int end) {
    insert_in_all_rounds(kernel, insertion, places, count, first, end, false);
    insert_in_one_round(kernel, insertion, places, first, end, false);
    insert_in_all_rounds(kernel, insertion, places, count, first, end, true);
    insert_in_one_round(kernel, insertion, places, first, end, true);
}

// What another change inserts, where `change` does not yet.
static void add_insertions(const Kernel *kernel, Change *change, const Change *other) {
    for (int e = 0; e < other->edit_count; e++) {
        bool is_there = other->edits[e].replaces;
        for (int k = 0; k < change->edit_count; k++)
            is_there |= change->edits[k].line == other->edits[e].line;
        if (!is_there)
            change_insert(kernel->changes, change, other->edits[e].line, "%s", other->edits[e].text);
    }
}

// Changes from `first` on with the same words are one in kernel.cu, of a function that is inlined several
// times: all of them together.
static void propose_together(const Kernel *kernel, int first) {
    const int end = kernel->changes->count;
    for (int c = first; c < end; c++) {
        Change *all = NULL;
        bool is_done = kernel->changes->all[c].source == 0;
        for (int k = first; k < c; k++)
            is_done |= strcmp(kernel->changes->all[k].words, kernel->changes->all[c].words) == 0;
        for (int k = c + 1; k < end && !is_done; k++) {
            if (strcmp(kernel->changes->all[k].words, kernel->changes->all[c].words) != 0) continue;
            if (!all) {
                all = changes_add(kernel->changes, kernel->changes->all[c].kind,
                                  kernel->changes->all[c].source);
                if (!all) return;
                all->side = kernel->changes->all[c].side;
                say(all, kernel->changes->all[c].words);
                add_insertions(kernel, all, &kernel->changes->all[c]);
            }
            add_insertions(kernel, all, &kernel->changes->all[k]);
        }
    }
}

// Places in a loop or a branch, which are the last, only after all others.
static void propose_insertions(const Kernel *kernel, const Insertion *insertion) {
    Place *places;
    const int count = list_places(kernel, &places);
    const int end = insertion->end < count ? insertion->end : count, first_change = kernel->changes->count;
    int inside = insertion->first;
    while (inside < end && places[inside].distance < IN_LOOP) inside++;
    insert_at_places(kernel, insertion, places, count, insertion->first, inside);
    insert_at_places(kernel, insertion, places, count, inside, end);
    if (!insertion->removes_here) propose_together(kernel, first_change);
    free(places);
}

// ---- Fences ----------------------------------------------------------------------------------------------

typedef enum { FENCE_BEHIND, FENCE_BEFORE } FenceSide;

// Where a fence may be missing at an instruction: behind stores, before loads, on both sides of atomics.
static bool takes_fence(const PtxLine *line, FenceSide side) {
    PtxInstruction in;
    if (!line->source || !ptx_instruction(line, &in) || opcode_has(&in, "shared")) return false;
    if (opcode_is(&in, "atom") || opcode_is(&in, "red")) return true;
    return is_access(&in, side == FENCE_BEHIND ? "st" : "ld");
}

// One fence, then one on each side of what other blocks see, then all of them.
void propose_fences(const Kernel *kernel) {
    static const char fence[] = "\tfence.acq_rel.gpu;";
    for (int side = FENCE_BEHIND; side <= FENCE_BEFORE; side++) {
        for (int i = kernel->first; i < kernel->end; i++) {
            const PtxLine *line = &kernel->lines->lines[i];
            if (!takes_fence(line, (FenceSide)side)) continue;
            Change *change = changes_add(kernel->changes, CHANGE_FENCE, line->source);
            if (change) change->side = side == FENCE_BEHIND ? SIDE_BEHIND : SIDE_BEFORE;
            say_at(change, "__threadfence()", side == FENCE_BEHIND ? "after" : "before");
            change_insert(kernel->changes, change, side == FENCE_BEHIND ? i + 1 : i, "%s", fence);
        }
    }
    Change *all = changes_add(kernel->changes, CHANGE_FENCE, 0);
    say(all, "a __threadfence() after every store and before every load");
    for (int side = FENCE_BEHIND; side <= FENCE_BEFORE; side++)
        for (int i = kernel->first; i < kernel->end; i++)
            if (takes_fence(&kernel->lines->lines[i], (FenceSide)side))
                change_insert(kernel->changes, all, side == FENCE_BEHIND ? i + 1 : i, "%s", fence);
}

// ---- Barriers --------------------------------------------------------------------------------------------

// Near the finding at first; elsewhere when nothing else has helped.
enum { NEAR = 10 };
static const char block_barrier[] = "bar.sync 0;", warp_barrier[] = "bar.warp.sync 0xffffffff;";

void propose_barriers(const Kernel *kernel, ChangeKind kind, bool is_near) {
    const bool is_warp = kind == CHANGE_WARP_BARRIER;
    if (!wants(kernel, kind)) return;
    propose_insertions(kernel, &(Insertion){.kind = kind,
                                            .what = is_warp ? "__syncwarp()" : "__syncthreads()",
                                            .instruction = is_warp ? warp_barrier : block_barrier,
                                            .first = is_near ? 0 : NEAR,
                                            .end = is_near ? NEAR : MOST});
}

// Without it, and then at another place.
void propose_moved_barrier(const Kernel *kernel) {
    Change *change = NULL;
    for (int i = kernel->first; i < kernel->end; i++) {
        if (!is_barrier_of_finding(kernel, i)) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_MOVED_BARRIER, kernel->lines->lines[i].source);
            say_at(change, "no __syncthreads()", "in");
        }
        change_replace(kernel->changes, change, i, "%s", "");
    }
    if (!change) return;
    char what[64];
    snprintf(what, sizeof what, "the __syncthreads() of line %d moved",
             kernel->symptoms->finding->place.line);
    propose_insertions(kernel, &(Insertion){.kind = CHANGE_MOVED_BARRIER,
                                            .what = what,
                                            .instruction = block_barrier,
                                            .end = MOST,
                                            .removes_here = true});
}

// ---- Threads that leave ----------------------------------------------------------------------------------

// The line of a label behind `at`; -1: there is none.
static int find_label(const Kernel *kernel, int at, const char *label) {
    return ptx_find_label(kernel->lines, at + 1, kernel->end, label);
}

static bool is_ahead(const Kernel *kernel, int at, const char *label) {
    return find_label(kernel, at, label) >= 0;
}

// Whether the kernel ends at a label.
static bool is_end(const Kernel *kernel, const char *label) {
    bool is_found = false;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        is_found |= ptx_is_label(line, label);
        if (is_found && ptx_instruction(line, &in)) return opcode_is(&in, "ret");
    }
    return false;
}

static void say_guard(Change *change) {
    if (!change) return;
    const size_t length = strlen(change->words);
    snprintf(change->words + length, sizeof change->words - length, ", and nothing accessed out of bounds");
}

// Threads that leave at a branch stay until the kernel ends, but do not store any more.
static void propose_staying_idle(const Kernel *kernel, int at, const PtxInstruction *branch,
                                 bool is_guarded) {
    const bool is_contrary = branch->predicate[1] == '!';
    Change *change = changes_add(kernel->changes, CHANGE_STAY, kernel->lines->lines[at].source);
    if (change && is_guarded) change->guarded_line = ALL_LINES;
    say_at(change, "all threads staying to the end, and those that leave now storing nothing,", "in");
    if (is_guarded) say_guard(change);
    change_insert(
        kernel->changes, change, kernel->first,
        "\t.reg .pred %%wbl<3>;\n\t.reg .b32 %%wbk;\n\tmov.u32 %%wbk, 0;\n\tsetp.ne.u32 %%wbl0, %%wbk, 0;");
    change_replace(kernel->changes, change, at, "\t%s.pred %%wbl0, %.*s;", is_contrary ? "not" : "mov",
                   (int)strcspn(branch->predicate + 1 + is_contrary, " "),
                   branch->predicate + 1 + is_contrary);
    for (int i = at + 1; i < kernel->end; i++) {
        PtxInstruction in;
        char text[400];
        if (!ptx_instruction(&kernel->lines->lines[i], &in) ||
            (!is_access(&in, "st") && !opcode_is(&in, "atom") && !opcode_is(&in, "red")) ||
            opcode_has(&in, "shared"))
            continue;
        const bool is_not = in.predicate[0] && in.predicate[1] == '!';
        if (in.predicate[0])
            change_insert(kernel->changes, change, i,
                          "\t%s.pred %%wbl1, %.*s;\n\tnot.pred %%wbl2, %%wbl0;\n"
                          "\tand.pred %%wbl1, %%wbl1, %%wbl2;",
                          is_not ? "not" : "mov", (int)strcspn(in.predicate + 1 + is_not, " "),
                          in.predicate + 1 + is_not);
        snprintf(in.predicate, sizeof in.predicate, "%s", in.predicate[0] ? "@%wbl1 " : "@!%wbl0 ");
        with_operand(&in, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

// Whether a line of kernel.cu says when a loop ends: its body is not a special case.
static bool is_loop(const Kernel *kernel, int source) {
    char said[512];
    return kernel_line(kernel, source, said, sizeof said) &&
           (strstr(said, "for (") || strstr(said, "for(") || strstr(said, "while"));
}

static bool is_condition(const Kernel *kernel, int at, PtxInstruction *in) {
    if (!ptx_instruction(&kernel->lines->lines[at], in)) return false;
    if (opcode_is(in, "selp")) return in->operand_count == 4;
    return in->predicate[0] && opcode_is(in, "bra") && is_ahead(kernel, at, in->operands[0]);
}

static bool may_be_condition(const PtxInstruction *in) {
    return opcode_is(in, "selp") || (in->predicate[0] && opcode_is(in, "bra"));
}

// Whether the first instruction from `at` on is in the body of the `if` in that line. The line with its last
// brace may be that of an `else if`.
static bool is_in_body(const Kernel *kernel, int at, int line) {
    const SourceBlocks *blocks = &kernel->blocks;
    while (at < kernel->end && !kernel->lines->lines[at].is_instruction) at++;
    const int source = at < kernel->end ? kernel->lines->lines[at].source : 0;
    for (int b = 0; b < blocks->block_count && source > line; b++)
        if (blocks->blocks[b].head == line && blocks->blocks[b].kind == BLOCK_IF &&
            block_holds(blocks, b, source) && source < blocks->blocks[b].end)
            return true;
    return false;
}

// Where a condition of several parts leads if each of its branches from `at` on goes this way: 1: into the
// body of the `if`, so that it is true; -1: behind it; 0: unknown. Receives the last branch on the way.
static int meaning_of_way(const Kernel *kernel, int at, bool is_taken, int *last) {
    enum { MOST_STEPS = 1000 };
    const int line = kernel->lines->lines[at].source;
    for (int steps = 0; at >= 0 && at < kernel->end && steps < MOST_STEPS; steps++) {
        PtxInstruction in;
        const bool is_instruction = ptx_instruction(&kernel->lines->lines[at], &in);
        const int source = is_instruction ? kernel->lines->lines[at].source : line;
        if (source > line) return is_in_body(kernel, at, line) ? 1 : -1;
        const bool is_branch = is_instruction && opcode_is(&in, "bra");
        if (is_branch && in.predicate[0] && source != line) return is_loop(kernel, source) ? -1 : 0;
        if (is_instruction && opcode_is(&in, "ret")) return 0;
        if (is_branch && in.predicate[0]) *last = at;
        const bool follows = is_branch && (!in.predicate[0] || is_taken);
        at = follows ? find_label(kernel, kernel->first - 1, in.operands[0]) : at + 1;
    }
    return 0;
}

// What it means for the condition in kernel.cu if a branch is taken: -1: that it is not true; 1: that it is;
// 0: unknown.
static int meaning_of_taken(const Kernel *kernel, int at, const PtxInstruction *in) {
    const int line = kernel->lines->lines[at].source;
    PtxInstruction next;
    int otherwise = at + 1; // what follows, or what a jump from there leads to
    if (otherwise < kernel->end && ptx_instruction(&kernel->lines->lines[otherwise], &next) &&
        opcode_is(&next, "bra") && !next.predicate[0]) {
        const int target = find_label(kernel, otherwise, next.operands[0]);
        if (target >= 0) otherwise = target;
    }
    if (is_in_body(kernel, otherwise, line)) return -1;
    const int target = find_label(kernel, at, in->operands[0]);
    return target >= 0 && is_in_body(kernel, target, line) ? 1 : 0;
}

// Whether no other branch is of the same line.
static bool is_only_branch(const Kernel *kernel, int at) {
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (i != at && kernel->lines->lines[i].source == kernel->lines->lines[at].source &&
            ptx_instruction(&kernel->lines->lines[i], &in) && in.predicate[0] && opcode_is(&in, "bra"))
            return false;
    }
    return true;
}

// Whether the `if` of a line has a return.
static bool is_if_that_returns(const Kernel *kernel, int source) {
    const SourceBlocks *blocks = &kernel->blocks;
    int end = source;
    for (int b = 0; b < blocks->block_count; b++)
        if (blocks->blocks[b].head == source && blocks->blocks[b].kind == BLOCK_IF)
            end = blocks->blocks[b].end;
    char said[512];
    for (int line = source; line <= end; line++)
        if (kernel_line(kernel, line, said, sizeof said) && strstr(said, "return")) return true;
    return false;
}

// What it means in kernel.cu that all threads take the branch, or none does.
static const char *words_of_way(const Kernel *kernel, int at, const PtxInstruction *branch, bool is_taken) {
    static const char same_way[] = "all threads going the same way";
    const int source = kernel->lines->lines[at].source;
    const int meaning = is_loop(kernel, source) || !is_only_branch(kernel, at)
                            ? 0
                            : (is_taken ? 1 : -1) * meaning_of_taken(kernel, at, branch);
    if (meaning != 0) return meaning > 0 ? "the condition always true" : "the condition never true";
    const bool leaves = is_end(kernel, branch->operands[0]) && is_only_branch(kernel, at) &&
                        is_if_that_returns(kernel, source);
    return !leaves ? same_way : is_taken ? "all threads leaving" : "no thread leaving";
}

static void propose_way(const Kernel *kernel, int at, const PtxInstruction *branch, bool is_taken,
                        bool is_guarded) {
    Change *change = changes_add(kernel->changes, CHANGE_STAY, kernel->lines->lines[at].source);
    if (change && is_guarded) change->guarded_line = ALL_LINES;
    say_at(change, words_of_way(kernel, at, branch, is_taken), "in");
    if (is_guarded) say_guard(change);
    if (is_taken)
        change_replace(kernel->changes, change, at, "\tbra %s;", branch->operands[0]);
    else
        change_replace(kernel->changes, change, at, "\t// taken by none");
}

// Whether lanes vote behind a line on what nvcc takes for known, as that a thread that is still there has an
// element: in kernel.cu, the same change would give another vote.
static bool votes_on_what_is_known(const Kernel *kernel, int at) {
    for (int i = at + 1; i < kernel->end; i++) {
        PtxInstruction vote, known;
        if (!ptx_instruction(&kernel->lines->lines[i], &vote) || !opcode_is(&vote, "vote")) continue;
        for (int k = kernel->first; k < i; k++)
            if (ptx_instruction(&kernel->lines->lines[k], &known) && opcode_is(&known, "mov") &&
                opcode_has(&known, "pred") && strcmp(known.operands[0], vote.operands[1]) == 0)
                return true;
    }
    return false;
}

// A branch that some threads take and others do not is taken by all, or by none; what they have no element
// for is left out, where it has to be. `of_ends`: only one with which threads leave the kernel, by none.
void propose_staying(const Kernel *kernel, bool of_ends) {
    int proposed = 0;
    for (int i = kernel->first; i < kernel->end && proposed < MOST; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if (!line->source || !ptx_instruction(line, &in) || !in.predicate[0] || !opcode_is(&in, "bra") ||
            !is_ahead(kernel, i, in.operands[0]) || (of_ends && !is_end(kernel, in.operands[0])) ||
            votes_on_what_is_known(kernel, i))
            continue;
        for (int is_taken = 0; is_taken < (of_ends ? 1 : 2); is_taken++, proposed++)
            for (int is_guarded = 0; is_guarded < 2; is_guarded++)
                propose_way(kernel, i, &in, is_taken, is_guarded);
        for (int is_guarded = 0; is_guarded < 2 && is_end(kernel, in.operands[0]); is_guarded++)
            propose_staying_idle(kernel, i, &in, is_guarded);
    }
}

// Whether an `if` with a body begins in that line.
static bool begins_if(const Kernel *kernel, int line) {
    const SourceBlocks *blocks = &kernel->blocks;
    for (int b = 0; b < blocks->block_count; b++)
        if (blocks->blocks[b].head == line && blocks->blocks[b].kind == BLOCK_IF) return true;
    return false;
}

// Whether all branches have it.
static bool is_one_meaning(const int meanings[3], int which) {
    return meanings[which] > 0 && meanings[which] == meanings[0] + meanings[1] + meanings[2];
}

// All threads go the same way at the branches of a line, and take the same of two values: a special case that
// is wrong is taken by none then, and one that is right by all.
static void propose_ways(const Kernel *kernel, int line) {
    for (int way = 0; way < 2 && !is_loop(kernel, line); way++) {
        Change *change = NULL;
        int meanings[3] = {0}; // how many branches mean that the condition is not true, unknown, or true
        int led[3] = {0};      // to how many conditions it means that, if all of their branches go this way
        int known = -1, last;  // branches up to that one belong to a condition that is counted
        for (int i = kernel->first; i < kernel->end; i++) {
            PtxInstruction in;
            if (kernel->lines->lines[i].source != line || !is_condition(kernel, i, &in)) continue;
            if (!change) change = changes_add(kernel->changes, CHANGE_ONE_WAY, line);
            const int taken = opcode_is(&in, "bra") ? meaning_of_taken(kernel, i, &in) : 0;
            meanings[1 + (way == 0 ? taken : -taken)]++;
            if (opcode_is(&in, "selp") || !begins_if(kernel, line))
                led[1]++;
            else if (i > known) {
                led[1 + meaning_of_way(kernel, i, way == 0, &last)]++;
                meaning_of_way(kernel, i, false, &known);
            }
            if (opcode_is(&in, "selp"))
                change_replace(kernel->changes, change, i, "\t%s mov.%s %s, %s;", in.predicate,
                               strrchr(in.opcode, '.') + 1, in.operands[0], in.operands[1 + way]);
            else if (way == 0)
                change_replace(kernel->changes, change, i, "\tbra %s;", in.operands[0]);
            else
                change_replace(kernel->changes, change, i, "\t// taken by none");
        }
        const bool is_never = is_one_meaning(meanings, 0) || is_one_meaning(led, 0),
                   is_always = is_one_meaning(meanings, 2) || is_one_meaning(led, 2);
        say_at(change,
               is_never    ? "the condition never true"
               : is_always ? "the condition always true"
                           : "one side of the condition taken every time",
               "in");
    }
}

void propose_one_way(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, may_be_condition, lines);
    for (int l = 0; l < count; l++) propose_ways(kernel, lines[l]);
}

// Whether the lines from `source` on have a barrier of the block and one of the warp, of which an if in it
// chooses one.
static bool chooses_a_barrier(const Kernel *kernel, int source) {
    enum { FEW_LINES = 6 };
    bool has_block = false, has_warp = false, has_else = false;
    char said[512];
    if (!kernel_line(kernel, source, said, sizeof said) || !strstr(said, "if (")) return false;
    for (int l = source; l < source + FEW_LINES && kernel_line(kernel, l, said, sizeof said); l++) {
        has_block |= strstr(said, "__syncthreads()") != NULL;
        has_else |= (has_block || has_warp) && strstr(said, "else");
        has_warp |= strstr(said, "__syncwarp(") != NULL;
    }
    return has_block && has_warp && has_else;
}

void propose_barrier_choices(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, may_be_condition, lines);
    for (int l = 0; l < count; l++)
        if (chooses_a_barrier(kernel, lines[l])) propose_ways(kernel, lines[l]);
}

// Before every access: what is missing is an order, wherever.
void propose_warp_barriers_everywhere(const Kernel *kernel) {
    Change *change = changes_add(kernel->changes, CHANGE_WARP_BARRIER, 0);
    say(change, "a __syncwarp() before every access");
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (ptx_instruction(&kernel->lines->lines[i], &in) && (is_access(&in, "st") || is_access(&in, "ld")))
            change_insert(kernel->changes, change, i, "\t%s", warp_barrier);
    }
}

// A wait for asynchronous copies that comes right after a barrier comes right before it instead. Code that
// is inlined or unrolled is changed everywhere.
static void propose_wait_first(const Kernel *kernel) {
    const int first = kernel->changes->count;
    int barrier = -1, commit = -1;
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if (line->is_label) barrier = -1;
        if (!ptx_instruction(line, &in)) continue;
        if (is_block_barrier(&in)) {
            barrier = i;
            commit = -1;
        } else if (opcode_is(&in, "cp") && opcode_has(&in, "commit_group")) {
            commit = i;
        } else if (barrier < 0 || !opcode_is(&in, "cp") ||
                   !(opcode_has(&in, "wait_group") || opcode_has(&in, "wait_all"))) {
            barrier = -1;
        } else {
            char words[sizeof(Change){0}.words];
            snprintf(words, sizeof words, "the wait of line %d before the barrier of line %d", line->source,
                     kernel->lines->lines[barrier].source);
            Change *change = change_with(kernel, first, CHANGE_ASYNC_WAIT, line->source, words);
            if (commit >= 0) move_before(kernel, change, commit, barrier);
            move_before(kernel, change, i, barrier);
        }
    }
}

void propose_waits(const Kernel *kernel) {
    propose_wait_first(kernel);
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in) || !opcode_is(&in, "cp")) continue;
        propose_insertions(kernel, &(Insertion){.kind = CHANGE_ASYNC_WAIT,
                                                .what = "a wait for all asynchronous copies",
                                                .instruction = "cp.async.wait_all;",
                                                .end = MOST});
        return;
    }
}
