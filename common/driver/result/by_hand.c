#include "driver/result/by_hand.h"

#include <stdio.h>
#include <stdlib.h>

#include "driver/result/result.h"

static bool is_full(const Options *options) {
    return !options->kernel_file && !options->against_file && !options->is_trace_only &&
           options->time_count == 0 && options->also_count == 0 && options->n < 0 && options->seed == 0 &&
           options->schedules < 0 && !options->has_schedule;
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
