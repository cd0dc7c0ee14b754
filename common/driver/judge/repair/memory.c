// What memory and variables hold at first, how large arrays are, and what stores do.
#include "driver/judge/repair/kernel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// ---- Starting at 0 ---------------------------------------------------------------------------------------

void propose_zero_registers(const Kernel *kernel) {
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
void propose_zero_shared(const Kernel *kernel) {
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

void propose_zero_output(const Kernel *kernel) {
    Change *change = changes_add(kernel->changes, CHANGE_ZERO_OUTPUT, 0);
    if (change) change->zeroes_output = true;
    say(change, "memory that starts at 0");
}

// ---- Bounds ----------------------------------------------------------------------------------------------

// Whether a store of this line is to a place that another line of kernel.cu has, too: a compiler gives the
// stored value to that line without a load, so that a test of the store alone seems to be enough.
static bool stores_for_another_line(const Kernel *kernel, int line) {
    char said[512], other[512];
    if (!kernel_line(kernel, line, said, sizeof said)) return false;
    char *end = strstr(said, "] = ");
    if (!end) return false;
    end[1] = '\0';
    const char *place = said + strspn(said, " \t");
    for (int l = 1; kernel_line(kernel, l, other, sizeof other); l++)
        if (l != line && strstr(other, place)) return true;
    return false;
}

// Leaves out what the line of the finding does outside of all memory.
void propose_guard(const Kernel *kernel, bool is_everywhere) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || finding->kind != FINDING_OUT_OF_BOUNDS || !finding->place.line) return;
    if (finding->is_store && stores_for_another_line(kernel, finding->place.line)) return;
    const int line = is_everywhere ? 0 : finding->place.line;
    Change *change = changes_add(kernel->changes, CHANGE_GUARD, line);
    if (change) change->guarded_line = is_everywhere ? ALL_LINES : line;
    if (is_everywhere)
        say(change, "a test that leaves out what is out of bounds before every access");
    else
        say_at(change, "a test that leaves out what is out of bounds", "in");
}

// "ld.global.nc.v4.f32" -> "ld.global.nc.f32", 4 elements of 4 bytes. 0: the access is not of several.
static int elements_of(const PtxInstruction *in, char *opcode, size_t room, int *bytes) {
    const int count = opcode_has(in, "v4") ? 4 : opcode_has(in, "v2") ? 2 : 0;
    const char *part = strstr(in->opcode, count == 4 ? ".v4" : ".v2"), *type = strrchr(in->opcode, '.');
    if (count == 0 || !part || !type || !(opcode_is(in, "ld") || opcode_is(in, "st"))) return 0;
    snprintf(opcode, room, "%.*s%s", (int)(part - in->opcode), in->opcode, part + 3);
    *bytes = atoi(type + 2) / 8;
    return *bytes > 0 ? count : 0;
}

// An access of several elements as one of each.
static void divide(const Kernel *kernel, Change *change, int at, const PtxInstruction *in) {
    char opcode[64], element[4][32] = {{0}}, base[PTX_OPERAND_BYTES];
    int bytes;
    long offset = 0;
    const int count = elements_of(in, opcode, sizeof opcode, &bytes);
    const bool is_load = opcode_is(in, "ld");
    const char *vector = in->operands[is_load ? 0 : 1], *address = in->operands[is_load ? 1 : 0];
    if (in->operand_count != 2 ||
        sscanf(vector, "{%31[^,}],%31[^,}],%31[^,}],%31[^,}]}", element[0], element[1], element[2],
               element[3]) != count ||
        sscanf(address, "[%95[^]+]+%ld", base, &offset) < 1)
        return;
    char text[480];
    int used = 0;
    for (int e = 0; e < count && used < (int)sizeof text; e++) {
        char place[PTX_OPERAND_BYTES + 32];
        snprintf(place, sizeof place, "[%s+%ld]", base, offset + (long)e * bytes);
        used += snprintf(text + used, sizeof text - (size_t)used, "%s\t%s %s %s, %s;", e ? "\n" : "",
                         in->predicate, opcode, is_load ? element[e] : place, is_load ? place : element[e]);
    }
    change_replace(kernel->changes, change, at, "%s", text);
}

// In the line of the finding, or everywhere.
static void propose_single(const Kernel *kernel, const Finding *finding, bool is_everywhere) {
    const bool is_outside = finding->kind == FINDING_OUT_OF_BOUNDS;
    Change *change = NULL;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        char opcode[64];
        int bytes;
        if ((!is_everywhere && kernel->lines->lines[i].source != finding->place.line) ||
            !ptx_instruction(&kernel->lines->lines[i], &in) ||
            !elements_of(&in, opcode, sizeof opcode, &bytes))
            continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_SINGLE, is_everywhere ? 0 : finding->place.line);
            if (change && is_outside) change->guarded_line = is_everywhere ? ALL_LINES : finding->place.line;
            const char *words =
                !is_outside ? "an access for each element instead of a wide one"
                : !is_everywhere
                    ? "a test for each element of a wide access"
                    : "a test before every access, for each element of a wide one, that leaves out "
                      "what is out of bounds";
            if (is_everywhere)
                say(change, words);
            else
                say_at(change, words, "in");
        }
        divide(kernel, change, i, &in);
    }
}

void propose_single_accesses(const Kernel *kernel) {
    const Finding *finding = kernel->symptoms->finding;
    if (!finding || !finding->place.line) return;
    propose_single(kernel, finding, false);
    propose_single(kernel, finding, true);
}

// Whether an array of the PTX is the one that a finding names, as "_ZZ4foldfE7of_warp" is of_warp.
static bool is_array(const char *symbol, const char *name) {
    const size_t length = strlen(name), all = strlen(symbol);
    if (length == 0 || all < length || strcmp(symbol + all - length, name) != 0) return false;
    return all == length || isdigit((unsigned char)symbol[all - length - 1]);
}

static void propose_times_shared(const Kernel *kernel, const char *name, int times) {
    enum { MOST_BYTES = 32768 };
    Change *change = NULL;
    // An array of a function that several kernels call is declared outside of all of them.
    for (int i = name ? 0 : kernel->declared; i < kernel->end; i++) {
        char symbol[256];
        long bytes;
        if (!shared_array(&kernel->lines->lines[i], symbol, &bytes) || times * bytes > MOST_BYTES ||
            (name && !is_array(symbol, name)))
            continue;
        if (!change) {
            change = changes_add(kernel->changes, CHANGE_MORE_SHARED, 0);
            if (change && name)
                snprintf(change->words, sizeof change->words, "an array %s that is %d times as large", name,
                         times);
            else
                say(change, "arrays in shared memory that are twice as large");
        }
        change_replace(kernel->changes, change, i, "\t.shared .align 16 .b8 %s[%ld];", symbol, times * bytes);
    }
}

// The array of the finding alone, up to as often as a block has lanes for each warp.
void propose_larger_array(const Kernel *kernel) {
    enum { MOST_TIMES = 32 };
    static const char shared[] = "shared ";
    const Finding *finding = kernel->symptoms->finding;
    const bool is_shared = finding && starts_with(finding->object, shared);
    for (int times = 2; is_shared && times <= MOST_TIMES; times *= 2)
        if (finding->index >= 0 && finding->index < times * (int64_t)finding->object_bytes)
            propose_times_shared(kernel, finding->object + strlen(shared), times);
}

void propose_more_shared(const Kernel *kernel) { propose_times_shared(kernel, NULL, 2); }

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
static void as_atomic(const Kernel *kernel, int at, const PtxInstruction *store, const char *space,
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
static void add_one_writer(const Kernel *kernel, int at, const PtxInstruction *store, bool is_lane) {
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
    add_one_writer(kernel, at, store, true);
    add_one_writer(kernel, at, store, false);
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

void propose_atomics(const Kernel *kernel) { propose_stores(kernel, as_atomic); }
void propose_one_writer(const Kernel *kernel) { propose_stores(kernel, as_one_writer); }
void propose_additions(const Kernel *kernel) { propose_stores(kernel, as_addition); }
