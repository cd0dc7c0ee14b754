// The device interface: one small set of calls with two implementations behind it, the NVIDIA driver
// (nvidia.c) and Warpbook's emulator (emulated.c). Nothing above this header knows which one runs.
//
// A Gpu is used by one thread of one process (the runner). Every call that can fail returns false and
// fills a GpuError; nothing exits. Addresses are device addresses.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/emulator.h" // Finding, Counters, EmulatorResult: the words both devices report in

typedef struct Gpu Gpu;
typedef struct GpuImage GpuImage;
typedef struct GpuKernel GpuKernel;

typedef enum { GPU_AUTO, GPU_EMULATOR, GPU_NVIDIA } GpuKind;

typedef struct {
    bool is_context_lost;   // the device must be closed and opened again (illegal address on an NVIDIA GPU)
    bool is_machines_fault; // no driver, out of memory: INFRA, never the learner's fault
    FindingKind finding;    // the kind of fault where the kernel caused it, else FINDING_NONE
    char message[1024];
} GpuError;

// Properties of a device for kernels and for people.
typedef struct {
    GpuKind kind;   // never GPU_AUTO
    char name[128]; // "NVIDIA H200"; for the emulator that of the profile it imitates
    int compute_major, compute_minor;
    int sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    int registers_per_sm, registers_per_block;
    int shared_per_sm, shared_per_block, shared_per_block_optin, shared_reserved_per_block;
    uint32_t max_grid[3], max_block[3];
    int l2_bytes;
    int memory_clock_khz, memory_bus_bits; // 0 if the driver does not report it
    double peak_gb_per_s;    // from clock and bus width, or the profile's published figure; 0 unknown
    double peak_tflop_per_s; // of float operations: clock, SMs and float units of each; 0 unknown
    size_t memory_bytes;
    char driver_version[32];
} GpuInfo;

// True when an NVIDIA driver with at least one device answers; `why` (may be NULL) receives the reason not.
bool gpu_nvidia_present(char *why, size_t why_bytes);
// The compute capability of the first device as nvcc names it, 90 for 9.0; 0 where there is none.
int gpu_nvidia_architecture(char *why, size_t why_bytes);

// `profile` names the device that the emulator imitates (NULL: "H200"); ignored on a real GPU.
Gpu *gpu_open(GpuKind kind, const char *profile, GpuError *error);
void gpu_close(Gpu *gpu);
const GpuInfo *gpu_info(const Gpu *gpu);
// Bytes kept of what the kernels of one launch print (a GPU drops the rest) and bytes of stack for a thread;
// 0 leaves either as it is. Before gpu_load(). The emulator, limited per launch, ignores it.
bool gpu_set_limits(Gpu *gpu, size_t printf_bytes, size_t stack_bytes, GpuError *error);

// ---- Memory -----------------------------------------------------------------------------------------------

enum { GPU_MOST_MISALIGNMENT = 65535 };

// A buffer whose first byte is `misalignment` bytes past a 256-byte boundary. On a GPU guard bands of
// a known pattern surround it; the emulator refuses every access outside it.
typedef struct {
    uint64_t address;
    size_t bytes;
    unsigned misalignment;
    char name[64];
    void *internal;
} GpuBuffer;

bool gpu_allocate(Gpu *gpu, size_t bytes, unsigned misalignment, const char *name, GpuBuffer *buffer,
                  GpuError *error);
// The emulator alone: emulator_adopt().
bool gpu_adopt(Gpu *gpu, void *memory, size_t bytes, size_t period, const char *name, GpuBuffer *buffer,
               GpuError *error);
bool gpu_free(Gpu *gpu, GpuBuffer *buffer, GpuError *error);
bool gpu_write(Gpu *gpu, const GpuBuffer *buffer, size_t offset, const void *from, size_t bytes,
               GpuError *error);
bool gpu_read(Gpu *gpu, void *to, const GpuBuffer *buffer, size_t offset, size_t bytes, GpuError *error);
// Fills with a 32-bit pattern; `initialised` false makes it poison that initcheck reports when read.
bool gpu_fill(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, bool initialised, GpuError *error);
bool gpu_set_read_only(Gpu *gpu, const GpuBuffer *buffer, bool read_only, GpuError *error);
// True if the guard bands are intact. Otherwise `index` is the byte offset, relative to the buffer's
// first byte, of the first damaged byte (negative: before it). Always true on the emulator.
bool gpu_guards_intact(Gpu *gpu, const GpuBuffer *buffer, int64_t *index, GpuError *error);

// ---- Images and kernels -----------------------------------------------------------------------------------

// Loads an image beside those that are loaded: PTX text for the emulator, PTX or a cubin for a GPU. NULL when
// it cannot be loaded. Closing the device unloads what is left.
GpuImage *gpu_load(Gpu *gpu, const void *image, size_t bytes, const char *name, GpuError *error);
// The same once more, at another place in memory.
GpuImage *gpu_load_again(const GpuImage *image, GpuError *error);
// Its kernels are gone with it. NULL is allowed.
void gpu_unload(GpuImage *image);
// Puts every module-scope variable back to its initial value.
bool gpu_reset_variables(GpuImage *image, GpuError *error);
// The module-scope variable with exactly that name, as a buffer that is not allocated and not freed;
// gpu_write() fills it. False: there is none, or the device does not answer.
bool gpu_find_variable(GpuImage *image, const char *name, GpuBuffer *variable, GpuError *error);
// The kernel with exactly that name in the image (mangled if the image has mangled names), or NULL.
GpuKernel *gpu_find_kernel(GpuImage *image, const char *name, GpuError *error);
// Parameter layout: count, and offset and size of each, as the device sees them.
bool gpu_kernel_parameters(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]);
// Registers a thread uses: the GPU knows; the emulator is told (from ptxas).
int gpu_kernel_registers(const GpuKernel *kernel);
void gpu_kernel_set_registers(GpuKernel *kernel, int registers);

// ---- Launching --------------------------------------------------------------------------------------------

typedef struct {
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; // blocks of a cluster; 0: what the kernel asks for, or none
    uint32_t dynamic_shared;
    const void *arguments; // the parameter block, each parameter at its offset
    size_t argument_bytes;
    // For the emulator only; a GPU ignores them.
    unsigned checks; // CHECK_* of emulator.h
    bool count;
    bool timing; // for the time model: EmulatorResult.work
    uint64_t schedule;
    uint64_t max_steps;
    double max_seconds;
    size_t max_output;
    size_t trace_bytes;     // EmulatorLaunch.trace_bytes
    const uint64_t *sample; // EmulatorLaunch.sample and what follows it
    uint64_t sample_count;
    Footprint *footprint;
    int guarded_line;
    unsigned what_if;
    uint32_t most_resident;
} GpuLaunch;

// Runs one kernel to its end. True when it completed without a fault (the emulator's findings that stop
// nothing, such as races, are in `result` too). On a fault: false, and error->finding says which. `result` is
// zeroed first; on a GPU it stays empty except for `seconds` and the printf `output`. The caller releases it
// with emulator_result_free().
bool gpu_launch(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, EmulatorResult *result,
                GpuError *error);

// ---- Timing (a GPU only; the emulator answers false with a message) ---------------------------------------
//
// These calls queue work and return. What is queued runs in order, so that a region between the two marks of
// a timer includes no wait for the host, as long as the work queued before it keeps the device busy.

typedef struct GpuTimer GpuTimer;
bool gpu_timer_create(Gpu *gpu, GpuTimer **timer, GpuError *error);
void gpu_timer_free(Gpu *gpu, GpuTimer *timer);
bool gpu_timer_start(Gpu *gpu, GpuTimer *timer, GpuError *error);
bool gpu_timer_stop(Gpu *gpu, GpuTimer *timer, GpuError *error);
// Whether the device has not reached the timer's first mark yet; if so, everything since then was queued in
// time.
bool gpu_timer_is_ahead(Gpu *gpu, GpuTimer *timer, bool *is_ahead, GpuError *error);
bool gpu_launch_async(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, GpuError *error);
// The buffer must have no misalignment.
bool gpu_fill_async(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, GpuError *error);

// Waits for all that is queued.
bool gpu_synchronize(Gpu *gpu, GpuError *error);
// Waits for the timer's second mark.
bool gpu_timer_seconds(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error);

typedef enum {
    GPU_CLOCKS_FREE,
    GPU_CLOCKS_HELD, // by heat, power or the hardware's own protection: times measured now are not the GPU's
                     // normal ones
    GPU_CLOCKS_UNKNOWN, // the device or its driver does not tell
} GpuClocks;
// The current answer of the management library; `why` (may be NULL) receives the cause, or why it is not
// known. Nothing is ever set.
GpuClocks gpu_clocks(Gpu *gpu, char *why, size_t why_bytes);
