// Which case of a task is recorded, and its run.
#include "driver/result/access_trace_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/elements.h"
#include "driver/result/access_trace_document.h"

// Above these no case is looked at, for the picture and in the search for one that fails.
static const long long largest_shown = 65537, largest_searched = 4096;
static const long long few_elements = 64;
static const double most_seconds = 60;

typedef struct {
    const TracePlan *plan;
    Runner *runner;
    PreparedCache cache;
    Seeds seeds;
    Plan cases;
    char why[512];
} Recorder;

// ---- One run ---------------------------------------------------------------------------------------------

static void take_kernels(const Recorder *r, const Request *request, const RunReply *reply, TraceTask *task) {
    for (int i = 0; i < task->layout.launch_count; i++) {
        const size_t bytes = reply->header->trace_bytes[i];
        if (bytes == 0 || bytes > request->trace_bytes) continue;
        task->kernels[i] = malloc(bytes);
        if (!task->kernels[i]) continue;
        task->kernel_bytes[i] = bytes;
        memcpy(task->kernels[i],
               runner_arena(r->runner) + request->trace_offset + (size_t)i * request->trace_bytes, bytes);
    }
}

static void forget_kernels(TraceTask *task) {
    for (int i = 0; i < MAX_LAUNCHES; i++) {
        free(task->kernels[i]);
        task->kernels[i] = NULL;
    }
}

static void decide(TraceTask *task, Verdict verdict, const char *words) {
    task->report.verdict = verdict;
    snprintf(task->report.words, sizeof task->report.words, "%s", words);
}

// Runs a case with its launch shapes known. False when the runner is of no more use.
static bool run_case(Recorder *r, const Case *one, const TaskShape *shape, bool records, TraceTask *task) {
    const Task *of = &r->plan->of->tasks[one->task];
    static Request request;
    const size_t arena = runner_arena_bytes(r->runner);
    char why[512];
    forget_kernels(task);
    task->settings = *one;
    task->shape = shape->shape;
    task->was_run = false;
    task->report = (CaseReport){.settings = *one};
    if (shape->verdict != VERDICT_PASS) {
        task->report.has_finding = shape->has_finding;
        task->report.finding = shape->finding;
        decide(task, shape->verdict, shape->words);
        return true;
    }
    if (!case_layout(of, &shape->shape, arena - MAX_LAUNCHES * (size_t)TRACE_KERNEL_BYTES, &task->layout, why,
                     sizeof why)) {
        decide(task, VERDICT_LAUNCH, why);
        return true;
    }
    Prepared *prepared = prepared_take(&r->cache, of, one, &shape->shape, task->layout.counts,
                                       seed_of_inputs(&r->seeds, &one->size, one->family));
    if (!prepared) {
        decide(task, VERDICT_INFRA, "out of memory for the inputs");
        return true;
    }
    case_request(of, one, &shape->shape, &task->layout, prepared, r->plan->image->kernels[one->task],
                 runner_arena(r->runner), &request);
    if (records) {
        request.rounds = 1; // the first shows what the kernel does to buffers as they should be
        request.count = 1;
        request.trace_offset = task->layout.bytes;
        request.trace_bytes = TRACE_KERNEL_BYTES;
    }
    RunReply reply;
    runner_run(r->runner, &request, most_seconds, &reply);
    task->was_run = reply.end == RUN_REPLIED;
    case_judge(of, &shape->shape, &task->layout, prepared, &reply, runner_arena(r->runner), false,
               &task->report);
    prepared_release(prepared);
    if (task->was_run && records) take_kernels(r, &request, &reply, task);
    RunReply restarted;
    return task->was_run || runner_restart(r->runner, &restarted);
}

// ---- Which case ------------------------------------------------------------------------------------------

static bool ask(Recorder *r, const Case *one, TaskShape *shape) {
    if (ask_shape(r->runner, 0, &r->plan->of->tasks[one->task], one->task, r->plan->image->kernels[one->task],
                  one->size, shape))
        return true;
    RunReply restarted;
    return runner_restart(r->runner, &restarted);
}

static bool is_plain(const Recorder *r, const Case *one, int task) {
    const long long largest = r->plan->options->n >= 0 ? TRACE_MAX_N : largest_shown;
    return one->task == task && one->schedule == 0 && one->family == FAMILY_INTEGERS &&
           one->misalignment == 0 && !one->is_unforeseen && !one->is_drawn && !one->is_large &&
           one->recount == 0 && one->figures == 0 && one->size.n <= largest;
}

// How good a picture a size makes; of sizes as good as each other the smallest is taken.
typedef enum { NO_CASE, REFUSED, LITTLE, ONE_BLOCK, BLOCKS, BUSY_BLOCKS, FULL_BLOCKS } Merit;

static const char *const because[] = {
    [REFUSED] = "the smallest size of the chapter: LAUNCH fails at every size that was tried",
    [LITTLE] = "no size of the chapter shows more",
    [ONE_BLOCK] = "the smallest size of the chapter with work for every thread; none has two blocks",
    [BLOCKS] = "the smallest size of the chapter with two blocks or more",
    [BUSY_BLOCKS] = "the smallest size of the chapter with two to eight blocks, two of them busy",
    [FULL_BLOCKS] = "the smallest size of the chapter with two to eight blocks, two of them full",
};

// `one_block` is the largest size so far that one block does alone: twice as much fills two.
static Merit merit_of(const TaskShape *shape, long long one_block) {
    if (shape->verdict != VERDICT_PASS) return REFUSED;
    const ShapeOfLaunch *first = &shape->shape.launches[0];
    const long long n = shape->shape.size.n;
    const bool has_work = n >= first->threads, is_small = first->blocks >= 2 && first->blocks <= 8;
    if (is_small && has_work && n >= 2 * one_block) return FULL_BLOCKS;
    if (is_small && n >= 2LL * first->block_threads) return BUSY_BLOCKS;
    if (first->blocks >= 2 && n > 0) return BLOCKS;
    return n >= few_elements && has_work ? ONE_BLOCK : LITTLE;
}

// The case for the picture of a task: false when there is none, or the runner is of no more use.
static bool choose_case(Recorder *r, int task, Case *chosen, TaskShape *its_shape, const char **why) {
    static TaskShape shape;
    Merit best = NO_CASE;
    long long one_block = 0;
    for (int i = 0; i < r->cases.count && best < FULL_BLOCKS; i++) { // small ones first
        const Case *one = &r->cases.cases[i];
        if (!is_plain(r, one, task)) continue;
        if (!ask(r, one, &shape)) return false;
        if (shape.verdict == VERDICT_PASS && shape.shape.launches[0].blocks == 1) one_block = one->size.n;
        const Merit merit = merit_of(&shape, one_block);
        if (merit <= best) continue;
        best = merit;
        *chosen = *one;
        *its_shape = shape;
    }
    const bool is_given = best != NO_CASE && chosen->size.n == r->plan->options->n;
    *why = is_given ? "given with --n" : because[best];
    return best != NO_CASE;
}

// If the chosen case passes, another may fail: the smallest failing case is recorded.
static bool find_failing_case(Recorder *r, int task, Case *found, TaskShape *its_shape) {
    static TaskShape shape;
    static TraceTask trial;
    bool is_known = false;
    for (int i = 0; i < r->cases.count; i++) {
        const Case *one = &r->cases.cases[i];
        if (one->task != task || one->schedule != 0 || one->size.n > largest_searched) continue;
        if (!is_known || memcmp(&shape.size, &one->size, sizeof shape.size) != 0) {
            if (!ask(r, one, &shape)) return false;
            is_known = true;
        }
        trial = (TraceTask){.task = task};
        if (!run_case(r, one, &shape, false, &trial)) return false;
        if (trial.report.verdict == VERDICT_PASS) continue;
        *found = *one;
        *its_shape = shape;
        return true;
    }
    return false;
}

// ---- All of them -----------------------------------------------------------------------------------------

static bool record_task(Recorder *r, int index, TraceTask *task) {
    static TaskShape shape;
    Case chosen;
    *task = (TraceTask){.task = index};
    if (!choose_case(r, index, &chosen, &shape, &task->why)) return false;
    if (!run_case(r, &chosen, &shape, true, task)) return false;
    const Judgement *judgement = r->plan->judgement;
    if (task->report.verdict != VERDICT_PASS || r->plan->options->n >= 0 ||
        (judgement && judgement->task_is_right[index]))
        return true;
    if (!find_failing_case(r, index, &chosen, &shape)) return true;
    task->why = "the smallest size of the chapter that fails; the most informative size passes";
    return run_case(r, &chosen, &shape, true, task);
}

static size_t arena_for(const TracePlan *plan) {
    const long long n = plan->options->n > largest_shown ? plan->options->n : largest_shown;
    size_t most = 0;
    for (int t = 0; t < chapter_task_count(plan->of); t++) {
        const Task *task = &plan->of->tasks[t];
        size_t bytes = 0;
        for (int b = 0; b < task_buffer_count(task); b++)
            bytes += (size_t)n * element_bytes(task->buffers[b].type);
        if (bytes > most) most = bytes;
    }
    return 2 * most + ((size_t)64 << 20); // sparse: only what is used takes memory
}

static bool start(Recorder *r) {
    const TracePlan *plan = r->plan;
    RunnerPlan wanted = {.kind = GPU_EMULATOR, .arena_bytes = arena_for(plan)};
    memcpy(wanted.profile, plan->options->profile, sizeof wanted.profile);
    runner_plan_add(&wanted, &plan->image->text, plan->image->name);
    seeds_make(plan->options, plan->source_sha256, &r->seeds);
    const PlanOptions cases = {.n = plan->options->n, .seeds = &r->seeds, .schedules = 0};
    RunReply reply;
    if (!plan_make(plan->of, &cases, &r->cases)) {
        snprintf(r->why, sizeof r->why, "out of memory for the plan of cases");
        return false;
    }
    r->runner = runner_start(&wanted, &reply);
    if (!r->runner) snprintf(r->why, sizeof r->why, "%s", reply.words);
    return r->runner != NULL;
}

static void record(Recorder *r, JsonWriter *json) {
    static TraceTask task;
    const TracePlan *plan = r->plan;
    for (int t = 0; t < chapter_task_count(plan->of); t++) {
        if (record_task(r, t, &task)) trace_document_task(json, plan, runner_info(r->runner), &task);
        forget_kernels(&task);
    }
}

bool access_trace_write(const char *path, const TracePlan *asked, FileError *error) {
    static Recorder recorder;
    const GpuProfile *profile = gpu_profile_find(asked->options->profile[0] ? asked->options->profile : NULL);
    TracePlan plan = *asked;
    JsonWriter json = {0};
    recorder = (Recorder){.plan = &plan};
    if (plan.image && !start(&recorder)) plan.message = recorder.why;
    trace_document_open(&json, &plan, profile);
    if (recorder.runner) record(&recorder, &json);
    trace_document_close(&json);
    if (recorder.runner) runner_stop(recorder.runner);
    prepared_free_all(&recorder.cache);
    plan_free(&recorder.cases);
    return json_write_file(&json, path, error);
}
