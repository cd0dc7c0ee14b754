#if __has_include(<cuda.h>)
#include "gpu/nvidia_timing.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu/nvml.h"

struct GpuTimer {
    CUevent start, stop;
};

void nvidia_timer_free(Gpu *gpu, GpuTimer *timer) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!self->is_lost && timer->start) self->driver->event_destroy(timer->start);
    if (!self->is_lost && timer->stop) self->driver->event_destroy(timer->stop);
    free(timer);
}

bool nvidia_timer_create(Gpu *gpu, GpuTimer **timer, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
    GpuTimer *made = calloc(1, sizeof *made);
    if (!made) return gpu_fail(error, true, "out of memory");
    CUresult result = self->driver->event_create(&made->start, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS) result = self->driver->event_create(&made->stop, CU_EVENT_DEFAULT);
    if (result != CUDA_SUCCESS) {
        nvidia_timer_free(gpu, made);
        return nvidia_fail(self, result, "make a timer", error);
    }
    *timer = made;
    return true;
}

static bool record(Gpu *gpu, CUevent event, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
    CUresult result = self->driver->event_record(event, self->stream);
    return result == CUDA_SUCCESS || nvidia_fail(self, result, "record a time", error);
}

bool nvidia_timer_start(Gpu *gpu, GpuTimer *timer, GpuError *error) {
    return record(gpu, timer->start, error);
}

bool nvidia_timer_stop(Gpu *gpu, GpuTimer *timer, GpuError *error) { return record(gpu, timer->stop, error); }

bool nvidia_timer_is_ahead(Gpu *gpu, GpuTimer *timer, bool *is_ahead, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
    CUresult result = self->driver->event_query(timer->start);
    *is_ahead = result == CUDA_ERROR_NOT_READY;
    return *is_ahead || result == CUDA_SUCCESS || nvidia_fail(self, result, "read a timer", error);
}

bool nvidia_timer_seconds(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
    float milliseconds = 0;
    CUresult result = self->driver->event_synchronize(timer->stop);
    if (result == CUDA_SUCCESS)
        result = self->driver->event_elapsed(&milliseconds, timer->start, timer->stop);
    if (result != CUDA_SUCCESS) return nvidia_fail(self, result, "read a timer", error);
    *seconds = 1e-3 * (double)milliseconds;
    return true;
}

GpuClocks nvidia_clocks(Gpu *gpu, char *why, size_t why_bytes) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!self->has_asked_clocks) {
        char bus_id[32] = "";
        self->has_asked_clocks = true;
        if (self->driver->bus_id && self->driver->bus_id(bus_id, sizeof bus_id, self->device) == CUDA_SUCCESS)
            self->clocks = nvml_device(bus_id, self->no_clocks, sizeof self->no_clocks);
        else
            snprintf(self->no_clocks, sizeof self->no_clocks, "the driver does not report the device's bus");
    }
    if (self->clocks) return nvml_clocks(self->clocks, why, why_bytes);
    snprintf(why, why_bytes, "%s", self->no_clocks);
    return GPU_CLOCKS_UNKNOWN;
}

#endif
