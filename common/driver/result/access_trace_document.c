#include "driver/result/access_trace_document.h"

#include <limits.h>
#include <string.h>

#include "emulator/emulator_json.h"
#include "driver/plan/elements.h"
#include "driver/plan/inputs.h"

enum { MAX_SOURCE_BYTES = 64 << 10 };

// ---- The head --------------------------------------------------------------------------------------------

void trace_document_open(JsonWriter *json, const TracePlan *plan, const GpuProfile *profile) {
    EmulatorDevice device;
    gpu_profile_device(profile, &device);
    json->is_compact = true;
    json_open_object(json, NULL);
    json_string(json, "schema", "warpbook/trace/1");
    json_string(json, "chapter", plan->of->name);
    json_string(json, "title", plan->of->title);
    json_string(json, "message", plan->message);
    device_add_json(json, &device, profile->info.peak_gb_per_s);
    if (plan->source_text) {
        size_t bytes = strlen(plan->source_text);
        json_open_object(json, "source");
        json_string(json, "file", plan->source);
        json_string_bytes(json, "text", plan->source_text,
                          bytes < MAX_SOURCE_BYTES ? bytes : MAX_SOURCE_BYTES);
        json_close_object(json);
    } else
        json_null(json, "source");
    json_open_array(json, "tasks");
}

void trace_document_close(JsonWriter *json) {
    json_close_array(json);
    json_close_object(json);
}

// ---- A task ----------------------------------------------------------------------------------------------

static void add_case(JsonWriter *json, const TraceTask *task) {
    const Case *settings = &task->settings;
    json_open_object(json, "case");
    json_integer(json, "n", settings->size.n);
    json_integer(json, "rows", settings->size.rows);
    json_integer(json, "columns", settings->size.columns);
    if (settings->size.depth) json_integer(json, "depth", settings->size.depth);
    json_string(json, "family", family_name(settings->family));
    json_unsigned(json, "misalignment", settings->misalignment);
    json_boolean(json, "staggered", settings->is_staggered);
    json_unsigned(json, "schedule", settings->schedule);
    json_string(json, "why", task->why);
    json_close_object(json);
}

static const char *message_of(const CaseReport *report) {
    if (report->verdict == VERDICT_PASS) return "";
    return report->has_finding                                         ? report->finding.message
           : report->has_check && report->check.outcome != CHECK_RIGHT ? report->check.what
                                                                       : report->words;
}

static void add_buffers(JsonWriter *json, const Task *of, const TraceTask *task) {
    json_open_array(json, "buffers");
    for (int b = 0; b < task_buffer_count(of) && task->was_run; b++) {
        const Buffer *buffer = &of->buffers[b];
        json_open_object(json, NULL);
        json_string(json, "name", buffer->name);
        json_string(json, "role",
                    buffer->role == INPUT                                     ? "input"
                    : buffer->role == OUTPUT || buffer->role == OUTPUT_ZEROED ? "output"
                                                                              : "scratch");
        json_string(json, "type", element_word(buffer->type));
        json_unsigned(json, "element_bytes", element_bytes(buffer->type));
        json_integer(json, "elements", task->layout.counts[b]);
        json_close_object(json);
    }
    json_close_array(json);
}

// Blocks that fit on an SM, with some limits ignored.
static void add_occupancy(JsonWriter *json, const GpuInfo *info, const ShapeOfLaunch *launch,
                          const ImageKernel *kernel) {
    const int threads = launch->block_threads, registers = kernel->registers;
    const long long shared = (long long)kernel->static_shared + launch->shared;
    GpuInfo by_threads = *info, by_rest = *info;
    by_threads.max_blocks_per_sm = by_rest.max_blocks_per_sm = by_rest.max_threads_per_sm = INT_MAX;
    by_threads.shared_reserved_per_block = 0;
    GpuInfo by_registers = by_rest;
    by_registers.shared_reserved_per_block = 0;
    const int blocks = resident_blocks(info, threads, registers, kernel->static_shared, launch->shared);
    json_open_object(json, "occupancy");
    json_integer(json, "by_threads", resident_blocks(&by_threads, threads, 0, 0, 0));
    json_integer(json, "by_blocks", info->max_blocks_per_sm);
    json_integer_or_null(json, "by_registers", registers > 0,
                         resident_blocks(&by_registers, threads, registers, 0, 0));
    json_integer_or_null(json, "by_shared", shared > 0, resident_blocks(&by_rest, threads, 0, shared, 0));
    json_integer(json, "blocks", blocks);
    json_integer(json, "warps", (long long)blocks * ((threads + 31) / 32));
    json_close_object(json);
}

void trace_document_task(JsonWriter *json, const TracePlan *plan, const GpuInfo *info,
                         const TraceTask *task) {
    const Task *of = &plan->of->tasks[task->task];
    json_open_object(json, NULL);
    json_string(json, "task", of->name);
    add_case(json, task);
    json_string(json, "verdict", verdict_word(task->report.verdict));
    json_string(json, "message", message_of(&task->report));
    add_buffers(json, of, task);
    json_open_array(json, "kernels");
    for (int i = 0; task->was_run && i < task->layout.launch_count; i++) {
        const int launch = task->layout.launch_index[i];
        if (!task->kernels[i]) continue;
        json_open_object(json, NULL);
        json_string(json, "name", of->launches[launch].kernel);
        add_occupancy(json, info, &task->shape.launches[launch], &plan->image->kernels[task->task][launch]);
        json_members(json, task->kernels[i], task->kernel_bytes[i]);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}
