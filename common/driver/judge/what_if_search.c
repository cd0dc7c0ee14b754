#include "driver/judge/what_if_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/build/register_estimate.h"
#include "driver/judge/bandwidth_modelled.h"
#include "driver/judge/goal_lines.h"
#include "driver/judge/local_index.h"
#include "driver/judge/loop_loads.h"
#include "driver/judge/modelled_runs.h"
#include "emulator/ptx/ptx.h"
#include "gpu/profiles.h"

enum {
    MAX_SUPPOSITIONS = 16,
    MAX_RUNS = 8,     // suppositions that need the kernel to run again ...
    ENOUGH = 5 << 20, // ... and elements after which none is run
    FEWEST_LOADS = 2, // in flight that are tried, and so on by powers of two
    MOST_LOADS = 16,
};
// With another shape, a run ends after this multiple of the work: else each block may do all of it.
static const double most_work = 8, steps_of_instruction = 48;
static const double least_help = 1.02; // times faster, for a change to be worth mentioning
// Of divergence, some can hardly be avoided: one lane stores for its warp.
static const double least_help_of_divergence = 1.1;

typedef struct {
    const char *name;
    char words[120];
    WhatIf what_if;
    double seconds; // 0: the kernel cannot be run like that
} Supposition;

// What the launches do under a supposition of their timing and shape.
typedef struct {
    unsigned timing;
    OtherShape shape;
    ModelledWorks works; // no launches: it is wrong with that shape
} Runs;

typedef struct {
    Judge *judge;
    const Goal *goal;
    const Bandwidth *bandwidth; // as it is
    ModelDevice device;
    ModelledTask modelled;
    Runs runs[MAX_RUNS + 1]; // the first supposes nothing
    int run_count;
    Supposition singles[MAX_SUPPOSITIONS];
    int single_count;
} Search;

// ---- One supposition --------------------------------------------------------------------------------------

// A goal about the shape that is met must stay so, because the chapter asks for it.
static bool keeps_goals_of_shape(const Search *search, const CaseShape *whole) {
    static Measured measured[MAX_TASKS];
    const Judgement *judgement = search->judge->judgement;
    memcpy(measured, judgement->counted[0], sizeof measured);
    measured[search->modelled.index].shape = *whole;
    measured[search->modelled.index].is_counted = false;
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *now = &judgement->goals[g];
        GoalResult then;
        if (now->task != search->modelled.index || now->state != GOAL_MET || !goal_is_of_shape(now->goal))
            continue;
        goal_evaluate(search->judge->of, now->goal, measured, &judgement->device, &then);
        if (then.state == GOAL_MISSED) return false;
    }
    return true;
}

// NULL: the kernel is wrong with that shape, or has been run too often already.
static const ModelledWorks *works_of(Search *search, const WhatIf *what_if) {
    for (int i = 0; i < search->run_count; i++) {
        const Runs *runs = &search->runs[i];
        if (runs->timing == what_if->timing && runs->shape.blocks_per_sm == what_if->shape.blocks_per_sm &&
            runs->shape.block_threads == what_if->shape.block_threads)
            return runs->works.whole.launch_count ? &runs->works : NULL;
    }
    if (search->run_count > MAX_RUNS || search->modelled.elements > ENOUGH) return NULL;
    Runs *runs = &search->runs[search->run_count++];
    *runs = (Runs){.timing = what_if->timing, .shape = what_if->shape};
    static TaskShape shape;
    ModelledTask *modelled = &search->modelled;
    if (!ask_shape_for(modelled->runner, 0, modelled->task, modelled->index,
                       modelled->image->kernels[modelled->index], search->bandwidth->size,
                       runner_info(modelled->runner), what_if->shape, &shape) ||
        shape.verdict != VERDICT_PASS || !keeps_goals_of_shape(search, &shape.shape))
        return NULL;
    modelled->what_if = *what_if;
    return modelled_works(modelled, &shape.shape, &runs->works) ? &runs->works : NULL;
}

static double seconds_with(Search *search, const WhatIf *what_if) {
    const ModelledWorks *works = works_of(search, what_if);
    ModelEstimate estimate;
    if (!works) return 0;
    search->modelled.what_if = *what_if;
    return modelled_estimate(&search->modelled, works, &search->device, &estimate)
               ? fmax(1, search->bandwidth->longer) * estimate.seconds
               : 0;
}

// The share of the reference's bandwidth, and whether that is enough.
static bool reaches(const Search *search, double seconds, double *ratio) {
    static Measured measured[MAX_TASKS];
    static Bandwidth bandwidth; // `measured` refers to it
    bandwidth = *search->bandwidth;
    bandwidth.seconds = seconds;
    bandwidth.ratio_low = 0;
    bandwidth_complete(&bandwidth);
    memcpy(measured, search->judge->judgement->counted[0], sizeof measured);
    measured[search->modelled.index].bandwidth = &bandwidth;
    GoalResult result;
    goal_evaluate(search->judge->of, search->goal, measured, &search->judge->judgement->device, &result);
    *ratio = bandwidth.ratio;
    return result.state == GOAL_MET;
}

// Times faster, for these changes to be worth mentioning.
static double least_help_of(const Supposition *changes[], int count) {
    for (int i = 0; i < count; i++)
        if (changes[i]->what_if.timing & WHAT_IF_NO_DIVERGENCE) return least_help_of_divergence;
    return least_help;
}

static bool decide(const Search *search, const Supposition *changes[], int count, double seconds) {
    WhatIfAnswer *answer = &search->judge->judgement->what_if;
    if (!(seconds > 0)) return false;
    double ratio;
    const double factor = search->bandwidth->seconds / seconds;
    const bool is_enough = reaches(search, seconds, &ratio);
    if (factor < least_help_of(changes, count) || (!is_enough && factor <= answer->factor)) return false;
    *answer = (WhatIfAnswer){.change_count = count,
                             .least_blocks = answer->least_blocks,
                             .waves = answer->waves,
                             .task = search->modelled.index,
                             .reaches = is_enough,
                             .factor = factor,
                             .ratio = ratio};
    for (int i = 0; i < count; i++) {
        answer->changes[i].name = changes[i]->name;
        memcpy(answer->changes[i].words, changes[i]->words, sizeof changes[i]->words);
    }
    return is_enough;
}

// ---- Which ------------------------------------------------------------------------------------------------

static Supposition *add(Search *search, const char *name, WhatIf what_if) {
    Supposition *one = &search->singles[search->single_count];
    if (search->single_count < MAX_SUPPOSITIONS) search->single_count++;
    *one = (Supposition){.name = name, .what_if = what_if};
    return one;
}

static Supposition *add_named(Search *search, const char *name, WhatIf what_if, const char *words) {
    Supposition *one = add(search, name, what_if);
    snprintf(one->words, sizeof one->words, "%s", words);
    return one;
}

// Of all sizes at which the task was counted.
static Counters counted(const Search *search) {
    Counters sum = {0};
    for (int k = 0; k < COUNTS; k++) {
        const Measured *measured = &search->judge->judgement->counted[k][search->modelled.index];
        for (int l = 0; measured->is_counted && l < measured->shape.launch_count; l++)
            counters_add(&sum, &measured->counters[l]);
    }
    return sum;
}

// Only what the counters leave possible, because each takes a run.
static void suppose_timing(Search *search, const ModelledWorks *base, int launch) {
    const Counters sum = counted(search);
    const double moved = (double)(sum.global_ld_bytes + sum.global_st_bytes);
    if (sum.shared_ld_conflicts + sum.shared_st_conflicts > 0)
        add_named(search, "no-conflicts", (WhatIf){.timing = WHAT_IF_NO_CONFLICTS}, "without bank conflicts");
    if (32 * (double)(sum.global_ld_sectors + sum.global_st_sectors) > 1.1 * moved)
        add_named(search, "coalesced", (WhatIf){.timing = WHAT_IF_COALESCED}, "with coalesced accesses");
    if ((double)sum.branch_divergent > 0.01 * (double)sum.branches)
        add_named(search, "no-divergence", (WhatIf){.timing = WHAT_IF_NO_DIVERGENCE}, "without divergence");
    if (sum.local_ld_requests + sum.local_st_requests > 0)
        add_named(search, "no-local-memory", (WhatIf){.has_no_local_memory = true},
                  "with the arrays of its threads in registers");
    if (base->works[launch].links > 0)
        add_named(search, "no-chain", (WhatIf){.has_no_chain = true},
                  "if no block had to wait for the one before it");
    if (base->works[launch].told_plainly > 0)
        add_named(search, "told-by-atomics", (WhatIf){.tells_by_atomics = true},
                  "with atomics in place of the stores that other blocks poll");
    // In a scan, each block may look back at others that still run.
    const bool is_scan = search->modelled.task->expect == EXPECT_SCAN;
    if (model_collecting_seconds(&search->device, &base->works[launch]) > 0)
        add_named(search, "collected-at-once", (WhatIf){.collects_at_once = true},
                  is_scan ? "if what a block reads of others took a few trips"
                          : "if the results of all blocks were collected in a few trips");
}

// Blocks that an SM holds at a time, with `threads` in each.
static int resident(const Search *search, const Image *image, const CaseShape *whole, int launch, int threads,
                    bool few_registers, bool little_shared) {
    const ImageKernel *kernel = &image->kernels[search->modelled.index][launch];
    const ModelShape shape = {
        .block_threads = threads,
        .registers = few_registers ? 0 : kernel->registers,
        .shared_bytes = little_shared ? 0 : (double)kernel->static_shared + whole->launches[launch].shared};
    return (int)model_resident_blocks(&search->device, &shape);
}

// On an SM at a time.
static double resident_threads(const Search *search, const Image *image, const CaseShape *whole, int launch) {
    const ShapeOfLaunch *shape = &whole->launches[launch];
    const double fit = resident(search, image, whole, launch, shape->block_threads, false, false);
    return fmin(fit, ceil((double)shape->blocks / search->device.sm_count)) * shape->block_threads;
}

// Whether about as many threads run, side by side and in all. False if there is no reference.
static bool is_launched_like_reference(const Search *search, const ModelledWorks *base, int launch) {
    static TaskShape shape;
    const ModelledTask *modelled = &search->modelled;
    const Image *reference = search->judge->subjects->reference;
    Runner *runner = reference ? start_reference(search->judge) : NULL;
    if (!runner) return false;
    const bool is_known = ask_shape(runner, 0, modelled->task, modelled->index,
                                    reference->kernels[modelled->index], search->bandwidth->size, &shape) &&
                          shape.verdict == VERDICT_PASS;
    runner_stop(runner);
    if (!is_known) return false;
    const double threads = (double)base->whole.launches[launch].threads,
                 of_reference = (double)shape.shape.launches[launch].threads;
    return resident_threads(search, modelled->image, &base->whole, launch) >=
               0.9 * resident_threads(search, reference, &shape.shape, launch) &&
           threads <= 1.1 * of_reference;
}

static bool is_line(const ShapeOfLaunch *shape) {
    return shape->grid[1] == 1 && shape->grid[2] == 1 && shape->block[1] == 1 && shape->block[2] == 1;
}

static void suppose_shape(Search *search, const ModelledWorks *base, int launch) {
    const ShapeOfLaunch *shape = &base->whole.launches[launch];
    const Image *image = search->modelled.image;
    const int threads = shape->block_threads, other = threads == 256 ? 512 : 256;
    const int fit = resident(search, image, &base->whole, launch, threads, false, false),
              others_fit = resident(search, image, &base->whole, launch, other, false, false);
    const double waves = (double)shape->blocks / (fit * search->device.sm_count);
    if (!is_line(shape) || fit == 0) return;
    search->judge->judgement->what_if.waves = waves;
    if (waves != 1) {
        Supposition *one = add(search, "grid", (WhatIf){.shape = {.blocks_per_sm = fit}});
        snprintf(one->words, sizeof one->words, "with one wave of %d block%s per SM", fit,
                 fit == 1 ? "" : "s");
    }
    if (others_fit * other <= fit * threads && (waves <= 1 || threads >= other)) return;
    // A grid that follows n has as many threads as before.
    WhatIf what_if = {.shape = {.blocks_per_sm = waves > 1 ? 0 : others_fit, .block_threads = other}};
    Supposition *one = add(search, "block", what_if);
    snprintf(one->words, sizeof one->words, "with blocks of %d threads", other);
    if (waves <= 1)
        snprintf(one->words, sizeof one->words, "with %d blocks of %d threads per SM", others_fit, other);
}

// What an SM has for each thread, if it holds as many such blocks.
static int registers_left(const ModelDevice *device, int threads, int blocks) {
    enum { UNIT = 8, MOST = 255 };
    const int left =
        (int)floor(device->registers_per_sm / (ceil(threads / 32.0) * blocks) / (32 * UNIT)) * UNIT;
    return left < MOST ? left : MOST;
}

// Whether the values that its PTX keeps at one time find room in so many registers, as far as an estimate
// tells: ptxas would spill others.
static bool fits_in_registers(const Search *search, int launch, int registers) {
    const Image *image = search->modelled.image;
    static EmulatorError error;
    PtxModule *module =
        image->is_ptx ? ptx_parse(image->text.data, image->text.bytes, image->name, &error) : NULL;
    if (!module) return false;
    CompileResult estimate = {0};
    const bool is_known = estimate_kernels(module, &estimate);
    const CompiledKernel *kernel =
        compile_find_kernel(&estimate, image->kernels[search->modelled.index][launch].symbol);
    const bool fits = is_known && kernel && kernel->registers <= registers;
    compile_result_free(&estimate);
    ptx_free(module);
    return fits;
}

// Fewer blocks on an SM leave a thread more registers, if __launch_bounds__ asks for as many as there are.
static void suppose_more_registers(Search *search, const ModelledWorks *base, int launch) {
    const ShapeOfLaunch *shape = &base->whole.launches[launch];
    const int threads = shape->block_threads,
              fit = resident(search, search->modelled.image, &base->whole, launch, threads, false, false);
    if (fit < 2 || search->modelled.image->kernels[search->modelled.index][launch].least_blocks != fit)
        return;
    search->judge->judgement->what_if.least_blocks = fit;
    const int registers = registers_left(&search->device, threads, fit - 1);
    Supposition *one = add(search, "more-registers", (WhatIf){.more_registers = registers});
    snprintf(one->words, sizeof one->words,
             "with up to %d registers per thread, none spilled, and so %d block%s per SM", registers, fit - 1,
             fit == 2 ? "" : "s");
}

// Registers and shared memory that leave room for more blocks. A grid of one wave grows with it.
static void suppose_room(Search *search, const ModelledWorks *base, int launch) {
    const ShapeOfLaunch *shape = &base->whole.launches[launch];
    const Image *image = search->modelled.image;
    const ModelDevice *device = &search->device;
    const int threads = shape->block_threads;
    const int fit = resident(search, image, &base->whole, launch, threads, false, false),
              by_registers = resident(search, image, &base->whole, launch, threads, true, false),
              by_shared = resident(search, image, &base->whole, launch, threads, false, true);
    const double wave = fit * device->sm_count;
    const bool follows = is_line(shape) && (double)shape->blocks <= wave;
    if ((double)shape->blocks < wave) return; // there is room that the grid does not use
    // An estimate of registers proves nothing: no advice is drawn from it.
    const bool is_estimate = image->kernels[search->modelled.index][launch].registers_are_estimated;
    const int registers = by_registers > fit ? registers_left(device, threads, by_registers) : 0;
    if (by_registers > fit && !is_estimate && fits_in_registers(search, launch, registers)) {
        WhatIf what_if = {.needs_few_registers = true,
                          .shape = {.blocks_per_sm = follows ? by_registers : 0}};
        Supposition *one = add(search, "registers", what_if);
        snprintf(one->words, sizeof one->words,
                 "with at most %d registers per thread and so %d blocks per SM", registers, by_registers);
    }
    if (by_shared > fit) {
        WhatIf what_if = {.needs_little_shared = true, .shape = {.blocks_per_sm = follows ? by_shared : 0}};
        Supposition *one = add(search, "shared-memory", what_if);
        const int room = (int)floor(device->shared_per_sm / by_shared / 128) * 128;
        snprintf(one->words, sizeof one->words,
                 "with at most %d bytes of shared memory per block and so %d blocks per SM",
                 room - (int)device->shared_reserved_per_block, by_shared);
    }
}

static void suppose_loads(Search *search, const ModelledWorks *base, int launch) {
    const double now = model_loads_in_flight(&base->works[launch]);
    for (int loads = FEWEST_LOADS; now > 0 && loads <= MOST_LOADS; loads *= 2) {
        if (loads < 1.5 * now) continue;
        Supposition *one = add(search, "loads-in-flight", (WhatIf){.loads = loads});
        snprintf(one->words, sizeof one->words, "with %d loads in flight per thread", loads);
    }
}

// ---- The search -------------------------------------------------------------------------------------------

static bool search_singles(Search *search) {
    for (int i = 0; i < search->single_count; i++) {
        Supposition *one = &search->singles[i];
        const Supposition *changes[] = {one};
        one->seconds = seconds_with(search, &one->what_if);
        if (decide(search, changes, 1, one->seconds)) return true;
    }
    return false;
}

static bool changes_shape(const WhatIf *what_if) {
    return what_if->shape.blocks_per_sm || what_if->shape.block_threads;
}

static bool has_tried_a_shape(const Search *search) {
    for (int i = 0; i < search->single_count; i++)
        if (changes_shape(&search->singles[i].what_if) && search->singles[i].seconds > 0) return true;
    return false;
}

// Both at once; false if they contradict each other.
static bool combine(const WhatIf *a, const WhatIf *b, WhatIf *both) {
    if ((changes_shape(a) && changes_shape(b)) || (a->loads > 0 && b->loads > 0)) return false;
    *both = *a;
    both->timing |= b->timing;
    both->loads += b->loads;
    both->needs_few_registers |= b->needs_few_registers;
    both->more_registers += b->more_registers;
    both->needs_little_shared |= b->needs_little_shared;
    both->has_no_local_memory |= b->has_no_local_memory;
    both->has_no_chain |= b->has_no_chain;
    both->tells_by_atomics |= b->tells_by_atomics;
    both->collects_at_once |= b->collects_at_once;
    if (changes_shape(b)) both->shape = b->shape;
    return true;
}

static void search_pairs(Search *search) {
    for (int i = 0; i < search->single_count; i++)
        for (int k = i + 1; k < search->single_count; k++) {
            const bool is_second_better = search->singles[k].seconds < search->singles[i].seconds;
            const Supposition *changes[] = {&search->singles[is_second_better ? k : i],
                                            &search->singles[is_second_better ? i : k]};
            WhatIf both;
            if (!(changes[0]->seconds > 0) || !(changes[1]->seconds > 0) ||
                !combine(&changes[0]->what_if, &changes[1]->what_if, &both))
                continue;
            const double seconds = seconds_with(search, &both);
            double ratio;
            if (seconds > 0 && reaches(search, seconds, &ratio)) {
                decide(search, changes, 2, seconds);
                return;
            }
        }
}

static bool image_spills(const Image *image, int task) {
    for (int l = 0; l < MAX_LAUNCHES; l++)
        if (image->kernels[task][l].spilled > 0) return true;
    return false;
}

// The launch over all elements.
static int main_launch(const Search *search, const CaseShape *whole) {
    for (int l = 0; l < whole->launch_count; l++)
        if (quantity_value(search->modelled.task, &search->modelled.task->launches[l].n, whole) ==
            whole->size.n)
            return l;
    return 0;
}

void judge_find_what_if(Judge *judge) {
    static Search search;
    Judgement *judgement = judge->judgement;
    const GpuProfile *profile = gpu_profile_find(judge->options->profile[0] ? judge->options->profile : NULL);
    const GoalResult *missed = goals_missed_bandwidth(judgement->goals, judgement->goal_count);
    if (!missed || !profile || judgement->verdict != VERDICT_SLOW) return;
    const Bandwidth *bandwidth = &judgement->bandwidth[missed->task];
    // What makes a kernel slow at that size alone does not show in smaller ones, which answer.
    if (bandwidth->kind != BANDWIDTH_MODELLED || !(bandwidth->ratio > 0) ||
        bandwidth_is_lost_by_size(bandwidth))
        return;
    search = (Search){.judge = judge,
                      .goal = missed->goal,
                      .bandwidth = bandwidth,
                      .modelled = {.judge = judge,
                                   .runner = judge->workers[0].runner,
                                   .image = judge->subjects->kernel,
                                   .task = &judge->of->tasks[missed->task],
                                   .index = missed->task}};
    gpu_profile_model(profile, &search.device);
    search.runs[search.run_count++].works = judge->modelled[missed->task];
    for (int l = 0; l < search.runs[0].works.whole.launch_count; l++)
        search.modelled.steps_of_element += most_work * steps_of_instruction *
                                            search.runs[0].works.works[l].issued / (double)bandwidth->size.n;
    const ModelledWorks *base = &search.runs[0].works;
    const int launch = main_launch(&search, &base->whole);
    suppose_timing(&search, base, launch);
    // Warps and their loads make up for each other, so what the reference has is asked last.
    if (image_spills(search.modelled.image, missed->task)) {
        // More loads in flight, and more blocks on an SM, leave even less room for what is spilled.
        suppose_more_registers(&search, base, launch);
    } else {
        const bool is_alike = is_launched_like_reference(&search, base, launch);
        if (is_alike) suppose_loads(&search, base, launch);
        suppose_shape(&search, base, launch);
        suppose_room(&search, base, launch);
        if (!is_alike) suppose_loads(&search, base, launch);
    }
    if (!search_singles(&search)) search_pairs(&search);
    judgement->what_if.loads = loop_loads_find(judge, missed->task, launch, &judgement->what_if.meeting,
                                               &judgement->what_if.unsigned_test);
    const GoalLines local = goal_cost_lines(judgement, missed->task, COST_LOCAL);
    if (local.count > 0)
        judgement->what_if.rolled = local_index_loop(judge, missed->task, launch, local.lines[0].line);
    judgement->what_if.lacks_shapes = !has_tried_a_shape(&search);
}
