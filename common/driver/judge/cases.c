#include "driver/judge/cases.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/text.h"
#include "driver/judge/large_end.h"
#include "driver/judge/launch_changes.h"
#include "driver/judge/modelled_sample.h"
#include "driver/judge/tally.h"
#include "driver/plan/large.h"
#include "driver/plan/timed_size.h"

enum {
    MAX_TRIES = 2,      // of a case whose runner failed
    GIVE_UP_AFTER = 64, // failures of one task
    MAX_RESTARTS = 4,   // of a task's runner: a GPU takes its time over a new context
};

// ---- One case --------------------------------------------------------------------------------------------

static Progress *progress_of(Judge *judge, const Case *one) {
    return &judge->tasks[one->is_beside][one->task];
}

void judge_note_failure(Judge *judge, const CaseReport *report) {
    Progress *progress = progress_of(judge, &report->settings);
    if (report->verdict == VERDICT_PASS) return;
    progress->failures++;
    progress->is_explained |= case_explains_itself(report);
    // A failure whose reason is the same at other sizes is not repeated.
    if (report->verdict == VERDICT_UNSUPPORTED || report->verdict == VERDICT_INFRA ||
        progress->failures >= GIVE_UP_AFTER)
        progress->gave_up = true;
    // Nothing takes longer than what never ends: nothing else is tried after that.
    if (report->verdict != VERDICT_TIMEOUT) return;
    for (int t = 0; t < MAX_TASKS; t++) judge->tasks[0][t].gave_up = judge->tasks[1][t].gave_up = true;
}

// Whether it is a large case at the size for which bandwidth is modelled.
static bool is_modelled(const Judge *judge, const Case *one) {
    const Task *task = &judge->of->tasks[one->task];
    return one->is_large && !judge->is_gpu && task_has_bandwidth(task) &&
           one->size.n == timed_size(task, 0).n;
}

// The part of start_case() for a case of which only a few blocks run.
static bool start_large_case(Judge *judge, Worker *worker, int index, const TaskShape *shape) {
    static Request request;
    CaseReport *report = &judge->judgement->cases[index];
    const Case *one = &report->settings;
    report->shape = shape->shape;
    if (!large_case_begin(&judge->of->tasks[one->task], &shape->shape,
                          judge_image(judge, worker->is_beside)->kernels[one->task], report->seed,
                          worker->runner, &worker->large, &request, report)) {
        judge_note_failure(judge, report);
        return false;
    }
    request.timing = is_modelled(judge, one);
    worker->job = index;
    runner_begin(worker->runner, &request, case_seconds(false, one->size.n));
    return true;
}

// Starts case `index` on a worker. False when it was decided without running.
static bool start_case(Judge *judge, Worker *worker, int index) {
    CaseReport *report = &judge->judgement->cases[index];
    const Case *one = &report->settings;
    const Task *task = &judge->of->tasks[one->task];
    const TaskShape *shape = judge_case_shape(judge, one);
    if (!shape) return false; // its LAUNCH is stuck: not run
    if (shape->verdict != VERDICT_PASS) {
        launch_refuses(shape, report);
        judge_note_failure(judge, report);
        return false;
    }
    if (one->is_large) return start_large_case(judge, worker, index, shape);
    char why[512];
    if (!case_layout(task, &shape->shape, runner_arena_bytes(worker->runner), &worker->layout, why,
                     sizeof why)) {
        report->was_run = true;
        report->verdict = VERDICT_LAUNCH;
        memcpy(report->words, why, sizeof report->words);
        judge_note_failure(judge, report);
        return false;
    }
    worker->prepared =
        prepared_take(&judge->cache, task, one, &shape->shape, worker->layout.counts, report->seed);
    if (!worker->prepared) {
        report->was_run = true;
        report->verdict = VERDICT_INFRA;
        snprintf(report->words, sizeof report->words, "out of memory for the inputs");
        judge_note_failure(judge, report);
        return false;
    }
    report->shape = shape->shape;
    static Request request;
    const bool on_gpu = judge->is_gpu && !worker->is_beside;
    case_request(task, one, &shape->shape, &worker->layout, worker->prepared,
                 judge_image(judge, worker->is_beside)->kernels[one->task], runner_arena(worker->runner),
                 &request);
    worker->job = index;
    runner_begin(worker->runner, &request, case_seconds(on_gpu, one->size.n));
    return true;
}

static void keep_counters(Judge *judge, const Case *one, const CaseLayout *layout, const RunReply *reply) {
    Judgement *judgement = judge->judgement;
    Measured *measured = &judgement->counted[one->recount][one->task];
    measured->is_counted = true;
    for (int l = 0; l < layout->launch_count; l++)
        measured->counters[layout->launch_index[l]] = reply->header->counters[l];
    if (one->recount == 0) judge_keep_lines(judge, one, layout, reply); // lines are shown for that size
}

void judge_keep_lines(Judge *judge, const Case *one, const CaseLayout *layout, const RunReply *reply) {
    Judgement *judgement = judge->judgement;
    CountedLine *grown = realloc(
        judgement->lines, (size_t)(judgement->line_count + reply->header->line_count + 1) * sizeof *grown);
    if (!grown) return;
    judgement->lines = grown;
    for (int i = 0; i < reply->header->line_count; i++) {
        const ReplyLine *line = &reply->lines[i];
        if (line->launch >= layout->launch_count) continue;
        grown[judgement->line_count++] = (CountedLine){.task = one->task,
                                                       .launch = layout->launch_index[line->launch],
                                                       .n = one->size.n,
                                                       .is_partial = reply->header->status != REPLY_DONE,
                                                       .counters = line->line};
    }
}

// Of two cases that printed, one that failed comes first, and then the earlier one.
static void keep_printed(Judge *judge, int job, const RunReply *reply) {
    Judgement *judgement = judge->judgement;
    if (reply->end != RUN_REPLIED || reply->output_bytes == 0) return;
    if (judgement->printed) {
        const bool has_passed = judgement->cases[job].verdict == VERDICT_PASS,
                   had_passed = judgement->cases[judgement->printed_case].verdict == VERDICT_PASS;
        if (has_passed != had_passed ? has_passed : job > judgement->printed_case) return;
        free(judgement->printed);
    }
    Text safe = {0};
    text_add_printable(&safe, reply->output, reply->output_bytes < 4096 ? reply->output_bytes : 4096);
    judgement->printed = text_take(&safe);
    judgement->printed_case = job;
}

// A barrier of a part of the block, in the first case in which there is one.
static void keep_note(Judge *judge, int job, const RunReply *reply) {
    Judgement *judgement = judge->judgement;
    if (reply->end != RUN_REPLIED || (judgement->note_case >= 0 && judgement->note_case < job)) return;
    for (int i = 0; i < reply->header->finding_count; i++) {
        if (reply->findings[i].kind != FINDING_PARTIAL_BARRIER) continue;
        judgement->note = reply->findings[i];
        judgement->note_case = job;
        return;
    }
}

static void keep_shapes(Judge *judge, const CaseReport *report) {
    // Another schedule may make another mistake of the same race.
    if (!report->has_check || report->settings.is_large || report->settings.family != FAMILY_INTEGERS ||
        report->settings.schedule)
        return;
    const Expectation expect = judge->of->tasks[report->settings.task].expect;
    if (expect != EXPECT_SUM && expect != EXPECT_ROW_SUMS) return;
    Progress *progress = progress_of(judge, &report->settings);
    const CheckOutcome outcome = report->check.outcome;
    const bool is_telling = outcome == CHECK_RIGHT || outcome == CHECK_VALUE;
    progress->candidates = is_telling ? report->candidates : (ShapeSet){0};
    progress->wrong_sums += outcome == CHECK_VALUE;
}

// If an emulator beside a GPU cannot run a case, the GPU decides the verdict.
static bool says_nothing(Judge *judge, CaseReport *report) {
    if (!report->settings.is_beside) return false;
    if (report->verdict != VERDICT_UNSUPPORTED && report->verdict != VERDICT_INFRA) return false;
    char *words = judge->judgement->beside_words;
    if (!words[0])
        snprintf(words, sizeof judge->judgement->beside_words, "%.300s",
                 report->has_finding ? report->finding.message : report->words);
    progress_of(judge, &report->settings)->gave_up = true;
    *report = (CaseReport){.settings = report->settings};
    return true;
}

static void collect(Judge *judge, Worker *worker, const RunReply *reply) {
    const int job = worker->job;
    CaseReport *report = &judge->judgement->cases[job];
    const Case *one = &report->settings;
    const Task *task = &judge->of->tasks[one->task];
    const TaskShape *shape = judge_case_shape(judge, one);
    Progress *progress = progress_of(judge, one);
    worker->job = -1;
    report->candidates = progress->candidates;
    const bool on_gpu = judge->is_gpu && !worker->is_beside;
    const bool is_decided = one->is_large ? large_case_judge(task, &shape->shape, &worker->large, reply,
                                                             runner_arena(worker->runner), report)
                                          : case_judge(task, &shape->shape, &worker->layout, worker->prepared,
                                                       reply, runner_arena(worker->runner), on_gpu, report);
    if (is_modelled(judge, one))
        modelled_keep_sample(&shape->shape, &worker->large, reply, &judge->large[one->task]);
    keep_shapes(judge, report);
    keep_printed(judge, job, reply);
    keep_note(judge, job, reply);
    if (is_decided && one->is_counted && !on_gpu && reply->end == RUN_REPLIED &&
        reply->header->status == REPLY_DONE)
        keep_counters(judge, one, &worker->layout, reply);
    bool is_spent = reply->end != RUN_REPLIED || reply->header->context_lost;
    if (one->end_n > 0 && !is_spent)
        is_spent =
            !large_end_judge(judge, one->end_n, judge_image(judge, worker->is_beside)->kernels[one->task],
                             worker->runner, report);
    prepared_release(worker->prepared);
    worker->prepared = NULL;
    large_case_free(&worker->large);
    RunReply restarted;
    if (is_spent && !runner_restart(worker->runner, &restarted)) worker->is_lost = true;
    if (is_spent && judge->is_gpu && ++progress->restarts >= MAX_RESTARTS) progress->gave_up = true;
    if (!is_decided && !worker->is_lost && ++progress->tries < MAX_TRIES && start_case(judge, worker, job))
        return;
    if (!says_nothing(judge, report)) judge_note_failure(judge, report);
}

// ---- All of them -----------------------------------------------------------------------------------------

static bool has_failed(const Judge *judge, int task) {
    return judge->tasks[0][task].failures > 0 || judge->tasks[1][task].failures > 0;
}

// A weak schedule shows nothing new about a kernel whose failure is explained already.
static bool is_superfluous(Judge *judge, const Case *one) {
    const Progress *progress = progress_of(judge, one);
    if (one->is_large && has_failed(judge, one->task)) return true;
    return progress->gave_up ||
           (progress->is_explained && schedule_is_weak(one->schedule) && !judge->options->has_schedule);
}

// The next case for a worker, or -1. `next` is the first case that no worker has taken.
static int next_case(Judge *judge, bool is_beside, bool is_large, int *next) {
    while (*next < judge->plan.count) {
        int index = (*next)++;
        const Case *one = &judge->plan.cases[index];
        if (one->is_beside != is_beside || one->is_large != is_large) continue;
        if (!is_superfluous(judge, one)) return index;
    }
    return -1;
}

// A case that never ran beside a GPU does not belong to this run; neither does a grid without blocks if
// nothing else ran.
static void drop_unrun_beside(Judgement *judgement) {
    int kept = 0;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        const bool is_nothing = report->verdict == VERDICT_PASS && report->lane_instructions == 0;
        if (!report->settings.is_beside || (report->was_run && !(judgement->beside_words[0] && is_nothing)))
            judgement->cases[kept++] = *report;
    }
    judgement->case_count = kept;
}

static bool launch_alike(const CaseShape *a, const CaseShape *b) {
    for (int l = 0; l < a->launch_count; l++) {
        const ShapeOfLaunch *one = &a->launches[l], *other = &b->launches[l];
        for (int i = 0; i < 3; i++)
            if (one->grid[i] != other->grid[i] || one->block[i] != other->block[i]) return false;
        if (one->shared != other->shared) return false;
    }
    return true;
}

// A case of another GPU's figures is of use only if the shapes differ from the device's own and may run
// there.
static void drop_same_shapes(Judge *judge) {
    int kept = 0;
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        const TaskShape *own = judge_shape(judge, one->task, &one->size),
                        *there = judge_case_shape(judge, one);
        bool is_new = there && there->verdict == VERDICT_PASS;
        if (is_new && own) is_new = !launch_alike(&own->shape, &there->shape);
        for (int k = 0; is_new && k < kept; k++) {
            const Case *before = &judge->plan.cases[k];
            const TaskShape *shape = before->figures ? judge_case_shape(judge, before) : NULL;
            if (shape && before->task == one->task) is_new = !launch_alike(&shape->shape, &there->shape);
        }
        if (!one->figures || is_new) judge->plan.cases[kept++] = *one;
    }
    judge->plan.count = kept;
}

// With several workers, a case may have begun before the case failed that makes it superfluous: a weak one,
// or any after one that never ends. Its report is dropped, so that every run tells the same.
static void drop_superfluous(Judge *judge) {
    bool is_explained[2][MAX_TASKS] = {0}, has_hung[2] = {0};
    for (int i = 0; i < judge->judgement->case_count; i++) {
        CaseReport *report = &judge->judgement->cases[i];
        bool *explained = &is_explained[report->settings.is_beside][report->settings.task];
        bool *hung = &has_hung[report->settings.is_beside];
        const bool is_weak = schedule_is_weak(report->settings.schedule) && !judge->options->has_schedule;
        if (*hung || (*explained && is_weak))
            *report = (CaseReport){.settings = report->settings};
        else if (report->was_run && report->verdict != VERDICT_PASS)
            *explained = *explained || case_explains_itself(report);
        *hung = *hung || (report->was_run && report->verdict == VERDICT_TIMEOUT);
    }
}

// Chooses the size at which the last elements of a large case are looked for. False when the device is of no
// more use.
static bool choose_end(Judge *judge, Case *one) {
    const Task *task = &judge->of->tasks[one->task];
    if (!one->is_large || one->size.rows || one->size.n == timed_size(task, 0).n || task->large.n != 0)
        return true;
    const TaskShape *shape = judge_case_shape(judge, one);
    const ShapeOfLaunch *launch = &shape->shape.launches[0];
    if (shape->verdict != VERDICT_PASS || launch->threads == 0) return true;
    CaseSize end = one->size;
    if (judge->options->n < 0)
        end.n = large_with_rest((uint64_t)launch->blocks, (uint64_t)launch->block_threads, end.n,
                                seeds_choose(&judge->seeds, "rest", one->task, 0, LARGE_CHOICE));
    if (!judge_ask_shape(judge, one->task, end)) return false;
    one->end_n = end.n;
    return true;
}

bool judge_ask_shapes(Judge *judge) {
    bool is_stuck[MAX_TASKS] = {0};
    for (int i = 0; i < judge->plan.count; i++) {
        Case *one = &judge->plan.cases[i];
        if (is_stuck[one->task]) continue;
        if (!judge_ask_case_shape(judge, one) || !choose_end(judge, one)) return false;
        // A LAUNCH that does not end, or that ended the runner, will do so at every size.
        const TaskShape *shape = judge_case_shape(judge, one);
        is_stuck[one->task] = shape->ended_runner || shape->verdict == VERDICT_TIMEOUT;
    }
    drop_same_shapes(judge);
    return judge_add_changes(judge);
}

static void run_cases(Judge *judge, bool is_large, int *done) {
    int next[2] = {0};
    for (;;) {
        for (int w = 0; w < judge->worker_count; w++) {
            Worker *worker = &judge->workers[w];
            while (!worker->is_lost && worker->job < 0) {
                int index = next_case(judge, worker->is_beside, is_large, &next[worker->is_beside]);
                if (index < 0) break;
                start_case(judge, worker, index);
            }
        }
        Runner *runners[MAX_RUNNERS];
        for (int w = 0; w < judge->worker_count; w++) runners[w] = judge->workers[w].runner;
        RunReply reply;
        int which = runners_wait(runners, judge->worker_count, &reply);
        if (which < 0) break;
        collect(judge, &judge->workers[which], &reply);
        if (judge->progress) judge->progress(++*done, judge->plan.count);
    }
}

// How many threads prepare and check cases from now on; returns how many did before.
static int set_threads(int threads) {
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    return before;
#else
    return threads;
#endif
}

bool judge_run_cases(Judge *judge) {
    int done = 0;
    // Emulators have the cores: threads that wait for each other beside them only take their time.
    const int threads = judge->is_gpu ? 0 : set_threads(1);
    run_cases(judge, false, &done);
    // Some large cases are modelled, too, for which the registers must be known.
    const bool is_built = !judge->subjects->of || builds_finish(judge->subjects->of);
    // A large case says less of a mistake than a small one, and the more where it is the only one.
    if (is_built) run_cases(judge, true, &done);
    if (threads) set_threads(threads);
    if (!is_built) return false;
    drop_superfluous(judge);
    drop_unrun_beside(judge->judgement);
    return true;
}
