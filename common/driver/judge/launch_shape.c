#include "driver/judge/launch_shape.h"

#include <stdio.h>
#include <string.h>

#include "driver/plan/elements.h"

// A mirror of warpbook.cuh's struct, field by field.
typedef struct {
    int32_t sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm, registers_per_sm,
        shared_per_sm, shared_per_block, warp_size;
} GpuFiguresImage;

static void gpu_figures(const GpuInfo *info, GpuFiguresImage *figures) {
    *figures = (GpuFiguresImage){
        .sm_count = info->sm_count,
        .max_threads_per_block = info->max_threads_per_block,
        .max_threads_per_sm = info->max_threads_per_sm,
        .max_blocks_per_sm = info->max_blocks_per_sm,
        .registers_per_sm = info->registers_per_sm,
        .shared_per_sm = info->shared_per_sm,
        .shared_per_block = info->shared_per_block,
        .warp_size = 32,
    };
}

static bool refuse(char *why, size_t why_bytes, const char *words, long long got, long long limit) {
    char got_words[32], limit_words[32];
    count_text(got, got_words, sizeof got_words);
    count_text(limit, limit_words, sizeof limit_words);
    snprintf(why, why_bytes, "LAUNCH asks for %s %s; the limit here is %s", got_words, words, limit_words);
    return false;
}

// The chapter's own rules, after the device's limits.
static bool obeys_rules(const ShapeOfLaunch *shape, const Launch *launch, char *why, size_t why_bytes) {
    const struct {
        const char *words;
        long long got, limit;
    } rules[] = {
        {"blocks in the grid", shape->blocks, launch->max_blocks},
        {"threads in a block", shape->block_threads, launch->max_block_threads},
        {"threads in total", shape->threads, launch->max_threads},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].limit == 0 || rules[i].got <= rules[i].limit) continue;
        snprintf(why, why_bytes, "LAUNCH asks for %lld %s; this chapter allows at most %lld", rules[i].got,
                 rules[i].words, rules[i].limit);
        return false;
    }
    if (launch->block_multiple_of > 0 && shape->block_threads % launch->block_multiple_of != 0) {
        snprintf(why, why_bytes,
                 "LAUNCH asks for blocks of %d threads; this chapter requires a multiple of %d",
                 shape->block_threads, launch->block_multiple_of);
        return false;
    }
    return true;
}

// Turns what LAUNCH of `launch` wrote into a shape. False, with a sentence in `why`, when the device or the
// chapter does not allow it. A grid of 0 blocks is allowed for n = 0 only.
static bool shape_from_image(const LaunchShapeImage *image, const Launch *launch, long long n,
                             const GpuInfo *info, ShapeOfLaunch *shape, char *why, size_t why_bytes) {
    static const char *const blocks_along[3] = {"blocks along x", "blocks along y", "blocks along z"};
    static const char *const threads_along[3] = {"threads along x", "threads along y", "threads along z"};
    *shape = (ShapeOfLaunch){0};
    long long blocks = 1, threads = 1;
    bool is_empty = false;
    for (int i = 0; i < 3; i++) {
        long long grid = image->grid[i], block = image->block[i];
        if (i == 0 && block == 0) {
            snprintf(why, why_bytes,
                     "LAUNCH(%s) does not set launch->block, the number of threads in a block",
                     launch->kernel);
            return false;
        }
        if (block < 1 || grid < 0) {
            snprintf(why, why_bytes, "LAUNCH(%s) asks for %lld %s; there must be at least 1", launch->kernel,
                     block < 1 ? block : grid, block < 1 ? threads_along[i] : blocks_along[i]);
            return false;
        }
        if (grid > (long long)info->max_grid[i])
            return refuse(why, why_bytes, blocks_along[i], grid, info->max_grid[i]);
        if (block > (long long)info->max_block[i])
            return refuse(why, why_bytes, threads_along[i], block, info->max_block[i]);
        is_empty = is_empty || grid == 0;
        threads *= block; // each at most 1024
        // At most 2^31 * 2^16 * 2^16 blocks: the product is cut off before it could overflow.
        if (grid > 0 && blocks > (1LL << 62) / grid)
            return refuse(why, why_bytes, "blocks in total", 1LL << 62, 1LL << 47);
        blocks *= grid;
        shape->grid[i] = (uint32_t)grid;
        shape->block[i] = (uint32_t)block;
    }
    if (threads > info->max_threads_per_block)
        return refuse(why, why_bytes, "threads in a block", threads, info->max_threads_per_block);
    if (blocks > (1LL << 47)) return refuse(why, why_bytes, "blocks in total", blocks, 1LL << 47);
    if (image->shared < 0) {
        snprintf(why, why_bytes, "LAUNCH(%s) asks for %lld bytes of dynamic shared memory", launch->kernel,
                 (long long)image->shared);
        return false;
    }
    if (image->shared > info->shared_per_block_optin)
        return refuse(why, why_bytes, "bytes of dynamic shared memory per block", image->shared,
                      info->shared_per_block_optin);
    if (is_empty && n > 0) {
        snprintf(why, why_bytes, "LAUNCH(%s) asks for a grid of 0 blocks at n = %lld, so nothing would run",
                 launch->kernel, n);
        return false;
    }
    shape->shared = (uint32_t)image->shared;
    shape->block_threads = (int)threads;
    shape->blocks = is_empty ? 0 : blocks;
    shape->warps = shape->blocks * ((threads + 31) / 32);
    shape->threads = shape->blocks * threads;
    return obeys_rules(shape, launch, why, why_bytes);
}

// ---- Asking -----------------------------------------------------------------------------------------------

static void fail_shape(TaskShape *shape, Verdict verdict, const char *words) {
    shape->verdict = verdict;
    snprintf(shape->words, sizeof shape->words, "%.511s", words);
}

static bool ask_launch(Runner *runner, int image, const Launch *launch, const ImageKernel *kernel,
                       long long n, const CaseSize *size, const GpuInfo *device, LaunchShapeImage *answer,
                       TaskShape *shape) {
    static Request request;
    GpuFiguresImage figures;
    gpu_figures(device, &figures);
    memset(&request, 0, sizeof request);
    RunProgram *program = &request.program;
    program->image = image;
    program->buffer_count = 2;
    program->buffers[0] =
        (RunBuffer){.name = "launch", .bytes = sizeof *answer, .fill = FILL_ZERO, .is_read_back = 1};
    program->buffers[1] = (RunBuffer){
        .name = "gpu", .bytes = sizeof figures, .arena_offset = 256, .fill = FILL_DATA, .is_read_only = 1};
    memcpy(runner_arena(runner) + 256, &figures, sizeof figures);
    program->launch_count = 1;
    program->launches[0] =
        (RunLaunch){.grid = {1, 1, 1},
                    .block = {1, 1, 1},
                    .argument_count = 5,
                    .max_steps = case_step_limit(0, 1),
                    .arguments = {{.buffer = 0, .bytes = 8},
                                  {.buffer = 1, .bytes = 8},
                                  {.buffer = -1, .bytes = 8, .value = (uint64_t)n},
                                  {.buffer = -1, .bytes = 8, .value = (uint64_t)size->rows},
                                  {.buffer = -1, .bytes = 8, .value = (uint64_t)size->columns}}};
    memcpy(program->launches[0].symbol, kernel->launch_symbol, sizeof program->launches[0].symbol);
    request.checks = CHECK_ALL;

    snprintf(shape->kernel, sizeof shape->kernel, "%s", launch->kernel);
    RunReply reply;
    const bool is_gpu = runner_info(runner)->kind == GPU_NVIDIA;
    runner_run(runner, &request, case_seconds(is_gpu, 0), &reply);
    if (reply.end != RUN_REPLIED) {
        fail_shape(shape, reply.end == RUN_TIMED_OUT && is_gpu ? VERDICT_TIMEOUT : VERDICT_INFRA,
                   reply.words);
        return false;
    }
    int count;
    const Finding *finding = worst_finding(&reply, &shape->verdict, &count);
    if (finding) {
        shape->has_finding = true;
        shape->finding = *finding;
        return reply.header->context_lost == 0;
    }
    if (reply.header->status != REPLY_DONE) {
        fail_shape(shape, VERDICT_INFRA, reply.header->message);
        return reply.header->context_lost == 0;
    }
    memcpy(answer, runner_arena(runner), sizeof *answer);
    return true;
}

bool is_other_shape(OtherShape other) {
    return other.blocks_per_sm || other.block_threads || other.share || other.more_blocks ||
           other.times_blocks;
}

static void change_shape(OtherShape other, const CaseSize *size, const GpuInfo *device,
                         LaunchShapeImage *answer) {
    const bool is_line =
        answer->grid[1] == 1 && answer->grid[2] == 1 && answer->block[1] == 1 && answer->block[2] == 1;
    if (!is_line || answer->grid[0] > device->max_grid[0] || answer->block[0] > device->max_block[0]) return;
    const int64_t threads = answer->grid[0] * answer->block[0];
    if (other.block_threads) answer->block[0] = other.block_threads;
    if (other.share && answer->block[0] > 0) {
        const int64_t each = answer->block[0] * other.share;
        const int64_t least = size->rows > 0 ? size->rows : (size->n + each - 1) / each;
        if (answer->grid[0] < least) answer->grid[0] = least;
    }
    answer->grid[0] += other.more_blocks;
    if (other.times_blocks) answer->grid[0] *= other.times_blocks;
    if (other.blocks_per_sm)
        answer->grid[0] = (int64_t)other.blocks_per_sm * device->sm_count;
    else if (other.block_threads && !other.keeps_blocks)
        answer->grid[0] = (threads + other.block_threads - 1) / other.block_threads;
}

bool ask_shape_for(Runner *runner, int image, const Task *task, int index, const ImageKernel kernels[],
                   CaseSize size, const GpuInfo *device, OtherShape other, TaskShape *shape) {
    memset(shape, 0, sizeof *shape);
    shape->task = index;
    shape->size = size;
    shape->verdict = VERDICT_PASS;
    shape->shape.size = size;
    shape->shape.launch_count = task_launch_count(task);
    for (int l = 0; l < shape->shape.launch_count; l++) {
        const Launch *launch = &task->launches[l];
        long long n = quantity_value(task, &launch->n, &shape->shape);
        LaunchShapeImage answer = {0};
        if (n < 0) {
            fail_shape(shape, VERDICT_INFRA, "the chapter's number of elements for this launch is not valid");
            return true;
        }
        if (!ask_launch(runner, image, launch, &kernels[l], n, &size, device, &answer, shape)) return false;
        if (shape->verdict != VERDICT_PASS) return true;
        if (n == size.n) change_shape(other, &size, device, &answer);
        char why[512];
        if (!shape_from_image(&answer, launch, n, device, &shape->shape.launches[l], why, sizeof why)) {
            fail_shape(shape, VERDICT_LAUNCH, why);
            return true;
        }
    }
    return true;
}

bool ask_shape(Runner *runner, int image, const Task *task, int index, const ImageKernel kernels[],
               CaseSize size, TaskShape *shape) {
    return ask_shape_for(runner, image, task, index, kernels, size, runner_info(runner), (OtherShape){0},
                         shape);
}

void launch_refuses(const TaskShape *shape, CaseReport *report) {
    report->was_run = true;
    report->verdict = shape->verdict;
    report->has_finding = shape->has_finding;
    if (shape->has_finding) report->finding = shape->finding;
    memcpy(report->words, shape->words, sizeof report->words);
    snprintf(report->kernel, sizeof report->kernel, "LAUNCH(%.110s)", shape->kernel);
}
