#include "driver/judge/modelled_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/elements.h"

static const double elements_of_matrix = 1 << 18; // of the part that stands for a grid of several dimensions
static const double rows_of_matrix = 64;
static const double elements_of_part = 1 << 20, threads_of_part = 8192;
// What a run that tries something may take for a launch and each of its threads, besides the elements.
static const double least_steps = 1 << 20, steps_of_thread = 300;
static const long long most_elements = 1 << 23, few_elements = 1 << 17;

typedef struct {
    TaskShape at; // size and launch shapes
    int sm_count; // of the GPU that LAUNCH was asked for
    ModelWork works[MAX_LAUNCHES];
} PartRun;

// What the work of a run grows with: the elements, or the products that a matrix product adds.
static double work_in(const CaseSize *size) {
    return (double)size->n * (double)(size->depth ? size->depth : 1);
}

bool modelled_runs_whole(const CaseSize *size) { return size->n <= few_elements; }

static bool give_up(ModelledTask *modelled, const char *words) {
    snprintf(modelled->why, sizeof modelled->why, "not modelled: %.290s", words);
    return false;
}

// ---- One run ----------------------------------------------------------------------------------------------

static bool restart(ModelledTask *modelled, const RunReply *reply) {
    RunReply ignored;
    const bool is_spent = reply->end != RUN_REPLIED || reply->header->context_lost;
    return !is_spent || runner_restart(modelled->runner, &ignored); // if it fails, the next run reports it
}

// Runs that case and checks it. False if it is not right.
static bool run_part(ModelledTask *modelled, PartRun *part) {
    static Request request;
    Judge *judge = modelled->judge;
    const Task *task = modelled->task;
    const CaseShape *shape = &part->at.shape;
    const Case one = {.task = modelled->index, .size = part->at.size, .family = FAMILY_INTEGERS};
    CaseReport *report = &modelled->failed;
    *report = (CaseReport){
        .settings = one, .shape = *shape, .seed = seed_of_inputs(&judge->seeds, &one.size, one.family)};
    CaseLayout layout;
    char why[512];
    if (!case_layout(task, shape, runner_arena_bytes(modelled->runner), &layout, why, sizeof why))
        return give_up(modelled, why);
    Prepared *prepared = prepared_take(&judge->cache, task, &one, shape, layout.counts, report->seed);
    if (!prepared) return give_up(modelled, "out of memory for the inputs");
    unsigned char *arena = runner_arena(modelled->runner);
    case_request(task, &one, shape, &layout, prepared, modelled->image->kernels[modelled->index], arena,
                 &request);
    request.checks = CHECK_MEMORY;
    request.rounds = 1;
    request.timing = 1;
    modelled->elements += one.size.n;
    for (int l = 0; l < request.program.launch_count; l++) {
        RunLaunch *launch = &request.program.launches[l];
        const double threads = (double)shape->launches[layout.launch_index[l]].threads;
        const double steps =
            modelled->steps_of_element * work_in(&one.size) + steps_of_thread * threads + least_steps;
        if (modelled->steps_of_element > 0 && steps < (double)launch->max_steps)
            launch->max_steps = (uint64_t)steps;
    }
    request.what_if = modelled->what_if.timing;
    RunReply reply;
    runner_run(modelled->runner, &request, case_seconds(false, one.size.n), &reply);
    const bool is_decided = case_judge(task, shape, &layout, prepared, &reply, arena, false, report);
    prepared_release(prepared);
    if (report->verdict == VERDICT_PASS) {
        for (int l = 0; l < layout.launch_count; l++) {
            part->works[layout.launch_index[l]] = reply.header->works[l];
            if (!(reply.header->works[l].blocks > 0)) return give_up(modelled, "the device traces nothing");
        }
        return true;
    }
    restart(modelled, &reply);
    modelled->has_failed = is_decided && report->verdict != VERDICT_INFRA;
    return give_up(modelled, modelled->has_failed ? "the kernel fails in the modelled run" : report->words);
}

// ---- Which runs -------------------------------------------------------------------------------------------

// A size with that share of the elements: whole rows of a matrix.
static CaseSize part_of(CaseSize size, double share) {
    if (share >= 1) return size;
    if (!size.rows) {
        size.n = llround((double)size.n * share);
        if (size.n < 1) size.n = 1;
        return size;
    }
    size.rows = llround((double)size.rows * share);
    if (size.rows < 1) size.rows = 1;
    size.n = size.rows * size.columns;
    return size;
}

// Asks LAUNCH, for a GPU like this one with that many SMs. False if its blocks are not like those of the
// whole.
static bool ask(ModelledTask *modelled, CaseSize size, int sm_count, const CaseShape *whole, PartRun *part) {
    GpuInfo device = *runner_info(modelled->runner);
    RunReply ignored;
    device.sm_count = part->sm_count = sm_count;
    if (!ask_shape_for(modelled->runner, 0, modelled->task, modelled->index,
                       modelled->image->kernels[modelled->index], size, &device, modelled->what_if.shape,
                       &part->at)) {
        (void)runner_restart(modelled->runner, &ignored);
        return false;
    }
    if (part->at.verdict != VERDICT_PASS) return false;
    for (int l = 0; l < whole->launch_count; l++) {
        const ShapeOfLaunch *here = &part->at.shape.launches[l], *there = &whole->launches[l];
        if (here->block_threads != there->block_threads || here->shared != there->shared ||
            (here->blocks > 0) != (there->blocks > 0))
            return false;
    }
    return true;
}

static double share_of_block(const PartRun *part, int launch) {
    return (double)part->at.size.n / (double)part->at.shape.launches[launch].blocks;
}

static bool has_dimensions(const ShapeOfLaunch *shape) { return shape->grid[1] > 1 || shape->grid[2] > 1; }

// If the grid grows with the elements, a smaller grid whose blocks have as many each.
static bool choose_one(ModelledTask *modelled, const CaseShape *whole, int launch, PartRun *part) {
    const ShapeOfLaunch *shape = &whole->launches[launch];
    const double n = (double)whole->size.n, blocks = (double)shape->blocks, of_block = n / blocks;
    double run = 1;
    while (2 * run <= blocks && 2 * run * shape->block_threads <= threads_of_part &&
           2 * run * of_block <= elements_of_part)
        run *= 2;
    double share = run / blocks;
    if (has_dimensions(shape))
        share = fmax(elements_of_matrix / n, rows_of_matrix / fmax(1, (double)whole->size.rows));
    for (int more = 0; more < 12 && share < 4; more++) {
        const CaseSize size = part_of(whole->size, fmin(1, share));
        if (size.n > most_elements / 2) return false;
        if (ask(modelled, size, runner_info(modelled->runner)->sm_count, whole, part) &&
            fabs(share_of_block(part, launch) - of_block) <= 0.02 * of_block)
            return true;
        share *= 4;
    }
    return false;
}

// Half as many rows of a matrix as the part that was chosen: blocks at the upper and the lower edge may have
// more to do than others, or less.
static bool choose_half(ModelledTask *modelled, const CaseShape *whole, int launch, const PartRun *part,
                        PartRun *half) {
    const CaseSize *size = &part->at.size;
    return has_dimensions(&whole->launches[launch]) && size->rows > 1 && size->rows < whole->size.rows &&
           ask(modelled, part_of(*size, 0.5), runner_info(modelled->runner)->sm_count, whole, half) &&
           half->at.shape.launches[launch].blocks < part->at.shape.launches[launch].blocks;
}

// Two sizes with `first` and `second` elements for each thread, and the remainder after the last whole round
// of a loop that the whole has, on a GPU of that many SMs.
static bool choose_two(ModelledTask *modelled, const CaseShape *whole, int launch, int sm_count, double first,
                       double second, PartRun parts[2]) {
    const ShapeOfLaunch *shape = &whole->launches[launch];
    const double n = (double)whole->size.n, of_thread = n / (double)shape->threads;
    const double all_sms = runner_info(modelled->runner)->sm_count;
    const double blocks = fmax(1, round((double)shape->blocks * sm_count / all_sms));
    const double rest = fmod(of_thread, first), each[2] = {first + rest, second + rest};
    for (int k = 0; k < 2; k++) {
        const CaseSize size = part_of(whole->size, blocks * shape->block_threads * each[k] / n);
        if (size.n > most_elements || size.n >= whole->size.n ||
            !ask(modelled, size, sm_count, whole, &parts[k]))
            return false;
    }
    return share_of_block(&parts[1], launch) > 1.2 * share_of_block(&parts[0], launch);
}

// Fewer SMs need fewer blocks: LAUNCH is asked for a small GPU.
static bool choose_on_fewer_sms(ModelledTask *modelled, const CaseShape *whole, int launch,
                                PartRun parts[2]) {
    const ShapeOfLaunch *shape = &whole->launches[launch];
    const double all_sms = runner_info(modelled->runner)->sm_count;
    const double run = fmin((double)shape->blocks, fmax(1, threads_of_part / shape->block_threads));
    const int sm_count = (int)fmax(1, round(all_sms * run / (double)shape->blocks));
    for (int each = 64; each <= 256; each *= 2)
        if (choose_two(modelled, whole, launch, sm_count, each, 2 * each, parts)) return true;
    return false;
}

// As many blocks as the whole has, with few elements each.
static bool choose_whole_grid(ModelledTask *modelled, const CaseShape *whole, int launch, PartRun parts[2]) {
    const int sm_count = runner_info(modelled->runner)->sm_count;
    for (int each = 16; each >= 1; each /= 2)
        if (choose_two(modelled, whole, launch, sm_count, each, 2 * each, parts)) return true;
    return give_up(modelled, "LAUNCH has no such blocks for a smaller n");
}

// Whether the kernel is right with LAUNCH's own shape for this GPU, where it failed with that for another.
static bool is_right_here(ModelledTask *modelled, PartRun *part) {
    const TaskShape failed = part->at;
    modelled->has_failed = false;
    return ask(modelled, failed.size, runner_info(modelled->runner)->sm_count, &failed.shape, part) &&
           run_part(modelled, part);
}

// Two products of little depth, of which the work of each block is a linear function.
static bool choose_product(ModelledTask *modelled, const CaseShape *whole, PartRun parts[2]) {
    enum { ROWS = 128, COLUMNS = 256, DEPTH = 32 };
    const int sm_count = runner_info(modelled->runner)->sm_count;
    for (int k = 0; k < 2; k++) {
        CaseSize size = whole->size;
        size.rows = size.rows < ROWS ? size.rows : ROWS;
        size.columns = size.columns < COLUMNS ? size.columns : COLUMNS;
        size.depth = DEPTH << k;
        size.n = size.rows * size.columns;
        if (size.depth > whole->size.depth || !ask(modelled, size, sm_count, whole, &parts[k]))
            return give_up(modelled, "LAUNCH has no such blocks for smaller matrices");
    }
    return true;
}

// One or two runs, or 0 if there are none.
static int run_parts(ModelledTask *modelled, const CaseShape *whole, int launch, PartRun parts[2]) {
    if (modelled_runs_whole(&whole->size)) {
        parts[0].at = (TaskShape){.task = modelled->index, .size = whole->size, .shape = *whole};
        return run_part(modelled, &parts[0]);
    }
    if (modelled->task->expect == EXPECT_PRODUCT)
        return choose_product(modelled, whole, parts) && run_part(modelled, &parts[0]) &&
                       run_part(modelled, &parts[1])
                   ? 2
                   : 0;
    if (choose_one(modelled, whole, launch, &parts[1])) {
        if (choose_half(modelled, whole, launch, &parts[1], &parts[0]))
            return run_part(modelled, &parts[0]) && run_part(modelled, &parts[1]) ? 2 : 0;
        parts[0] = parts[1];
        return run_part(modelled, &parts[0]);
    }
    if (choose_on_fewer_sms(modelled, whole, launch, parts)) {
        int right = 0;
        while (right < 2 && run_part(modelled, &parts[right])) right++;
        if (right == 2) return 2;
        if (!modelled->has_failed || !is_right_here(modelled, &parts[right])) return 0;
    }
    return choose_whole_grid(modelled, whole, launch, parts) && run_part(modelled, &parts[0]) &&
                   run_part(modelled, &parts[1])
               ? 2
               : 0;
}

// ---- Collecting -------------------------------------------------------------------------------------------

// By how much it grows with the blocks that one block collects from. Two runs with as many blocks do not
// tell, so another one has half.
static void follow_collecting(ModelledTask *modelled, const CaseShape *whole, int launch,
                              const PartRun parts[2], int count, ModelTime *collecting) {
    static PartRun half;
    const PartRun *many = &parts[count - 1], *few = &parts[0];
    const double trips = collecting->l2_trips + collecting->dram_trips;
    if (trips <= TRIPS_OF_COLLECTING || modelled_runs_whole(&whole->size)) return;
    if (few->at.shape.launches[launch].blocks == many->at.shape.launches[launch].blocks) {
        few = &half;
        if (!ask(modelled, part_of(many->at.size, 0.5), (many->sm_count + 1) / 2, whole, &half) ||
            half.at.shape.launches[launch].blocks == many->at.shape.launches[launch].blocks ||
            !run_part(modelled, &half))
            return;
    }
    const double blocks[] = {(double)few->at.shape.launches[launch].blocks,
                             (double)many->at.shape.launches[launch].blocks};
    const ModelTime times[] = {few->works[launch].collecting, many->works[launch].collecting};
    model_collecting(blocks, times, (double)whole->launches[launch].blocks, collecting);
}

// ---- A pass over what another launch left -----------------------------------------------------------------

// It is as the whole's where the launch before has as many blocks, which takes few elements; else its
// elements grow with n, and so does its work.
static bool follow_pass(ModelledTask *modelled, const CaseShape *whole, int launch, int first,
                        PartRun parts[2], ModelWork *work) {
    const Quantity *elements = &modelled->task->launches[launch].n;
    const long long n = quantity_value(modelled->task, elements, whole);
    const ShapeOfLaunch *shape = &whole->launches[launch];
    const int sm_count = runner_info(modelled->runner)->sm_count;
    const double threads = (double)whole->launches[first].threads;
    for (int each = 1; each * threads <= (double)most_elements; each *= 4) {
        const CaseSize size = part_of(whole->size, each * threads / (double)whole->size.n);
        if (!ask(modelled, size, sm_count, whole, &parts[0]) ||
            quantity_value(modelled->task, elements, &parts[0].at.shape) != n ||
            parts[0].at.shape.launches[launch].blocks != shape->blocks)
            continue;
        if (!run_part(modelled, &parts[0])) return false;
        *work = parts[0].works[launch];
        return true;
    }
    ModelRun runs[2];
    ModelWork works[2];
    for (int k = 0; k < 2; k++) {
        const CaseSize size = part_of(whole->size, (double)(few_elements << k) / (double)whole->size.n);
        if (!ask(modelled, size, sm_count, whole, &parts[k]))
            return give_up(modelled, "LAUNCH has no such blocks for a smaller n");
        if (!run_part(modelled, &parts[k])) return false;
        runs[k] =
            (ModelRun){.blocks = (uint64_t)parts[k].at.shape.launches[launch].blocks,
                       .elements = (double)quantity_value(modelled->task, elements, &parts[k].at.shape)};
        works[k] = parts[k].works[launch];
    }
    const bool is_line =
        runs[1].elements / (double)runs[1].blocks > runs[0].elements / (double)runs[0].blocks;
    model_whole(is_line ? runs : &runs[1], is_line ? works : &works[1], is_line ? 2 : 1,
                (uint64_t)shape->blocks, (double)n, work);
    return true;
}

bool modelled_works(ModelledTask *modelled, const CaseShape *whole, ModelledWorks *done) {
    static PartRun parts[2];
    ModelWork *works = done->works;
    *done = (ModelledWorks){0};
    int first = -1;
    bool is_over_all[MAX_LAUNCHES] = {0};
    for (int l = whole->launch_count - 1; l >= 0; l--) {
        is_over_all[l] =
            quantity_value(modelled->task, &modelled->task->launches[l].n, whole) == whole->size.n;
        if (is_over_all[l] && whole->launches[l].blocks > 0) first = l;
    }
    if (first < 0) return give_up(modelled, "no launch goes through all elements");
    const int count = run_parts(modelled, whole, first, parts);
    if (count == 0) return false;
    for (int l = 0; l < whole->launch_count; l++) {
        if (!is_over_all[l] || whole->launches[l].blocks == 0) continue;
        ModelRun runs[2];
        ModelWork parts_works[2];
        for (int k = 0; k < count; k++) {
            runs[k] = (ModelRun){.blocks = (uint64_t)parts[k].at.shape.launches[l].blocks,
                                 .elements = work_in(&parts[k].at.size)};
            parts_works[k] = parts[k].works[l];
        }
        model_whole(runs, parts_works, count, (uint64_t)whole->launches[l].blocks, work_in(&whole->size),
                    &works[l]);
        follow_collecting(modelled, whole, l, parts, count, &works[l].collecting);
    }
    for (int l = 0; l < whole->launch_count; l++)
        if (!is_over_all[l] && whole->launches[l].blocks > 0 &&
            !follow_pass(modelled, whole, l, first, parts, &works[l]))
            return false;
    done->whole = *whole;
    return true;
}

bool modelled_waits_for_blocks(const ModelledWorks *done) {
    for (int l = 0; l < done->whole.launch_count; l++) {
        const ModelWork *work = &done->works[l];
        if (done->whole.launches[l].blocks > 0 && work->links == 0 && 2 * work->passed_on > work->blocks)
            return true;
    }
    return false;
}

static int registers_with(const WhatIf *what_if, const ImageKernel *kernel) {
    if (what_if->needs_few_registers) return 0;
    return what_if->more_registers && kernel->spilled ? what_if->more_registers : kernel->registers;
}

bool modelled_estimate(const ModelledTask *modelled, const ModelledWorks *done, const ModelDevice *device,
                       ModelEstimate *sum) {
    const WhatIf *what_if = &modelled->what_if;
    const CaseShape *whole = &done->whole;
    bool is_first = true;
    for (int l = 0; l < whole->launch_count; l++) {
        const ShapeOfLaunch *launch = &whole->launches[l];
        const ImageKernel *kernel = &modelled->image->kernels[modelled->index][l];
        if (launch->blocks == 0) continue;
        const ModelShape shape = {.blocks = (double)launch->blocks,
                                  .block_threads = launch->block_threads,
                                  .registers = registers_with(what_if, kernel),
                                  .shared_bytes = what_if->needs_little_shared
                                                      ? 0
                                                      : (double)kernel->static_shared + launch->shared};
        ModelWork work = done->works[l];
        model_with_loads_in_flight(&work, what_if->loads);
        if (what_if->has_no_local_memory || kernel->has_no_stack) model_without_local_memory(&work);
        if (what_if->has_no_chain) model_without_chain(&work);
        if (what_if->tells_by_atomics) model_told_by_atomics(&work);
        if (what_if->collects_at_once) model_collected_at_once(&work);
        ModelEstimate one;
        model_estimate(device, &shape, &work, &one);
        if (is_first)
            *sum = one;
        else
            model_estimate_next(device, &one, sum);
        is_first = false;
    }
    return !is_first;
}
