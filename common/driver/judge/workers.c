#include "driver/judge/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/plan/elements.h"

// The bytes of a task's buffers at a size, with as many partials as elements.
static size_t bytes_at(const Task *task, long long n) {
    size_t bytes = 0;
    for (int b = 0; b < task_buffer_count(task); b++)
        bytes += ((size_t)n + 1024) * element_bytes(task->buffers[b].type);
    return bytes;
}

// What the largest case may need: its inputs, and as much again for outputs, scratch, partials and the
// outputs of a rival.
static size_t arena_for(const Judge *judge, bool is_beside) {
    size_t most = 0;
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        const Task *task = &judge->of->tasks[one->task];
        const size_t bytes = one->is_large ? large_case_arena_bytes(task) : bytes_at(task, one->size.n);
        if (one->is_beside == is_beside && bytes > most) most = bytes;
    }
    const bool is_timed = judge->is_gpu && !is_beside;
    for (int t = 0; is_timed && t < chapter_task_count(judge->of); t++) {
        const Task *task = &judge->of->tasks[t];
        if (!task_has_bandwidth(task)) continue;
        const size_t bytes = bytes_at(task, timed_size(task, 0).n);
        if (bytes > most) most = bytes;
    }
    return 2 * most + least_arena_bytes; // sparse: only what is used takes memory
}

// The addresses that the largest sample of blocks needs, besides the arena.
static size_t addresses_for(const Judge *judge) {
    size_t most = 0;
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        // Two bits for every element besides.
        const size_t bytes = bytes_at(&judge->of->tasks[one->task], one->size.n) / 4 * 5;
        if (one->is_large && bytes > most) most = bytes;
    }
    return most;
}

// So many of the same kind; returns how many there are. `reply`: why one could not be started.
static int start_workers(Judge *judge, GpuKind kind, bool is_beside, int count, RunReply *reply) {
    RunnerPlan plan = {
        .kind = kind, .arena_bytes = arena_for(judge, is_beside), .address_bytes = addresses_for(judge)};
    memcpy(plan.profile, judge->options->profile, sizeof plan.profile);
    const Image *own = judge_image(judge, is_beside), *reference = judge->subjects->reference;
    if (own) runner_plan_add(&plan, &own->text, own->name);
    if (kind == GPU_NVIDIA && reference) runner_plan_add(&plan, &reference->text, reference->name);
    Runner *runners[MAX_RUNNERS];
    RunReply replies[MAX_RUNNERS];
    int started = 0;
    runners_start(&plan, count, runners, replies);
    for (int r = 0; r < count; r++) {
        if (runners[r])
            judge->workers[judge->worker_count++] =
                (Worker){.runner = runners[r], .is_beside = is_beside, .job = -1};
        else
            *reply = replies[r];
        started += runners[r] != NULL;
    }
    return started;
}

// Every size of the command line may be more than a kernel's parameter can say, or than an emulator does in
// reasonable time.
static bool sizes_are_possible(Judge *judge) {
    long long n = 0;
    char words[160] = "", number[32];
    for (int i = 0; i < judge->options->also_count; i++)
        if (judge->options->also[i].n > n) n = judge->options->also[i].n;
    if (!judge->is_gpu && n > EMULATED_MOST) {
        count_text(EMULATED_MOST, number, sizeof number);
        snprintf(words, sizeof words, "on the emulator --also goes up to %s", number);
    }
    if (judge->options->n > n) n = judge->options->n;
    for (int i = 0; i < judge->options->time_count; i++)
        if (judge->options->times[i].n > n) n = judge->options->times[i].n;
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        const Task *task = &judge->of->tasks[t];
        for (int l = 0; l < task_launch_count(task); l++)
            for (int a = 0; a < MAX_ARGUMENTS; a++)
                if (task->launches[l].arguments[a].type == I32 && n > INT32_MAX)
                    snprintf(words, sizeof words,
                             "%.60s counts elements in an int, so sizes end at 2,147,483,647",
                             task->launches[l].kernel);
    }
    if (!words[0]) return true;
    judge_fail(judge, VERDICT_REJECT, words);
    judge->judgement->is_usage = true;
    return false;
}

// Matrices have the shapes that the chapter gives them, so not every number of elements is one. False with
// words that name the nearest where no case has as many elements as were asked for.
static bool size_has_cases(Judge *judge) {
    const long long n = judge->options->n;
    long long nearest = -1;
    for (int i = 0; i < judge->plan.count; i++)
        if (judge->plan.cases[i].size.n == n) return true;
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        const Task *task = &judge->of->tasks[t];
        for (int i = 0; task->sizes && i < task->size_count; i++) {
            const CaseSize *size = &task->sizes[i];
            const long long here = size->rows * size->columns;
            if (size->rows && plan_suits(task, size) && (nearest < 0 || llabs(here - n) < llabs(nearest - n)))
                nearest = here;
        }
    }
    if (nearest < 0) return true;
    char words[160], asked[32], known[32];
    count_text(n, asked, sizeof asked);
    count_text(nearest, known, sizeof known);
    snprintf(words, sizeof words, "no matrix of this chapter has %s elements; the nearest has %s: --n %lld",
             asked, known, nearest);
    judge_fail(judge, VERDICT_REJECT, words);
    judge->judgement->is_usage = true;
    return false;
}

static bool make_plan(Judge *judge) {
    const Options *options = judge->options;
    const PlanOptions plan = {
        .is_gpu = judge->is_gpu,
        .n = options->n,
        .also = options->also,
        .also_count = options->also_count,
        .seeds = &judge->seeds,
        .schedules = options->schedules,
        .has_schedule = options->has_schedule,
        .schedule = options->schedule,
        .only = options->times,
        .only_count = options->time_count,
    };
    const bool has_beside = judge->is_gpu && judge->subjects->emulated && options->time_count == 0;
    bool fine = plan_make(judge->of, &plan, &judge->plan);
    if (fine && has_beside) fine = plan_add_beside(judge->of, &plan, &judge->plan);
    if (!fine) judge_fail(judge, VERDICT_INFRA, "out of memory for the plan of cases");
    if (fine && judge->plan.count == 0 && options->time_count > 0) {
        judge_fail(judge, VERDICT_REJECT, "no task of this chapter can run at any of these sizes");
        judge->judgement->is_usage = true;
        return false;
    }
    if (fine && judge->plan.count == 0 && options->n > EMULATED_MOST) {
        char words[160], number[32];
        count_text(EMULATED_MOST, number, sizeof number);
        snprintf(words, sizeof words, "on the emulator --n goes up to %s in this chapter", number);
        judge_fail(judge, VERDICT_REJECT, words);
        judge->judgement->is_usage = true;
        return false;
    }
    return fine && (options->n < 0 || size_has_cases(judge));
}

// Cases beside a GPU are only for emulators; without an emulator they do not belong to this run.
static void drop_beside(Plan *plan) {
    int kept = 0;
    for (int i = 0; i < plan->count; i++)
        if (!plan->cases[i].is_beside) plan->cases[kept++] = plan->cases[i];
    plan->count = kept;
}

// Sizes that do not fit a small GPU are not run on it: plan.c's 2^28 + 3 elements, or a chapter's largest.
static void drop_too_large(Judge *judge) {
    const size_t memory = judge->judgement->device.memory_bytes;
    Plan *plan = &judge->plan;
    int kept = 0;
    for (int i = 0; i < plan->count; i++) {
        const Case *one = &plan->cases[i];
        const bool is_chosen = judge->options->n >= 0 || judge->options->time_count > 0;
        if (is_chosen || one->is_beside || memory == 0 || one->size.n <= 1 << 21 ||
            bytes_at(&judge->of->tasks[one->task], one->size.n) <= memory / 2)
            plan->cases[kept++] = *one;
    }
    plan->count = kept;
}

bool judge_start_workers(Judge *judge) {
    GpuKind kind = judge->options->device;
    char why[256] = "";
    if (kind == GPU_AUTO) kind = gpu_nvidia_present(why, sizeof why) ? GPU_NVIDIA : GPU_EMULATOR;
    judge->is_gpu = kind == GPU_NVIDIA;
    if (!judge->is_gpu && !judge->subjects->kernel->is_ptx) {
        judge_fail(judge, VERDICT_REJECT, "the emulator runs PTX, and this image is machine code (a cubin)");
        judge->judgement->is_usage = true;
        return false;
    }
    if (!sizes_are_possible(judge) || !make_plan(judge)) return false;
    // More processes, since cases are independent: the same again on the emulator, or emulators beside a GPU.
    // Without them the run is slower, or the GPU judges alone.
    const int spare = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    RunReply reply;
    if (start_workers(judge, kind, false, judge->is_gpu ? 1 : 1 + spare, &reply) == 0) {
        Verdict verdict = reply.is_machines_fault ? VERDICT_INFRA : verdict_of_finding(reply.finding);
        judge_fail(judge, verdict == VERDICT_PASS ? VERDICT_REJECT : verdict, reply.words);
        return false;
    }
    judge->judgement->device = *runner_info(judge->workers[0].runner);
    if (!judge->is_gpu) return true;
    drop_too_large(judge);
    bool has_beside = false;
    for (int i = 0; i < judge->plan.count; i++) has_beside = has_beside || judge->plan.cases[i].is_beside;
    if (has_beside && start_workers(judge, GPU_EMULATOR, true, 1 + spare, &reply) == 0) {
        snprintf(judge->judgement->beside_words, sizeof judge->judgement->beside_words, "%.300s",
                 reply.words);
        drop_beside(&judge->plan);
    }
    return true;
}
