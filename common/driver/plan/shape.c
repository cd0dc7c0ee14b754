#include "driver/plan/shape.h"

#include <stdio.h>
#include <string.h>

#include "driver/plan/elements.h"

void gpu_figures(const GpuInfo *info, GpuFiguresImage *figures) {
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
    snprintf(why, why_bytes, "LAUNCH asks for %s %s; at most %s are possible here", got_words, words,
             limit_words);
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
        {"threads in all", shape->threads, launch->max_threads},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].limit == 0 || rules[i].got <= rules[i].limit) continue;
        snprintf(why, why_bytes, "LAUNCH asks for %lld %s; this chapter wants at most %lld", rules[i].got,
                 rules[i].words, rules[i].limit);
        return false;
    }
    if (launch->block_multiple_of > 0 && shape->block_threads % launch->block_multiple_of != 0) {
        snprintf(why, why_bytes, "LAUNCH asks for blocks of %d threads; this chapter wants a multiple of %d",
                 shape->block_threads, launch->block_multiple_of);
        return false;
    }
    return true;
}

bool shape_from_image(const LaunchShapeImage *image, const Launch *launch, long long n, const GpuInfo *info,
                      ShapeOfLaunch *shape, char *why, size_t why_bytes) {
    static const char *const blocks_along[3] = {"blocks along x", "blocks along y", "blocks along z"};
    static const char *const threads_along[3] = {"threads along x", "threads along y", "threads along z"};
    *shape = (ShapeOfLaunch){0};
    long long blocks = 1, threads = 1;
    bool is_empty = false;
    for (int i = 0; i < 3; i++) {
        long long grid = image->grid[i], block = image->block[i];
        if (i == 0 && block == 0) {
            snprintf(why, why_bytes, "LAUNCH(%s) leaves launch->block unset: how many threads has a block?",
                     launch->kernel);
            return false;
        }
        if (block < 1 || grid < 0) {
            snprintf(why, why_bytes, "LAUNCH(%s) asks for %lld %s; that must be at least 1", launch->kernel,
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
            return refuse(why, why_bytes, "blocks in all", 1LL << 62, 1LL << 47);
        blocks *= grid;
        shape->grid[i] = (uint32_t)grid;
        shape->block[i] = (uint32_t)block;
    }
    if (threads > info->max_threads_per_block)
        return refuse(why, why_bytes, "threads in a block", threads, info->max_threads_per_block);
    if (blocks > (1LL << 47)) return refuse(why, why_bytes, "blocks in all", blocks, 1LL << 47);
    if (image->shared < 0) {
        snprintf(why, why_bytes, "LAUNCH(%s) asks for %lld bytes of dynamic shared memory", launch->kernel,
                 (long long)image->shared);
        return false;
    }
    if (image->shared > info->shared_per_block_optin)
        return refuse(why, why_bytes, "bytes of dynamic shared memory a block", image->shared,
                      info->shared_per_block_optin);
    if (is_empty && n > 0) {
        snprintf(why, why_bytes, "LAUNCH(%s) asks for a grid of 0 blocks at n = %lld: nothing would run",
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

int task_buffer_count(const Task *task) {
    int count = 0;
    while (count < MAX_BUFFERS && task->buffers[count].name) count++;
    return count;
}

int task_launch_count(const Task *task) {
    int count = 0;
    while (count < MAX_LAUNCHES && task->launches[count].kernel) count++;
    return count;
}

int task_find_buffer(const Task *task, const char *name) {
    int count = task_buffer_count(task);
    for (int i = 0; i < count; i++)
        if (strcmp(task->buffers[i].name, name) == 0) return i;
    return -1;
}

int task_find_launch(const Task *task, const char *kernel) {
    int count = task_launch_count(task);
    for (int i = 0; i < count; i++)
        if (strcmp(task->launches[i].kernel, kernel) == 0) return i;
    return -1;
}

bool task_hides_answers(const Task *task) {
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].hides_answer) return true;
    return false;
}

int task_input(const Task *task) {
    if (task->input) return task_find_buffer(task, task->input);
    int count = task_buffer_count(task);
    for (int i = 0; i < count; i++)
        if (task->buffers[i].role == INPUT) return i;
    return -1;
}

int task_output(const Task *task) {
    if (task->output) return task_find_buffer(task, task->output);
    int count = task_buffer_count(task);
    for (int i = 0; i < count; i++)
        if (task->buffers[i].role == OUTPUT || task->buffers[i].role == OUTPUT_ZEROED) return i;
    return -1;
}

int chapter_task_count(const Chapter *of) {
    int count = 0;
    while (count < MAX_TASKS && of->tasks[count].name) count++;
    return count;
}

int chapter_goal_count(const Chapter *of) {
    int count = 0;
    while (count < MAX_GOALS && of->goals[count].words) count++;
    return count;
}

// `depth` ends a chapter's mistake of two buffers that each have as many elements as the other.
static long long value_within(const Task *task, const Quantity *quantity, const CaseShape *shape, int depth) {
    const ShapeOfLaunch *launch = NULL;
    if (quantity->kind >= QUANTITY_PER_THREAD && quantity->kind <= QUANTITY_PER_BLOCK) {
        int index = quantity->of ? task_find_launch(task, quantity->of) : 0;
        if (index < 0) return -1;
        launch = &shape->launches[index];
    }
    switch (quantity->kind) {
    case QUANTITY_N: return shape->size.n;
    case QUANTITY_ROWS: return shape->size.rows;
    case QUANTITY_COLUMNS: return shape->size.columns;
    case QUANTITY_FIXED: return quantity->value;
    case QUANTITY_PER_THREAD: return launch->threads;
    case QUANTITY_PER_WARP: return launch->warps;
    case QUANTITY_PER_BLOCK: return launch->blocks;
    case QUANTITY_ELEMENTS_OF: {
        int index = quantity->of ? task_find_buffer(task, quantity->of) : -1;
        if (index < 0 || depth > MAX_BUFFERS) return -1;
        return value_within(task, &task->buffers[index].count, shape, depth + 1);
    }
    case QUANTITY_FUNCTION: return quantity->function ? quantity->function(shape) : -1;
    }
    return -1;
}

long long quantity_value(const Task *task, const Quantity *quantity, const CaseShape *shape) {
    return value_within(task, quantity, shape, 0);
}

static long long round_up(long long value, long long unit) { return (value + unit - 1) / unit * unit; }

int resident_blocks(const GpuInfo *info, int block_threads, int registers, long long static_shared,
                    long long dynamic_shared) {
    if (block_threads < 1 || block_threads > info->max_threads_per_block) return 0;
    long long warps = (block_threads + 31) / 32;
    long long most = info->max_blocks_per_sm;
    long long by_threads = info->max_threads_per_sm / (warps * 32);
    if (by_threads < most) most = by_threads;
    if (registers > 0) {
        // Each of an SM's four partitions has a quarter of the registers, and hands them out to whole warps.
        long long per_warp = round_up((long long)registers * 32, 256);
        long long warps_per_partition = info->registers_per_sm / 4 / per_warp;
        long long by_registers = warps_per_partition * 4 / warps;
        if (by_registers < most) most = by_registers;
    }
    long long shared = static_shared + dynamic_shared;
    long long per_block = round_up(shared + info->shared_reserved_per_block, 128);
    if (per_block > 0 && info->shared_per_sm / per_block < most) most = info->shared_per_sm / per_block;
    return (int)(most < 0 ? 0 : most);
}
