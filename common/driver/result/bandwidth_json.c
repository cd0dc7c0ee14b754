#include "driver/result/bandwidth_json.h"

#include <math.h>
#include <string.h>

static void add_number(JsonWriter *json, const char *key, double value) {
    json_real(json, key, value > 0 ? value : NAN); // null where it is not known
}

static void add_samples(JsonWriter *json, const char *key, const double *samples, int count) {
    if (!samples) return;
    json_open_array(json, key);
    for (int i = 0; i < count; i++) json_real(json, NULL, samples[i]);
    json_close_array(json);
}

static void add_measurement(JsonWriter *json, const Bandwidth *bandwidth) {
    json_integer(json, "samples", bandwidth->samples);
    json_integer(json, "launches_per_sample", bandwidth->launches_per_sample);
    json_integer(json, "dropped", bandwidth->dropped);
    json_string(json, "throttle", bandwidth->throttle[0] ? bandwidth->throttle : "watched");
    add_samples(json, "seconds_of_samples", bandwidth->raw, bandwidth->samples);
    add_samples(json, "reference_seconds_of_samples", bandwidth->reference_raw, bandwidth->samples);
}

static void add_members(JsonWriter *json, const Chapter *of, const Bandwidth *bandwidth) {
    static const char *const kinds[] = {[BANDWIDTH_MEASURED] = "measured", [BANDWIDTH_MODELLED] = "modelled"};
    static const char *const states[] = {[BANDWIDTH_UNAVAILABLE] = "unavailable",
                                         [BANDWIDTH_DECIDED] = "decided",
                                         [BANDWIDTH_TOO_NOISY] = "too noisy to decide",
                                         [BANDWIDTH_UNTRUSTED_TIME] = "untrusted time"};
    json_string(json, "task", of->tasks[bandwidth->task].name);
    json_string(json, "state", states[bandwidth->state]);
    json_string(json, "message", bandwidth->words);
    json_integer(json, "n", bandwidth->size.n);
    if (bandwidth->size.rows) {
        json_integer(json, "rows", bandwidth->size.rows);
        json_integer(json, "columns", bandwidth->size.columns);
    }
    if (bandwidth->size.depth) json_integer(json, "depth", bandwidth->size.depth);
    if (!bandwidth_is_known(bandwidth)) return;
    json_string(json, "kind", kinds[bandwidth->kind]);
    json_string(json, "device", bandwidth->device);
    json_real(json, "bytes", bandwidth->bytes);
    json_real(json, "seconds", bandwidth->seconds);
    json_real(json, "gb_per_s", bandwidth->gb_per_s);
    add_number(json, "peak_gb_per_s", bandwidth->peak_gb_per_s);
    if (bandwidth->operations > 0) {
        json_real(json, "operations", bandwidth->operations);
        json_real(json, "tflop_per_s", bandwidth_tflop_per_s(bandwidth));
        add_number(json, "peak_tflop_per_s", bandwidth->peak_tflop_per_s);
    }
    add_number(json, "read_ceiling_gb_per_s", bandwidth->ceiling_gb_per_s);
    json_string(json, "reference", bandwidth->reference[0] ? bandwidth->reference : NULL);
    add_number(json, "reference_seconds", bandwidth->reference_seconds);
    add_number(json, "reference_gb_per_s", bandwidth->reference_gb_per_s);
    add_number(json, "ratio", bandwidth->ratio);
    add_number(json, "ratio_low", bandwidth->ratio_low);
    add_number(json, "ratio_high", bandwidth->ratio_high);
    if (bandwidth->kind == BANDWIDTH_MEASURED)
        add_measurement(json, bandwidth);
    else {
        json_string(json, "limiter", bandwidth->limiter);
        json_real(json, "error_band", bandwidth->error_band);
    }
}

static bool is_spoken_of(const Bandwidth *bandwidth) {
    return bandwidth_is_known(bandwidth) || bandwidth->words[0];
}

// The one that stands for the chapter: of the task that a goal about it names, else of the first.
static int principal(const Judgement *judgement) {
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (strstr(result->goal->measure, "bandwidth") && is_spoken_of(&judgement->bandwidth[result->task]))
            return result->task;
    }
    for (int t = 0; t < MAX_TASKS; t++)
        if (is_spoken_of(&judgement->bandwidth[t])) return t;
    return -1;
}

void result_add_bandwidth(JsonWriter *json, const Report *report) {
    const Judgement *judgement = report->judgement;
    const int first = principal(judgement);
    if (!json_open_object_or_null(json, "bandwidth", first >= 0)) return;
    add_members(json, report->of, &judgement->bandwidth[first]);
    if (chapter_task_count(report->of) > 1) {
        json_open_array(json, "tasks");
        for (int t = 0; t < chapter_task_count(report->of); t++) {
            if (!is_spoken_of(&judgement->bandwidth[t])) continue;
            json_open_object(json, NULL);
            add_members(json, report->of, &judgement->bandwidth[t]);
            json_close_object(json);
        }
        json_close_array(json);
    }
    json_close_object(json);
}

void result_add_timings(JsonWriter *json, const Report *report) {
    const Judgement *judgement = report->judgement;
    if (judgement->timing_count == 0) return;
    json_open_array(json, "timings");
    for (int i = 0; i < judgement->timing_count; i++) {
        json_open_object(json, NULL);
        add_members(json, report->of, &judgement->timings[i]);
        json_close_object(json);
    }
    json_close_array(json);
}
