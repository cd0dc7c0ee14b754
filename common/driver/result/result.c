#include "driver/result/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator_json.h"
#include "gpu/profiles.h"
#include "driver/build/compiler_report.h"
#include "driver/judge/goal_lines.h"
#include "driver/result/bandwidth_json.h"

enum { MAX_FINDINGS_WRITTEN = 32, MAX_LINES_WRITTEN = 512 };

static void add_device(JsonWriter *json, const GpuInfo *device) {
    char capability[32];
    snprintf(capability, sizeof capability, "%d.%d", device->compute_major, device->compute_minor);
    if (!json_open_object_or_null(json, "device", device->name[0] != '\0')) return;
    json_string(json, "kind", device->kind == GPU_NVIDIA ? "gpu" : "emulator");
    json_string(json, "name", device->name);
    json_string(json, "compute_capability", capability);
    json_integer(json, "sm_count", device->sm_count);
    json_string(json, "driver", device->driver_version[0] ? device->driver_version : NULL);
    json_close_object(json);
}

static void add_options(JsonWriter *json, const Options *options) {
    static const char *const devices[] = {
        [GPU_AUTO] = "auto", [GPU_EMULATOR] = "emulator", [GPU_NVIDIA] = "gpu"};
    json_open_object(json, "options");
    json_string(json, "device", devices[options->asked_device]);
    json_string(json, "gpu", options->profile[0] ? options->profile : NULL);
    json_integer_or_null(json, "n", options->n >= 0, options->n);
    if (options->has_seed)
        json_unsigned(json, "seed", options->seed);
    else
        json_null(json, "seed");
    json_string(json, "secret", options->secret[0] ? options->secret : NULL);
    json_integer_or_null(json, "schedules", options->schedules >= 0, options->schedules);
    if (options->has_schedule)
        json_unsigned(json, "schedule", options->schedule);
    else
        json_null(json, "schedule");
    json_open_array(json, "also");
    for (int i = 0; i < options->also_count; i++) {
        const CaseSize *size = &options->also[i];
        json_open_object(json, NULL);
        json_integer(json, "n", size->n);
        json_integer(json, "rows", size->rows);
        json_integer(json, "columns", size->columns);
        if (size->depth) json_integer(json, "depth", size->depth);
        json_close_object(json);
    }
    json_close_array(json);
    json_string(json, "kernel", options->kernel_file);
    json_string(json, "against", options->against_file);
    json_close_object(json);
}

// The errors if there are any, otherwise the warnings.
static void add_compilers_messages(JsonWriter *json, const char *reported) {
    ReportedMessage message;
    json_open_array(json, "messages");
    for (const char *at = reported ? reported : ""; compiler_next_reported(&at, &message);) {
        json_open_object(json, NULL);
        json_string(json, "kind", message.kind);
        json_string(json, "file", message.file);
        json_integer(json, "line", message.line);
        json_integer(json, "column", message.column);
        json_string(json, "words", message.words);
        json_string(json, "help", message.help[0] ? message.help : NULL);
        json_close_object(json);
    }
    json_close_array(json);
}

static void add_build(JsonWriter *json, const CompileResult *build) {
    if (!json_open_object_or_null(json, "build", build != NULL)) return;
    json_string(json, "verdict", compile_verdict(build->status));
    json_boolean(json, "reused", build->was_reused);
    json_real(json, "seconds", build->build_seconds);
    json_string(json, "nvcc", build->nvcc_version);
    json_string(json, "clang", build->clang_version);
    json_boolean(json, "registers_estimated", build->has_estimate);
    json_integer(json, "ptx_arch", build->ptx_arch);
    json_integer(json, "sass_arch", build->sass_arch);
    json_string(json, "source_sha256", build->source_sha256);
    json_string(json, "message", build->message ? build->message : "");
    json_string(json, "log", build->log ? build->log : "");
    add_compilers_messages(json, build->status == COMPILE_OK ? build->log : build->message);
    json_open_array(json, "kernels");
    for (int i = 0; i < build->kernel_count; i++) {
        const CompiledKernel *kernel = &build->kernels[i];
        json_open_object(json, NULL);
        json_string(json, "name", kernel->name);
        json_integer(json, "registers", kernel->registers);
        json_integer(json, "shared_bytes", kernel->shared_bytes);
        json_integer(json, "stack_bytes", kernel->stack_bytes);
        json_integer(json, "spill_store_bytes", kernel->spill_store_bytes);
        json_integer(json, "spill_load_bytes", kernel->spill_load_bytes);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void add_finding(JsonWriter *json, const Finding *finding, int case_index) {
    json_open_object(json, NULL);
    json_integer(json, "case", case_index);
    finding_add_json(json, finding);
    json_close_object(json);
}

// Infinities and NaNs, which JSON does not have, are written as words in a separate member.
static void add_check(JsonWriter *json, const CheckReport *check) {
    json_open_object(json, "check");
    json_string(json, "outcome", check_outcome_name(check->outcome));
    json_real(json, "budget_share", check->budget_share);
    if (check->outcome != CHECK_RIGHT) {
        json_string(json, "buffer", check->buffer);
        json_integer_or_null(json, "index", check->index >= 0, check->index);
        json_integer(json, "wrong", check->wrong);
        json_integer(json, "elements", check->elements);
        json_string(json, "expected", check->expected_words);
        json_string(json, "got", check->got_words);
        if (check->has_numbers) {
            json_real(json, "difference", check->difference);
            json_real(json, "budget", check->budget);
        }
        json_string(json, "what", check->what);
        json_string(json, "why", check->why);
    }
    json_close_object(json);
}

static void add_case(JsonWriter *json, const Report *report, const CaseReport *one) {
    const Case *settings = &one->settings;
    json_open_object(json, NULL);
    json_string(json, "task", report->of->tasks[settings->task].name);
    json_integer(json, "n", settings->size.n);
    if (settings->size.rows) {
        json_integer(json, "rows", settings->size.rows);
        json_integer(json, "columns", settings->size.columns);
    }
    if (settings->size.depth) json_integer(json, "depth", settings->size.depth);
    json_string(json, "family", family_name(settings->family));
    json_unsigned(json, "misalignment", settings->misalignment);
    if (settings->is_staggered) json_boolean(json, "staggered", true);
    if (settings->figures) json_string(json, "figures", gpu_profiles[settings->figures - 1].info.name);
    json_unsigned(json, "schedule", settings->schedule);
    json_boolean(json, "counted", settings->is_counted);
    if (settings->is_beside) json_boolean(json, "beside", true);
    if (settings->is_large) json_boolean(json, "sampled", true);
    if (one->is_inconclusive) json_boolean(json, "inconclusive", true);
    if (one->origin == CASE_AFTER_TIMING) json_boolean(json, "after_timing", true);
    if (one->origin == CASE_OF_MODEL) json_boolean(json, "of_model", true);
    if (one->verdict != VERDICT_PASS) json_unsigned(json, "seed", one->seed);
    json_string(json, "verdict", one->was_run ? verdict_word(one->verdict) : NULL);
    json_unsigned(json, "lane_instructions", one->lane_instructions);
    if (one->has_check) add_check(json, &one->check);
    if (one->words[0]) json_string(json, "message", one->words);
    if (one->kernel[0]) json_string(json, "kernel", one->kernel);
    json_close_object(json);
}

// What no observer of the device found: a wrong value, a refused launch, a runner that ended.
static void add_failure(JsonWriter *json, const CaseReport *failed, int case_index) {
    if (failed->has_finding) {
        add_finding(json, &failed->finding, case_index);
        if (failed->has_cause) add_finding(json, &failed->cause, case_index);
        return;
    }
    const bool is_check = failed->has_check && failed->check.outcome != CHECK_RIGHT;
    json_open_object(json, NULL);
    json_string(json, "kind",
                failed->host ? failed->host
                : is_check   ? check_outcome_name(failed->check.outcome)
                             : verdict_headline(failed->verdict));
    json_string(json, "verdict", verdict_word(failed->verdict));
    json_integer(json, "case", case_index);
    json_string(json, "message", is_check ? failed->check.what : failed->words);
    place_add_json(json, "place", &failed->place);
    json_close_object(json);
}

// What ended the run before any case.
static void add_message(JsonWriter *json, const Judgement *judgement) {
    SourcePlace place = {.line = judgement->line};
    snprintf(place.file, sizeof place.file, "%s", judgement->file);
    json_open_object(json, NULL);
    json_string(json, "kind", verdict_headline(judgement->verdict));
    json_string(json, "verdict", verdict_word(judgement->verdict));
    json_null(json, "case");
    json_string(json, "message", judgement->message);
    place_add_json(json, "place", &place);
    json_close_object(json);
}

static void add_diagnosis(JsonWriter *json, const char *name, const Diagnosis *diagnosis) {
    if (!json_open_object_or_null(json, name, diagnosis->mistake != NULL)) return;
    json_string(json, "mistake", diagnosis->mistake->slug);
    json_string(json, "title", diagnosis->mistake->title);
    json_string(json, "why", diagnosis->why);
    json_string(json, "proof", diagnosis->proof);
    json_integer_or_null(json, "hint", diagnosis->hint != 0, diagnosis->hint);
    json_string(json, "lesson", diagnosis->lesson[0] ? diagnosis->lesson : NULL);
    json_close_object(json);
}

// {"kind": "repair", "changes": [{"change": "barrier", "line": 30, "place": "before", "words": ...}],
// "cases": 57}
static void add_repair(JsonWriter *json, const Repair *repair) {
    if (!json_open_object_or_null(json, "proof", repair->change_count > 0)) return;
    json_string(json, "kind", "repair");
    json_open_array(json, "changes");
    for (int c = 0; c < repair->change_count; c++) {
        json_open_object(json, NULL);
        json_string(json, "change", repair->changes[c].name);
        json_integer_or_null(json, "line", repair->changes[c].line > 0, repair->changes[c].line);
        json_string(json, "place", repair->changes[c].side);
        json_string(json, "words", repair->changes[c].words);
        json_close_object(json);
    }
    json_close_array(json);
    json_integer(json, "cases", repair->cases);
    json_close_object(json);
}

// {"kind": "what-if", "changes": [{"change": "no-conflicts", "words": ...}], "task": ..., "factor": 3.4,
// "ratio": 0.99}
static void add_what_if(JsonWriter *json, const char *name, const Report *report, bool is_shown) {
    const WhatIfAnswer *answer = &report->judgement->what_if;
    if (!json_open_object_or_null(json, name, is_shown)) return;
    json_string(json, "kind", "what-if");
    json_open_array(json, "changes");
    for (int c = 0; c < answer->change_count; c++) {
        json_open_object(json, NULL);
        json_string(json, "change", answer->changes[c].name);
        json_string(json, "words", answer->changes[c].words);
        json_close_object(json);
    }
    json_close_array(json);
    json_string(json, "task", report->of->tasks[answer->task].name);
    json_real(json, "factor", answer->factor);
    json_real(json, "ratio", answer->ratio);
    json_close_object(json);
}

// What proves a cause: a change of the kernel, or of what the model supposes.
static void add_proof(JsonWriter *json, const Report *report) {
    const WhatIfAnswer *answer = &report->judgement->what_if;
    if (answer->reaches)
        add_what_if(json, "proof", report, true);
    else
        add_repair(json, &report->judgement->repair);
    add_what_if(json, "what_if", report, answer->change_count > 0 && !answer->reaches);
}

// {"lines": [25], "cases": 66}
static void add_needless_barriers(JsonWriter *json, const NeedlessBarriers *needless) {
    if (!json_open_object_or_null(json, "needless_barriers", needless->count > 0)) return;
    json_open_array(json, "lines");
    for (int i = 0; i < needless->count; i++) json_integer(json, NULL, needless->lines[i]);
    json_close_array(json);
    json_integer(json, "cases", needless->cases);
    json_close_object(json);
}

static void add_accounting(JsonWriter *json, const Accounting *accounting) {
    if (!json_open_object_or_null(json, "accounting", accounting->n > 0)) return;
    json_integer(json, "n", accounting->n);
    json_integer(json, "missing", accounting->missing);
    json_integer(json, "repeated", accounting->repeated);
    json_integer(json, "misplaced", accounting->misplaced);
    json_string(json, "words", accounting->words);
    json_close_object(json);
}

// [{"task": ..., "verdict": ..., "case": ..., "diagnosis": ..., "proof": ..., "accounting": ...}]
static void add_others(JsonWriter *json, const Report *report) {
    const Judgement *judgement = report->judgement;
    json_open_array(json, "other_failures");
    for (int o = 0; o < judgement->other_count; o++) {
        const OtherFailure *other = &judgement->others[o];
        json_open_object(json, NULL);
        json_string(json, "task", report->of->tasks[judgement->cases[other->first].settings.task].name);
        json_string(json, "verdict", verdict_word(other->verdict));
        json_integer(json, "case", other->first);
        add_diagnosis(json, "diagnosis", &report->others[o]);
        add_repair(json, &other->repair);
        add_accounting(json, &other->accounting);
        json_close_object(json);
    }
    json_close_array(json);
}

// {"schedule": ..., "says": ...}: the schedule under which a race gives a wrong result.
static void add_replay(JsonWriter *json, const Judgement *judgement) {
    if (!json_open_object_or_null(json, "replay", judgement->has_replay)) return;
    json_unsigned(json, "schedule", judgement->replay_schedule);
    json_string(json, "says", judgement->replay);
    json_close_object(json);
}

static void add_cases(JsonWriter *json, const Report *report) {
    const Judgement *judgement = report->judgement;
    json_open_array(json, "cases");
    for (int i = 0; i < judgement->case_count; i++) add_case(json, report, &judgement->cases[i]);
    json_close_array(json);
    json_integer_or_null(json, "first_failure", judgement->first >= 0, judgement->first);
    json_open_array(json, "findings");
    int written = 0;
    // The failure that the page shows comes first, whatever found it.
    if (judgement->first >= 0)
        add_failure(json, &judgement->cases[judgement->first], judgement->first);
    else if (judgement->verdict != VERDICT_PASS && judgement->message[0])
        add_message(json, judgement);
    for (int i = 0; i < judgement->case_count && written < MAX_FINDINGS_WRITTEN; i++) {
        if (i == judgement->first || !judgement->cases[i].has_finding) continue;
        add_finding(json, &judgement->cases[i].finding, i);
        written++;
    }
    json_close_array(json);
    if (judgement->note_case < 0) {
        json_null(json, "note");
    } else {
        json_open_object(json, "note");
        json_integer(json, "case", judgement->note_case);
        finding_add_json(json, &judgement->note);
        json_close_object(json);
    }
}

// {"sum_shuffle": {"n": ..., "kernels": {"sum_shuffle": {"grid": ..., "registers": ..., "counts": {...}}}}}
static void add_counters(JsonWriter *json, const Report *report) {
    const Judgement *judgement = report->judgement;
    json_open_object(json, "counters");
    for (int t = 0; t < chapter_task_count(report->of); t++) {
        const Measured *measured = &judgement->counted[0][t];
        if (!measured->is_counted) continue;
        json_open_object(json, report->of->tasks[t].name);
        json_integer(json, "n", measured->shape.size.n);
        json_open_object(json, "kernels");
        for (int l = 0; l < measured->shape.launch_count; l++) {
            const ShapeOfLaunch *shape = &measured->shape.launches[l];
            json_open_object(json, report->of->tasks[t].launches[l].kernel);
            triple_add_json(json, "grid", shape->grid);
            triple_add_json(json, "block", shape->block);
            json_unsigned(json, "dynamic_shared_bytes", shape->shared);
            json_integer(json, "static_shared_bytes", measured->static_shared[l]);
            json_integer(json, "registers", measured->registers[l]);
            counters_add_json(json, "counts", &measured->counters[l]);
            json_close_object(json);
        }
        json_close_object(json);
        json_close_object(json);
    }
    json_close_object(json);
}

// No more than some, or a kernel unrolled by hand makes a document that nobody takes for a result.
static void add_lines(JsonWriter *json, const Report *report) {
    const Judgement *judgement = report->judgement;
    json_open_array(json, "lines");
    for (int i = 0; i < judgement->line_count && i < MAX_LINES_WRITTEN; i++) {
        const CountedLine *line = &judgement->lines[i];
        json_open_object(json, NULL);
        json_string(json, "task", report->of->tasks[line->task].name);
        json_string(json, "kernel", report->of->tasks[line->task].launches[line->launch].kernel);
        json_string(json, "file", line->counters.place.file);
        json_integer(json, "line", line->counters.place.line);
        counters_add_json(json, "counts", &line->counters.counters);
        json_close_object(json);
    }
    json_close_array(json);
}

static void add_goal_lines(JsonWriter *json, const Report *report, const GoalResult *result) {
    const GoalLines by_line = goal_lines(report->of, report->judgement, result);
    json_open_array(json, "lines");
    for (int i = 0; i < by_line.count; i++) {
        json_open_object(json, NULL);
        json_integer(json, "line", by_line.lines[i].line);
        json_real(json, "value", by_line.lines[i].value);
        json_close_object(json);
    }
    json_close_array(json);
}

static void add_goals(JsonWriter *json, const Report *report) {
    static const char *const bounds[] = {
        [AT_MOST] = "at most", [AT_LEAST] = "at least", [EXACTLY] = "exactly"};
    const Judgement *judgement = report->judgement;
    json_open_array(json, "goals");
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        json_open_object(json, NULL);
        json_string(json, "task", report->of->tasks[result->task].name);
        json_string(json, "words", result->goal->words);
        json_string(json, "measure", result->goal->measure);
        json_string(json, "bound", bounds[result->goal->bound]);
        json_real(json, "limit", result->goal->limit);
        json_real(json, "value", result->value);
        json_string(json, "state", goal_state_word(result->state));
        if (result->state == GOAL_MET || result->state == GOAL_MISSED)
            json_boolean(json, "met", result->state == GOAL_MET);
        else
            json_null(json, "met");
        json_real(json, "earned", result->share * result->goal->points);
        json_integer(json, "points", result->goal->points);
        add_goal_lines(json, report, result);
        json_close_object(json);
    }
    json_close_array(json);
}

// What a program let the device do; absent of chapters that are not programs.
static void add_timeline(JsonWriter *json, const Timeline *timeline) {
    if (timeline->n == 0) return;
    json_open_object(json, "timeline");
    json_integer(json, "n", timeline->n);
    json_real(json, "seconds", timeline->seconds);
    json_integer(json, "streams", timeline->stream_count);
    json_boolean(json, "truncated", timeline->is_cut);
    json_open_array(json, "work");
    for (int i = 0; i < timeline->count; i++) {
        const TimelineWork *work = &timeline->work[i];
        json_open_object(json, NULL);
        json_integer(json, "stream", work->stream);
        json_string(json, "kind", engine_name(work->engine));
        json_real(json, "start", work->start);
        json_real(json, "end", work->end);
        json_string(json, "kernel", work->name[0] ? work->name : NULL);
        json_integer(json, "bytes", work->bytes);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void add_times(JsonWriter *json, const Report *report) {
    const Judgement *judgement = report->judgement;
    double on_device = 0;
    for (int i = 0; i < judgement->case_count; i++) on_device += judgement->cases[i].seconds;
    json_open_object(json, "times");
    json_real(json, "build_seconds", report->build ? report->build->seconds : 0);
    json_real(json, "run_seconds", judgement->seconds);
    json_real(json, "device_seconds", on_device);
    if (report->baselines && report->baselines->is_measured) {
        json_open_object(json, "cpu");
        json_string(json, "work", report->baselines->work);
        json_real(json, "one_thread_gb_per_s", report->baselines->one_thread_gb_per_s);
        const double all = report->baselines->all_threads_gb_per_s;
        json_real(json, "all_threads_gb_per_s", all > 0 ? all : NAN);
        json_integer(json, "threads", report->baselines->threads);
        json_close_object(json);
    }
    json_close_object(json);
}

bool result_write(const char *path, const Report *report, FileError *error) {
    const Judgement *judgement = report->judgement;
    JsonWriter json = {0};
    json_open_object(&json, NULL);
    json_string(&json, "schema", "warpbook/result/1");
    json_string(&json, "chapter", report->of->name);
    json_string(&json, "title", report->of->title);
    add_device(&json, &judgement->device);
    json_string(&json, "verdict", verdict_word(judgement->verdict));
    json_string(&json, "message", judgement->message);
    SourcePlace place = {.line = judgement->line};
    snprintf(place.file, sizeof place.file, "%s", judgement->file);
    place_add_json(&json, "place", &place);
    json_open_object(&json, "points");
    json_real(&json, "earned", judgement->earned);
    json_integer(&json, "possible", judgement->possible);
    json_close_object(&json);
    json_string(&json, "beside", judgement->beside_words[0] ? judgement->beside_words : NULL);
    add_options(&json, report->options);
    add_build(&json, report->build);
    add_cases(&json, report);
    add_diagnosis(&json, "diagnosis", report->diagnosis);
    add_diagnosis(&json, "second_diagnosis", report->second);
    add_proof(&json, report);
    add_needless_barriers(&json, &judgement->needless);
    add_accounting(&json, &report->judgement->accounting);
    add_others(&json, report);
    add_replay(&json, judgement);
    add_counters(&json, report);
    add_lines(&json, report);
    add_goals(&json, report);
    add_timeline(&json, &judgement->timeline);
    result_add_bandwidth(&json, report);
    result_add_timings(&json, report);
    json_string(&json, "printed", judgement->printed);
    add_times(&json, report);
    json_close_object(&json);
    return json_write_file(&json, path, error);
}

// ---- For the grader
// ------------------------------------------------------------------------------------------

static bool is_full(const Options *options) {
    return !options->kernel_file && !options->against_file && !options->is_trace_only &&
           options->time_count == 0 && options->also_count == 0 && options->n < 0 && !options->has_seed &&
           !options->secret[0] && options->schedules < 0 && !options->has_schedule;
}

bool by_hand_keep(const Report *report, FileError *error) {
    static const char folder[] = "build/results/by-hand";
    char path[sizeof folder + 32];
    const bool is_the_graders = getenv("WARPBOOK_RECORDED") != NULL;
    if (is_the_graders || !is_full(report->options) || report->judgement->verdict == VERDICT_INFRA)
        return true;
    snprintf(path, sizeof path, "%s/%.16s.json", folder, report->of->name);
    return make_directories(folder, error) && result_write(path, report, error);
}
