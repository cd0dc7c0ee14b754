#include "driver/judge/repair/proposals.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"

static void free_kernel(Kernel *kernel) {
    source_blocks_free(&kernel->blocks);
    free(kernel->branches);
}

// What it holds is freed with free_kernel() if it returns true.
static bool find_kernel(const PtxLines *lines, int function, const Symptoms *symptoms, Changes *changes,
                        Kernel *kernel) {
    *kernel = (Kernel){.lines = lines, .symptoms = symptoms, .changes = changes, .first = -1};
    for (int i = 0; i < lines->count; i++) {
        if (lines->lines[i].function != function) continue;
        if (kernel->first < 0 && lines->lines[i].is_instruction) kernel->first = i;
        kernel->end = i + 1;
    }
    if (kernel->first < 0) return false;
    kernel->declared = kernel->first;
    while (kernel->declared > 0 && lines->lines[kernel->declared - 1].function == function &&
           lines->lines[kernel->declared - 1].text[0] != '{')
        kernel->declared--;
    if (!source_blocks_make(symptoms->source, &kernel->blocks)) return false;
    if (find_branches(kernel)) return true;
    free_kernel(kernel);
    return false;
}

bool propose_less(const PtxLines *lines, const Change *whole, int from, int parts, const Symptoms *symptoms,
                  Changes *changes) {
    Kernel kernel;
    const Change as_it_is = *whole; // the array that has it may move
    if (from >= as_it_is.wide_count || as_it_is.wide_count <= parts ||
        !find_kernel(lines, as_it_is.function, symptoms, changes, &kernel))
        return false;
    propose_less_wide(&kernel, &as_it_is, from, parts);
    free_kernel(&kernel);
    return true;
}

bool propose_parts(const PtxLines *lines, const Change *whole, const Symptoms *symptoms, Changes *changes,
                   char *also, size_t bytes) {
    Kernel kernel;
    Change as_it_is = *whole; // the array that has it may move
    also[0] = '\0';
    int function = -1;
    for (int e = 0; e < as_it_is.edit_count && function < 0; e++)
        function = lines->lines[as_it_is.edits[e].line].function;
    if (function < 0 || !find_kernel(lines, function, symptoms, changes, &kernel)) return false;
    const bool is_shared = propose_parts_of(&kernel, &as_it_is, also, bytes);
    free_kernel(&kernel);
    return is_shared;
}

// What only a size shows that is too large for 32 bits, or for a number of kernel.cu.
static void propose_for_large(const Kernel *kernel) {
    propose_wide(kernel);
    propose_limits(kernel);
    if (kernel->symptoms->is_left_out) propose_more_blocks(kernel);
    propose_one_way(kernel);
    propose_comparisons(kernel, false);
    propose_comparisons(kernel, true);
}

static void propose_orders(const Kernel *kernel, bool is_near) {
    propose_barriers(kernel, CHANGE_BARRIER, is_near);
    propose_barriers(kernel, CHANGE_WARP_BARRIER, is_near);
}

enum { FAR = 1 << 20 }; // bytes behind an array that no small mistake is

static void propose_for_address(const Kernel *kernel) {
    const Finding *finding = kernel->symptoms->finding;
    const bool is_far =
        finding && (finding->index < 0 || finding->index > (int64_t)finding->object_bytes + FAR);
    propose_neighbours(kernel);
    propose_sizes(kernel);
    if (is_far) propose_signs(kernel);
    propose_other_arrays(kernel);
    propose_quantities(kernel);
    propose_barriers(kernel, CHANGE_BARRIER, true); // before an index from shared memory is read
    propose_waits(kernel);
}

// Whether threads need others: at a barrier, or in a shuffle.
static bool waits_for_others(const Kernel *kernel) {
    for (int i = kernel->first; i < kernel->end; i++) {
        PtxInstruction in;
        if (ptx_instruction(&kernel->lines->lines[i], &in) &&
            (opcode_is(&in, "bar") || opcode_is(&in, "barrier") || opcode_is(&in, "shfl")))
            return true;
    }
    return false;
}

// A wrong address from a place that other threads write, where the value was read.
static void propose_for_cause(const Kernel *kernel) {
    if (!kernel->symptoms->cause) return;
    Symptoms symptoms = *kernel->symptoms;
    Kernel there = *kernel;
    symptoms.finding = symptoms.cause;
    there.symptoms = &symptoms;
    propose_barriers(&there, CHANGE_BARRIER, true);
}

static void propose_for_small(const Kernel *kernel) {
    const Symptoms *symptoms = kernel->symptoms;
    const bool may_race = symptoms->verdict == VERDICT_RACE || symptoms->verdict == VERDICT_WRONG ||
                          symptoms->verdict == VERDICT_UNINIT || symptoms->verdict == VERDICT_SYNC;
    const Finding *finding = symptoms->finding;
    const bool is_in_warp = finding && finding->kind == FINDING_RACE && finding->warp >= 0 &&
                            finding->thread[0] / 32 == finding->other_thread[0] / 32;
    const bool has_two_sides =
        finding && (finding->kind == FINDING_RACE || finding->kind == FINDING_STALE_READ);
    const bool is_between_blocks =
        has_two_sides && memcmp(finding->block, finding->other_block, sizeof finding->block) != 0;
    // A wrong result in the plain order, in which nothing was found to race.
    const bool is_without_order =
        symptoms->verdict == VERDICT_WRONG && !symptoms->is_of_order && !symptoms->finding;
    const bool has_bad_address = symptoms->verdict == VERDICT_OOB || symptoms->verdict == VERDICT_MISALIGNED;
    const bool is_costly = is_without_order && symptoms->n > UINT16_MAX; // few changes can be tried
    const bool is_sync = symptoms->verdict == VERDICT_SYNC, is_uninit = symptoms->verdict == VERDICT_UNINIT;
    if (symptoms->n > INT16_MAX) propose_limits(kernel); // smaller sizes are right
    if (!has_bad_address) propose_waits(kernel);
    if (symptoms->verdict == VERDICT_TIMEOUT) propose_steps(kernel); // each attempt is much work
    if (symptoms->n > INT8_MAX && (symptoms->verdict == VERDICT_OOB || symptoms->verdict == VERDICT_WRONG ||
                                   symptoms->verdict == VERDICT_TIMEOUT))
        propose_wide(kernel);
    if (is_sync || is_uninit || symptoms->verdict == VERDICT_WRONG) propose_full_masks(kernel);
    if (symptoms->verdict == VERDICT_WRONG) {
        propose_zero_without_partner(kernel);
        // Before the products: 0 times what follows from a wrong start hides it in most cases.
        if (symptoms->has_bounds) propose_starts(kernel);
        if (symptoms->is_special) {
            propose_zero_differences(kernel);
            propose_zero_products(kernel);
        }
        propose_exchanged(kernel);
        propose_zero_where_skipped(kernel);
    }
    if (symptoms->is_unwritten) propose_one_more_block(kernel);
    const bool leaves_early = symptoms->verdict == VERDICT_WRONG && waits_for_others(kernel);
    if (leaves_early && symptoms->is_unwritten) propose_staying(kernel, true);
    if (is_without_order && symptoms->launch_lacks > 1) propose_larger_launch(kernel);
    if (is_costly) propose_one_way(kernel);
    if (is_uninit || symptoms->verdict == VERDICT_WRONG) {
        propose_zero_registers(kernel);
        propose_zero_output(kernel);
        propose_zero_shared(kernel);
    }
    if (symptoms->is_of_order || is_between_blocks) {
        propose_one_load(kernel);
        propose_scopes(kernel);
        propose_store_first(kernel);
        propose_volatile(kernel);
    }
    if (symptoms->is_weak || is_between_blocks) propose_fences(kernel);
    if (may_race) propose_barrier_choices(kernel); // before one more
    if (may_race && is_in_warp) propose_barriers(kernel, CHANGE_WARP_BARRIER, true);
    if (may_race && !is_between_blocks && !is_without_order) propose_barriers(kernel, CHANGE_BARRIER, true);
    if (is_sync && finding) propose_moved_barrier(kernel);
    if (is_sync || is_uninit) propose_staying(kernel, false);
    if (symptoms->verdict == VERDICT_RACE && is_in_warp) propose_warp_barriers_everywhere(kernel);
    if (may_race && !is_in_warp && !is_between_blocks && !is_without_order)
        propose_barriers(kernel, CHANGE_WARP_BARRIER, true);
    if (may_race) propose_atomics(kernel);
    if (may_race) propose_one_writer(kernel);
    if (has_bad_address) propose_for_cause(kernel);
    if (symptoms->verdict == VERDICT_OOB) {
        // If all is right without the accesses that are out of bounds, nothing but a bound is wrong: any
        // other change only keeps the kernel away from it.
        propose_comparisons(kernel, false);
        propose_guard(kernel, false);
        propose_larger_array(kernel);
    }
    if (has_bad_address) propose_for_address(kernel);
    propose_numbers(kernel);
    if (symptoms->verdict != VERDICT_OOB) propose_comparisons(kernel, false);
    propose_constants(kernel, true);
    propose_operators(kernel);
    if (!has_bad_address) propose_quantities(kernel);
    propose_comparisons(kernel, true);
    if (symptoms->verdict == VERDICT_WRONG) propose_block_sizes(kernel);
    if (leaves_early && !symptoms->is_unwritten) propose_staying(kernel, true);
    if (symptoms->verdict == VERDICT_OOB) {
        propose_more_shared(kernel);
        propose_guard(kernel, true);
    }
    if (has_bad_address) propose_single_accesses(kernel);
    if (!is_costly) propose_one_way(kernel);
    if (symptoms->verdict == VERDICT_WRONG) {
        propose_elements_apart(kernel);
        propose_other_elements(kernel);
        propose_added_numbers(kernel);
    }
    propose_constants(kernel, false);
    if (may_race) propose_additions(kernel);
    if (is_without_order) propose_orders(kernel, true);
    if (may_race && !is_between_blocks) propose_orders(kernel, false);
    if (!has_bad_address) propose_signs(kernel);
}

void propose(const PtxLines *lines, int function, const Symptoms *symptoms, Changes *changes) {
    Kernel kernel;
    if (!find_kernel(lines, function, symptoms, changes, &kernel)) return;
    if (symptoms->is_large)
        propose_for_large(&kernel);
    else
        propose_for_small(&kernel);
    free_kernel(&kernel);
}
