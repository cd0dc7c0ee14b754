// Device figures. What NVIDIA publishes for a compute capability (threads, blocks, registers and shared
// memory of an SM) is in the CUDA C++ Programming Guide, appendix "Compute Capabilities", table "Technical
// Specifications per Compute Capability", and in the toolkit's cuda_occupancy.h; what belongs to one product
// (SMs, clocks, memory, L2) has its source beside it. The memory clock is the one that the driver reports:
// two transfers a clock, so that bandwidth = 2 * clock * bus / 8.
#include "gpu/profiles.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define GIB(count) ((size_t)(count) << 30)
#define MIB(count) ((size_t)(count) << 20)

// `make model-report` compares these, rounded up to whole 5 %, with what it finds.
static const double never_compared = 0.30;

// The same on every device of compute capability 5.0 or newer.
#define COMMON                                                                                               \
    .kind = GPU_EMULATOR, .max_threads_per_block = 1024, .registers_per_sm = 65536,                          \
    .registers_per_block = 65536, .shared_per_block = 49152, .max_grid = {2147483647, 65535, 65535},         \
    .max_block = {1024, 1024, 64}

#define COMPUTE_7_5                                                                                          \
    COMMON, .compute_major = 7, .compute_minor = 5, .max_threads_per_sm = 1024, .max_blocks_per_sm = 16,     \
            .shared_per_sm = 65536, .shared_per_block_optin = 65536, .shared_reserved_per_block = 0
#define COMPUTE_8_0                                                                                          \
    COMMON, .compute_major = 8, .compute_minor = 0, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,     \
            .shared_per_sm = 167936, .shared_per_block_optin = 166912, .shared_reserved_per_block = 1024
#define COMPUTE_8_6                                                                                          \
    COMMON, .compute_major = 8, .compute_minor = 6, .max_threads_per_sm = 1536, .max_blocks_per_sm = 16,     \
            .shared_per_sm = 102400, .shared_per_block_optin = 101376, .shared_reserved_per_block = 1024
#define COMPUTE_8_9                                                                                          \
    COMMON, .compute_major = 8, .compute_minor = 9, .max_threads_per_sm = 1536, .max_blocks_per_sm = 24,     \
            .shared_per_sm = 102400, .shared_per_block_optin = 101376, .shared_reserved_per_block = 1024
#define COMPUTE_9_0                                                                                          \
    COMMON, .compute_major = 9, .compute_minor = 0, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,     \
            .shared_per_sm = 233472, .shared_per_block_optin = 232448, .shared_reserved_per_block = 1024
#define COMPUTE_10_0                                                                                         \
    COMMON, .compute_major = 10, .compute_minor = 0, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,    \
            .shared_per_sm = 233472, .shared_per_block_optin = 232448, .shared_reserved_per_block = 1024
#define COMPUTE_12_0                                                                                         \
    COMMON, .compute_major = 12, .compute_minor = 0, .max_threads_per_sm = 1536, .max_blocks_per_sm = 24,    \
            .shared_per_sm = 102400, .shared_per_block_optin = 101376, .shared_reserved_per_block = 1024

const GpuProfile gpu_profiles[] = {
    {"H200",
     {COMPUTE_9_0, .name = "NVIDIA H200", .sm_count = 132, .l2_bytes = (int)MIB(60),
      .memory_clock_khz = 3201000, .memory_bus_bits = 6016, .peak_gb_per_s = 4814,
      .memory_bytes = MIB(143771)},
     .clock_khz = 1980000,
     .is_measured = true,
     .is_judged = true,
     .error_band = 0.15,
     .source = "an H200 under driver 580: cuDeviceGetAttribute, nvidia-smi, clocks seen under load"},
    {"H100",
     {COMPUTE_9_0, .name = "NVIDIA H100 SXM", .sm_count = 132, .l2_bytes = (int)MIB(50),
      .memory_clock_khz = 2619000, .memory_bus_bits = 5120, .peak_gb_per_s = 3352, .memory_bytes = GIB(80)},
     .clock_khz = 1980000,
     .is_measured = true,
     .is_judged = true,
     .error_band = 0.15,
     .source = "NVIDIA H100 Tensor Core GPU datasheet (3.35 TB/s, 80 GB) and Hopper architecture white paper "
               "(132 SMs, 50 MB L2); an H100 under driver 580 has the same"},
    {"A100",
     {COMPUTE_8_0, .name = "NVIDIA A100-SXM4-80GB", .sm_count = 108, .l2_bytes = (int)MIB(40),
      .memory_clock_khz = 1593000, .memory_bus_bits = 5120, .peak_gb_per_s = 2039, .memory_bytes = GIB(80)},
     .clock_khz = 1410000,
     .is_judged = true,
     .source = "NVIDIA A100 datasheet (2,039 GB/s, 80 GB) and Ampere GA100 white paper (108 SMs, 40 MB L2, "
               "1,410 MHz)"},
    {"L4",
     {COMPUTE_8_9, .name = "NVIDIA L4", .sm_count = 58, .l2_bytes = (int)MIB(48), .memory_clock_khz = 6251000,
      .memory_bus_bits = 192, .peak_gb_per_s = 300, .memory_bytes = GIB(24)},
     .clock_khz = 2040000,
     .is_judged = true,
     .source = "NVIDIA L4 product brief (300 GB/s, 192 bit, 2,040 MHz, 24 GB, 48 MB L2); 58 SMs of AD104"},
    {"T4",
     {COMPUTE_7_5, .name = "Tesla T4", .sm_count = 40, .l2_bytes = (int)MIB(4), .memory_clock_khz = 5001000,
      .memory_bus_bits = 256, .peak_gb_per_s = 320, .memory_bytes = GIB(16)},
     .clock_khz = 1590000,
     .is_judged = true,
     .source = "NVIDIA T4 product brief (320 GB/s, 256 bit, 1,590 MHz, 16 GB) and Turing white paper (40 "
               "SMs, 4 MB L2)"},
    {"T400",
     {COMPUTE_7_5, .name = "NVIDIA T400", .sm_count = 6, .l2_bytes = (int)MIB(1), .memory_clock_khz = 5001000,
      .memory_bus_bits = 64, .peak_gb_per_s = 80, .memory_bytes = GIB(4)},
     .clock_khz = 1425000,
     .is_judged = true,
     .source =
         "NVIDIA T400 datasheet (384 cores, 64 bit, 80 GB/s, 4 GB); 1,425 MHz and 1 MB L2 as reviews of the "
         "TU117 state. The fewest SMs: loops over a grid need few elements for several rounds"},
    {"RTX 5090",
     {COMPUTE_12_0, .name = "NVIDIA GeForce RTX 5090", .sm_count = 170, .l2_bytes = (int)MIB(96),
      .memory_clock_khz = 14001000, .memory_bus_bits = 512, .peak_gb_per_s = 1792, .memory_bytes = GIB(32)},
     .clock_khz = 2407000,
     .is_judged = true,
     .source = "NVIDIA RTX Blackwell architecture white paper, appendix A (170 SMs, 96 MB L2, 1,792 GB/s, "
               "2,407 MHz)"},
    {"RTX 5070 Ti",
     {COMPUTE_12_0, .name = "NVIDIA GeForce RTX 5070 Ti", .sm_count = 70, .l2_bytes = (int)MIB(48),
      .memory_clock_khz = 14001000, .memory_bus_bits = 256, .peak_gb_per_s = 896, .memory_bytes = GIB(16)},
     .clock_khz = 2452000,
     .is_judged = true,
     .source =
         "NVIDIA RTX Blackwell architecture white paper, appendix B (70 SMs, 48 MB L2, 896 GB/s, 2,452 MHz)"},
    {"RTX 5060",
     {COMPUTE_12_0, .name = "NVIDIA GeForce RTX 5060", .sm_count = 30, .l2_bytes = (int)MIB(32),
      .memory_clock_khz = 14001000, .memory_bus_bits = 128, .peak_gb_per_s = 448, .memory_bytes = GIB(8)},
     .clock_khz = 2497000,
     .is_judged = true,
     .source = "NVIDIA's GeForce RTX 5060 product page (3,840 cores, 128 bit, 448 GB/s, 2,497 MHz); 32 MB L2 "
               "as reviews of the GB206 state"},
    {"B200",
     {COMPUTE_10_0, .name = "NVIDIA B200", .sm_count = 148, .l2_bytes = (int)(MIB(253) / 2),
      .memory_clock_khz = 3996000, .memory_bus_bits = 7680, .peak_gb_per_s = 7672,
      .memory_bytes = MIB(182630)},
     .clock_khz = 1965000,
     .source = "device attributes as the pytorch/ao project reports them (issue 4002: 148 SMs, 7,680 bit, "
               "3,996 MHz, 126.5 MB L2, 178.35 GB); 1,965 MHz as nvidia-smi of others shows"},
    {"RTX 4090",
     {COMPUTE_8_9, .name = "NVIDIA GeForce RTX 4090", .sm_count = 128, .l2_bytes = (int)MIB(72),
      .memory_clock_khz = 10501000, .memory_bus_bits = 384, .peak_gb_per_s = 1008, .memory_bytes = GIB(24)},
     .clock_khz = 2520000,
     .source =
         "NVIDIA Ada GPU architecture white paper, appendix A (128 SMs, 72 MB L2, 1,008 GB/s, 2,520 MHz)"},
    {"RTX 4070",
     {COMPUTE_8_9, .name = "NVIDIA GeForce RTX 4070", .sm_count = 46, .l2_bytes = (int)MIB(36),
      .memory_clock_khz = 10501000, .memory_bus_bits = 192, .peak_gb_per_s = 504, .memory_bytes = GIB(12)},
     .clock_khz = 2475000,
     .source =
         "NVIDIA's GeForce RTX 4070 product page (5,888 cores, 192 bit, 12 GB, 2,475 MHz); 504 GB/s and "
         "36 MB L2 as reviews of it state"},
    {"RTX 4060",
     {COMPUTE_8_9, .name = "NVIDIA GeForce RTX 4060", .sm_count = 24, .l2_bytes = (int)MIB(24),
      .memory_clock_khz = 8501000, .memory_bus_bits = 128, .peak_gb_per_s = 272, .memory_bytes = GIB(8)},
     .clock_khz = 2460000,
     .source =
         "NVIDIA's GeForce RTX 4060 product page (3,072 cores, 128 bit, 272 GB/s, 24 MB L2, 2,460 MHz)"},
    {"RTX 3090",
     {COMPUTE_8_6, .name = "NVIDIA GeForce RTX 3090", .sm_count = 82, .l2_bytes = (int)MIB(6),
      .memory_clock_khz = 9751000, .memory_bus_bits = 384, .peak_gb_per_s = 936, .memory_bytes = GIB(24)},
     .clock_khz = 1695000,
     .source = "NVIDIA Ampere GA102 white paper, appendix A (82 SMs, 6 MB L2, 936 GB/s, 1,695 MHz)"},
    {"RTX 3060",
     {COMPUTE_8_6, .name = "NVIDIA GeForce RTX 3060", .sm_count = 28, .l2_bytes = (int)MIB(3),
      .memory_clock_khz = 7501000, .memory_bus_bits = 192, .peak_gb_per_s = 360, .memory_bytes = GIB(12)},
     .clock_khz = 1777000,
     .is_judged = true,
     .source =
         "NVIDIA's GeForce RTX 3060 product page (3,584 cores, 192 bit, 12 GB, 1,777 MHz); 360 GB/s and "
         "3 MB L2 as reviews of the GA106 state"},
};

const int gpu_profile_count = (int)(sizeof gpu_profiles / sizeof gpu_profiles[0]);
const double gpu_link_bytes_per_s = 16 * 32e9 / 8 * 128 / 130;

void gpu_profile_device(const GpuProfile *profile, EmulatorDevice *device) {
    const GpuInfo *info = &profile->info;
    *device = (EmulatorDevice){
        .compute_major = info->compute_major,
        .compute_minor = info->compute_minor,
        .sm_count = info->sm_count,
        .max_threads_per_block = info->max_threads_per_block,
        .max_threads_per_sm = info->max_threads_per_sm,
        .max_blocks_per_sm = info->max_blocks_per_sm,
        .registers_per_sm = info->registers_per_sm,
        .registers_per_block = info->registers_per_block,
        .registers_per_thread = 255, // CUDA C++ Programming Guide, "Compute Capabilities"
        .shared_per_sm = info->shared_per_sm,
        .shared_per_block = info->shared_per_block,
        .shared_per_block_optin = info->shared_per_block_optin,
        .shared_reserved_per_block = info->shared_reserved_per_block,
        .clock_khz = profile->clock_khz,
        .global_bytes = info->memory_bytes,
    };
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, info->name);
    memcpy(device->max_grid, info->max_grid, sizeof device->max_grid);
    memcpy(device->max_block, info->max_block, sizeof device->max_block);
}

double gpu_peak_tflop_per_s(const GpuInfo *info, int clock_khz) {
    const int version = 10 * info->compute_major + info->compute_minor;
    const double lanes = version == 75 || version == 80 ? 64 : 128;
    return 2e-9 * lanes * info->sm_count * clock_khz;
}

void gpu_profile_model(const GpuProfile *profile, ModelDevice *device) {
    const GpuInfo *info = &profile->info;
    const ModelFigures figures = {
        .sm_count = info->sm_count,
        .clock_khz = profile->clock_khz,
        .compute_major = info->compute_major,
        .compute_minor = info->compute_minor,
        .max_threads_per_sm = info->max_threads_per_sm,
        .max_blocks_per_sm = info->max_blocks_per_sm,
        .registers_per_sm = info->registers_per_sm,
        .shared_per_sm = info->shared_per_sm,
        .shared_reserved_per_block = info->shared_reserved_per_block,
        .l2_bytes = info->l2_bytes,
        .peak_gb_per_s = info->peak_gb_per_s,
    };
    model_device(&figures, device);
}

// The next character that counts in a name, in lower case; '\0' at the end.
static char next_character(const char **at) {
    while (**at == ' ' || **at == '-' || **at == '_') (*at)++;
    char c = **at;
    if (c) (*at)++;
    return (char)tolower((unsigned char)c);
}

static bool is_same_name(const char *a, const char *b) {
    for (;;) {
        char left = next_character(&a), right = next_character(&b);
        if (left != right) return false;
        if (left == '\0') return true;
    }
}

const GpuProfile *gpu_profile_find(const char *name) {
    if (!name) return &gpu_profiles[0];
    for (int i = 0; i < gpu_profile_count; i++) {
        if (is_same_name(name, gpu_profiles[i].name) || is_same_name(name, gpu_profiles[i].info.name)) {
            return &gpu_profiles[i];
        }
    }
    return NULL;
}

double gpu_error_band(const GpuProfile *profile) {
    return profile && profile->error_band > 0 ? profile->error_band : never_compared;
}

void gpu_profile_refuse(const char *name, char *why, size_t why_bytes) {
    char known[512] = "";
    for (int i = 0; i < gpu_profile_count; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", gpu_profiles[i].name);
    }
    snprintf(why, why_bytes, "no device profile is called %.100s; there are: %s", name, known);
}
