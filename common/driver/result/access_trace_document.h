// The document of --trace: what access_trace_run.c recorded, as JSON.
#pragma once

#include "gpu/profiles.h"
#include "support/json.h"
#include "driver/judge/launch_shape.h"
#include "driver/result/access_trace_run.h"

// One task, recorded.
typedef struct {
    int task;
    Case settings;
    const char *why; // this case
    bool was_run;    // `layout` and what follows hold
    CaseShape shape;
    CaseLayout layout;
    CaseReport report;
    char *kernels[MAX_LAUNCHES]; // their JSON, owned; NULL: it did not come to that launch
    size_t kernel_bytes[MAX_LAUNCHES];
} TraceTask;

// The head of the document, open at "tasks"; then its tasks; then its end.
void trace_document_open(JsonWriter *json, const TracePlan *plan, const GpuProfile *profile);
void trace_document_task(JsonWriter *json, const TracePlan *plan, const GpuInfo *info, const TraceTask *task);
void trace_document_close(JsonWriter *json);
