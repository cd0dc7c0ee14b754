#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/process.h"
#include "../support/text.h"
#include "elements.h"
#include "execute.h"
#include "shape.h"

enum {
    MAX_RUNNERS = 2,    // the page should come within a second on two cores, in little memory
    MAX_TRIES = 2,      // of a case whose runner failed
    GIVE_UP_AFTER = 64, // failures of one task
};

typedef struct {
    Runner *runner;
    bool is_counter; // an emulator beside a GPU, for counting alone
    bool is_lost;
    int job; // index of the case under way; -1: idle
    Prepared *prepared;
    CaseLayout layout;
} Worker;

typedef struct {
    const Chapter *of;
    const Image *image;
    const Options *options;
    Judgement *judgement;
    Plan plan;
    Worker workers[MAX_RUNNERS];
    int worker_count;
    bool is_gpu;
    size_t arena_bytes;
    TaskShape *shapes;
    int shape_count;
    PreparedCache cache;
    int tries[MAX_TASKS]; // unused slots stay 0
    int failures[MAX_TASKS];
    bool gave_up[MAX_TASKS];
    ShapeSet candidates[MAX_TASKS]; // shapes of error that no case so far speaks against
    int wrong_sums[MAX_TASKS];      // of whole numbers
} Judge;

void judgement_free(Judgement *judgement) {
    free(judgement->cases);
    free(judgement->lines);
    free(judgement->printed);
    *judgement = (Judgement){0};
}

static void fail_all(Judge *judge, Verdict verdict, const char *words) {
    judge->judgement->verdict = verdict;
    snprintf(judge->judgement->message, sizeof judge->judgement->message, "%.1100s", words);
}

// ---- Runners
// -----------------------------------------------------------------------------------------------------

// What the largest case may need: its inputs, and as much again for outputs, scratch and partials.
static size_t arena_for(const Judge *judge) {
    size_t most = 0;
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        const Task *task = &judge->of->tasks[one->task];
        size_t bytes = 0;
        for (int b = 0; b < task_buffer_count(task); b++)
            bytes += ((size_t)one->size.n + 1024) * element_bytes(task->buffers[b].type);
        if (bytes > most) most = bytes;
    }
    return 2 * most + ((size_t)64 << 20); // sparse: only what is used takes memory
}

static bool start_worker(Judge *judge, GpuKind kind, bool is_counter, RunReply *reply) {
    RunnerPlan plan = {
        .kind = kind,
        .image = judge->image->text.data,
        .image_bytes = judge->image->text.bytes,
        .image_name = judge->image->name,
        .arena_bytes = judge->arena_bytes,
    };
    memcpy(plan.profile, judge->options->profile, sizeof plan.profile);
    Runner *runner = runner_start(&plan, reply);
    if (!runner) return false;
    judge->workers[judge->worker_count++] = (Worker){.runner = runner, .is_counter = is_counter, .job = -1};
    return true;
}

// --n may be more than a kernel's parameter can say, or than an emulator does in reasonable time.
static bool n_is_possible(Judge *judge) {
    static const long long emulator_most = 1 << 26;
    const long long n = judge->options->n;
    char words[160] = "", number[32];
    if (!judge->is_gpu && n > emulator_most) {
        count_text(emulator_most, number, sizeof number);
        snprintf(words, sizeof words, "on the emulator --n goes up to %s", number);
    }
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        const Task *task = &judge->of->tasks[t];
        for (int l = 0; l < task_launch_count(task); l++)
            for (int a = 0; a < MAX_ARGUMENTS; a++)
                if (task->launches[l].arguments[a].type == I32 && n > INT32_MAX)
                    snprintf(words, sizeof words,
                             "%.60s takes its counts as int: --n goes up to 2,147,483,647",
                             task->launches[l].kernel);
    }
    if (!words[0]) return true;
    fail_all(judge, VERDICT_REJECT, words);
    judge->judgement->is_usage = true;
    return false;
}

static bool start_runners(Judge *judge) {
    GpuKind kind = judge->options->device;
    char why[256] = "";
    if (kind == GPU_AUTO) kind = gpu_nvidia_present(why, sizeof why) ? GPU_NVIDIA : GPU_EMULATOR;
    judge->is_gpu = kind == GPU_NVIDIA;
    if (!judge->is_gpu && !judge->image->is_ptx) {
        fail_all(judge, VERDICT_REJECT, "the emulator runs PTX, and this image is machine code (a cubin)");
        judge->judgement->is_usage = true;
        return false;
    }
    if (!n_is_possible(judge)) return false;
    PlanOptions options = {
        .is_gpu = judge->is_gpu,
        .n = judge->options->n,
        .seed = judge->options->seed,
        .schedules = judge->options->schedules,
        .has_schedule = judge->options->has_schedule,
        .schedule = judge->options->schedule,
    };
    if (!plan_make(judge->of, &options, &judge->plan)) {
        fail_all(judge, VERDICT_INFRA, "out of memory for the plan of cases");
        return false;
    }
    judge->arena_bytes = arena_for(judge);
    RunReply reply;
    if (!start_worker(judge, kind, false, &reply)) {
        Verdict verdict = reply.is_machines_fault ? VERDICT_INFRA : verdict_of_finding(reply.finding);
        fail_all(judge, verdict == VERDICT_PASS ? VERDICT_REJECT : verdict, reply.words);
        return false;
    }
    judge->judgement->device = *runner_info(judge->workers[0].runner);
    // A second process: the same again on the emulator, where cases are independent; beside a GPU one that
    // counts. Without it the run is slower or goals stay uncounted, nothing worse.
    bool has_cores = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    if (judge->is_gpu && judge->image->is_ptx)
        start_worker(judge, GPU_EMULATOR, true, &reply);
    else if (!judge->is_gpu && has_cores)
        start_worker(judge, GPU_EMULATOR, false, &reply);
    return true;
}

// ---- Launch shapes
// -----------------------------------------------------------------------------------------------

static TaskShape *find_shape(const Judge *judge, int task, const CaseSize *size) {
    for (int i = 0; i < judge->shape_count; i++)
        if (judge->shapes[i].task == task && memcmp(&judge->shapes[i].size, size, sizeof *size) == 0)
            return &judge->shapes[i];
    return NULL;
}

static bool ask_shapes(Judge *judge) {
    judge->shapes = calloc((size_t)judge->plan.count + 1, sizeof *judge->shapes);
    if (!judge->shapes) {
        fail_all(judge, VERDICT_INFRA, "out of memory for the launch shapes");
        return false;
    }
    bool is_stuck[MAX_TASKS] = {0};
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        if (is_stuck[one->task] || find_shape(judge, one->task, &one->size)) continue;
        TaskShape *shape = &judge->shapes[judge->shape_count++];
        Runner *runner = judge->workers[0].runner;
        bool fine = ask_shape(runner, &judge->of->tasks[one->task], one->task,
                              judge->image->kernels[one->task], one->size, shape);
        // A LAUNCH that does not end, or that ended the runner, will do so at every size.
        if (!fine || shape->verdict == VERDICT_TIMEOUT) is_stuck[one->task] = true;
        RunReply reply;
        if (!fine && !runner_restart(runner, &reply)) {
            fail_all(judge, VERDICT_INFRA, reply.words);
            return false;
        }
    }
    return true;
}

// ---- Cases
// ---------------------------------------------------------------------------------------------------------

static void note_failure(Judge *judge, const CaseReport *report) {
    const int task = report->settings.task;
    judge->failures[task]++;
    // What takes long, or fails for reasons that no other size mends, is not repeated.
    if (report->verdict == VERDICT_TIMEOUT || report->verdict == VERDICT_UNSUPPORTED ||
        report->verdict == VERDICT_INFRA || judge->failures[task] >= GIVE_UP_AFTER)
        judge->gave_up[task] = true;
}

static void finish(Judge *judge, CaseReport *report) {
    if (report->verdict != VERDICT_PASS) note_failure(judge, report);
}

static bool suits(const Worker *worker, const Case *one) {
    return !worker->is_lost && worker->job < 0 && (!worker->is_counter || one->is_counted);
}

// Starts case `index` on a worker. False when it was decided without running.
static bool start_case(Judge *judge, Worker *worker, int index) {
    CaseReport *report = &judge->judgement->cases[index];
    const Case *one = &report->settings;
    const Task *task = &judge->of->tasks[one->task];
    const TaskShape *shape = find_shape(judge, one->task, &one->size);
    if (!shape) return false; // its LAUNCH is stuck: not run
    if (shape->verdict != VERDICT_PASS) {
        report->was_run = true;
        report->verdict = shape->verdict;
        report->has_finding = shape->has_finding;
        if (shape->has_finding) report->finding = shape->finding;
        memcpy(report->words, shape->words, sizeof report->words);
        snprintf(report->kernel, sizeof report->kernel, "LAUNCH(%.110s)", shape->kernel);
        finish(judge, report);
        return false;
    }
    char why[512];
    if (!case_layout(task, &shape->shape, judge->arena_bytes, &worker->layout, why, sizeof why)) {
        report->was_run = true;
        report->verdict = VERDICT_LAUNCH;
        memcpy(report->words, why, sizeof report->words);
        finish(judge, report);
        return false;
    }
    worker->prepared =
        prepared_take(&judge->cache, task, one, &shape->shape, worker->layout.counts, judge->options->seed);
    if (!worker->prepared) {
        report->was_run = true;
        report->verdict = VERDICT_INFRA;
        snprintf(report->words, sizeof report->words, "out of memory for the inputs");
        finish(judge, report);
        return false;
    }
    report->shape = shape->shape;
    static Request request;
    Case asked = *one;
    asked.is_counted = one->is_counted && (worker->is_counter || !judge->is_gpu);
    case_request(task, &asked, &shape->shape, &worker->layout, worker->prepared,
                 judge->image->kernels[one->task], runner_arena(worker->runner), &request);
    worker->job = index;
    runner_begin(worker->runner, &request, case_seconds(judge->is_gpu && !worker->is_counter, one->size.n));
    return true;
}

static int compare_lines(const void *left, const void *right) {
    const CountedLine *a = left, *b = right;
    if (a->task != b->task) return a->task - b->task;
    int files = strcmp(a->counters.place.file, b->counters.place.file);
    if (files != 0) return files;
    if (a->counters.place.line != b->counters.place.line)
        return a->counters.place.line - b->counters.place.line;
    return a->launch - b->launch;
}

static void keep_counters(Judge *judge, const Case *one, const CaseLayout *layout, const RunReply *reply) {
    Judgement *judgement = judge->judgement;
    Measured *measured = &judgement->measured[one->task];
    measured->is_counted = true;
    for (int l = 0; l < layout->launch_count; l++)
        measured->counters[layout->launch_index[l]] = reply->header->counters[l];
    CountedLine *grown = realloc(
        judgement->lines, (size_t)(judgement->line_count + reply->header->line_count + 1) * sizeof *grown);
    if (!grown) return;
    judgement->lines = grown;
    for (int i = 0; i < reply->header->line_count; i++) {
        const ReplyLine *line = &reply->lines[i];
        if (line->launch >= layout->launch_count) continue;
        grown[judgement->line_count++] = (CountedLine){
            .task = one->task, .launch = layout->launch_index[line->launch], .counters = line->line};
    }
}

static void keep_printed(Judge *judge, const RunReply *reply) {
    if (judge->judgement->printed || reply->end != RUN_REPLIED || reply->output_bytes == 0) return;
    Text safe = {0};
    text_add_printable(&safe, reply->output, reply->output_bytes < 4096 ? reply->output_bytes : 4096);
    judge->judgement->printed = text_take(&safe);
}

static void keep_shapes(Judge *judge, const CaseReport *report) {
    // Another schedule may make another mistake of the same race.
    if (!report->has_check || report->settings.family != FAMILY_INTEGERS || report->settings.schedule) return;
    if (judge->of->tasks[report->settings.task].expect != EXPECT_SUM) return;
    const int task = report->settings.task;
    const CheckOutcome outcome = report->check.outcome;
    judge->candidates[task] = outcome == CHECK_RIGHT || outcome == CHECK_VALUE ? report->candidates : 0;
    judge->wrong_sums[task] += outcome == CHECK_VALUE;
}

static void collect(Judge *judge, Worker *worker, const RunReply *reply) {
    CaseReport *report = &judge->judgement->cases[worker->job];
    const Case *one = &report->settings;
    const Task *task = &judge->of->tasks[one->task];
    const TaskShape *shape = find_shape(judge, one->task, &one->size);
    const bool on_gpu = judge->is_gpu && !worker->is_counter;
    const int job = worker->job;
    worker->job = -1;
    if (worker->is_counter) { // the GPU judges the values; here only the counts matter
        if (reply->end == RUN_REPLIED && reply->header->status == REPLY_DONE)
            keep_counters(judge, one, &worker->layout, reply);
    } else {
        report->candidates = judge->candidates[one->task];
        bool is_decided = case_judge(task, &shape->shape, &worker->layout, worker->prepared, reply,
                                     runner_arena(worker->runner), on_gpu, report);
        keep_shapes(judge, report);
        keep_printed(judge, reply);
        if (is_decided && one->is_counted && !judge->is_gpu && reply->end == RUN_REPLIED &&
            reply->header->status == REPLY_DONE)
            keep_counters(judge, one, &worker->layout, reply);
        bool is_spent = reply->end != RUN_REPLIED || reply->header->context_lost;
        prepared_release(worker->prepared);
        worker->prepared = NULL;
        RunReply restarted;
        if (is_spent && !runner_restart(worker->runner, &restarted)) worker->is_lost = true;
        if (!is_decided && !worker->is_lost && ++judge->tries[one->task] < MAX_TRIES &&
            start_case(judge, worker, job))
            return;
        finish(judge, report);
        return;
    }
    prepared_release(worker->prepared);
    worker->prepared = NULL;
    RunReply restarted;
    if (reply->end != RUN_REPLIED && !runner_restart(worker->runner, &restarted)) worker->is_lost = true;
}

// The next case that the worker should do, or -1. `next` is the first case nobody has taken.
static int next_case(Judge *judge, int *next) {
    while (*next < judge->plan.count) {
        int index = (*next)++;
        if (!judge->gave_up[judge->plan.cases[index].task]) return index;
    }
    return -1;
}

// Beside a GPU: the counted cases of all tasks on the emulator, one after the other.
static int next_counted(const Judge *judge, int *next) {
    while (*next < judge->plan.count) {
        int index = (*next)++;
        if (judge->plan.cases[index].is_counted) return index;
    }
    return -1;
}

static void run_cases(Judge *judge, JudgeProgress progress) {
    int next = 0, counted = 0, done = 0;
    for (;;) {
        for (int w = 0; w < judge->worker_count; w++) {
            Worker *worker = &judge->workers[w];
            while (!worker->is_lost && worker->job < 0) {
                int index = worker->is_counter ? next_counted(judge, &counted) : next_case(judge, &next);
                if (index < 0) break;
                if (suits(worker, &judge->plan.cases[index])) start_case(judge, worker, index);
            }
        }
        Runner *runners[MAX_RUNNERS];
        for (int w = 0; w < judge->worker_count; w++) runners[w] = judge->workers[w].runner;
        RunReply reply;
        int which = runners_wait(runners, judge->worker_count, &reply);
        if (which < 0) break;
        collect(judge, &judge->workers[which], &reply);
        if (progress) progress(++done, judge->plan.count);
    }
}

// ---- The verdict
// ----------------------------------------------------------------------------------------------------

static bool differs_by_schedule_alone(const Case *a, const Case *b) {
    return a->task == b->task && a->size.n == b->size.n && a->size.rows == b->size.rows &&
           a->family == b->family && a->misalignment == b->misalignment && a->is_staggered == b->is_staggered;
}

// Tasks whose result must not depend on the order in which blocks and warps happen to run.
static void compare_schedules(Judge *judge) {
    Judgement *judgement = judge->judgement;
    for (int i = 0; i < judgement->case_count; i++) {
        CaseReport *later = &judgement->cases[i];
        if (!judge->of->tasks[later->settings.task].is_bit_identical || !later->was_run ||
            later->verdict != VERDICT_PASS)
            continue;
        for (int k = 0; k < i; k++) {
            const CaseReport *first = &judgement->cases[k];
            if (!first->was_run || first->verdict != VERDICT_PASS ||
                !differs_by_schedule_alone(&first->settings, &later->settings) ||
                first->output_hash == later->output_hash)
                continue;
            CheckReport *check = &later->check;
            later->verdict = VERDICT_WRONG;
            check->outcome = CHECK_NOT_IDENTICAL;
            value_text(first->output_first, check->expected_words, sizeof check->expected_words);
            value_text(later->output_first, check->got_words, sizeof check->got_words);
            snprintf(check->what, sizeof check->what,
                     "the same inputs give %s under schedule %llu and %s under schedule %llu: right within "
                     "rounding, "
                     "but not the same bits",
                     check->expected_words, (unsigned long long)first->settings.schedule, check->got_words,
                     (unsigned long long)later->settings.schedule);
            snprintf(check->why, sizeof check->why,
                     "The order of the additions depends on which block or warp comes first.");
            finish(judge, later);
            break;
        }
    }
}

// The smallest case shows a mistake best, but for wrong sums: of one or two elements they tell little, while
// a few more show which are missing. So the first of at least 31 elements that says why is preferred there.
static int most_telling(const Judgement *judgement, int first) {
    if (first < 0 || judgement->cases[first].check.outcome != CHECK_VALUE) return first;
    const int task = judgement->cases[first].settings.task;
    for (int i = first; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->was_run && report->verdict == VERDICT_WRONG && report->settings.task == task &&
            report->settings.size.n >= 31 && report->settings.size.n <= 1025 &&
            report->check.outcome == CHECK_VALUE && report->check.why[0])
            return i;
    }
    return first;
}

static void count_cases(Judge *judge) {
    Judgement *judgement = judge->judgement;
    judgement->first = -1;
    Verdict verdict = VERDICT_PASS;
    bool was_run[MAX_TASKS] = {0};
    for (int t = 0; t < MAX_TASKS; t++) judgement->task_is_right[t] = true;
    for (int t = 0; t < MAX_TASKS; t++) // one wrong sum alone may fit by chance
        judgement->shapes[t] = judge->wrong_sums[t] > 1 ? judge->candidates[t] : 0;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (!report->was_run) continue;
        was_run[report->settings.task] = true;
        judgement->run_count++;
        if (report->verdict == VERDICT_PASS) {
            judgement->passed_count++;
            continue;
        }
        judgement->failed_count++;
        judgement->task_is_right[report->settings.task] = false;
        if (report->verdict < verdict) { // the smallest case of the worst verdict
            verdict = report->verdict;
            judgement->first = i;
        }
    }
    for (int t = 0; t < MAX_TASKS; t++)
        judgement->task_is_right[t] = judgement->task_is_right[t] && was_run[t];
    judgement->verdict = verdict;
    if (verdict == VERDICT_WRONG) judgement->first = most_telling(judgement, judgement->first);
    // Cases are left out only behind failures; a pass means that every one of them passed.
    if (verdict == VERDICT_PASS && judgement->run_count < judgement->case_count) {
        judgement->verdict = VERDICT_INFRA;
        snprintf(judgement->message, sizeof judgement->message, "only %d of %d cases could be run",
                 judgement->run_count, judgement->case_count);
    }
    for (int t = 0; t < chapter_task_count(judge->of); t++) {
        if (was_run[t] || verdict != VERDICT_PASS) continue;
        judgement->verdict = VERDICT_INFRA;
        snprintf(judgement->message, sizeof judgement->message, "no case of %s could be run at this size",
                 judge->of->tasks[t].name);
    }
}

// ---- A schedule that shows a race -------------------------------------------------------------------------

enum { SEEDS_TRIED = 64 };
static const double seconds_for_seeds = 0.3;

// Runs one case again for its values alone, without looking for races. False when nothing can be said.
static bool values_of(Judge *judge, const Case *one, CaseReport *report) {
    Worker *worker = &judge->workers[0];
    const Task *task = &judge->of->tasks[one->task];
    const TaskShape *shape = find_shape(judge, one->task, &one->size);
    char why[512];
    *report = (CaseReport){.settings = *one};
    if (worker->is_lost || !shape || shape->verdict != VERDICT_PASS ||
        !case_layout(task, &shape->shape, judge->arena_bytes, &worker->layout, why, sizeof why))
        return false;
    Prepared *prepared =
        prepared_take(&judge->cache, task, one, &shape->shape, worker->layout.counts, judge->options->seed);
    if (!prepared) return false;
    static Request request;
    case_request(task, one, &shape->shape, &worker->layout, prepared, judge->image->kernels[one->task],
                 runner_arena(worker->runner), &request);
    request.checks = CHECK_MEMORY;
    RunReply reply;
    Runner *const alone[1] = {worker->runner};
    runner_begin(worker->runner, &request, case_seconds(false, one->size.n));
    runners_wait(alone, 1, &reply);
    if (reply.end == RUN_REPLIED)
        case_judge(task, &shape->shape, &worker->layout, prepared, &reply, runner_arena(worker->runner),
                   false, report);
    else
        worker->is_lost = true;
    prepared_release(prepared);
    return !worker->is_lost && report->has_check;
}

// A race is believed when it is seen. The case with the most to lose in little time is run under one seed
// after the other until a result is wrong.
static void show_race(Judge *judge) {
    Judgement *judgement = judge->judgement;
    if (judgement->verdict != VERDICT_RACE || judge->is_gpu) return;
    const CaseReport *shown = &judgement->cases[judgement->first];
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->verdict == VERDICT_RACE && report->settings.task == shown->settings.task &&
            report->settings.family == FAMILY_INTEGERS && report->settings.size.n <= 1025)
            shown = report;
    }
    Case one = shown->settings;
    one.is_counted = false;
    const double until = monotonic_seconds() + seconds_for_seeds;
    const bool is_fixed = judge->options->has_schedule;
    char plain[64] = "";
    for (uint64_t seed = 0; seed <= SEEDS_TRIED && monotonic_seconds() < until; seed++) {
        CaseReport report;
        one.schedule = is_fixed ? judge->options->schedule : seed;
        if (!values_of(judge, &one, &report)) return;
        if (report.verdict != VERDICT_PASS) {
            char n[32];
            count_text(one.size.n, n, sizeof n);
            judgement->has_replay = true;
            judgement->replay_schedule = one.schedule;
            snprintf(
                judgement->replay, sizeof judgement->replay,
                "at n = %s %sschedule %llu gives this: %.300s. Again with: ./%s --n %lld --schedule %llu", n,
                plain, (unsigned long long)one.schedule, report.check.what, judge->of->name, one.size.n,
                (unsigned long long)one.schedule);
            return;
        }
        if (is_fixed) return;
        snprintf(plain, sizeof plain, "schedule 0 gives the right result, and ");
    }
}

static void measure_shapes(Judge *judge) {
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        if (!one->is_counted) continue;
        const TaskShape *shape = find_shape(judge, one->task, &one->size);
        Measured *measured = &judge->judgement->measured[one->task];
        const Task *task = &judge->of->tasks[one->task];
        if (!shape || shape->verdict != VERDICT_PASS) {
            measured->is_counted = false;
            continue;
        }
        measured->shape = shape->shape;
        int out = task_output(task);
        measured->partials = out < 0 ? 0 : quantity_value(task, &task->buffers[out].count, &shape->shape);
        for (int l = 0; l < shape->shape.launch_count; l++) {
            measured->registers[l] = judge->image->kernels[one->task][l].registers;
            measured->static_shared[l] = judge->image->kernels[one->task][l].static_shared;
        }
    }
}

static void judge_goals(Judge *judge) {
    Judgement *judgement = judge->judgement;
    const Chapter *of = judge->of;
    judgement->goal_count = chapter_goal_count(of);
    judgement->possible = of->points;
    const int tasks = chapter_task_count(of);
    int for_goals = 0, right = 0;
    for (int t = 0; t < tasks; t++) right += judgement->task_is_right[t];
    bool is_slow = false;
    for (int g = 0; g < judgement->goal_count; g++) {
        GoalResult *result = &judgement->goals[g];
        goal_evaluate(of, &of->goals[g], judgement->measured, &judgement->device, result);
        for_goals += of->goals[g].points;
        if (result->state == GOAL_MISSED) is_slow = true;
        if (result->state == GOAL_MET && judgement->task_is_right[result->task])
            judgement->earned += of->goals[g].points;
    }
    // Correctness is worth what the goals leave over, shared evenly by the tasks.
    if (tasks > 0) judgement->earned += (of->points - for_goals) * right / tasks;
    if (judgement->verdict == VERDICT_PASS && is_slow) judgement->verdict = VERDICT_SLOW;
}

// ---- Bandwidth
// -------------------------------------------------------------------------------------------------------

static int compare_seconds(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

// A first figure from events around whole runs; the protocol of DESIGN section 7 is not here yet.
static void measure_bandwidth(Judge *judge, int index) {
    const Task *task = &judge->of->tasks[index];
    TaskBandwidth *bandwidth = &judge->judgement->bandwidth[index];
    Worker *worker = &judge->workers[0];
    const TaskShape *largest = NULL;
    for (int i = 0; i < judge->shape_count; i++) {
        const TaskShape *shape = &judge->shapes[i];
        if (shape->task == index && shape->verdict == VERDICT_PASS &&
            (!largest || shape->size.n > largest->size.n))
            largest = shape;
    }
    char why[512];
    if (!largest || largest->size.n == 0 || task->expect == EXPECT_TABLE || worker->is_lost ||
        !case_layout(task, &largest->shape, judge->arena_bytes, &worker->layout, why, sizeof why))
        return;
    const Case one = {.task = index, .size = largest->size, .family = FAMILY_INTEGERS};
    Prepared *prepared = prepared_take(&judge->cache, task, &one, &largest->shape, worker->layout.counts,
                                       judge->options->seed);
    if (!prepared) return;
    static Request request;
    case_request(task, &one, &largest->shape, &worker->layout, prepared, judge->image->kernels[index],
                 runner_arena(worker->runner), &request);
    prepared_release(prepared);
    request.samples = 30;
    RunReply reply;
    Runner *const alone[1] = {worker->runner};
    runner_begin(worker->runner, &request, 2 * case_seconds(true, largest->size.n));
    runners_wait(alone, 1, &reply);
    if (reply.end != RUN_REPLIED || reply.header->sample_count == 0) return;
    double samples[MAX_SAMPLES];
    const int count = reply.header->sample_count;
    memcpy(samples, reply.header->samples, (size_t)count * sizeof samples[0]);
    qsort(samples, (size_t)count, sizeof samples[0], compare_seconds);
    double bytes = 0; // those that must move: every input once, every output once
    for (int b = 0; b < task_buffer_count(task); b++) {
        BufferRole role = task->buffers[b].role;
        if (role == INPUT || role == OUTPUT || role == OUTPUT_ZEROED)
            bytes += (double)worker->layout.counts[b] * (double)element_bytes(task->buffers[b].type);
    }
    double median = samples[count / 2];
    if (!(median > 0)) return;
    *bandwidth = (TaskBandwidth){.is_measured = true,
                                 .seconds = median,
                                 .gb_per_s = bytes / median * 1e-9,
                                 .n = largest->size.n,
                                 .samples = count};
    judge->judgement->measured[index].bandwidth = bandwidth->gb_per_s;
}

// ---- All of it
// -----------------------------------------------------------------------------------------------------------

static void clean_up(Judge *judge) {
    for (int w = 0; w < judge->worker_count; w++) runner_stop(judge->workers[w].runner);
    prepared_free_all(&judge->cache);
    plan_free(&judge->plan);
    free(judge->shapes);
}

void judge(const Chapter *of, const Image *image, const Options *options, JudgeProgress progress,
           Judgement *judgement) {
    static Judge state;
    memset(&state, 0, sizeof state);
    state.of = of;
    state.image = image;
    state.options = options;
    state.judgement = judgement;
    for (int t = 0; t < MAX_TASKS; t++) state.candidates[t] = ALL_SHAPES;
    double began = monotonic_seconds();
    *judgement = (Judgement){.first = -1, .possible = of->points, .verdict = VERDICT_INFRA};
    for (int t = 0; t < MAX_TASKS; t++)
        judgement->measured[t].bandwidth = judgement->measured[t].bandwidth_ratio = NAN;
    if (!start_runners(&state)) {
        clean_up(&state);
        return;
    }
    judgement->cases = calloc((size_t)state.plan.count + 1, sizeof *judgement->cases);
    if (!judgement->cases || !ask_shapes(&state)) {
        if (!judgement->cases) fail_all(&state, VERDICT_INFRA, "out of memory for the cases");
        clean_up(&state);
        return;
    }
    judgement->case_count = state.plan.count;
    for (int i = 0; i < state.plan.count; i++) judgement->cases[i].settings = state.plan.cases[i];
    run_cases(&state, progress);
    compare_schedules(&state);
    count_cases(&state);
    show_race(&state);
    measure_shapes(&state);
    if (state.is_gpu && judgement->verdict == VERDICT_PASS)
        for (int t = 0; t < chapter_task_count(of); t++) measure_bandwidth(&state, t);
    judge_goals(&state);
    if (judgement->line_count > 0)
        qsort(judgement->lines, (size_t)judgement->line_count, sizeof *judgement->lines, compare_lines);
    judgement->seconds = monotonic_seconds() - began;
    clean_up(&state);
}
