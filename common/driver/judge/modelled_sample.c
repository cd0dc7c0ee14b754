#include "driver/judge/modelled_sample.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// What two ways of modelling one kernel may differ by. Which loads of a chain others have made before, and
// so which warp is the last one, makes its trips differ by more.
static const double likely_waiting = 0.25;

// Blocks at the edges of a matrix or image, which have less to do, are a larger part of a small one.
static double likely_difference(const CaseSize *size) { return size->rows > 0 ? 0.3 : 0.05; }

enum { MOST_BLOCKS = 4, MOST_ELEMENTS = 1 << 17, MOST_STEPS = 1 << 24 };

// ---- Blocks that run --------------------------------------------------------------------------------------

// Neighbours, which share what lies in one line: the first blocks, or those before the last one, which may
// collect what the others leave for it. In an image it is those in the middle of the last row of blocks but
// one: what blocks at an edge do is not what most do.
static void choose_blocks(const CaseShape *whole, int launch, bool is_first, RunLaunch *out) {
    const ShapeOfLaunch *shape = &whole->launches[launch];
    const uint64_t blocks = (uint64_t)shape->blocks, in_row = (uint64_t)shape->grid[0];
    const uint64_t to_middle = in_row + in_row / 2;
    const double fitting = MOST_ELEMENTS * (double)blocks / (double)whole->size.n;
    uint64_t count = (uint64_t)fmax(is_first ? 2 : 1, fmin(MOST_BLOCKS, fitting));
    if (blocks <= count + 1) return;
    uint64_t from = is_first ? 0 : blocks - 1 - count;
    if (!is_first && shape->grid[1] > 2 && from > to_middle) from -= to_middle;
    for (uint64_t k = 0; k < count; k++) out->sample[k] = from + k;
    out->sample_count = count;
    out->max_steps = MOST_STEPS;
}

void modelled_keep_sample(const CaseShape *whole, const LargeCase *large, const RunReply *reply,
                          ModelledWorks *kept) {
    *kept = (ModelledWorks){.whole = *whole};
    if (reply->end != RUN_REPLIED) return;
    const SampleReply *sample = &reply->header->sample;
    for (int l = 0; l < large->layout.launch_count; l++) {
        // Of blocks that wait for others, one has done a part of its work, and has polled.
        const bool have_ended = sample->ended[l] == large->sampled[l];
        if (sample->waits && !have_ended) return;
        ModelWork *work = &kept->works[large->layout.launch_index[l]];
        *work = reply->header->works[l];
        if (have_ended) continue;
        // Those that took too many steps have at least as much to do.
        work->blocks = sample->takes_over ? 0 : (double)large->sampled[l];
        return;
    }
}

// Runs them. False if any of them waits for others.
static bool run_blocks(ModelledTask *modelled, const CaseShape *whole, bool is_first, ModelledWorks *kept) {
    static Request request;
    static LargeCase large;
    static CaseReport ignored;
    const Task *task = modelled->task;
    const uint64_t seed = seed_of_inputs(&modelled->judge->seeds, &whole->size, FAMILY_INTEGERS);
    bool waits = false;
    if (large_case_begin(task, whole, modelled->image->kernels[modelled->index], seed, modelled->runner,
                         &large, &request, &ignored)) {
        for (int l = 0; l < request.program.launch_count; l++) {
            RunLaunch *launch = &request.program.launches[l];
            choose_blocks(whole, large.layout.launch_index[l], is_first, launch);
            large.sampled[l] = launch->sample_count ? launch->sample_count : large.blocks[l];
        }
        request.timing = 1;
        RunReply reply, restarted;
        runner_run(modelled->runner, &request, case_seconds(false, whole->size.n), &reply);
        modelled_keep_sample(whole, &large, &reply, kept);
        waits = reply.end == RUN_REPLIED && reply.header->sample.waits;
        if (reply.end != RUN_REPLIED || reply.header->context_lost)
            (void)runner_restart(modelled->runner, &restarted);
    }
    large_case_free(&large);
    return !waits;
}

static bool is_same_size(const CaseSize *a, const CaseSize *b) {
    return a->n == b->n && a->rows == b->rows && a->columns == b->columns && a->depth == b->depth;
}

// ---- All blocks -------------------------------------------------------------------------------------------

static double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

static void share_trips(const ModelTime *extrapolated, ModelTime *time) {
    const double trips = time->l2_trips + time->dram_trips,
                 of_dram =
                     share_of(extrapolated->dram_trips, extrapolated->l2_trips + extrapolated->dram_trips);
    if (time->dram_trips <= of_dram * trips) return;
    time->dram_trips = of_dram * trips;
    time->l2_trips = trips - time->dram_trips;
}

// What neighbours would have loaded before, had they run, comes from the L2: the same part of the sectors as
// extrapolated.
static void share_sectors(const ModelWork *extrapolated, ModelWork *whole) {
    const double first = whole->load_sectors * share_of(extrapolated->first, extrapolated->load_sectors),
                 shared = whole->first - first, trips = whole->warp_time.dram_trips;
    if (!(shared > 0) || !(extrapolated->again_grid > 0)) return;
    whole->first_pairs *= first / whole->first;
    whole->first = first;
    whole->again_grid += shared;
    for (int i = 0; i < MODEL_BINS; i++)
        whole->grid_distance[i] += shared * extrapolated->grid_distance[i] / extrapolated->again_grid;
    share_trips(&extrapolated->block_time, &whole->block_time);
    share_trips(&extrapolated->warp_time, &whole->warp_time);
    if (trips > 0) whole->regions *= whole->warp_time.dram_trips / trips;
}

// False: nothing is known of the launch.
static bool scale(const ModelWork *few, const ModelWork *extrapolated, uint64_t blocks, ModelWork *whole) {
    const bool has_ended = few->blocks > 0;
    if (!(few->first > 0) && !has_ended) return false;
    // A block that takes its work from a queue has not ended: it has done its share of the elements.
    const ModelRun run = {.blocks = (uint64_t)(has_ended ? few->blocks : few->first)};
    model_whole(&run, few, 1, has_ended ? blocks : (uint64_t)extrapolated->first, 0, whole);
    if (!has_ended) {
        whole->blocks = extrapolated->blocks;
        whole->warps = extrapolated->warps;
        whole->block_time = extrapolated->block_time;
        whole->warp_time = extrapolated->warp_time;
    }
    share_sectors(extrapolated, whole);
    // What blocks are for one another shows only where all of them run, and how often they meet at one
    // address or one slice of the L2 depends on where the buffers lie.
    const double more = share_of(whole->atomic_operations, extrapolated->atomic_operations);
    if (more > 0) {
        whole->atomic_slice = more * extrapolated->atomic_slice;
        whole->atomic_whole = more * extrapolated->atomic_whole;
        whole->atomic_floats = more * extrapolated->atomic_floats;
    }
    whole->passed_on = extrapolated->passed_on;
    whole->chain = extrapolated->chain;
    whole->links = extrapolated->links;
    whole->told_plainly = extrapolated->told_plainly;
    whole->collecting = extrapolated->collecting;
    return true;
}

// What the launches do if each of their blocks does as much as a few of them. A launch of which nothing is
// known is as extrapolated. False: nothing is known of any.
static bool sample(ModelledTask *modelled, const ModelledWorks *extrapolated, ModelledWorks *sampled) {
    static ModelledWorks few;
    const CaseShape *whole = &extrapolated->whole;
    const ModelledWorks *of_case = &modelled->judge->large[modelled->index];
    few = (ModelledWorks){0};
    if (of_case->whole.launch_count > 0 && is_same_size(&of_case->whole.size, &whole->size))
        few = *of_case;
    else if (!run_blocks(modelled, whole, false, &few))
        run_blocks(modelled, whole, true, &few); // where blocks wait for those before them, the first do not
    *sampled = *extrapolated;
    bool is_known = false;
    for (int l = 0; l < whole->launch_count; l++)
        if (whole->launches[l].blocks > 0)
            is_known |= scale(&few.works[l], &extrapolated->works[l], (uint64_t)whole->launches[l].blocks,
                              &sampled->works[l]);
    return is_known;
}

// Whether a few blocks can show anything. Each block of a product reads many times its share of the elements,
// and would be stopped as one that takes over the work of others. A small size has been run whole.
static bool can_tell(const CaseSize *size) { return size->depth == 0 && !modelled_runs_whole(size); }

// ---- Comparing --------------------------------------------------------------------------------------------

// Cycles of a trip, wherever it ends: what another block has loaded before comes from the L2, and few blocks
// have few before them.
static const double trip = 600;

static double waiting(const ModelTime *time) {
    return time->cycles + trip * (time->l2_trips + time->dram_trips);
}

// Whether blocks of any launch have more to do, or more to wait for, than extrapolated.
static bool does_more(const ModelledWorks *extrapolated, const ModelledWorks *sampled) {
    // Of what a block does, that does not depend on what other blocks do.
    static const size_t fields[] = {
        offsetof(ModelWork, issued),          offsetof(ModelWork, lsu),
        offsetof(ModelWork, fused),           offsetof(ModelWork, pipe_double),
        offsetof(ModelWork, barriers),        offsetof(ModelWork, shared_wavefronts),
        offsetof(ModelWork, load_requests),   offsetof(ModelWork, load_lines),
        offsetof(ModelWork, load_sectors),    offsetof(ModelWork, store_requests),
        offsetof(ModelWork, store_lines),     offsetof(ModelWork, store_sectors),
        offsetof(ModelWork, local_loads),     offsetof(ModelWork, local_stores),
        offsetof(ModelWork, atomic_requests), offsetof(ModelWork, atomic_operations),
    };
    const double most = 1 + likely_difference(&extrapolated->whole.size);
    for (int l = 0; l < extrapolated->whole.launch_count; l++) {
        const ModelWork *before = &extrapolated->works[l], *here = &sampled->works[l];
        if (waiting(&here->block_time) > (1 + likely_waiting) * waiting(&before->block_time)) return true;
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            double had, has;
            memcpy(&had, (const char *)before + fields[f], sizeof had);
            memcpy(&has, (const char *)here + fields[f], sizeof has);
            if (has > most * had) return true;
        }
    }
    return false;
}

double modelled_follow_blocks(ModelledTask *modelled, const ModelDevice *device, const ModelledWorks *works,
                              ModelEstimate *estimate) {
    static ModelledWorks sampled;
    ModelEstimate here;
    if (!can_tell(&works->whole.size) || !sample(modelled, works, &sampled) || !does_more(works, &sampled) ||
        !modelled_estimate(modelled, &sampled, device, &here))
        return 1;
    const double factor = here.seconds / estimate->seconds,
                 likely = 1 + likely_difference(&works->whole.size);
    if (!(factor > likely)) return 1;
    here.seconds /= likely;
    *estimate = here;
    return factor;
}
