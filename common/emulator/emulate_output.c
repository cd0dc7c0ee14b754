#include "emulator/emulate_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/json.h"
#include "support/mangle.h"
#include "emulator/emulator_json.h"

// The order of common/driver/plan/verdict.h, as far as findings go.
static const char *const verdicts[] = {"RESOURCE", "LAUNCH", "OOB",     "MISALIGNED",   "FAULT",      "SYNC",
                                       "RACE",     "UNINIT", "TIMEOUT", "OUTPUT_LIMIT", "UNSUPPORTED"};
enum { VERDICT_COUNT = sizeof verdicts / sizeof *verdicts };

const char *overall_verdict(const EmulatorResult *result) {
    for (int v = 0; v < VERDICT_COUNT; v++)
        for (int i = 0; i < result->finding_count; i++)
            if (!strcmp(finding_verdict(result->findings[i].kind), verdicts[v])) return verdicts[v];
    return result->completed ? "PASS" : "FAULT";
}

void print_verdicts(void) {
    for (int i = 0; i < VERDICT_COUNT; i++) printf("%s%s", i % 6 ? " " : "\n  ", verdicts[i]);
    putchar('\n');
}

// ---- On the terminal --------------------------------------------------------------------------------------

void print_findings(const EmulatorResult *result) {
    for (int i = 0; i < result->finding_count; i++) {
        const Finding *f = &result->findings[i];
        printf("%s %s", finding_verdict(f->kind), finding_name(f->kind));
        if (f->place.line)
            printf(" at %s:%d:%d", f->place.file, f->place.line, f->place.column);
        else if (f->place.ptx_line)
            printf(" at PTX line %d", f->place.ptx_line);
        printf("\n  %s\n", f->message);
        if (f->other_place.line)
            printf("  the other place: %s:%d\n", f->other_place.file, f->other_place.line);
        if (f->count > 1) printf("  met %" PRIu64 " times\n", f->count);
    }
    if (result->findings_total > 0 && !result->finding_count)
        printf("%" PRIu64 " findings\n", result->findings_total);
}

static void print_counters(const Counters *counters, const char *indent) {
    for (int i = 0; i < counter_field_count; i++) {
        const uint64_t value = counter_value(counters, i);
        if (value) printf("%s%-24s %12" PRIu64 "\n", indent, counter_fields[i].name, value);
    }
}

void print_profile(const EmulatorResult *result) {
    print_counters(&result->counters, "");
    for (int i = 0; i < result->line_count; i++) {
        const SourcePlace *place = &result->lines[i].place;
        if (place->line)
            printf("%s:%d\n", place->file, place->line);
        else
            printf("(no source line)\n");
        print_counters(&result->lines[i].counters, "  ");
    }
}

void print_contents(const Emulator *e) {
    for (int i = 0; i < emulator_kernel_count(e); i++) {
        EmulatorKernelInfo info;
        char source[256], words[1024];
        emulator_kernel_info(emulator_kernel_at(e, i), &info);
        symbol_source_name(info.name, source, sizeof source);
        printf("kernel %s", source);
        if (strcmp(source, info.name)) printf(" (%s)", info.name);
        putchar('\n');
        if (symbol_parameters(info.name, words, sizeof words)) printf("  takes %s\n", words);
        for (int p = 0; p < info.parameter_count; p++)
            printf("  parameter %d: %zu bytes\n", p, info.parameters[p].bytes);
        if (info.static_shared) printf("  shared memory: %zu bytes\n", info.static_shared);
    }
    for (int i = 0; i < emulator_variable_count(e); i++) {
        EmulatorVariable variable;
        char source[256];
        emulator_variable_at(e, i, &variable);
        symbol_source_name(variable.name, source, sizeof source);
        printf("%s %s",
               variable.is_texture    ? "texture or surface"
               : variable.is_constant ? "__constant__ variable"
               : variable.is_managed  ? "__managed__ variable"
                                      : "__device__ variable",
               source);
        if (strcmp(source, variable.name)) printf(" (%s)", variable.name);
        printf(": %zu bytes\n", variable.bytes);
    }
}

// ---- As JSON ----------------------------------------------------------------------------------------------

static void write_finding(JsonWriter *json, const Finding *f) {
    json_open_object(json, NULL);
    json_string(json, "verdict", finding_verdict(f->kind));
    json_string(json, "kind", finding_name(f->kind));
    json_string(json, "message", f->message);
    json_string(json, "file", f->place.file);
    json_integer(json, "line", f->place.line);
    json_integer(json, "column", f->place.column);
    json_integer(json, "ptx_line", f->place.ptx_line);
    json_integer(json, "other_line", f->other_place.line);
    triple_add_json(json, "block", f->block);
    triple_add_json(json, "thread", f->thread);
    json_integer(json, "warp", f->warp);
    json_integer(json, "lane", f->lane);
    json_unsigned(json, "address", f->address);
    json_unsigned(json, "bytes", f->bytes);
    json_string(json, "object", f->object);
    json_integer(json, "index", f->index);
    json_unsigned(json, "object_bytes", f->object_bytes);
    json_unsigned(json, "count", f->count);
    json_boolean(json, "fatal", f->fatal);
    json_close_object(json);
}

static bool end_document(JsonWriter *json, const char *path) {
    FileError why;
    if (json_write_file(json, path, &why)) return true;
    fprintf(stderr, "emulate: %s\n", why.message);
    return false;
}

bool write_result(const char *path, const EmulatorResult *result) {
    JsonWriter json = {0};
    json_open_object(&json, NULL);
    json_string(&json, "schema", "warpbook/emulation/1");
    json_string(&json, "verdict", overall_verdict(result));
    json_open_array(&json, "findings");
    for (int i = 0; i < result->finding_count; i++) write_finding(&json, &result->findings[i]);
    json_close_array(&json);
    counters_add_json(&json, "counters", &result->counters);
    json_open_array(&json, "lines");
    for (int i = 0; i < result->line_count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "file", result->lines[i].place.file);
        json_integer(&json, "line", result->lines[i].place.line);
        counters_add_json(&json, "counters", &result->lines[i].counters);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_unsigned(&json, "lane_instructions", result->lane_instructions);
    json_real(&json, "seconds", result->seconds);
    json_string_bytes(&json, "output", result->output ? result->output : "", result->output_bytes);
    json_close_object(&json);
    return end_document(&json, path);
}

bool write_trace(const char *path, const char *name, const EmulatorDevice *device,
                 const EmulatorResult *result) {
    JsonWriter json = {.is_compact = true};
    json_open_object(&json, NULL);
    json_string(&json, "schema", "warpbook/trace/1");
    json_null(&json, "chapter");
    json_null(&json, "title");
    json_string(&json, "message", "");
    device_add_json(&json, device, 0);
    json_null(&json, "source");
    json_open_array(&json, "tasks");
    json_open_object(&json, NULL);
    json_null(&json, "task");
    json_null(&json, "case");
    json_string(&json, "verdict", overall_verdict(result));
    json_string(&json, "message", result->finding_count ? result->findings[0].message : "");
    json_open_array(&json, "buffers");
    json_close_array(&json);
    json_open_array(&json, "kernels");
    json_open_object(&json, NULL);
    json_string(&json, "name", name);
    json_null(&json, "occupancy");
    json_members(&json, result->trace, result->trace_bytes);
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
    return end_document(&json, path);
}
