#include "driver/judge/bandwidth_measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/run/statistics.h"

enum { FEW_SAMPLES = 5 };
// Fewer samples than that cannot show how far they spread: then a factor of two is left open.
static const double unsure_of_few = 2;
// Two images of one kernel differ a run, always in the same direction, by where their code lies in memory (on
// an H200, 1,024 elements: 2.62 and 2.65 microseconds), which more samples cannot reveal. Four copies of each
// take turns, and the interval is widened by this much: with half of it, 1 of 20 runs of 2^20 elements
// against themselves missed.
static const double placement_seconds = 60e-9;
// The size for measuring the read ceiling: much larger than any cache, but fast.
static const size_t ceiling_bytes = (size_t)1 << 30;

// One program's side of a request.
typedef struct {
    const TaskShape *shape;
    CaseLayout layout;
    CaseReport report;
} Side;

typedef struct {
    Judge *judge;
    int task;
    const Case *settings;
    Prepared *prepared;
    Side kernel, reference;
    bool has_reference;
    RunReply reply;
    size_t samples_offset;
} Measurement;

static const Task *task_of(const Measurement *m) { return &m->judge->of->tasks[m->task]; }
static Worker *device_of(const Measurement *m) { return &m->judge->workers[0]; }

// ---- The request -----------------------------------------------------------------------------------------

// The reference's outputs follow the kernel's in the arena; its inputs are the same.
static bool lay_out(Measurement *m, char *why, size_t why_bytes) {
    const Task *task = task_of(m);
    const size_t most = runner_arena_bytes(device_of(m)->runner);
    size_t used = 0;
    if (!case_layout(task, &m->kernel.shape->shape, most, &m->kernel.layout, why, why_bytes)) return false;
    used = m->kernel.layout.bytes;
    if (m->has_reference) {
        CaseLayout *layout = &m->reference.layout;
        if (!case_layout(task, &m->reference.shape->shape, most - used, layout, why, why_bytes)) return false;
        for (int b = 0; b < task_buffer_count(task); b++)
            layout->offsets[b] =
                task->buffers[b].role == INPUT ? m->kernel.layout.offsets[b] : used + layout->offsets[b];
        used += layout->bytes;
    }
    m->samples_offset = used;
    if (used + 2 * MAX_SAMPLES * sizeof(double) <= most) return true;
    snprintf(why, why_bytes, "not enough memory for the samples beside the buffers");
    return false;
}

static void send_request(Measurement *m) {
    static Request request;
    const Subjects *subjects = m->judge->subjects;
    Worker *worker = device_of(m);
    memset(&request, 0, sizeof request);
    request.kind = REQUEST_TIME;
    case_program(task_of(m), m->settings, &m->kernel.shape->shape, &m->kernel.layout,
                 subjects->kernel->kernels[m->task], &request.program);
    if (m->has_reference) {
        case_program(task_of(m), m->settings, &m->reference.shape->shape, &m->reference.layout,
                     subjects->reference->kernels[m->task], &request.rival);
        request.rival.image = 1;
        for (int b = 0; b < request.rival.buffer_count; b++)
            if (request.rival.buffers[b].is_read_only || subjects->is_solution)
                request.rival.buffers[b].is_read_back = 0;
    }
    request.ceiling_bytes = ceiling_bytes;
    request.samples_offset = m->samples_offset;
    case_write_inputs(task_of(m), &m->kernel.layout, m->prepared, runner_arena(worker->runner));
    runner_run(worker->runner, &request, 30 + 4 * case_seconds(true, m->settings->size.n), &m->reply);
}

// ---- The answer ------------------------------------------------------------------------------------------

static double *copy_samples(const double *from, int count) {
    double *copy = malloc((size_t)count * sizeof *copy + 1);
    if (copy) memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

static void compare(Bandwidth *bandwidth, const double *mine, const double *others, int count) {
    Comparison comparison;
    if (!compare_times(mine, others, count, &comparison)) return;
    bandwidth->reference_seconds = median_of(others, count);
    const double placement = placement_seconds / fmin(bandwidth->seconds, bandwidth->reference_seconds);
    bandwidth->ratio_low = fmax(1e-6, comparison.low * (1 - placement));
    bandwidth->ratio_high = comparison.high * (1 + placement);
    if (count >= FEW_SAMPLES) return;
    bandwidth->ratio_low = comparison.ratio / unsure_of_few;
    bandwidth->ratio_high = comparison.ratio * unsure_of_few;
}

static void judge_state(Bandwidth *bandwidth, double least) {
    bandwidth->state = BANDWIDTH_DECIDED;
    if (bandwidth->ratio > 0 && bandwidth->ratio_low < full_bandwidth_ratio &&
        bandwidth->ratio_high >= full_bandwidth_ratio)
        bandwidth->state = BANDWIDTH_TOO_NOISY;
    bandwidth_distrust(bandwidth, least);
}

static void read_samples(Measurement *m, bool keeps_samples, Bandwidth *bandwidth) {
    const Judge *judge = m->judge;
    const ReplyHeader *header = m->reply.header;
    const GpuInfo *device = &judge->judgement->device;
    const int count = header->sample_count;
    if (count == 0) {
        snprintf(bandwidth->words, sizeof bandwidth->words,
                 "not timed: %s in all %d samples; try again when nothing else runs and the GPU is cool",
                 header->why, header->dropped);
        return;
    }
    // Copied once, because the runner could change it between two reads.
    double *mine =
        copy_samples((const double *)(const void *)(runner_arena(device_of(m)->runner) + m->samples_offset),
                     2 * MAX_SAMPLES);
    if (!mine) return;
    double *others = mine + MAX_SAMPLES;
    for (int i = 0; i < count; i++)
        if (!(mine[i] > 0) || (m->has_reference && !(others[i] > 0))) {
            snprintf(bandwidth->words, sizeof bandwidth->words,
                     "not timed: the GPU's clock does not advance");
            free(mine);
            return;
        }
    bandwidth->kind = BANDWIDTH_MEASURED;
    snprintf(bandwidth->device, sizeof bandwidth->device, "%s", device->name);
    bandwidth->seconds = median_of(mine, count);
    bandwidth->bytes = bytes_that_must_move(task_of(m), &m->kernel.shape->shape);
    bandwidth->operations = operations_to_do(task_of(m), &m->kernel.shape->shape);
    bandwidth->peak_gb_per_s = device->peak_gb_per_s;
    bandwidth->peak_tflop_per_s = device->peak_tflop_per_s;
    bandwidth->ceiling_gb_per_s = 1e-9 * header->ceiling;
    bandwidth->samples = count;
    bandwidth->launches_per_sample = header->runs_per_sample;
    bandwidth->dropped = header->dropped;
    memcpy(bandwidth->throttle, header->throttle, sizeof bandwidth->throttle);
    if (m->has_reference) {
        snprintf(bandwidth->reference, sizeof bandwidth->reference, "%s", judge->subjects->reference_name);
        compare(bandwidth, mine, others, count);
    } else {
        snprintf(bandwidth->words, sizeof bandwidth->words, "%.300s", judge->subjects->no_reference);
    }
    if (keeps_samples) {
        bandwidth->raw = copy_samples(mine, count);
        if (m->has_reference) bandwidth->reference_raw = copy_samples(others, count);
    }
    free(mine);
    bandwidth_complete(bandwidth);
    judge_state(bandwidth, bandwidth_least_seconds(task_of(m), &m->kernel.shape->shape, device, true));
}

// True when the kernel's results are right, and those of a reference that was brought along.
static bool is_right(Measurement *m, char *why, size_t why_bytes) {
    const unsigned char *arena = runner_arena(device_of(m)->runner);
    m->kernel.report = (CaseReport){.settings = *m->settings};
    const bool is_decided = case_judge(task_of(m), &m->kernel.shape->shape, &m->kernel.layout, m->prepared,
                                       &m->reply, arena, true, &m->kernel.report);
    const Verdict verdict = m->kernel.report.verdict;
    if (!is_decided ||
        verdict == VERDICT_INFRA) { // the machine's fault: no bandwidth, but not the learner's mistake
        snprintf(why, why_bytes, "not timed: %.280s", m->kernel.report.words);
        return false;
    }
    if (verdict != VERDICT_PASS) {
        judge_add_failed(m->judge, &m->kernel.report, CASE_AFTER_TIMING);
        snprintf(why, why_bytes, "not timed: the kernel failed in the timed runs");
        return false;
    }
    if (!m->has_reference || m->judge->subjects->is_solution) return true;
    m->reference.report = (CaseReport){.settings = *m->settings};
    case_judge(task_of(m), &m->reference.shape->shape, &m->reference.layout, m->prepared, &m->reply, arena,
               true, &m->reference.report);
    if (m->reference.report.verdict == VERDICT_PASS) return true;
    snprintf(why, why_bytes, "not timed: the kernel to compare with, %.120s, is itself %s",
             m->judge->subjects->reference_name, verdict_word(m->reference.report.verdict));
    return false;
}

// ---- One size --------------------------------------------------------------------------------------------

static void end_measurement(Measurement *m) {
    prepared_release(m->prepared);
    RunReply restarted;
    const bool is_spent = m->reply.end != RUN_REPLIED || (m->reply.header && m->reply.header->context_lost);
    if (is_spent && !runner_restart(device_of(m)->runner, &restarted)) device_of(m)->is_lost = true;
}

static void measure(Judge *judge, int task, CaseSize size, bool keeps_samples, Bandwidth *bandwidth) {
    static TaskShape reference_shape;
    const Case settings = {.task = task, .size = size, .family = FAMILY_INTEGERS};
    Measurement m = {.judge = judge, .task = task, .settings = &settings};
    bandwidth_unavailable(bandwidth, task, size, "not timed: the device is lost");
    char *why = bandwidth->words;
    const size_t why_bytes = sizeof bandwidth->words;
    if (device_of(&m)->is_lost || !judge_ask_shape(judge, task, size)) return;
    m.kernel.shape = judge_shape(judge, task, &size);
    if (m.kernel.shape->verdict != VERDICT_PASS || size.n == 0) {
        snprintf(why, why_bytes, "not timed: %.280s",
                 size.n == 0 ? "there is nothing to move" : m.kernel.shape->words);
        return;
    }
    const Image *reference = judge->subjects->reference;
    if (reference) {
        RunReply restarted;
        if (!ask_shape(device_of(&m)->runner, 1, &judge->of->tasks[task], task, reference->kernels[task],
                       size, &reference_shape) &&
            !runner_restart(device_of(&m)->runner, &restarted))
            device_of(&m)->is_lost = true;
        if (reference_shape.verdict != VERDICT_PASS) {
            snprintf(why, why_bytes, "not timed: the LAUNCH of the kernel to compare with fails: %.200s",
                     reference_shape.has_finding ? reference_shape.finding.message : reference_shape.words);
            return;
        }
        m.has_reference = true;
        m.reference.shape = &reference_shape;
    }
    if (!lay_out(&m, why, why_bytes)) return;
    m.prepared =
        prepared_take(&judge->cache, &judge->of->tasks[task], &settings, &m.kernel.shape->shape,
                      m.kernel.layout.counts, seed_of_inputs(&judge->seeds, &settings.size, settings.family));
    if (!m.prepared) {
        snprintf(why, why_bytes, "not timed: out of memory for the inputs");
        return;
    }
    send_request(&m);
    if (is_right(&m, why, why_bytes)) {
        why[0] = '\0';
        read_samples(&m, keeps_samples, bandwidth);
    }
    end_measurement(&m);
}

void judge_measure(Judge *judge) {
    const Options *options = judge->options;
    Judgement *judgement = judge->judgement;
    if (options->time_count > 0) {
        for (int i = 0; i < judgement->timing_count; i++) {
            const CaseSize size = judgement->timings[i].size;
            measure(judge, judgement->timings[i].task, size, true, &judgement->timings[i]);
        }
        return;
    }
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        const Task *task = &judge->of->tasks[t];
        if (!task_has_bandwidth(task)) continue;
        CaseSize size = timed_size(task, judge->judgement->device.memory_bytes);
        if (options->n >= 0 && !size.rows) size.n = options->n;
        measure(judge, t, size, false, &judgement->bandwidth[t]);
    }
}
