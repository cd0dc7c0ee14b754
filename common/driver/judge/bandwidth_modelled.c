#include "driver/judge/bandwidth_modelled.h"
#include "driver/judge/recorded_reference.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpu/profiles.h"
#include "support/file.h"
#include "support/sha256.h"
#include "driver/plan/elements.h"

static const double elements_of_matrix = 1 << 18; // of the part that stands for a matrix
static const size_t most_bytes = (size_t)256 << 20;
static const uint64_t most_steps = 400000000; // lane instructions of one run
static const double most_seconds = 20;

// One kernel.cu that is estimated: where it runs and what its parts are called.
typedef struct {
    Runner *runner;
    const Image *image;
    const Task *task;
    int index; // of the task
    char why[320];
} Side;

static bool give_up(Side *side, const char *words) {
    snprintf(side->why, sizeof side->why, "not modelled: %.290s", words);
    return false;
}

// ---- One run ----------------------------------------------------------------------------------------------

// Whether a kernel of the PTX text reads how many blocks there are; what it calls counts as part of it.
static bool reads_grid(const Image *image, const char *symbol) {
    char entry[300];
    snprintf(entry, sizeof entry, ".entry %s(", symbol);
    const char *from = strstr(image->text.data, entry);
    if (!from) return true;
    const char *to = strstr(from + 1, ".entry "), *found = strstr(from, "%nctaid");
    return found && (!to || found < to);
}

// A launch by itself, on buffers for `part`; the kernel is told the numbers of `told`.
static bool run_launch(Side *side, int launch, const CaseShape *part, const CaseShape *told,
                       ModelWork *work) {
    static Request request;
    CaseLayout layout;
    char why[512];
    const Task *task = side->task;
    const Case settings = {.task = side->index, .size = part->size};
    if (!case_layout(task, part, SIZE_MAX / 2, &layout, why, sizeof why)) return give_up(side, why);
    memset(&request, 0, sizeof request);
    RunProgram *program = &request.program;
    RunProgram *numbers = malloc(sizeof *numbers);
    if (!numbers) return give_up(side, "out of memory");
    case_program(task, &settings, part, &layout, side->image->kernels[side->index], program);
    case_program(task, &settings, told, &layout, side->image->kernels[side->index], numbers);
    int place = -1; // of the launch: those with 0 blocks are left out
    for (int l = 0; l < layout.launch_count; l++)
        if (layout.launch_index[l] == launch) place = l;
    if (place >= 0) {
        program->launches[0] = program->launches[place];
        for (int a = 0; a < program->launches[0].argument_count; a++)
            program->launches[0].arguments[a].value = numbers->launches[place].arguments[a].value;
    }
    free(numbers);
    if (place < 0) return give_up(side, "a grid of 0 blocks");
    program->launch_count = 1;
    program->launches[0].max_steps = most_steps;
    // Inputs are zeros, and results are not checked. Buffers that this launch does not use are left empty,
    // because those of other launches may be large.
    size_t bytes = 0;
    for (int b = 0; b < program->buffer_count; b++) {
        bool is_used = false;
        for (int a = 0; a < program->launches[0].argument_count; a++)
            is_used = is_used || program->launches[0].arguments[a].buffer == b;
        if (!is_used) program->buffers[b].bytes = 0;
        program->buffers[b].fill = FILL_ZERO;
        program->buffers[b].is_read_back = 0;
        bytes += program->buffers[b].bytes;
    }
    if (bytes > most_bytes) return give_up(side, "it needs too much memory");
    request.timing = 1;
    RunReply reply;
    runner_run(side->runner, &request, most_seconds, &reply);
    if (reply.end != RUN_REPLIED) {
        give_up(side, reply.words);
        (void)runner_restart(side->runner, &reply); // for later tasks; if it fails, they report it
        return false;
    }
    if (reply.header->status != REPLY_DONE) return give_up(side, reply.header->message);
    *work = reply.header->works[0];
    return work->blocks > 0 || give_up(side, "no block ran");
}

// ---- One launch -------------------------------------------------------------------------------------------

// A size with that share of the elements: whole rows of a matrix.
static CaseSize part_of(CaseSize size, double share) {
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

static void set_blocks(ShapeOfLaunch *launch, uint64_t blocks) {
    const long long warps = (launch->block_threads + 31) / 32;
    launch->grid[0] = (uint32_t)blocks;
    launch->blocks = (long long)blocks;
    launch->warps = (long long)blocks * warps;
    launch->threads = (long long)blocks * launch->block_threads;
}

// A grid of more dimensions: LAUNCH says what it is for fewer rows.
static bool follow_matrix(Side *side, const CaseShape *whole, int launch, ModelWork *work) {
    static TaskShape answer;
    const double share = fmin(1, elements_of_matrix / (double)whole->size.n);
    const CaseSize size = part_of(whole->size, fmax(share, fmin(1, 64 / fmax(1, (double)whole->size.rows))));
    if (!ask_shape(side->runner, 0, side->task, side->index, side->image->kernels[side->index], size,
                   &answer) ||
        answer.verdict != VERDICT_PASS)
        return give_up(side, answer.words[0] ? answer.words : "LAUNCH fails for a part of the size");
    ModelRun runs[2] = {{.blocks = (uint64_t)answer.shape.launches[launch].blocks}};
    ModelWork works[2];
    if (!run_launch(side, launch, &answer.shape, &answer.shape, &works[0])) return false;
    model_whole(runs, works, 1, (uint64_t)whole->launches[launch].blocks, (double)whole->size.n, work);
    return true;
}

static bool follow_launch(Side *side, const CaseShape *whole, int launch, ModelWork *work) {
    const ShapeOfLaunch *shape = &whole->launches[launch];
    const long long n = quantity_value(side->task, &side->task->launches[launch].n, whole);
    if (n != whole->size.n) return run_launch(side, launch, whole, whole, work); // a second, small pass
    if (shape->grid[1] > 1 || shape->grid[2] > 1) return follow_matrix(side, whole, launch, work);
    ModelRun runs[2];
    ModelWork works[2];
    const bool reads = reads_grid(side->image, side->image->kernels[side->index][launch].symbol);
    const int count =
        model_plan((uint64_t)shape->blocks, (uint64_t)shape->block_threads, (double)n, reads, runs);
    for (int r = 0; r < count; r++) {
        CaseShape part = *whole;
        part.size = part_of(whole->size, runs[r].elements / (double)n);
        set_blocks(&part.launches[launch], runs[r].blocks);
        if (!run_launch(side, launch, &part, runs[r].is_all_n ? whole : &part, &works[r])) return false;
    }
    model_whole(runs, works, count, (uint64_t)shape->blocks, (double)n, work);
    return true;
}

// ---- One task ---------------------------------------------------------------------------------------------

static bool estimate(Side *side, const CaseShape *whole, const ModelDevice *device, ModelEstimate *sum) {
    bool is_first = true;
    for (int l = 0; l < whole->launch_count; l++) {
        const ShapeOfLaunch *launch = &whole->launches[l];
        const ImageKernel *kernel = &side->image->kernels[side->index][l];
        if (launch->blocks == 0) continue;
        ModelWork work;
        if (!follow_launch(side, whole, l, &work)) return false;
        const ModelShape shape = {.blocks = (double)launch->blocks,
                                  .block_threads = launch->block_threads,
                                  .registers = kernel->registers,
                                  .shared_bytes = (double)kernel->static_shared + launch->shared};
        ModelEstimate one;
        model_estimate(device, &shape, &work, &one);
        if (is_first)
            *sum = one;
        else
            model_estimate_next(device, &one, sum);
        is_first = false;
    }
    return !is_first || give_up(side, "a grid of 0 blocks");
}

// ---- The reference ----------------------------------------------------------------------------------------

// The file of its times: beside its image, under a name that changes with the image, the device and this
// program.
static void cache_path(const Image *image, const char *profile, char path[PATH_MAX]) {
    struct stat self = {0};
    (void)stat("/proc/self/exe", &self);
    Text key = {0};
    char hex[65];
    text_printf(&key, "%lld.%ld.%lld.%s.", (long long)self.st_mtim.tv_sec, self.st_mtim.tv_nsec,
                (long long)self.st_size, profile);
    text_add(&key, image->text.data);
    sha256_hex(text_chars(&key), key.bytes, hex);
    text_free(&key);
    const char *slash = strrchr(image->name, '/');
    snprintf(path, PATH_MAX, "%.*s/modelled-%.16s", slash ? (int)(slash - image->name) : 1,
             slash ? image->name : ".", hex);
}

// Seconds by task; 0: not known.
static void read_cache(const char *path, double seconds[MAX_TASKS]) {
    Text text = {0};
    FileError ignored;
    if (!read_regular_file(path, 4096, &text, &ignored)) return;
    const char *at = text_chars(&text);
    for (int t = 0; t < MAX_TASKS; t++) {
        char *end;
        seconds[t] = strtod(at, &end);
        if (end == at || !(seconds[t] > 0)) seconds[t] = 0;
        at = end;
    }
    text_free(&text);
}

static void write_cache(const char *path, const double seconds[MAX_TASKS]) {
    Text text = {0};
    FileError ignored; // without it the next run estimates again
    for (int t = 0; t < MAX_TASKS; t++) text_printf(&text, "%.17g\n", seconds[t]);
    (void)write_file_atomically(path, text_chars(&text), text.bytes, &ignored);
    text_free(&text);
}

// Adds what is not known yet; `seconds` has one for each of `wanted`.
static void estimate_in_runner(Judge *judge, Runner *runner, const ModelDevice *device,
                               const Bandwidth *wanted, int count, double *seconds) {
    const Image *image = judge->subjects->reference;
    for (int i = 0; i < count; i++) {
        static TaskShape shape;
        const int t = wanted[i].task;
        const Task *task = &judge->of->tasks[t];
        if (!bandwidth_is_known(&wanted[i]) || seconds[i] > 0) continue;
        Side side = {.runner = runner, .image = image, .task = task, .index = t};
        ModelEstimate sum;
        if (!ask_shape(runner, 0, task, t, image->kernels[t], wanted[i].size, &shape)) break;
        if (shape.verdict != VERDICT_PASS || !estimate(&side, &shape.shape, device, &sum)) continue;
        seconds[i] = sum.seconds;
    }
}

// The same with a separate runner; false if there was nothing to add.
static bool estimate_reference(Judge *judge, const ModelDevice *device, const Bandwidth *wanted, int count,
                               double *seconds) {
    const Image *image = judge->subjects->reference;
    bool is_wanted = false;
    for (int i = 0; i < count; i++)
        is_wanted = is_wanted || (bandwidth_is_known(&wanted[i]) && !(seconds[i] > 0));
    if (!is_wanted) return false;
    RunReply reply;
    RunnerPlan plan = {.kind = GPU_EMULATOR, .arena_bytes = (size_t)1 << 20};
    memcpy(plan.profile, judge->options->profile, sizeof plan.profile);
    runner_plan_add(&plan, &image->text, image->name);
    Runner *runner = runner_start(&plan, &reply);
    if (!runner) return false;
    estimate_in_runner(judge, runner, device, wanted, count, seconds);
    runner_stop(runner);
    return true;
}

// The same at the size of each task, which is kept from run to run.
static void estimate_reference_once(Judge *judge, const ModelDevice *device, const char *profile,
                                    double seconds[MAX_TASKS]) {
    char path[PATH_MAX];
    cache_path(judge->subjects->reference, profile, path);
    read_cache(path, seconds);
    if (estimate_reference(judge, device, judge->judgement->bandwidth, chapter_task_count(judge->of),
                           seconds))
        write_cache(path, seconds);
}

// ---- All of them ------------------------------------------------------------------------------------------

static void model_task(Judge *judge, int index, CaseSize size, const ModelDevice *device,
                       Bandwidth *bandwidth) {
    const Task *task = &judge->of->tasks[index];
    bandwidth_unavailable(bandwidth, index, size, "not modelled");
    if (!judge_ask_shape(judge, index, size)) return;
    const TaskShape *shape = judge_shape(judge, index, &size);
    if (!shape || shape->verdict != VERDICT_PASS) {
        snprintf(bandwidth->words, sizeof bandwidth->words,
                 "not modelled: LAUNCH fails for this size%s%.200s", shape && shape->words[0] ? ": " : "",
                 shape ? shape->words : "");
        return;
    }
    Side side = {
        .runner = judge->workers[0].runner, .image = judge->subjects->kernel, .task = task, .index = index};
    ModelEstimate sum;
    if (!estimate(&side, &shape->shape, device, &sum)) {
        memcpy(bandwidth->words, side.why, sizeof bandwidth->words);
        return;
    }
    bandwidth->kind = BANDWIDTH_MODELLED;
    bandwidth->state = BANDWIDTH_DECIDED;
    bandwidth->words[0] = '\0';
    memcpy(bandwidth->device, judge->judgement->device.name, sizeof bandwidth->device);
    bandwidth->bytes = bytes_that_must_move(task, &shape->shape);
    bandwidth->seconds = sum.seconds;
    bandwidth->peak_gb_per_s = judge->judgement->device.peak_gb_per_s;
    memcpy(bandwidth->limiter, sum.words, sizeof bandwidth->limiter);
    bandwidth_complete(bandwidth);
}

static void compare_with_reference(const Judge *judge, const GpuProfile *profile, double reference_seconds,
                                   Bandwidth *bandwidth) {
    const Subjects *subjects = judge->subjects;
    if (!bandwidth_is_known(bandwidth)) return;
    if (!subjects->reference && !(reference_seconds > 0))
        snprintf(bandwidth->words, sizeof bandwidth->words, "%s", subjects->no_reference);
    else if (!profile->is_measured)
        snprintf(bandwidth->words, sizeof bandwidth->words,
                 "from published figures of this device, without any measurement on it");
    if (!(reference_seconds > 0)) return;
    memcpy(bandwidth->reference, subjects->reference_name, sizeof bandwidth->reference);
    bandwidth->reference_seconds = reference_seconds;
    bandwidth_complete(bandwidth);
}

// Fills in what a handout knows about a reference that is not here.
static void read_recorded(const Judge *judge, const Bandwidth *wanted, int count, double *seconds) {
    const char *path = judge->subjects->recorded;
    for (int i = 0; i < count && path[0]; i++) {
        const char *task = judge->of->tasks[wanted[i].task].name;
        if (bandwidth_is_known(&wanted[i]))
            seconds[i] = recorded_reference_seconds(path, wanted[i].device, task, wanted[i].size);
    }
}

static void model_timings(Judge *judge, const GpuProfile *profile, const ModelDevice *device) {
    Bandwidth *timings = judge->judgement->timings;
    const int count = judge->judgement->timing_count;
    double *reference = calloc((size_t)count + 1, sizeof *reference);
    for (int i = 0; i < count; i++) model_task(judge, timings[i].task, timings[i].size, device, &timings[i]);
    if (reference && judge->subjects->reference) estimate_reference(judge, device, timings, count, reference);
    if (reference && !judge->subjects->reference) read_recorded(judge, timings, count, reference);
    for (int i = 0; i < count; i++)
        compare_with_reference(judge, profile, reference ? reference[i] : 0, &timings[i]);
    free(reference);
}

void judge_model(Judge *judge) {
    const GpuProfile *profile = gpu_profile_find(judge->options->profile[0] ? judge->options->profile : NULL);
    ModelDevice device;
    double reference[MAX_TASKS] = {0};
    if (!profile) return;
    gpu_profile_model(profile, &device);
    if (judge->options->time_count > 0) {
        model_timings(judge, profile, &device);
        return;
    }
    Bandwidth *bandwidth = judge->judgement->bandwidth;
    const int tasks = chapter_task_count(judge->of);
    for (int t = 0; t < tasks; t++)
        if (task_has_bandwidth(&judge->of->tasks[t]))
            model_task(judge, t, timed_size(&judge->of->tasks[t], judge->judgement->device.memory_bytes),
                       &device, &bandwidth[t]);
    if (judge->subjects->reference)
        estimate_reference_once(judge, &device, profile->name, reference);
    else
        read_recorded(judge, bandwidth, tasks, reference);
    for (int t = 0; t < tasks; t++) compare_with_reference(judge, profile, reference[t], &bandwidth[t]);
}
