#include "driver/judge/bandwidth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/elements.h"

double bytes_that_must_move(const Task *task, const CaseShape *shape) {
    if (task->bytes) return task->bytes(shape);
    double bytes = 0;
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        const long long count = quantity_value(task, &buffer->count, shape);
        const bool moves = buffer->role == INPUT || buffer->role == OUTPUT || buffer->role == OUTPUT_ZEROED;
        if (moves && count > 0) bytes += (double)count * (double)element_bytes(buffer->type);
    }
    return bytes;
}

void bandwidth_complete(Bandwidth *bandwidth) {
    if (bandwidth->seconds > 0) bandwidth->gb_per_s = 1e-9 * bandwidth->bytes / bandwidth->seconds;
    if (!(bandwidth->reference_seconds > 0) || !(bandwidth->seconds > 0)) return;
    // The same work in less time: bytes cancel, even where the two write different numbers of partials.
    bandwidth->reference_gb_per_s = 1e-9 * bandwidth->bytes / bandwidth->reference_seconds;
    bandwidth->ratio = bandwidth->reference_seconds / bandwidth->seconds;
    if (bandwidth->ratio_low > 0) return;
    bandwidth->ratio_low = bandwidth->ratio_high = bandwidth->ratio;
}

void bandwidth_unavailable(Bandwidth *bandwidth, int task, CaseSize size, const char *words) {
    *bandwidth = (Bandwidth){.state = BANDWIDTH_UNAVAILABLE, .task = task, .size = size};
    snprintf(bandwidth->words, sizeof bandwidth->words, "%s", words);
}

bool bandwidth_is_known(const Bandwidth *bandwidth) {
    return bandwidth->kind != BANDWIDTH_NONE && bandwidth->gb_per_s > 0;
}

double bandwidth_least_seconds(const Task *task, const CaseShape *shape, const GpuInfo *device,
                               bool may_hit) {
    double inputs = 0, outputs = 0;
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        const double bytes =
            (double)quantity_value(task, &buffer->count, shape) * (double)element_bytes(buffer->type);
        if (buffer->role == INPUT) inputs += bytes;
        if (buffer->role == OUTPUT || buffer->role == OUTPUT_ZEROED) outputs += bytes;
    }
    if (device->peak_gb_per_s <= 0 || device->l2_bytes <= 0) return 0;
    if (may_hit && inputs <= device->l2_bytes) return 0;
    return 1e-9 * (inputs + fmax(0, outputs - device->l2_bytes)) / device->peak_gb_per_s;
}

void bandwidth_distrust(Bandwidth *bandwidth, double least_seconds) {
    if (!(least_seconds > 0) || !(bandwidth->seconds < least_seconds)) return;
    bandwidth->state = BANDWIDTH_UNTRUSTED_TIME;
    snprintf(bandwidth->words, sizeof bandwidth->words,
             "a run took %.4g microseconds%s, but the memory needs %.4g for these bytes at its peak of "
             "%.0f GB/s",
             1e6 * bandwidth->seconds, bandwidth->kind == BANDWIDTH_MODELLED ? " on the model" : "",
             1e6 * least_seconds, bandwidth->peak_gb_per_s);
}
