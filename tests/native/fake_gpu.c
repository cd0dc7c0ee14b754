// A Gpu whose kernels are C functions, in place of common/gpu: it lets the tests show the driver a device
// that does exactly what a test wants (a wrong sum, a race, a crash, a hang, a garbled reply) without a
// compiler or an emulator. Its times are not the host's: every launch takes as long as the environment says.
//
//   FAKE_SECONDS, FAKE_REFERENCE_SECONDS   of a launch of the first image and of the second (1e-4)
//   FAKE_NOISE                             how far they spread, as a share (0)
//   FAKE_CLOCKS=held|half|unknown          held down always, for half of the samples, not known
//   FAKE_PEAK                              GB/s of the memory (0: not known)
//   FAKE_HOST=late|slow                    late until the device is kept busy for longer; always
//   FAKE_TIMER=broken|still                marks that fail; a clock that does not advance
#include "fake_gpu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/run/confine.h"

enum { GUARD_BYTES = 64, GUARD = 0xa5 };

struct GpuKernel {
    const FakeKernel *kernel;
    GpuImage *image;
    int registers;
};

struct GpuImage {
    Gpu *gpu;
    bool is_second;
    GpuKernel kernels[64];
    int kernel_count;
};

struct Gpu {
    GpuInfo info;
    int image_count;
    double clock; // seconds
    double swept; // when the last sample ended
    int samples;
};

static double number_from(const char *variable, double otherwise) {
    const char *text = getenv(variable);
    return text ? atof(text) : otherwise;
}

static bool is_set_to(const char *variable, const char *word) {
    const char *text = getenv(variable);
    return text && strcmp(text, word) == 0;
}

static bool fail(GpuError *error, const char *words) {
    *error = (GpuError){.is_machines_fault = true};
    snprintf(error->message, sizeof error->message, "%s", words);
    return false;
}

int gpu_nvidia_architecture(char *why, size_t why_bytes) {
    if (why) snprintf(why, why_bytes, "a fake has none");
    return getenv("FAKE_GPU_PRESENT") ? 90 : 0;
}

bool gpu_nvidia_present(char *why, size_t why_bytes) { return gpu_nvidia_architecture(why, why_bytes) > 0; }

bool is_fake_gpu;

Gpu *gpu_open(GpuKind kind, const char *profile, GpuError *error) {
    if (getenv("FAKE_NO_DEVICE")) {
        fail(error, "there is no device today");
        return NULL;
    }
    Gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) return NULL;
    gpu->info = (GpuInfo){.kind = kind == GPU_NVIDIA ? GPU_NVIDIA : GPU_EMULATOR,
                          .compute_major = 9,
                          .sm_count = 132,
                          .max_threads_per_block = 1024,
                          .max_threads_per_sm = 2048,
                          .max_blocks_per_sm = 32,
                          .registers_per_sm = 65536,
                          .registers_per_block = 65536,
                          .shared_per_sm = 233472,
                          .shared_per_block = 49152,
                          .shared_per_block_optin = 232448,
                          .shared_reserved_per_block = 1024,
                          .max_grid = {2147483647, 65535, 65535},
                          .max_block = {1024, 1024, 64},
                          .l2_bytes = 1 << 16,
                          .peak_gb_per_s = number_from("FAKE_PEAK", 0)};
    is_fake_gpu = kind == GPU_NVIDIA;
    snprintf(gpu->info.name, sizeof gpu->info.name, "Fake %s", profile ? profile : "H200");
    return gpu;
}

void gpu_close(Gpu *gpu) { free(gpu); }
const GpuInfo *gpu_info(const Gpu *gpu) { return &gpu->info; }

bool gpu_allocate(Gpu *gpu, size_t bytes, unsigned misalignment, const char *name, GpuBuffer *buffer,
                  GpuError *error) {
    (void)gpu;
    unsigned char *whole =
        aligned_alloc(256, (GUARD_BYTES + 256 + bytes + misalignment + GUARD_BYTES + 255) / 256 * 256);
    if (!whole) return fail(error, "out of memory");
    *buffer = (GpuBuffer){.bytes = bytes, .misalignment = misalignment, .internal = whole};
    snprintf(buffer->name, sizeof buffer->name, "%s", name);
    unsigned char *at = whole + 256 + misalignment;
    memset(at - GUARD_BYTES, GUARD, GUARD_BYTES);
    memset(at + bytes, GUARD, GUARD_BYTES);
    buffer->address = (uint64_t)(uintptr_t)at;
    return true;
}

bool gpu_adopt(Gpu *gpu, void *memory, size_t bytes, size_t period, const char *name, GpuBuffer *buffer,
               GpuError *error) {
    (void)gpu, (void)memory, (void)bytes, (void)period, (void)name, (void)buffer;
    return fail(error, "a GPU has its own memory");
}

bool gpu_free(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    (void)gpu, (void)error;
    free(buffer->internal);
    return true;
}

static unsigned char *memory(const GpuBuffer *buffer) { return (unsigned char *)(uintptr_t)buffer->address; }

bool gpu_write(Gpu *gpu, const GpuBuffer *buffer, size_t offset, const void *from, size_t bytes,
               GpuError *error) {
    (void)gpu, (void)error;
    memcpy(memory(buffer) + offset, from, bytes);
    return true;
}

bool gpu_read(Gpu *gpu, void *to, const GpuBuffer *buffer, size_t offset, size_t bytes, GpuError *error) {
    (void)gpu, (void)error;
    memcpy(to, memory(buffer) + offset, bytes);
    return true;
}

bool gpu_fill(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, bool initialised, GpuError *error) {
    (void)gpu, (void)initialised, (void)error;
    for (size_t i = 0; i < buffer->bytes; i++) memory(buffer)[i] = (unsigned char)(pattern >> (8 * (i % 4)));
    return true;
}

bool gpu_set_read_only(Gpu *gpu, const GpuBuffer *buffer, bool read_only, GpuError *error) {
    (void)gpu, (void)buffer, (void)read_only, (void)error;
    return true;
}

bool gpu_guards_intact(Gpu *gpu, const GpuBuffer *buffer, int64_t *index, GpuError *error) {
    (void)gpu, (void)error;
    for (int64_t i = -GUARD_BYTES; i < (int64_t)buffer->bytes + GUARD_BYTES; i++) {
        if (i == 0) i = (int64_t)buffer->bytes;
        if (memory(buffer)[i] == GUARD) continue;
        *index = i;
        return false;
    }
    return true;
}

GpuImage *gpu_load(Gpu *gpu, const void *text, size_t bytes, const char *name, GpuError *error) {
    (void)text, (void)bytes;
    GpuImage *image = calloc(1, sizeof *image);
    if (!image) {
        fail(error, "out of memory");
        return NULL;
    }
    image->gpu = gpu;
    image->is_second = strcmp(name, "sweep") != 0 && gpu->image_count++ == 1;
    for (const FakeKernel *kernel = fake_kernels; kernel->name; kernel++)
        image->kernels[image->kernel_count++] = (GpuKernel){.kernel = kernel, .image = image};
    return image;
}

GpuImage *gpu_load_again(const GpuImage *image, GpuError *error) {
    GpuImage *again = gpu_load(image->gpu, "", 0, "sweep", error);
    if (again) again->is_second = image->is_second;
    return again;
}

void gpu_unload(GpuImage *image) { free(image); }

bool gpu_reset_variables(GpuImage *image, GpuError *error) {
    (void)image, (void)error;
    return true;
}

bool gpu_find_variable(GpuImage *image, const char *name, GpuBuffer *variable, GpuError *error) {
    (void)image, (void)name, (void)variable;
    return fail(error, "no such variable");
}

GpuKernel *gpu_find_kernel(GpuImage *image, const char *name, GpuError *error) {
    for (int i = 0; i < image->kernel_count; i++)
        if (strcmp(image->kernels[i].kernel->name, name) == 0) return &image->kernels[i];
    fail(error, "no such kernel");
    return NULL;
}

bool gpu_kernel_parameters(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]) {
    *count = 0;
    size_t offset = 0;
    for (const char *c = kernel->kernel->parameters; *c; c++) { // 'p' pointer, 'l' 8 bytes, 'i' 4 bytes
        size_t size = *c == 'i' ? 4 : 8;
        offset = (offset + size - 1) / size * size;
        offsets[*count] = offset;
        sizes[(*count)++] = size;
        offset += size;
    }
    return true;
}

int gpu_kernel_registers(const GpuKernel *kernel) { return kernel->registers; }
void gpu_kernel_set_registers(GpuKernel *kernel, int registers) { kernel->registers = registers; }

bool gpu_launch(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, EmulatorResult *result,
                GpuError *error) {
    (void)gpu;
    *result = (EmulatorResult){0};
    *error = (GpuError){0};
    Finding finding = {.warp = -1, .lane = -1};
    kernel->kernel->run(launch, result, &finding);
    result->lane_instructions += 100;
    result->completed = true;
    if (finding.kind == FINDING_NONE) return true;
    result->findings = calloc(1, sizeof finding);
    if (!result->findings) return fail(error, "out of memory");
    result->findings[0] = finding;
    result->finding_count = 1;
    result->findings_total = 1;
    if (!finding.fatal) return true;
    error->finding = finding.kind;
    error->is_context_lost = getenv("FAKE_CONTEXT_LOST") != NULL;
    snprintf(error->message, sizeof error->message, "%.1000s", finding.message);
    return false;
}

// ---- Times ------------------------------------------------------------------------------------------------

struct GpuTimer {
    double began, ended;
};

// Spread evenly around 1, always in the same order.
static double spread(void) {
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1 + number_from("FAKE_NOISE", 0) * ((double)(state >> 11) * 0x1p-52 - 1);
}

bool gpu_timer_create(Gpu *gpu, GpuTimer **timer, GpuError *error) {
    (void)gpu, (void)error;
    *timer = calloc(1, sizeof **timer);
    return *timer != NULL;
}

void gpu_timer_free(Gpu *gpu, GpuTimer *timer) {
    (void)gpu;
    free(timer);
}

bool gpu_timer_start(Gpu *gpu, GpuTimer *timer, GpuError *error) {
    (void)error;
    timer->began = gpu->clock;
    return true;
}

bool gpu_timer_stop(Gpu *gpu, GpuTimer *timer, GpuError *error) {
    timer->ended = gpu->clock;
    return is_set_to("FAKE_TIMER", "broken") ? fail(error, "the event could not be recorded") : true;
}

bool gpu_timer_is_ahead(Gpu *gpu, GpuTimer *timer, bool *is_ahead, GpuError *error) {
    (void)error;
    *is_ahead = !is_set_to("FAKE_HOST", "slow") &&
                !(is_set_to("FAKE_HOST", "late") && timer->began - gpu->swept < 3e-4);
    gpu->swept = gpu->clock;
    return true;
}

bool gpu_timer_seconds(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error) {
    (void)gpu, (void)error;
    *seconds = timer->ended - timer->began;
    return true;
}

bool gpu_launch_async(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, GpuError *error) {
    EmulatorResult result;
    bool fine = gpu_launch(gpu, kernel, launch, &result, error);
    emulator_result_free(&result);
    const char *variable = kernel->image->is_second ? "FAKE_REFERENCE_SECONDS" : "FAKE_SECONDS";
    if (!is_set_to("FAKE_TIMER", "still")) gpu->clock += number_from(variable, 1e-4) * spread();
    return fine;
}

bool gpu_fill_async(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, GpuError *error) {
    return gpu_fill(gpu, buffer, pattern, true, error);
}

bool gpu_synchronize(Gpu *gpu, GpuError *error) {
    (void)gpu, (void)error;
    return true;
}

GpuClocks gpu_clocks(Gpu *gpu, char *why, size_t why_bytes) {
    gpu->samples++;
    why[0] = '\0';
    if (is_set_to("FAKE_CLOCKS", "unknown")) {
        snprintf(why, why_bytes, "a fake has no clocks");
        return GPU_CLOCKS_UNKNOWN;
    }
    // Both samples of a pair, or neither.
    if (!is_set_to("FAKE_CLOCKS", "held") &&
        !(is_set_to("FAKE_CLOCKS", "half") && (gpu->samples - 1) / 2 % 2))
        return GPU_CLOCKS_FREE;
    snprintf(why, why_bytes, "heat");
    return GPU_CLOCKS_HELD;
}

// Its kernels hang, crash and leave files, as real ones could not.
bool confine_runner(void) { return false; }
