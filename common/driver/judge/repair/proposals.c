#include "driver/judge/repair/proposals.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Proposals of one kind for one kernel: no search is finished with more.
enum { MOST = 48 };

typedef struct {
    const PtxLines *lines;
    int declared;   // its first line, with declarations
    int first, end; // of its instructions
    const Symptoms *symptoms;
    Changes *changes;
} Kernel;

static void say(Change *change, const char *words) {
    if (change) snprintf(change->words, sizeof change->words, "%s", words);
}

static void say_at(Change *change, const char *what, const char *where) {
    if (change) snprintf(change->words, sizeof change->words, "%s %s line %d", what, where, change->source);
}

static bool is_access(const PtxInstruction *in, const char *name) {
    return opcode_is(in, name) && !opcode_has(in, "param") && !opcode_has(in, "local") &&
           !opcode_has(in, "const");
}

// Sets %wbp1 in every thread but the first of its block, whatever the block's dimensions.
static const char other_threads[] =
    "\t.reg .pred %wbp<4>;\n\t.reg .b32 %wbr<8>;\n\tmov.u32 %wbr1, %tid.x;\n\tmov.u32 %wbr2, %tid.y;\n"
    "\tmov.u32 %wbr3, %tid.z;\n\tor.b32 %wbr1, %wbr1, %wbr2;\n\tor.b32 %wbr1, %wbr1, %wbr3;\n"
    "\tsetp.ne.u32 %wbp1, %wbr1, 0;";
// The same in every lane but the first of its warp.
static const char other_lanes[] =
    "\t.reg .pred %wbp<4>;\n\t.reg .b32 %wbr<8>;\n\tmov.u32 %wbr1, %laneid;\n\tsetp.ne.u32 %wbp1, %wbr1, 0;";

// 0 as an operand of a type such as f32 or u64.
static const char *zero_of(const char *type) {
    return type[0] != 'f' ? "0" : strcmp(type, "f64") == 0 ? "0d0000000000000000" : "0f00000000";
}

// ---- Lines of kernel.cu ----------------------------------------------------------------------------------

// A line of kernel.cu; false: it is not known.
static bool source_line(const Kernel *kernel, int number, char *line, size_t bytes) {
    const char *at = kernel->symptoms->source;
    for (int i = 1; at && i < number; i++) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    if (!at || number < 1) return false;
    snprintf(line, bytes, "%.*s", (int)strcspn(at, "\n"), at);
    char *comment = strstr(line, "//");
    if (comment) *comment = '\0';
    return true;
}

// How many braces are open where a line of kernel.cu begins; 0 if its text is not known.
static int depth_at(const Kernel *kernel, int number) {
    int depth = 0, line = 1;
    for (const char *at = kernel->symptoms->source; at && *at && line < number; at++) {
        if (at[0] == '/' && at[1] == '/') at += strcspn(at, "\n");
        if (!*at) break;
        line += *at == '\n';
        depth += (*at == '{') - (*at == '}');
    }
    return depth;
}

// A compiler computes part of a branch ahead of its test, so that a place before both belongs to a line
// within. Between the lines of the finding, the last line at or before `source` that the fewest braces
// surround.
static int outer_line(const Kernel *kernel, int source) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || !finding->place.line || !finding->other_place.line) return source;
    const int one = finding->place.line, other = finding->other_place.line;
    const int first = one < other ? one : other, last = one < other ? other : one;
    if (source <= first || source > last) return source;
    int best = source, least = depth_at(kernel, source);
    for (int line = source - 1; line > first; line--) {
        char text[512];
        const int depth = depth_at(kernel, line);
        if (!source_line(kernel, line, text, sizeof text) || text[strspn(text, " \t}")] == '\0') continue;
        if (depth < least) {
            best = line;
            least = depth;
        }
    }
    return best;
}

// ---- Places between instructions -------------------------------------------------------------------------

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
    ChangeSide side;
} Place;

static int compare_places(const void *left, const void *right) {
    const Place *a = left, *b = right;
    return a->distance != b->distance ? a->distance - b->distance : a->at - b->at;
}

// Where another line of the source begins behind the first access, nearest to the finding first.
static int list_places(const Kernel *kernel, Place **places) {
    int count = 0, previous = 0;
    bool has_access = false;
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
            (*places)[count++] = (Place){.at = i,
                                         .distance = distance(kernel, source),
                                         .source = side == SIDE_BEHIND ? previous : source,
                                         .side = side};
        }
        previous = source;
        if (is_access(&in, "st") || is_access(&in, "ld") || opcode_is(&in, "atom") || opcode_is(&in, "red") ||
            opcode_is(&in, "cp"))
            has_access = true;
    }
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
           ptx_instruction(&kernel->lines->lines[at], &in) &&
           (opcode_is(&in, "bar") || opcode_is(&in, "barrier")) && !opcode_has(&in, "warp");
}

static Change *insert_at(const Kernel *kernel, const Insertion *insertion, const Place *place) {
    static const char *const where[] = {"before", "after", "between the accesses of"};
    const int source = place->side == SIDE_BEFORE ? outer_line(kernel, place->source) : place->source;
    Change *change = changes_add(kernel->changes, insertion->kind, source);
    if (change) change->side = place->side;
    say_at(change, insertion->what, where[place->side]);
    change_insert(kernel->changes, change, place->at, "\t%s", insertion->instruction);
    for (int i = kernel->first; i < kernel->end && insertion->removes_here; i++)
        if (is_barrier_of_finding(kernel, i)) change_replace(kernel->changes, change, i, "%s", "");
    return change;
}

static bool same_side(const Place *a, const Place *b) { return a->source == b->source && a->side == b->side; }

// A line of an unrolled loop has several places: all of them, then each.
static void propose_insertions(const Kernel *kernel, const Insertion *insertion) {
    Place *places;
    const int count = list_places(kernel, &places);
    const int end = insertion->end < count ? insertion->end : count;
    for (int p = insertion->first; p < end; p++) {
        int same = 0, before = 0;
        for (int k = 0; k < count; k++) {
            same += same_side(&places[k], &places[p]);
            before += k < p && same_side(&places[k], &places[p]);
        }
        if (same > 1 && before == 0) {
            Change *all = insert_at(kernel, insertion, &places[p]);
            for (int k = 0; k < count; k++)
                if (k != p && same_side(&places[k], &places[p]))
                    change_insert(kernel->changes, all, places[k].at, "\t%s", insertion->instruction);
        }
    }
    for (int p = insertion->first; p < end; p++) insert_at(kernel, insertion, &places[p]);
    free(places);
}

// Before every access: what is missing is an order, wherever.
static void propose_everywhere(const Kernel *kernel, ChangeKind kind, const char *words,
                               const char *instruction) {
    Change *change = changes_add(kernel->changes, kind, 0);
    say(change, words);
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (ptx_instruction(&kernel->lines->lines[i], &in) && (is_access(&in, "st") || is_access(&in, "ld")))
            change_insert(kernel->changes, change, i, "\t%s", instruction);
    }
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
static void propose_fences(const Kernel *kernel) {
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

// ---- Masks -----------------------------------------------------------------------------------------------

// The text of an instruction with operand `which` replaced.
static void with_operand(const PtxInstruction *in, int which, const char *operand, char *out, size_t room) {
    int used = snprintf(out, room, "\t%s %s", in->predicate, in->opcode);
    for (int i = 0; i < in->operand_count && used > 0 && (size_t)used < room; i++)
        used += snprintf(out + used, room - (size_t)used, "%s%s", i ? ", " : " ",
                         i == which ? operand : in->operands[i]);
    if (used > 0 && (size_t)used < room) snprintf(out + used, room - (size_t)used, ";");
}

static bool takes_mask(const PtxInstruction *in) {
    const bool is_sync = opcode_has(in, "sync");
    return is_sync && (opcode_is(in, "shfl") || opcode_is(in, "vote") || opcode_is(in, "match") ||
                       opcode_is(in, "redux") || (opcode_is(in, "bar") && opcode_has(in, "warp")));
}

typedef bool OfInterest(const PtxInstruction *in);

// The lines of kernel.cu with such instructions, each once; how many.
static int list_lines(const Kernel *kernel, OfInterest *is_one, int lines[MOST]) {
    int count = 0;
    for (int i = kernel->first; i < kernel->end && count < MOST; i++) {
        const int source = kernel->lines->lines[i].source;
        PtxInstruction in;
        bool is_known = source == 0;
        for (int k = 0; k < count; k++) is_known = is_known || lines[k] == source;
        if (!is_known && ptx_instruction(&kernel->lines->lines[i], &in) && is_one(&in))
            lines[count++] = source;
    }
    return count;
}

static bool has_mask(const PtxInstruction *in) { return takes_mask(in) || opcode_is(in, "activemask"); }

// One change for each line of the source, and one for all.
static void propose_full_masks(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, has_mask, lines);
    for (int k = count; k >= 0; k--) { // all first: masks are usually wrong together
        const int only = k == count ? 0 : lines[k];
        if (count == 1 && k == count) continue;
        if (count == 0) return;
        Change *change = changes_add(kernel->changes, CHANGE_FULL_MASK, only);
        if (only)
            say_at(change, "the mask of all lanes", "in");
        else
            say(change, "the mask of all lanes everywhere");
        for (int i = kernel->first; i < kernel->end; i++) {
            const PtxLine *line = &kernel->lines->lines[i];
            PtxInstruction in;
            char text[400];
            if (!ptx_instruction(line, &in) || (only && line->source != only)) continue;
            if (opcode_is(&in, "activemask"))
                snprintf(text, sizeof text, "\t%s mov.b32 %s, -1;", in.predicate, in.operands[0]);
            else if (takes_mask(&in))
                with_operand(&in, in.operand_count - 1, "-1", text, sizeof text);
            else
                continue;
            change_replace(kernel->changes, change, i, "%s", text);
        }
    }
}

// ---- Starting at 0 ---------------------------------------------------------------------------------------

static void propose_zero_registers(const Kernel *kernel) {
    const int at_finding = kernel->symptoms->finding ? kernel->symptoms->finding->place.line : 0;
    Change *change = changes_add(kernel->changes, CHANGE_ZERO, at_finding);
    say(change, "variables that start at 0");
    for (int i = kernel->declared; i < kernel->first; i++) {
        char line[256], type[16], name[64];
        int count = 0;
        snprintf(line, sizeof line, "%.*s", kernel->lines->lines[i].length, kernel->lines->lines[i].text);
        if (sscanf(line, " .reg .%15s %63[^<]<%d>", type, name, &count) != 3) continue;
        if (type[0] == 'b') type[0] = 'u';
        const int bits = strcmp(type, "pred") == 0 ? 0 : atoi(type + 1);
        for (int r = 1; r < count && bits >= 16; r++)
            change_insert(kernel->changes, change, kernel->first, "\tmov.%s %s%d, %s;", type, name, r,
                          zero_of(type));
    }
}

static bool shared_array(const PtxLine *line, char name[256], long *bytes) {
    char text[512], align[16];
    snprintf(text, sizeof text, "%.*s", line->length, line->text);
    return sscanf(text, " .shared .align %15s .b8 %255[^[][%ld]", align, name, bytes) == 3;
}

// Thread 0 clears every array that the kernel has in shared memory; a barrier follows.
static void propose_zero_shared(const Kernel *kernel) {
    Change *change = NULL;
    const int at = kernel->first;
    for (int i = kernel->declared; i < kernel->end; i++) {
        char name[256];
        long bytes;
        if (!shared_array(&kernel->lines->lines[i], name, &bytes) || bytes % 4 != 0 || bytes > 65536)
            continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_ZERO_SHARED, 0);
            say(change, "shared memory that starts at 0, and a barrier after that");
            change_insert(kernel->changes, change, at, "%s", other_threads);
        }
        change_insert(kernel->changes, change, at,
                      "\tmov.u32 %%wbr4, %s;\n\tadd.u32 %%wbr5, %%wbr4, %ld;\n\t@%%wbp1 bra $WBS%d;\n"
                      "$WBL%d:\n\tst.shared.u32 [%%wbr4], 0;\n\tadd.u32 %%wbr4, %%wbr4, 4;\n"
                      "\tsetp.lt.u32 %%wbp2, %%wbr4, %%wbr5;\n\t@%%wbp2 bra $WBL%d;\n$WBS%d:",
                      name, bytes, i, i, i, i);
    }
    if (change) change_insert(kernel->changes, change, at, "\tbar.sync 0;");
}

// Leaves out what the line of the finding does outside of all memory.
static void propose_guard(const Kernel *kernel) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || finding->kind != FINDING_OUT_OF_BOUNDS || !finding->place.line) return;
    Change *change = changes_add(kernel->changes, CHANGE_GUARD, finding->place.line);
    if (change) change->guarded_line = finding->place.line;
    say_at(change, "a test that leaves out what is out of bounds", "in");
}

static void propose_more_shared(const Kernel *kernel) {
    Change *change = NULL;
    for (int i = kernel->declared; i < kernel->end; i++) {
        char name[256];
        long bytes;
        if (!shared_array(&kernel->lines->lines[i], name, &bytes) || bytes > 16384) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_MORE_SHARED, 0);
            say(change, "arrays in shared memory that are twice as large");
        }
        change_replace(kernel->changes, change, i, "\t.shared .align 16 .b8 %s[%ld];", name, 2 * bytes);
    }
}

// ---- Stores ----------------------------------------------------------------------------------------------

static bool adds(const PtxInstruction *in) { return opcode_is(in, "add") && in->operand_count == 3; }

// "st.volatile.global.f32" -> "global" and "f32"; false: not a plain scalar store of a type that can be
// added.
static bool store_type(const PtxInstruction *in, const char **space, const char **type) {
    static const char *const spaces[] = {"global", "shared"};
    static const char *const types[] = {"f32", "f64", "u32", "s32", "u64"};
    *space = *type = NULL;
    if (!opcode_is(in, "st") || in->operand_count != 2 || opcode_has(in, "v2") || opcode_has(in, "v4"))
        return false;
    for (int s = 0; s < 2; s++)
        if (opcode_has(in, spaces[s])) *space = spaces[s];
    for (int t = 0; t < 5; t++)
        if (opcode_has(in, types[t])) *type = types[t];
    return *space && *type;
}

// A store of what was loaded from the same place, plus something.
static void propose_atomic(const Kernel *kernel, int at, const PtxInstruction *store, const char *space,
                           const char *type) {
    enum { FAR = 200 };
    const char *other = NULL;
    char loaded[PTX_OPERAND_BYTES] = "", added[2][PTX_OPERAND_BYTES] = {"", ""};
    for (int i = at - 1; i >= kernel->first && i > at - FAR; i--) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in)) continue;
        if (!added[0][0] && adds(&in) && strcmp(in.operands[0], store->operands[1]) == 0) {
            memcpy(added[0], in.operands[1], sizeof added[0]);
            memcpy(added[1], in.operands[2], sizeof added[1]);
        }
        if (!added[0][0] || !opcode_is(&in, "ld") || in.operand_count != 2 ||
            strcmp(in.operands[1], store->operands[0]) != 0)
            continue;
        memcpy(loaded, in.operands[0], sizeof loaded);
        other = strcmp(loaded, added[0]) == 0 ? added[1] : strcmp(loaded, added[1]) == 0 ? added[0] : NULL;
        if (!other) continue;
        Change *change = changes_add(kernel->changes, CHANGE_ATOMIC, kernel->lines->lines[at].source);
        say_at(change, "one atomic addition instead of load, add and store", "in");
        change_replace(kernel->changes, change, i, "\tmov.%s %s, %s;", type, loaded, zero_of(type));
        change_replace(kernel->changes, change, at, "\t%s red.%s.add.%s %s, %s;", store->predicate, space,
                       type[0] == 's' ? "u32" : type, store->operands[0], other);
        return;
    }
}

// The store of one lane, or of one thread.
static void propose_one_writer(const Kernel *kernel, int at, const PtxInstruction *store, bool is_lane) {
    if (store->predicate[0]) return;
    const ChangeKind kind = is_lane ? CHANGE_ONE_LANE : CHANGE_ONE_THREAD;
    Change *change = changes_add(kernel->changes, kind, kernel->lines->lines[at].source);
    say_at(change, is_lane ? "only lane 0 of each warp storing" : "only thread 0 of each block storing",
           "in");
    change_insert(kernel->changes, change, at, "%s", is_lane ? other_lanes : other_threads);
    change_replace(kernel->changes, change, at, "\t@!%%wbp1 %s %s, %s;", store->opcode, store->operands[0],
                   store->operands[1]);
}

typedef void ProposeStore(const Kernel *kernel, int at, const PtxInstruction *store, const char *space,
                          const char *type);

static void as_one_writer(const Kernel *kernel, int at, const PtxInstruction *store, const char *space,
                          const char *type) {
    (void)space, (void)type;
    propose_one_writer(kernel, at, store, true);
    propose_one_writer(kernel, at, store, false);
}

static void as_addition(const Kernel *kernel, int at, const PtxInstruction *store, const char *space,
                        const char *type) {
    if (strcmp(space, "global") != 0) return;
    for (int zero = 0; zero < 2; zero++) {
        Change *change = changes_add(kernel->changes, CHANGE_ADD, kernel->lines->lines[at].source);
        if (change) change->zeroes_output = zero;
        say_at(change, zero ? "an output that starts at 0 and an atomic addition" : "an atomic addition",
               "in");
        change_replace(kernel->changes, change, at, "\t%s red.global.add.%s %s, %s;", store->predicate,
                       type[0] == 's' ? "u32" : type, store->operands[0], store->operands[1]);
    }
}

static void propose_stores(const Kernel *kernel, ProposeStore *propose_one) {
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        const char *space, *type;
        if (!kernel->lines->lines[i].source || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            !store_type(&in, &space, &type))
            continue;
        propose_one(kernel, i, &in, space, type);
    }
}

static void propose_zero_output(const Kernel *kernel) {
    Change *change = changes_add(kernel->changes, CHANGE_ZERO_OUTPUT, 0);
    if (change) change->zeroes_output = true;
    say(change, "memory that starts at 0");
}

// ---- Comparisons and numbers -----------------------------------------------------------------------------

// The comparison in a line of kernel.cu, and what stands for it if another of the PTX is `other`: "<" for
// "<=". False: there is none, or more than one.
static bool name_comparison(const Kernel *kernel, int number, bool is_inverted, const char **was,
                            const char **now) {
    static const char *const all[][3] = {// as it is, with the other bound, inverted
                                         {"<=", "<", ">"},   {">=", ">", "<"},  {"==", NULL, "!="},
                                         {"!=", NULL, "=="}, {"<", "<=", ">="}, {">", ">=", "<="}};
    char line[512];
    int found = 0;
    if (!source_line(kernel, number, line, sizeof line) || strstr(line, "<<") || strstr(line, ">>") ||
        strstr(line, "->"))
        return false;
    for (char *at = line; *at; at++) {
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
            const size_t length = strlen(all[k][0]);
            if (strncmp(at, all[k][0], length) != 0) continue;
            *was = all[k][0];
            *now = all[k][is_inverted ? 2 : 1];
            found++;
            at += length - 1;
            break;
        }
    }
    return found == 1 && *now;
}

// "lt" for "le" and so on: the other bound, or the contrary.
static const char *other_comparison(const PtxInstruction *in, bool is_inverted, const char **was) {
    static const char *const all[][3] = {{"lt", "le", "ge"}, {"le", "lt", "gt"}, {"gt", "ge", "le"},
                                         {"ge", "gt", "lt"}, {"eq", "eq", "ne"}, {"ne", "ne", "eq"}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        if (!opcode_has(in, all[k][0])) continue;
        *was = all[k][0];
        return all[k][is_inverted ? 2 : 1];
    }
    return NULL;
}

// Every comparison of a line: a compiler makes several of the one that ends a loop.
static void propose_comparison(const Kernel *kernel, int source, bool is_inverted) {
    const char *was = "", *now = "";
    if (!name_comparison(kernel, source, is_inverted, &was, &now)) return;
    Change *change = changes_add(kernel->changes, CHANGE_COMPARISON, source);
    if (change)
        snprintf(change->words, sizeof change->words, "%s instead of %s in line %d", now, was, source);
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char opcode[64], text[400];
        const char *from, *to;
        if (line->source != source || !ptx_instruction(line, &in) || !opcode_is(&in, "setp") ||
            !(to = other_comparison(&in, is_inverted, &from)))
            continue;
        const char *at = strstr(in.opcode + 4, from);
        if (!at) continue;
        snprintf(opcode, sizeof opcode, "%.*s%s%s", (int)(at - in.opcode), in.opcode, to, at + strlen(from));
        memcpy(in.opcode, opcode, sizeof in.opcode);
        with_operand(&in, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

static bool compares(const PtxInstruction *in) { return opcode_is(in, "setp"); }

static void propose_comparisons(const Kernel *kernel) {
    int lines[MOST];
    const int count = list_lines(kernel, compares, lines);
    for (int is_inverted = 0; is_inverted < 2; is_inverted++)
        for (int k = 0; k < count; k++) propose_comparison(kernel, lines[k], is_inverted);
}

static bool whole_number(const char *operand, long *number) {
    char *end;
    *number = strtol(operand, &end, 0);
    return *operand && !*end && *number > -(1L << 31) && *number < 1L << 31;
}

static bool computes(const PtxInstruction *in) {
    static const char *const names[] = {"setp", "mov", "add", "sub", "and", "or",  "xor", "shl",
                                        "shr",  "mul", "mad", "div", "rem", "min", "max", "shfl"};
    if (strstr(in->opcode, ".f")) return false; // of floats
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        if (opcode_is(in, names[n])) return true;
    return false;
}

// Whether a line of kernel.cu has that whole number.
static bool says_number(const char *line, long number) {
    for (const char *at = line; *at; at++) {
        if (!isdigit((unsigned char)*at) ||
            (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.')))
            continue;
        char *end;
        if (strtol(at, &end, 0) == number && *end != '.') return true;
        at = end - 1;
    }
    return false;
}

// A number of an instruction as kernel.cu may have it: itself, as a power of two that is shifted by, as the
// divisor whose remainders a mask keeps, or as elements that are bytes here. 0: not that way.
static long as_in_source(const PtxInstruction *in, long number, int way) {
    const bool is_shift = opcode_is(in, "shl") || opcode_is(in, "shr");
    switch (way) {
    case 0: return number;
    case 1: return is_shift && number >= 0 && number < 31 ? 1L << number : 0;
    case 2: return opcode_is(in, "and") ? number + 1 : 0;
    case 3: return !is_shift && number % 4 == 0 ? number / 4 : 0;
    case 4: return !is_shift && number % 8 == 0 ? number / 8 : 0;
    default: return 0;
    }
}

static void propose_constants(const Kernel *kernel) {
    enum { WAYS = 5 };
    for (int i = kernel->first; i < kernel->end; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        char said[512];
        if (!line->source || !ptx_instruction(line, &in) || !computes(&in) ||
            !source_line(kernel, line->source, said, sizeof said))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            long number, was = 0;
            int way = 0;
            if (!whole_number(in.operands[o], &number)) continue;
            for (; way < WAYS; way++) {
                was = as_in_source(&in, number, way);
                if ((was || way == 0) && says_number(said, was)) break;
            }
            if (way == WAYS) continue;
            const long others[] = {2 * number, number / 2, number + 1, number - 1, 2 * number + 1};
            for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
                char operand[32], text[400];
                const long now = as_in_source(&in, others[k], way);
                if (others[k] == number || (now == 0 && way > 0) || (now < 0 && was >= 0)) continue;
                snprintf(operand, sizeof operand, "%ld", others[k]);
                with_operand(&in, o, operand, text, sizeof text);
                Change *change = changes_add(kernel->changes, CHANGE_CONSTANT, line->source);
                if (change)
                    snprintf(change->words, sizeof change->words, "%ld instead of %ld in line %d", now, was,
                             line->source);
                change_replace(kernel->changes, change, i, "%s", text);
            }
        }
    }
}

// ---- Numbers of threads and blocks ------------------------------------------------------------------------

// The registers that hold a special register, as "%r1" holds %tid.x, or a part of it, as "lane".
typedef struct {
    char name[32], special[16];
} Holder;

static int list_holders(const Kernel *kernel, Holder holders[MOST]) {
    static const char *const specials[] = {"%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x"};
    int count = 0;
    for (int i = kernel->first; i < kernel->end && count < MOST; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in)) continue;
        const bool is_lane = opcode_is(&in, "and") && strcmp(in.operands[2], "31") == 0;
        const bool is_warp = opcode_is(&in, "shr") && strcmp(in.operands[2], "5") == 0;
        if (is_lane || is_warp) {
            snprintf(holders[count].name, sizeof holders[count].name, "%.31s", in.operands[0]);
            snprintf(holders[count++].special, sizeof holders[0].special, "%s", is_lane ? "lane" : "warp");
        }
        if (!opcode_is(&in, "mov") || in.operand_count != 2) continue;
        for (size_t s = 0; count < MOST && s < sizeof specials / sizeof specials[0]; s++) {
            if (strcmp(in.operands[1], specials[s]) != 0) continue;
            snprintf(holders[count].name, sizeof holders[count].name, "%.31s", in.operands[0]);
            snprintf(holders[count++].special, sizeof holders[0].special, "%s", specials[s]);
        }
    }
    return count;
}

// In one line of the source another number for a special register: the thread's number in the grid for that
// in the block, the grid's threads for the block's.
static void propose_number(const Kernel *kernel, const Holder *holder, int source, const char *other,
                           const char *words) {
    Change *change = NULL;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        char text[400];
        bool is_used = false;
        if (kernel->lines->lines[i].source != source || !ptx_instruction(&kernel->lines->lines[i], &in) ||
            opcode_is(&in, "mov"))
            continue;
        for (int o = 1; o < in.operand_count; o++) {
            if (strcmp(in.operands[o], holder->name) != 0) continue;
            snprintf(in.operands[o], sizeof in.operands[o], "%s", other);
            is_used = true;
        }
        if (!is_used) continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_NUMBER, source);
            say_at(change, words, "in");
            change_insert(
                kernel->changes, change, kernel->first,
                "\t.reg .b32 %%wbn<10>;\n\tmov.u32 %%wbn1, %%tid.x;\n\tmov.u32 %%wbn2, %%ntid.x;\n"
                "\tmov.u32 %%wbn3, %%ctaid.x;\n\tmov.u32 %%wbn4, %%nctaid.x;\n"
                "\tmad.lo.s32 %%wbn5, %%wbn3, %%wbn2, %%wbn1;\n\tmul.lo.s32 %%wbn6, %%wbn4, %%wbn2;\n"
                "\tshr.u32 %%wbn7, %%wbn1, 5;\n\tand.b32 %%wbn8, %%wbn1, 31;\n"
                "\tshr.u32 %%wbn9, %%wbn5, 5;");
        }
        with_operand(&in, -1, "", text, sizeof text);
        change_replace(kernel->changes, change, i, "%s", text);
    }
}

static bool is_any(const PtxInstruction *in) { return in->opcode[0]; }

static void propose_numbers(const Kernel *kernel) {
    static const struct {
        const char *special, *other, *words;
    } numbers[] = {
        {"%tid.x", "%wbn5", "the thread's number in the grid for its number in the block"},
        {"%ntid.x", "%wbn6", "the grid's number of threads for the block's"},
        {"%tid.x", "%wbn3", "the block's number for the thread's"},
        {"%ctaid.x", "%wbn5", "the thread's number in the grid for the block's number"},
        {"lane", "%wbn7", "the warp's number for the lane's"},
        {"warp", "%wbn8", "the lane's number for the warp's"},
        {"warp", "%wbn9", "the warp's number in the grid for its number in the block"},
        {"lane", "%wbn1", "the thread's number in the block for the lane's"},
    };
    Holder holders[MOST];
    int lines[MOST];
    const int count = list_holders(kernel, holders), line_count = list_lines(kernel, is_any, lines);
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
        for (int h = 0; h < count; h++)
            for (int l = 0; l < line_count && strcmp(holders[h].special, numbers[n].special) == 0; l++)
                propose_number(kernel, &holders[h], lines[l], numbers[n].other, numbers[n].words);
}

// ---- All of them -----------------------------------------------------------------------------------------

// Near the finding at first; elsewhere when nothing else has helped.
enum { NEAR = 10 };
static const char block_barrier[] = "bar.sync 0;", warp_barrier[] = "bar.warp.sync 0xffffffff;";

static void propose_barriers(const Kernel *kernel, ChangeKind kind, bool is_near) {
    const bool is_warp = kind == CHANGE_WARP_BARRIER;
    propose_insertions(kernel, &(Insertion){.kind = kind,
                                            .what = is_warp ? "__syncwarp()" : "__syncthreads()",
                                            .instruction = is_warp ? warp_barrier : block_barrier,
                                            .first = is_near ? 0 : NEAR,
                                            .end = is_near ? NEAR : MOST});
}

static void propose_moved_barrier(const Kernel *kernel) {
    propose_insertions(kernel, &(Insertion){.kind = CHANGE_MOVED_BARRIER,
                                            .what = "the __syncthreads()",
                                            .instruction = block_barrier,
                                            .end = MOST,
                                            .removes_here = true});
}

static void propose_waits(const Kernel *kernel) {
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

void propose(const PtxLines *lines, int function, const Symptoms *symptoms, Changes *changes) {
    Kernel kernel = {.lines = lines, .symptoms = symptoms, .changes = changes, .first = -1};
    for (int i = 0; i < lines->count; i++) {
        if (lines->lines[i].function != function) continue;
        if (kernel.first < 0 && lines->lines[i].is_instruction) kernel.first = i;
        kernel.end = i + 1;
    }
    if (kernel.first < 0) return;
    kernel.declared = kernel.first;
    while (kernel.declared > 0 && lines->lines[kernel.declared - 1].function == function &&
           lines->lines[kernel.declared - 1].text[0] != '{')
        kernel.declared--;
    const bool may_race = symptoms->verdict == VERDICT_RACE || symptoms->verdict == VERDICT_WRONG ||
                          symptoms->verdict == VERDICT_UNINIT || symptoms->verdict == VERDICT_SYNC;
    const Finding *finding = symptoms->finding;
    const bool is_in_warp = finding && finding->kind == FINDING_RACE && finding->warp >= 0 &&
                            finding->thread[0] / 32 == finding->other_thread[0] / 32;
    const bool is_between_blocks =
        finding && memcmp(finding->block, finding->other_block, sizeof finding->block) != 0;
    const bool is_sync = symptoms->verdict == VERDICT_SYNC, is_uninit = symptoms->verdict == VERDICT_UNINIT;
    propose_waits(&kernel);
    if (is_sync || is_uninit || symptoms->verdict == VERDICT_WRONG) propose_full_masks(&kernel);
    if (is_uninit || symptoms->verdict == VERDICT_WRONG) {
        propose_zero_registers(&kernel);
        propose_zero_output(&kernel);
        propose_zero_shared(&kernel);
    }
    if (symptoms->is_weak || is_between_blocks) propose_fences(&kernel);
    if (may_race && is_in_warp) propose_barriers(&kernel, CHANGE_WARP_BARRIER, true);
    if (may_race && !is_between_blocks) propose_barriers(&kernel, CHANGE_BARRIER, true);
    if (is_sync && finding) propose_moved_barrier(&kernel);
    if (symptoms->verdict == VERDICT_RACE && is_in_warp)
        propose_everywhere(&kernel, CHANGE_WARP_BARRIER, "a __syncwarp() before every access", warp_barrier);
    if (may_race && !is_in_warp && !is_between_blocks) propose_barriers(&kernel, CHANGE_WARP_BARRIER, true);
    if (may_race) propose_stores(&kernel, propose_atomic);
    if (may_race) propose_stores(&kernel, as_one_writer);
    propose_numbers(&kernel);
    if (symptoms->verdict == VERDICT_OOB) {
        propose_comparisons(&kernel);
        propose_more_shared(&kernel);
        propose_guard(&kernel);
    }
    if (symptoms->verdict != VERDICT_OOB) propose_comparisons(&kernel);
    if (may_race) propose_stores(&kernel, as_addition);
    if (may_race && !is_between_blocks) propose_barriers(&kernel, CHANGE_BARRIER, false);
    if (may_race && !is_between_blocks) propose_barriers(&kernel, CHANGE_WARP_BARRIER, false);
    propose_constants(&kernel);
}
