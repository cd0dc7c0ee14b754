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
#include "support/system.h"
#include "driver/judge/modelled_runs.h"
#include "driver/judge/modelled_sample.h"

// ---- One task ---------------------------------------------------------------------------------------------

static bool estimate(ModelledTask *modelled, const CaseShape *whole, const ModelDevice *device,
                     ModelledWorks *done, ModelEstimate *sum) {
    return modelled_works(modelled, whole, done) && modelled_estimate(modelled, done, device, sum);
}

// ---- The reference ----------------------------------------------------------------------------------------

// The file of its times: beside its image, under a name that changes with the image, the device and this
// program.
static void cache_path(const Image *image, const char *profile, char path[PATH_MAX]) {
    struct stat self = {0};
    if (system_program_path(path, PATH_MAX)) (void)stat(path, &self);
    const struct timespec built = system_modified(&self);
    Text key = {0};
    char hex[65];
    text_printf(&key, "%lld.%ld.%lld.%s.", (long long)built.tv_sec, built.tv_nsec, (long long)self.st_size,
                profile);
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
        static ModelledTask modelled;
        static ModelledWorks done;
        modelled = (ModelledTask){.judge = judge, .runner = runner, .image = image, .task = task, .index = t};
        ModelEstimate sum;
        if (!ask_shape(runner, 0, task, t, image->kernels[t], wanted[i].size, &shape)) break;
        if (shape.verdict != VERDICT_PASS || !estimate(&modelled, &shape.shape, device, &done, &sum))
            continue;
        seconds[i] = sum.seconds;
    }
}

Runner *start_reference(const Judge *judge) {
    const Image *image = judge->subjects->reference;
    RunReply reply;
    RunnerPlan plan = {.kind = GPU_EMULATOR, .arena_bytes = least_arena_bytes};
    memcpy(plan.profile, judge->options->profile, sizeof plan.profile);
    runner_plan_add(&plan, &image->text, image->name);
    return runner_start(&plan, &reply);
}

// The same with a separate runner; false if there was nothing to add.
static bool estimate_reference(Judge *judge, const ModelDevice *device, const Bandwidth *wanted, int count,
                               double *seconds) {
    bool is_wanted = false;
    for (int i = 0; i < count; i++)
        is_wanted = is_wanted || (bandwidth_is_known(&wanted[i]) && !(seconds[i] > 0));
    if (!is_wanted) return false;
    Runner *runner = start_reference(judge);
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

static void add_remark(Bandwidth *bandwidth, const char *words) {
    const size_t length = strlen(bandwidth->words);
    snprintf(bandwidth->words + length, sizeof bandwidth->words - length, "%s%s", length > 0 ? "; " : "",
             words);
}

// Less may be the error of either estimate, as of a grid that does not grow with the GPU.
static const double least_told = 1.15;

static void add_remark_of_size(Bandwidth *bandwidth, double factor) {
    char words[120];
    if (factor < least_told) return;
    snprintf(words, sizeof words, "at this size its blocks take %.*f times as long as smaller ones suggest",
             factor < 10 ? 1 : 0, factor);
    add_remark(bandwidth, words);
}

static void model_task(Judge *judge, int index, CaseSize size, const ModelDevice *device,
                       Bandwidth *bandwidth) {
    static ModelledTask modelled;
    const Task *task = &judge->of->tasks[index];
    bandwidth_unavailable(bandwidth, index, size, "not modelled: the device is lost");
    if (!judge_ask_shape(judge, index, size)) return;
    const TaskShape *shape = judge_shape(judge, index, &size);
    modelled = (ModelledTask){.judge = judge,
                              .runner = judge->workers[0].runner,
                              .image = judge->subjects->kernel,
                              .task = task,
                              .index = index};
    ModelEstimate sum;
    if (shape->verdict != VERDICT_PASS) {
        CaseReport report = {.settings = {.task = index, .size = size, .family = FAMILY_INTEGERS}};
        report.seed = seed_of_inputs(&judge->seeds, &size, FAMILY_INTEGERS);
        launch_refuses(shape, &report);
        judge_add_failed(judge, &report, CASE_OF_MODEL);
        snprintf(bandwidth->words, sizeof bandwidth->words, "not modelled: LAUNCH fails for this size");
        return;
    }
    if (!estimate(&modelled, &shape->shape, device, &judge->modelled[index], &sum)) {
        memcpy(bandwidth->words, modelled.why, sizeof bandwidth->words);
        // A kernel that is run at a chosen size to see what it prints may print too much at a large one.
        const bool only_prints = judge->options->n >= 0 && modelled.failed.verdict == VERDICT_OUTPUT_LIMIT;
        if (only_prints)
            snprintf(bandwidth->words, sizeof bandwidth->words, "not modelled: prints too much at that size");
        else if (modelled.has_failed)
            judge_add_failed(judge, &modelled.failed, CASE_OF_MODEL);
        return;
    }
    const double extrapolated = sum.seconds;
    const double factor = modelled_follow_blocks(&modelled, device, &judge->modelled[index], &sum);
    bandwidth->kind = BANDWIDTH_MODELLED;
    bandwidth->state = BANDWIDTH_DECIDED;
    bandwidth->words[0] = '\0';
    memcpy(bandwidth->device, judge->judgement->device.name, sizeof bandwidth->device);
    bandwidth->bytes = bytes_that_must_move(task, &shape->shape);
    bandwidth->operations = operations_to_do(task, &shape->shape);
    bandwidth->seconds = sum.seconds;
    bandwidth->peak_gb_per_s = judge->judgement->device.peak_gb_per_s;
    bandwidth->peak_tflop_per_s = judge->judgement->device.peak_tflop_per_s;
    memcpy(bandwidth->limiter, sum.words, sizeof bandwidth->limiter);
    if (factor > 1) {
        bandwidth->longer = sum.seconds / extrapolated;
        add_remark_of_size(bandwidth, factor);
    }
    if (modelled_waits_for_blocks(&judge->modelled[index]))
        add_remark(
            bandwidth,
            "its blocks wait for one another, which the model follows only in part: a GPU may be slower");
    bandwidth_complete(bandwidth);
    bandwidth_distrust(bandwidth,
                       bandwidth_least_seconds(task, &shape->shape, &judge->judgement->device, false));
}

static void compare_with_reference(const Judge *judge, const GpuProfile *profile, double reference_seconds,
                                   Bandwidth *bandwidth) {
    const Subjects *subjects = judge->subjects;
    bandwidth->error_band = gpu_error_band(profile);
    if (!bandwidth_is_known(bandwidth) || bandwidth->state == BANDWIDTH_UNTRUSTED_TIME) return;
    if (!subjects->reference && !(reference_seconds > 0))
        add_remark(bandwidth, subjects->no_reference);
    else if (!profile->is_measured)
        add_remark(bandwidth, "from published figures of this device, without any measurement on it");
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
