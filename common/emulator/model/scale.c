// From a part of a launch to the whole of it: which runs on the emulator tell enough, and how to put them
// together.
#include "emulator/model/scale.h"

#include <math.h>
#include <string.h>

// Threads to run: enough for every warp of a block and for several blocks to meet; and elements for each of
// them, a multiple of what loops are unrolled by, vectors included.
static const double threads_to_run = 8192;
static const double shares[2] = {64, 128};

static const double elements_to_run = 1 << 20;

int model_plan(uint64_t blocks, uint64_t block_threads, double n, bool reads_grid, ModelRun runs[2]) {
    double threads = (double)block_threads, share = n / ((double)blocks * threads);
    if (!reads_grid && n / (double)blocks <= elements_to_run) {
        uint64_t run = 1;
        while (2 * run <= blocks && (double)(2 * run) * threads <= threads_to_run &&
               (double)(2 * run) * n / (double)blocks <= elements_to_run)
            run *= 2;
        runs[0] = (ModelRun){run, n * (double)run / (double)blocks, true};
        return 1;
    }
    if (share <= shares[1]) {
        // As many blocks as divide the grid evenly by a power of two, so that n is divided as evenly.
        uint64_t part = 1, fewest = (uint64_t)(threads_to_run / 2 / threads);
        while (blocks % (2 * part) == 0 && blocks / (2 * part) >= fewest) part *= 2;
        uint64_t run = blocks / part;
        uint64_t most = (uint64_t)(4 * threads_to_run / threads) + 1;
        if (run > most) run = most;
        runs[0] = (ModelRun){run, n * (double)run / (double)blocks, false};
        return 1;
    }
    uint64_t run = 1;
    while (2 * run <= blocks && (double)(2 * run) * threads <= threads_to_run) run *= 2;
    // The remainder after the last whole iteration of a loop should be the same as in the whole launch.
    double rest = fmod(share, shares[0]);
    for (int i = 0; i < 2; i++)
        runs[i] = (ModelRun){run, floor((double)run * threads * (shares[i] + rest)), false};
    return 2;
}

// Every field of ModelWork is a double.
enum { FIELDS = sizeof(ModelWork) / sizeof(double) };

static double above_zero(double a) { return a > 0 ? a : 0; }

static double *field(ModelWork *work, size_t offset) {
    return (double *)(void *)work + offset / sizeof(double);
}

static double sum_of(const double bins[MODEL_BINS]) {
    double sum = 0;
    for (int i = 0; i < MODEL_BINS; i++) sum += bins[i];
    return sum;
}

static double mean_bin(const double bins[MODEL_BINS]) {
    double sum = 0, weighted = 0;
    for (int i = 0; i < MODEL_BINS; i++) {
        sum += bins[i];
        weighted += i * bins[i];
    }
    return sum > 0 ? weighted / sum : 0;
}

// Distances stay as they are or grow with n, when a warp comes back to where it began: by how much from the
// first run to the second tells which.
static void extrapolate_distances(const double first[MODEL_BINS], const double second[MODEL_BINS],
                                  double ratio, double runs_ratio, double total, double whole[MODEL_BINS]) {
    double had = sum_of(second);
    memset(whole, 0, MODEL_BINS * sizeof *whole);
    if (had <= 0 || total <= 0) return;
    double slope = sum_of(first) > 0 ? (mean_bin(second) - mean_bin(first)) / log2(runs_ratio) : 0;
    int shift = slope > 0.5 ? (int)lround((slope > 1 ? 1 : slope) * log2(ratio)) : 0;
    for (int i = 0; i < MODEL_BINS; i++) {
        int to = i + shift < MODEL_BINS ? i + shift : MODEL_BINS - 1;
        whole[to] += second[i] * total / had;
    }
}

// Whether the second run has more blocks, and not more elements for each: more rows of an image.
static bool has_more_blocks(const ModelRun runs[2]) {
    const double blocks = (double)runs[1].blocks / (double)runs[0].blocks;
    return blocks * blocks > runs[1].elements / runs[0].elements;
}

// Blocks at the upper and the lower edge are in every run, so that what more blocks add is the work of
// others.
static void line_over_blocks(const ModelRun runs[2], const ModelWork works[2], double blocks,
                             ModelWork *whole) {
    const double more = (double)(runs[1].blocks - runs[0].blocks);
    const double beyond = (blocks - (double)runs[1].blocks) / more;
    ModelWork copy[2] = {works[0], works[1]};
    for (size_t i = 0; i < FIELDS; i++) {
        const size_t offset = i * sizeof(double);
        const double first = *field(&copy[0], offset), second = *field(&copy[1], offset);
        *field(whole, offset) = above_zero(second + (second - first) * beyond);
    }
    whole->block_most = works[1].block_most;
}

void model_whole(const ModelRun *runs, const ModelWork *works, int count, uint64_t blocks, double n,
                 ModelWork *whole) {
    const ModelWork *last = &works[count - 1];
    *whole = *last;
    double growth = (double)blocks / (double)runs[count - 1].blocks;
    if (count == 2 && has_more_blocks(runs)) {
        line_over_blocks(runs, works, (double)blocks, whole);
        growth = 1;
    } else if (count == 2) {
        // Per block: the runs may have different numbers of blocks.
        double share = n / (double)blocks, at = runs[1].elements / (double)runs[1].blocks;
        double before = runs[0].elements / (double)runs[0].blocks;
        double more = (double)runs[1].blocks / (double)runs[0].blocks;
        double beyond = (share - at) / (at - before);
        for (size_t i = 0; i < FIELDS; i++) {
            size_t offset = i * sizeof(double);
            ModelWork copy[2] = {works[0], works[1]};
            double first = more * *field(&copy[0], offset), second = *field(&copy[1], offset);
            double value = second + (second - first) * beyond;
            *field(whole, offset) = value > 0 ? value : 0;
        }
        const double *first[3] = {works[0].warp_distance, works[0].block_distance, works[0].grid_distance};
        const double *second[3] = {works[1].warp_distance, works[1].block_distance, works[1].grid_distance};
        double *to[3] = {whole->warp_distance, whole->block_distance, whole->grid_distance};
        const double totals[3] = {whole->again_warp, whole->again_block, whole->again_grid};
        for (int k = 0; k < 3; k++)
            extrapolate_distances(first[k], second[k], share / at, at / before, totals[k], to[k]);
    }
    // Figures that are not sums over blocks stay: the slowest block, the code, and collecting.
    ModelTime most = whole->block_most, collecting = last->collecting;
    double code = whole->code;
    for (size_t i = 0; i < FIELDS; i++) *field(whole, i * sizeof(double)) *= growth;
    whole->block_most = most;
    whole->collecting = collecting;
    whole->code = count == 2 ? last->code : code;
}

void model_collecting(const double blocks[2], const ModelTime times[2], double all, ModelTime *whole) {
    const double beyond = (all - blocks[1]) / (blocks[1] - blocks[0]);
    whole->cycles = above_zero(times[1].cycles + (times[1].cycles - times[0].cycles) * beyond);
    whole->l2_trips = above_zero(times[1].l2_trips + (times[1].l2_trips - times[0].l2_trips) * beyond);
    whole->dram_trips =
        above_zero(times[1].dram_trips + (times[1].dram_trips - times[0].dram_trips) * beyond);
}
