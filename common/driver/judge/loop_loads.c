#include "driver/judge/loop_loads.h"

#include <stdio.h>
#include <string.h>

#include "driver/judge/repair/ptx_lines.h"

// A loop without another one in it: from its label to the branch back.
typedef struct {
    bool has_exchange;
    int meeting;       // the line of the first exchange; 0: unknown
    int test;          // the line of its tests, if each compares an unsigned sum; 0: others are there, too
    bool is_ordered;   // something else keeps the order of its loads, as a store
    uint64_t requests; // of the line that loads most
} Loop;

static uint64_t requests_of(const Judgement *judgement, int task, int line) {
    uint64_t requests = 0;
    for (int i = 0; i < judgement->line_count; i++)
        if (judgement->lines[i].task == task && judgement->lines[i].counters.place.line == line)
            requests += judgement->lines[i].counters.counters.global_ld_requests;
    return requests;
}

// Lanes of a warp or warps of a block meet there: nvcc does not change which of them do.
static bool is_exchange(const PtxInstruction *in) {
    static const char *const opcodes[] = {"shfl", "vote", "match", "redux", "bar", "barrier"};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (opcode_is(in, opcodes[i])) return true;
    return false;
}

// What nvcc leaves where it is among loads, beside exchanges.
static bool keeps_order(const PtxInstruction *in) {
    static const char *const opcodes[] = {"st", "atom", "red", "membar", "fence", "call", "cp"};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (opcode_is(in, opcodes[i])) return true;
    return opcode_is(in, "ld") && opcode_has(in, "volatile");
}

// The line of the test of a branch in a loop from `first` on, if it compares an unsigned sum that the loop
// computes: an index and its step. 0: it does not.
static int unsigned_test(const PtxLines *lines, int first, int at, const PtxInstruction *branch) {
    char name[PTX_OPERAND_BYTES];
    const char *predicate = branch->predicate + strspn(branch->predicate, "@!");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(predicate, " "), predicate);
    PtxInstruction test, sum;
    const int place = ptx_find_writer(lines, first, at, name, &test);
    if (place < 0 || !opcode_is(&test, "setp") || !(opcode_has(&test, "u32") || opcode_has(&test, "u64")))
        return 0;
    const bool is_sum =
        ptx_find_writer(lines, first, place, test.operands[1], &sum) >= 0 && opcode_is(&sum, "add");
    return is_sum ? lines->lines[place].source : 0;
}

// False if there is another loop in it.
static bool read_loop(const Judge *judge, int task, const PtxLines *lines, int first, int end, Loop *loop) {
    *loop = (Loop){0};
    for (int i = first; i <= end; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&lines->lines[i], &in)) continue;
        if (i < end && opcode_is(&in, "bra") && ptx_loop_start(lines, i, &in) >= first) return false;
        if (opcode_is(&in, "bra")) {
            const int test = unsigned_test(lines, first, i, &in);
            loop->is_ordered |= test == 0 || (loop->test && loop->test != test);
            loop->test = test;
        }
        loop->is_ordered |= keeps_order(&in);
        if (is_exchange(&in) && !loop->has_exchange) {
            loop->has_exchange = true;
            loop->meeting = lines->lines[i].source;
        }
        if (!opcode_is(&in, "ld") || !opcode_has(&in, "global")) continue;
        const uint64_t requests = requests_of(judge->judgement, task, lines->lines[i].source);
        if (requests > loop->requests) loop->requests = requests;
    }
    return true;
}

LoopLoads loop_loads_find(const Judge *judge, int task, int launch, int *meeting, int *unsigned_test) {
    *meeting = *unsigned_test = 0;
    const Image *image = judge->subjects->kernel;
    PtxLines lines;
    LoopLoads found = LOADS_ANYWHERE;
    if (!image->is_ptx || !ptx_lines_make(&image->text, "kernel.cu", &lines)) return found;
    const int function = ptx_find_function(&lines, image->kernels[task][launch].symbol);
    uint64_t most = 0;
    bool has_loop = false, is_known = false;
    for (int i = 0; function >= 0 && i < lines.count; i++) {
        PtxInstruction in;
        Loop loop;
        if (lines.lines[i].function != function || !ptx_instruction(&lines.lines[i], &in)) continue;
        is_known = true;
        const int first = opcode_is(&in, "bra") ? ptx_loop_start(&lines, i, &in) : -1;
        has_loop |= first >= 0;
        if (first < 0 || !read_loop(judge, task, &lines, first, i, &loop) || loop.requests <= most) continue;
        most = loop.requests;
        found = loop.has_exchange ? LOADS_BESIDE_EXCHANGE : LOADS_ANYWHERE;
        *meeting = loop.meeting;
        *unsigned_test = loop.is_ordered || loop.has_exchange ? 0 : loop.test;
    }
    ptx_lines_free(&lines);
    return is_known && !has_loop ? LOADS_IN_NO_LOOP : found;
}
