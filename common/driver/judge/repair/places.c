// The line of kernel.cu before which a statement does what an instruction does at a place of the PTX.
// Compilers move instructions, join those that several lines have in common, and make one of a condition and
// what depends on it: a place has such a line only if the same accesses are before it, the same conditions
// decide whether threads come there, and the same loops are around it.
#include "driver/judge/repair/kernel.h"

#include <stdlib.h>
#include <string.h>

// The line of an instruction in the function of kernel.cu that is `body`: its own, or that of the call that
// was inlined. 0: it has none there.
static int line_in(const Kernel *kernel, int at, int body) {
    const PtxLine *line = &kernel->lines->lines[at];
    if (line->source && outermost_block(&kernel->blocks, line->source) == body) return line->source;
    if (line->call && outermost_block(&kernel->blocks, line->call) == body) return line->call;
    return 0;
}

static bool accesses(const PtxInstruction *in) {
    return is_access(in, "ld") || is_access(in, "st") || opcode_is(in, "atom") || opcode_is(in, "red") ||
           opcode_is(in, "cp") || opcode_is(in, "bar") || opcode_is(in, "barrier") || opcode_is(in, "shfl");
}

// Whether what is accessed before and behind the place, without a branch in between, is so in the source.
static bool has_same_accesses(const Kernel *kernel, int at, int line, int body, bool is_unrolled) {
    for (int step = -1; step <= 1; step += 2) {
        for (int i = step < 0 ? at - 1 : at; i >= kernel->first && i < kernel->end; i += step) {
            PtxInstruction in;
            if (kernel->lines->lines[i].is_label) break;
            if (!ptx_instruction(&kernel->lines->lines[i], &in)) continue;
            if (opcode_is(&in, "bra")) break;
            const int here = accesses(&in) ? line_in(kernel, i, body) : 0;
            if (!here || (step < 0 ? here < line : here >= line)) continue;
            if (!is_unrolled) return false;
            break; // another round of the same loop
        }
    }
    return true;
}

// The place of the label that a branch goes to; -1: unknown.
static int find_target(const Kernel *kernel, const PtxInstruction *in) {
    return ptx_find_label(kernel->lines, kernel->first, kernel->end, in->operands[0]);
}

bool find_branches(Kernel *kernel) {
    int capacity = 0;
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&kernel->lines->lines[i], &in) || !opcode_is(&in, "bra")) continue;
        if (kernel->branch_count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            Branch *grown = realloc(kernel->branches, (size_t)capacity * sizeof *grown);
            if (!grown) return false;
            kernel->branches = grown;
        }
        kernel->branches[kernel->branch_count++] =
            (Branch){.at = i, .target = find_target(kernel, &in), .is_conditional = in.predicate[0] != '\0'};
    }
    return true;
}

// Whether the branch at `branch` can lead around the place, which is inside of that part of the source.
static bool is_branch_of(const Kernel *kernel, const Block *block, int branch, int body) {
    const int line = line_in(kernel, branch, body);
    return line &&
           (block->kind == BLOCK_ELSE ? line <= block->head : line >= block->head && line <= block->end);
}

static bool has_same_conditions(const Kernel *kernel, int at, int line, int body) {
    const SourceBlocks *source = &kernel->blocks;
    for (int b = source->inside[line]; b >= 0; b = source->blocks[b].parent) {
        const Block *block = &source->blocks[b];
        bool is_found = false;
        if (block->kind != BLOCK_IF && block->kind != BLOCK_ELSE) continue;
        for (int i = 0; i < kernel->branch_count && kernel->branches[i].at < at && !is_found; i++)
            is_found =
                kernel->branches[i].target >= at && is_branch_of(kernel, block, kernel->branches[i].at, body);
        if (!is_found) return false;
    }
    // No other if leads around the place, unless it leaves.
    for (int i = 0; i < kernel->branch_count && kernel->branches[i].at < at; i++) {
        const Branch *branch = &kernel->branches[i];
        if (!branch->is_conditional || branch->target < at) continue;
        const int from = line_in(kernel, branch->at, body);
        for (int b = 0; from && b < source->block_count; b++)
            if (source->blocks[b].kind == BLOCK_IF && source->blocks[b].head == from &&
                !block_holds(source, b, line) && !source->blocks[b].leaves)
                return false;
    }
    return true;
}

// Whether a loop of kernel.cu is one in the PTX, around the place: it is not unrolled, and the place is in
// it.
static bool is_loop_around(const Kernel *kernel, const Block *loop, int at, int body) {
    for (int i = 0; i < kernel->branch_count; i++) {
        const Branch *branch = &kernel->branches[i];
        const int from = line_in(kernel, branch->at, body);
        if (branch->at >= at && branch->target >= 0 && branch->target < at &&
            (from == 0 || (from >= loop->head && from <= loop->end)))
            return true;
    }
    return false;
}

bool is_in_unrolled_loop(const Kernel *kernel, int at, int line) {
    const SourceBlocks *source = &kernel->blocks;
    const int body = outermost_block(source, line), loop = block_around(source, line, BLOCK_LOOP);
    return loop >= 0 && !is_loop_around(kernel, &source->blocks[loop], at, body);
}

static bool has_same_loops(const Kernel *kernel, int at, int line, int body, bool is_unrolled) {
    const SourceBlocks *source = &kernel->blocks;
    for (int i = 0; i < kernel->branch_count; i++) {
        const Branch *branch = &kernel->branches[i];
        if (branch->at < at || branch->target < 0 || branch->target >= at) continue;
        const int from = line_in(kernel, branch->at, body);
        int loop = block_around(source, line, BLOCK_LOOP);
        if (loop < 0) return false;
        bool is_around = from == 0;
        for (; loop >= 0 && !is_around; loop = source->blocks[loop].parent)
            is_around = source->blocks[loop].kind == BLOCK_LOOP && from >= source->blocks[loop].head &&
                        from <= source->blocks[loop].end;
        if (!is_around) return false;
    }
    return is_unrolled || !is_in_unrolled_loop(kernel, at, line);
}

static bool is_line_of(const Kernel *kernel, int at, int line, int body, bool is_unrolled) {
    return line >= 1 && line <= kernel->blocks.count && kernel->blocks.begins[line] &&
           outermost_block(&kernel->blocks, line) == body &&
           has_same_accesses(kernel, at, line, body, is_unrolled) &&
           has_same_conditions(kernel, at, line, body) && has_same_loops(kernel, at, line, body, is_unrolled);
}

int line_before_place(const Kernel *kernel, int at, int near, bool is_unrolled) {
    const int body = outermost_block(&kernel->blocks, near);
    if (body < 0) return 0;
    for (int distance = 0; distance < kernel->blocks.count; distance++) {
        if (is_line_of(kernel, at, near + distance, body, is_unrolled)) return near + distance;
        if (is_line_of(kernel, at, near - distance, body, is_unrolled)) return near - distance;
    }
    return 0;
}

int line_behind(const Kernel *kernel, int line) {
    const SourceBlocks *source = &kernel->blocks;
    if (line < 1) return 0;
    for (int next = line + 1; next <= source->count; next++)
        if (source->begins[next]) return next;
    return 0;
}
