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

double operations_to_do(const Task *task, const CaseShape *shape) {
    if (task->operations) return task->operations(shape);
    return task->expect == EXPECT_PRODUCT ? 2.0 * (double)shape->size.n * (double)shape->size.depth : 0;
}

double bandwidth_tflop_per_s(const Bandwidth *bandwidth) {
    return bandwidth_is_known(bandwidth) && bandwidth->operations > 0
               ? 1e-12 * bandwidth->operations / bandwidth->seconds
               : (double)NAN;
}

double bandwidth_peak_share(const Bandwidth *bandwidth) {
    return bandwidth->peak_tflop_per_s > 0 ? bandwidth_tflop_per_s(bandwidth) / bandwidth->peak_tflop_per_s
                                           : (double)NAN;
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

bool bandwidth_is_lost_by_size(const Bandwidth *bandwidth) {
    // Halos and remainders alone make blocks take a little longer at large sizes.
    const double least_longer = 1.1;
    return bandwidth->longer >= least_longer && bandwidth->ratio * bandwidth->longer >= full_bandwidth_ratio;
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
    const double peak = 1e12 * device->peak_tflop_per_s, operations = operations_to_do(task, shape);
    const double computing = peak > 0 ? operations / peak : 0;
    if (device->peak_gb_per_s <= 0 || device->l2_bytes <= 0) return computing;
    if (may_hit && inputs <= device->l2_bytes) return computing;
    return fmax(computing, 1e-9 * (inputs + fmax(0, outputs - device->l2_bytes)) / device->peak_gb_per_s);
}

void bandwidth_distrust(Bandwidth *bandwidth, double least_seconds) {
    if (!(least_seconds > 0) || !(bandwidth->seconds < least_seconds)) return;
    bandwidth->state = BANDWIDTH_UNTRUSTED_TIME;
    char operations[64] = "";
    if (bandwidth->operations > 0)
        snprintf(operations, sizeof operations, " and operations, at %.0f TFLOP/s",
                 bandwidth->peak_tflop_per_s);
    snprintf(
        bandwidth->words, sizeof bandwidth->words,
        "a run took %.4g microseconds%s, but at its peak of %.0f GB/s this GPU needs %.4g for these bytes%s",
        1e6 * bandwidth->seconds, bandwidth->kind == BANDWIDTH_MODELLED ? " on the model" : "",
        bandwidth->peak_gb_per_s, 1e6 * least_seconds, operations);
}
