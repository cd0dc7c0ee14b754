#define _GNU_SOURCE // mkdtemp, strsignal
#include "driver/program/judge_program.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/judge/points.h"
#include "driver/judge/tally.h"
#include "driver/plan/elements.h"
#include "driver/program/cases.h"
#include "driver/program/host_findings.h"
#include "driver/program/outcomes.h"
#include "driver/program/replay.h"
#include "support/process.h"

enum { GUARD_SECONDS = 600 };

typedef struct {
    Judge judge;
    const char *program, *source, *tree;
    Outcome outcomes[MOST_OUTCOMES];
} Run;

// ---- Results ----------------------------------------------------------------------------------------------

// What write_results() of common/include/program.cuh wrote.
typedef struct {
    int n;
    float total, milliseconds;
    const float *c;
} Delivered;

static bool read_result(const Text *file, long long n, Delivered *d, char *why, size_t why_bytes) {
    const size_t head = sizeof d->n + sizeof d->total + sizeof d->milliseconds;
    if (file->bytes < head) {
        snprintf(why, why_bytes,
                 "the program ends without a result: call write_results() before the end of main()");
        return false;
    }
    memcpy(&d->n, file->data, sizeof d->n);
    memcpy(&d->total, file->data + sizeof d->n, sizeof d->total);
    memcpy(&d->milliseconds, file->data + sizeof d->n + sizeof d->total, sizeof d->milliseconds);
    d->c = (const float *)(const void *)(file->data + head);
    if (d->n == n && file->bytes == head + (size_t)n * sizeof(float)) return true;
    snprintf(why, why_bytes, "the result is of %d elements, and the input of %lld", d->n, n);
    return false;
}

static void wrong(CaseReport *report, const char *buffer, long long index, double expected, double got,
                  double budget) {
    CheckReport *check = &report->check;
    report->verdict = VERDICT_WRONG;
    report->has_check = true;
    check->outcome = isnan(got) ? CHECK_SPECIAL : CHECK_VALUE;
    snprintf(check->buffer, sizeof check->buffer, "%s", buffer);
    check->index = index;
    check->has_numbers = !isnan(got);
    check->expected = expected;
    check->got = got;
    check->difference = fabs(got - expected);
    check->budget = budget;
    value_text(expected, check->expected_words, sizeof check->expected_words);
    value_text(got, check->got_words, sizeof check->got_words);
}

// Whether of each so many elements the first quarter is right, and the rest is 0.
static bool has_only_quarters(const float *inputs, const Delivered *d, size_t each) {
    const size_t n = (size_t)d->n;
    for (size_t i = 0; i < n; i++) {
        const bool is_there = i % each < each / 4;
        if (d->c[i] != (is_there ? (float)((double)inputs[i] + (double)inputs[n + i]) : 0)) return false;
    }
    return true;
}

// How long pieces are of which only the first quarter is right, and the rest 0; 0: no such length.
static size_t length_of_quarters(const float *inputs, const Delivered *d) {
    enum { MOST_PIECES = 64, LEAST_LENGTH = 16 };
    const size_t n = (size_t)d->n;
    for (size_t pieces = 1; pieces <= MOST_PIECES && n / pieces >= LEAST_LENGTH; pieces++)
        if (n % (4 * pieces) == 0 && has_only_quarters(inputs, d, n / pieces)) return n / pieces;
    return 0;
}

static void check_results(const float *inputs, const Delivered *d, CaseReport *report) {
    const size_t n = (size_t)d->n;
    long long first = -1, count = 0, zeros = 0, wrong_zeros = 0;
    double sum = 0, magnitude = 0;
    for (size_t i = 0; i < n; i++) {
        const float right = (float)((double)inputs[i] + (double)inputs[n + i]);
        if (d->c[i] != right) {
            if (count++ == 0) first = (long long)i;
            wrong_zeros += d->c[i] == 0;
        }
        zeros += d->c[i] == 0;
        sum += right;
        magnitude += fabsf(right);
    }
    report->has_check = true;
    report->check.outcome = CHECK_RIGHT;
    report->check.elements = (long long)n;
    CheckReport *check = &report->check;
    if (count > 0) {
        wrong(report, "c", first, inputs[first] + inputs[n + (size_t)first], d->c[first], 0);
        check->wrong = count;
        const size_t quarters = wrong_zeros == count && zeros < d->n ? length_of_quarters(inputs, d) : 0;
        char pattern[96] = "";
        if (quarters == n)
            snprintf(pattern, sizeof pattern, "; of c the first quarter is right, and the rest is 0");
        else if (quarters)
            snprintf(pattern, sizeof pattern,
                     "; of each %zu elements the first quarter is right, and the rest is 0", quarters);
        else if (zeros == d->n)
            snprintf(pattern, sizeof pattern, "; all of c is 0");
        else if (wrong_zeros == count)
            snprintf(pattern, sizeof pattern, "; every wrong element is 0");
        snprintf(check->what, sizeof check->what, "c[%lld] is %s, and should be %s%s", first,
                 check->got_words, check->expected_words, pattern);
        return;
    }
    // Whole numbers add up exactly in any order while their magnitudes stay below 2^24.
    const double budget = magnitude <= 1 << 24 && report->settings.family == FAMILY_INTEGERS
                              ? 0
                              : error_budget(F32, (double)n, magnitude, sum);
    if (fabs(d->total - sum) <= budget) {
        check->budget_share = budget > 0 ? fabs(d->total - sum) / budget : 0;
        return;
    }
    wrong(report, "total", -1, sum, d->total, budget);
    check->wrong = 1;
    check->elements = 1;
    snprintf(check->what, sizeof check->what,
             "every element of c is right, but the total is %s, and should be %s", check->got_words,
             check->expected_words);
}

// ---- One case ---------------------------------------------------------------------------------------------

typedef struct {
    int was_started, timed_out, exit_status, signal, output_was_cut;
} Ended;

__attribute__((format(printf, 3, 4))) static void say(CaseReport *report, Verdict verdict, const char *format,
                                                      ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->words, sizeof report->words, format, arguments);
    va_end(arguments);
    report->verdict = verdict;
}

// What the program itself printed, as one line: the runtime library adds lines that begin with its name.
static void own_words(const Text *printed, char *words, size_t bytes) {
    const char *line = text_chars(printed);
    size_t used = 0;
    words[0] = '\0';
    while (*line && used + 1 < bytes) {
        const size_t length = strcspn(line, "\n");
        if (length > 0 && strncmp(line, "warpbook: ", 10) != 0)
            used +=
                (size_t)snprintf(words + used, bytes - used, "%s%.*s", used ? "; " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (!used) snprintf(words, bytes, "nothing");
}

// How the program ended, if that alone decides.
static bool ends_badly(const Task *task, const Outcome *outcome, const Ended *e, CaseReport *report) {
    if (e->timed_out)
        say(report, VERDICT_TIMEOUT,
            "the program was ended after %d seconds, the most that it has for a case here",
            PROGRAM_CASE_SECONDS);
    else if (e->output_was_cut)
        say(report, VERDICT_OUTPUT_LIMIT, "the program prints more than 64 KiB");
    else if (e->signal == SIGXFSZ)
        say(report, VERDICT_OUTPUT_LIMIT, "the program writes a file of more than 300 MiB");
    else if (e->signal)
        say(report, VERDICT_FAULT, "the program was ended by signal %d (%s)", e->signal,
            strsignal(e->signal));
    else if (task->memory_left && e->exit_status == 0)
        say(report, VERDICT_WRONG,
            "the program ends with status 0 on a device that has no memory left for three vectors");
    else if (!task->memory_left && e->exit_status != 0) {
        char words[200];
        own_words(&outcome->parts[OUTCOME_PRINTED], words, sizeof words);
        say(report, VERDICT_WRONG, "the program ends with status %d, and prints: %s", e->exit_status, words);
    } else
        return false;
    return true;
}

// A case in which a call fails: whether the program notices. What it does wrong before that is told as ever.
static bool notices_failure(const Run *run, const Outcome *outcome, const Ended *e, const HostFindings *host,
                            CaseReport *report) {
    const Task *task = &run->judge.of->tasks[report->settings.task];
    const char *judge = report->settings.failing ? "the judge lets this call fail" : "this call fails";
    Failure failure;
    if (!failure_read(text_chars(&outcome->parts[OUTCOME_PRINTED]), run->source, &failure)) {
        if (report->settings.failing) return true; // the program has fewer calls
        return !ends_badly(task, outcome, e, report);
    }
    if (e->timed_out || e->output_was_cut || e->signal == SIGXFSZ)
        return !ends_badly(task, outcome, e, report);
    if (e->signal)
        say(report, VERDICT_FAULT, "%s (%s), and the program continues, until signal %d (%s) ends it", judge,
            failure.text, e->signal, strsignal(e->signal));
    else if (failure.continues && failure.next.line)
        say(report, VERDICT_FAULT, "%s (%s), and the program continues, with the call at line %d", judge,
            failure.text, failure.next.line);
    // Work that is still to do when a program ends can be found wrong then, which shows nothing.
    else if (failure.continues || (host->is_after_failure && host->kind == host_kind("HOST_ACCESS")))
        say(report, VERDICT_FAULT, "%s (%s), and the program continues", judge, failure.text);
    else if (host->is_after_failure && e->exit_status == 0)
        say(report, VERDICT_FAULT, "%s (%s), and the program ends with status 0, as if all were well", judge,
            failure.text);
    else if (e->exit_status == 0)
        say(report, VERDICT_WRONG, "%s, at line %d (%s), and the program ends with status 0", judge,
            failure.place.line, failure.text);
    else
        return true;
    if (report->verdict == VERDICT_FAULT) report->host = "UNCHECKED";
    report->place = failure.place;
    return false;
}

static void take_host_finding(const HostFindings *host, CaseReport *report) {
    report->verdict = host->kind->verdict;
    report->host = host->kind->name;
    report->place = host->place;
    memcpy(report->words, host->message, sizeof host->message);
}

static void take_finding(const ReplayResult *result, CaseReport *report) {
    report->has_finding = true;
    report->finding = result->finding;
    report->finding_count = result->finding_count;
    report->verdict = verdict_of_finding(result->finding.kind);
    memcpy(report->kernel, result->kernel, sizeof report->kernel);
}

static void take_replay(Run *run, const ReplayResult *result, const Delivered *d, CaseReport *report) {
    Judgement *judgement = run->judge.judgement;
    if (result->state == REPLAY_UNSUPPORTED)
        say(report, VERDICT_UNSUPPORTED, "the program uses %.200s, which this chapter cannot follow",
            result->words);
    else if (result->state == REPLAY_ENDLESS)
        say(report, VERDICT_TIMEOUT, "what the program asks of the device takes too long");
    else if (result->state == REPLAY_LOST)
        say(report, VERDICT_INFRA, "the record of the program could not be carried out again");
    else if (result->state == REPLAY_BROKEN)
        say(report, VERDICT_REJECT, "the record of the program cannot be true: %.200s", result->words);
    else if (result->has_finding)
        take_finding(result, report);
    else if (result->exit_status != 0)
        say(report, VERDICT_FAULT,
            "the program leaves by _exit() or a like call: return from main(), or call exit()");
    else if (result->leaks > 0) {
        report->host = "LEAK";
        say(report, host_kind("LEAK")->verdict, "%d allocation%s never freed", result->leaks,
            result->leaks == 1 ? " is" : "s are");
    } else if (!result->is_c_from_kernels)
        say(report, VERDICT_WRONG,
            "c is right, but no kernel wrote it: let vector_add compute it on the device");
    else if (d->total != 0 && !result->is_total_from_kernels)
        say(report, VERDICT_WRONG,
            "the total is right, but no kernel wrote it: let add_to_sum add it up on the device");
    report->lane_instructions = result->lane_instructions;
    if (report->verdict != VERDICT_PASS || !report->settings.is_counted) return;
    const int task = report->settings.task;
    judgement->timeline = result->timeline;
    judgement->counted[0][task].timeline = &judgement->timeline;
    judgement->counted[0][task].shape.size = report->settings.size;
}

static void judge_case(Run *run, int index) {
    Judge *judge = &run->judge;
    CaseReport *report = &judge->judgement->cases[index];
    const Task *task = &judge->of->tasks[report->settings.task];
    const Outcome *outcome = &run->outcomes[index];
    Ended ended = {0};
    HostFindings host;
    Delivered delivered;
    report->was_run = true;
    report->verdict = VERDICT_PASS;
    if (sscanf(text_chars(&outcome->parts[OUTCOME_ENDED]), "%d %d %d %d %d", &ended.was_started,
               &ended.timed_out, &ended.exit_status, &ended.signal, &ended.output_was_cut) != 5 ||
        !ended.was_started) {
        say(report, VERDICT_FAULT, "the program could not be run, or ended the process that runs it");
        return;
    }
    const Text *found = &outcome->parts[OUTCOME_FINDINGS];
    host_findings_read(text_chars(found), found->bytes, run->source, &host);
    // Errors of kernels are told by the replay, which knows more. A leak matters least.
    const bool is_leak = host.kind == host_kind("LEAK");
    if (task->memory_left && (!host.kind || is_leak || host.is_after_failure)) {
        if (is_leak) host.is_after_failure = false; // it does not show that the program continued
        notices_failure(run, outcome, &ended, &host, report);
        return;
    }
    if (host.kind && !is_leak && (!host.kernel_count || task->memory_left)) {
        take_host_finding(&host, report);
        return;
    }
    const bool is_bad = ends_badly(task, outcome, &ended, report);
    if (is_bad && !host.count) return;
    char why[200] = "";
    const Text *file = &outcome->parts[OUTCOME_RESULT], *record = &outcome->parts[OUTCOME_RECORD];
    const bool has_result =
        !is_bad && read_result(file, report->settings.size.n, &delivered, why, sizeof why);
    if (!has_result) delivered = (Delivered){.c = NULL};
    double slack = 0;
    for (long long i = 0; i < report->settings.size.n && has_result; i++)
        slack += fabs((double)delivered.c[i]);
    slack = report->settings.family == FAMILY_INTEGERS
                ? 0
                : 2 * error_budget(F32, (double)report->settings.size.n, slack, delivered.total);
    static ReplayResult result;
    replay(
        &(ReplayPlan){.record = text_chars(record),
                      .record_bytes = record->bytes,
                      .ptx = text_chars(&judge->subjects->kernel->text),
                      .ptx_bytes = judge->subjects->kernel->text.bytes,
                      .device = gpu_profile_find(judge->options->profile[0] ? judge->options->profile : NULL),
                      .schedule = report->settings.schedule,
                      .wants_times = report->settings.is_counted,
                      .max_steps = case_step_limit(report->settings.size.n, 4 * report->settings.size.n),
                      .c = delivered.c,
                      .n = has_result ? report->settings.size.n : 0,
                      .total = delivered.total,
                      .total_slack = slack},
        &result);
    if (result.state == REPLAY_DONE && result.has_finding) {
        take_finding(&result, report);
        return;
    }
    if (host.kind && !is_leak) {
        take_host_finding(&host, report);
        return;
    }
    if (is_bad) return;
    if (!has_result) {
        say(report, VERDICT_WRONG, "%s", why);
        return;
    }
    float *inputs = program_inputs(task, &report->settings, &judge->seeds);
    if (inputs)
        check_results(inputs, &delivered, report);
    else
        say(report, VERDICT_INFRA, "out of memory");
    free(inputs);
    if (report->verdict == VERDICT_PASS && is_leak) take_host_finding(&host, report);
    if (report->verdict == VERDICT_PASS) take_replay(run, &result, &delivered, report);
}

// ---- Running ----------------------------------------------------------------------------------------------

static bool end(Run *run, Verdict verdict, const char *words) {
    Judgement *judgement = run->judge.judgement;
    judgement->verdict = verdict;
    snprintf(judgement->message, sizeof judgement->message, "%.1100s", words);
    return false;
}

// The path of something that make built: in the package's tree, or below the working folder in a checkout.
static void built(const char *tree, const char *name, char path[PATH_MAX]) {
    const char *named = getenv("WARPBOOK_OUT");
    if (tree[0])
        snprintf(path, PATH_MAX, "%.4000s/build/%s", tree, name);
    else
        snprintf(path, PATH_MAX, "%.4000s/%s", named && named[0] ? named : "build", name);
}

// Runs the program on all cases, as the learner on the learner's own machine.
static bool run_all(Run *run) {
    const Options *options = run->judge.options;
    char folder[PATH_MAX], cases[PATH_MAX + 32], file[PATH_MAX + 32], tool[PATH_MAX], library[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    FileError error = {0};
    snprintf(folder, sizeof folder, "%.4000s/warpbook-XXXXXX",
             temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(folder)) return end(run, VERDICT_INFRA, "the temporary folder cannot be written");
    snprintf(cases, sizeof cases, "%s/cases", folder);
    snprintf(file, sizeof file, "%s/outcomes", folder);
    built(run->tree, "bin/run_program", tool);
    built(run->tree, "lib/cudart", library);
    bool good = program_write_cases(run->judge.of, &run->judge.plan, &run->judge.seeds, options->profile,
                                    cases, &error);
    if (!good) end(run, VERDICT_INFRA, error.message);
    if (good && access(tool, X_OK) != 0) {
        char words[PATH_MAX + 64];
        snprintf(words, sizeof words, "%s is missing: make %s builds it", tool, run->judge.of->name);
        good = end(run, VERDICT_INFRA, words);
    }
    ProcessResult done = {0};
    if (good) {
        const char *arguments[] = {tool, run->program, cases, folder, library, NULL};
        process_run(&(ProcessRequest){.arguments = arguments, .seconds = GUARD_SECONDS, .output_limit = 4096},
                    &done);
        good = outcomes_read(file, run->outcomes, &error);
    }
    if (!good && !run->judge.judgement->message[0]) {
        char words[700];
        // The program is the only one that could end what runs it.
        if (done.was_started && done.signal)
            end(run, VERDICT_FAULT, "the program ended the process that runs it");
        else if (!done.was_started)
            end(run, VERDICT_INFRA, done.message);
        else {
            snprintf(words, sizeof words, "the program could not be run: %.600s", text_chars(&done.output));
            end(run, VERDICT_INFRA, words);
        }
    }
    text_free(&done.output);
    remove_tree(folder);
    return good;
}

static bool copy_plan(Run *run) {
    Judge *judge = &run->judge;
    Judgement *judgement = judge->judgement;
    if (!program_plan(judge->of, judge->options, &judge->seeds, &judge->plan) ||
        !(judgement->cases = calloc((size_t)judge->plan.count + 1, sizeof *judgement->cases)))
        return end(run, VERDICT_INFRA, "out of memory for the cases");
    judgement->case_count = judge->plan.count;
    for (int i = 0; i < judge->plan.count; i++) {
        const Case *one = &judge->plan.cases[i];
        judgement->cases[i].settings = *one;
        judgement->cases[i].seed = seed_of_inputs(&judge->seeds, &one->size, one->family);
    }
    return true;
}

static void start(Run *run, const Chapter *of, const Subjects *subjects, const Options *options,
                  Judgement *judgement) {
    memset(run, 0, sizeof *run);
    run->judge.of = of;
    run->judge.subjects = subjects;
    run->judge.options = options;
    run->judge.judgement = judgement;
    seeds_make(options, subjects->source_sha256, &run->judge.seeds);
}

// What the first case printed that printed anything.
static void keep_printed(Run *run) {
    for (int i = 0; i < run->judge.judgement->case_count && !run->judge.judgement->printed; i++) {
        const Text *printed = &run->outcomes[i].parts[OUTCOME_PRINTED];
        const char *own = strstr(text_chars(printed), "warpbook: no findings\n");
        const size_t bytes = own ? (size_t)(own - text_chars(printed)) : printed->bytes;
        Text safe = {0};
        if (run->judge.judgement->cases[i].verdict != VERDICT_PASS || bytes == 0 ||
            run->judge.of->tasks[run->judge.judgement->cases[i].settings.task].memory_left)
            continue;
        text_add_printable(&safe, text_chars(printed), bytes);
        run->judge.judgement->printed = text_take(&safe);
        run->judge.judgement->printed_case = i;
    }
}

void judge_program(const Chapter *of, const Subjects *subjects, const char *program, const char *source,
                   const char *tree, const Options *options, JudgeProgress progress, Judgement *judgement) {
    static Run run;
    FileError error;
    const double began = monotonic_seconds();
    start(&run, of, subjects, options, judgement);
    run.program = program;
    run.tree = tree;
    run.source = source;
    *judgement = (Judgement){.first = -1, .note_case = -1, .possible = of->points, .verdict = VERDICT_INFRA};
    const GpuProfile *profile = gpu_profile_find(options->profile[0] ? options->profile : NULL);
    judgement->device = profile->info;
    bool good = copy_plan(&run);
    if (good && options->outcomes_file) {
        good = outcomes_read(options->outcomes_file, run.outcomes, &error);
        if (!good) end(&run, VERDICT_INFRA, error.message);
    } else if (good)
        good = run_all(&run);
    for (int i = 0; good && i < judgement->case_count; i++) {
        if (progress) progress(i, judgement->case_count);
        // After a case that does not end, the others are not run. A program that leaves no outcome otherwise
        // has ended what runs it.
        const bool is_after_endless =
            i > 0 && (judgement->cases[i - 1].verdict == VERDICT_TIMEOUT || !judgement->cases[i - 1].was_run);
        if (run.outcomes[i].was_run || !is_after_endless) judge_case(&run, i);
    }
    if (good) {
        judge_count_cases(&run.judge);
        judge_goals(&run.judge);
        keep_printed(&run);
    }
    judgement->seconds = monotonic_seconds() - began;
    outcomes_free(run.outcomes);
    plan_free(&run.judge.plan);
}

bool judge_program_write_cases(const Chapter *of, const Subjects *subjects, const Options *options, char *why,
                               size_t why_bytes) {
    static Run run;
    static Judgement judgement;
    FileError error = {0};
    start(&run, of, subjects, options, &judgement);
    const bool good = copy_plan(&run) && program_write_cases(of, &run.judge.plan, &run.judge.seeds,
                                                             options->profile, options->cases_folder, &error);
    if (!good) snprintf(why, why_bytes, "%s", judgement.message[0] ? judgement.message : error.message);
    plan_free(&run.judge.plan);
    judgement_free(&judgement);
    return good;
}
