#include "runtime/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "support/mangle.h"
#include "emulator/emulator_json.h"
#include "runtime/place.h"
#include "runtime/report.h"
#include "runtime/state.h"

typedef struct {
    char *name;
    uint64_t launches;
    uint32_t grid[3], block[3]; // of the last launch
    double seconds, worst;
    char limiter[200]; // of the launch that took longest
    Counters counters;
    LineCounters *lines;
    int line_count;
} Profiled;

static Profiled *kernels;
static int kernel_count;

static Profiled *kernel_of(const char *name) {
    for (int i = 0; i < kernel_count; i++)
        if (!strcmp(kernels[i].name, name)) return &kernels[i];
    Profiled *grown = realloc(kernels, (size_t)(kernel_count + 1) * sizeof *grown);
    if (!grown) return NULL;
    kernels = grown;
    kernels[kernel_count] = (Profiled){.name = strdup(name)};
    return &kernels[kernel_count++];
}

static void add_line(Profiled *k, const LineCounters *line) {
    for (int i = 0; i < k->line_count; i++) {
        if (k->lines[i].place.line != line->place.line || strcmp(k->lines[i].place.file, line->place.file))
            continue;
        line_counters_add(&k->lines[i], line);
        return;
    }
    LineCounters *grown = realloc(k->lines, (size_t)(k->line_count + 1) * sizeof *grown);
    if (!grown) return;
    k->lines = grown;
    k->lines[k->line_count++] = *line;
}

void profile_add(const char *name, const uint32_t grid[3], const uint32_t block[3],
                 const EmulatorResult *result, const ModelEstimate *estimate) {
    Profiled *k = kernel_of(name);
    if (!k) return;
    k->launches++;
    memcpy(k->grid, grid, sizeof k->grid);
    memcpy(k->block, block, sizeof k->block);
    k->seconds += estimate->seconds;
    if (estimate->seconds >= k->worst) {
        k->worst = estimate->seconds;
        snprintf(k->limiter, sizeof k->limiter, "%s", estimate->words);
    }
    counters_add(&k->counters, &result->counters);
    for (int i = 0; i < result->line_count; i++) add_line(k, &result->lines[i]);
}

void profile_end(void) {
    if (!options()->profile) return;
    JsonWriter json = {0};
    FileError why;
    json_open_object(&json, NULL);
    json_string(&json, "schema", "warpbook/program-profile/1");
    json_string(&json, "device", device_profile()->info.name);
    json_real(&json, "error_band", gpu_error_band(device_profile())); // of modelled_seconds
    json_open_array(&json, "kernels");
    for (int i = 0; i < kernel_count; i++) {
        const Profiled *k = &kernels[i];
        char name[256];
        symbol_source_name(k->name, name, sizeof name);
        json_open_object(&json, NULL);
        json_string(&json, "name", name);
        json_string(&json, "symbol", k->name);
        json_unsigned(&json, "launches", k->launches);
        triple_add_json(&json, "grid", k->grid);
        triple_add_json(&json, "block", k->block);
        json_real(&json, "modelled_seconds", k->seconds);
        json_string(&json, "limiter", k->limiter);
        counters_add_json(&json, "counters", &k->counters);
        json_open_array(&json, "lines");
        for (int l = 0; l < k->line_count; l++) {
            json_open_object(&json, NULL);
            json_string(&json, "file", place_short(k->lines[l].place.file));
            json_integer(&json, "line", k->lines[l].place.line);
            counters_add_json(&json, "counters", &k->lines[l].counters);
            json_close_object(&json);
        }
        json_close_array(&json);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    if (!json_write_file(&json, options()->profile, &why)) fprintf(stderr, "warpbook: %s\n", why.message);
}
