// The devices that the emulator can imitate and the time model can model: figures, each with its source.
#pragma once

#include "emulator/model/model.h"
#include "gpu/gpu.h"

typedef struct {
    const char *name;  // as given to --gpu: "H200", "RTX 5090"
    GpuInfo info;      // kind GPU_EMULATOR, driver_version empty; name is the full one: "NVIDIA H200"
    int clock_khz;     // of the SMs, boost
    bool is_measured;  // read off such a device by Warpbook's own tools; otherwise published figures
    bool is_judged;    // a kernel is judged with these figures too; the others add no limit to theirs
    double error_band; // nine of ten modelled times are at most this share off those of such a device; 0: the
                       // model has not been compared with one
    const char *source; // where the figures come from
} GpuProfile;

extern const GpuProfile gpu_profiles[]; // the H200 first: the default
extern const int gpu_profile_count;
// Bytes a second between host and device in one direction: PCIe 5.0 x16, 32 GT/s a lane with 128b/130b coding
// (NVIDIA H200 NVL and SXM).
extern const double gpu_link_bytes_per_s;

// As the emulator takes it.
void gpu_profile_device(const GpuProfile *profile, EmulatorDevice *device);
// The constants of the time model.
void gpu_profile_model(const GpuProfile *profile, ModelDevice *device);

// The share by which nine of ten modelled times are at most off, or may be on a device, or of a part of one,
// that the model has not been compared with (NULL). docs/time-model.md, "How far a figure may be off".
double gpu_error_band(const GpuProfile *profile);

// 1e12 float operations a second at that clock: two for each lane of a fused multiply-add. 0: not known. The
// lanes of an SM: CUDA C++ Programming Guide, "Arithmetic Instructions", throughput of 32-bit floating-point
// add.
double gpu_peak_tflop_per_s(const GpuInfo *info, int clock_khz);

// By its name or full name, without regard to case, spaces, '-' and '_' ("rtx5090", "rtx-5090",
// "NVIDIA GeForce RTX 5090"); NULL is the H200. NULL when there is none.
const GpuProfile *gpu_profile_find(const char *name);
// Writes that there is no such name, and lists the existing ones.
void gpu_profile_refuse(const char *name, char *why, size_t why_bytes);
