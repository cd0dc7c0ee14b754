// The constants of devices.
//
// The H200's are measured. Some are read off its clock one by one (bench/variants/calibrate.cu); the others
// are those with which the model comes closest to the times of all kernels in bench/records/NVIDIA-H200.json
// (`make model-fit`). None belongs to a kernel.
#include "emulator/model/device.h"

// An H200 at 1,980 MHz. Constants that transfer to other devices are in units that do: cycles of an SM,
// shares of a published figure, or lines and sectors per SM and cycle.
static const ModelDevice hopper = {
    .launch = 2.7e-6,
    .first_access = 1.592e-6,
    .next_launch = 2.362e-6,
    .code = 8.615e-10,
    .block = 5.955e-10,
    .warp_cycles = 10.96,
    .l2_latency = 287,
    .dram_latency = 754.2,
    .dram_latency_spread = 134.9,
    .overlap = 1.862,
    .overlap_written = 1.802,
    .dram_read = 0.98,
    .dram_write = 0.99,
    .dram_scattered = 0.6311,
    .dram_mixed = 0.064,
    .dirty_bytes = 1.064e7,
    .l2_line = 7.944e-12,
    .l2_sector = 2e-13,
    .l2_local = 5.883,
    .l2_usable = 0.5797,
    .issue = 3.712,
    .alu = 2,
    .special = 0.5,
    .doubles = 2,
    .store_line = 4.04,
    .wavefront = 1.044,
    .sharing = 1.863,
    .queued = 10.27,
    .together = 0.8557,
    .parties = 0.6478,
    .atomic_word = 7.35e-10,
    .atomic_sector = 5.93e-10,
    .atomic_float = 1.76e-9,
    .atomic_l2 = 1e-11,
    .told = 4e-7,
    .told_plainly = 3e-6,
};
static const double hopper_sms = 132, hopper_clock = 1.98e9;

// L1 and shared memory of an SM together: CUDA C++ Programming Guide, "Compute Capabilities", the paragraphs
// on shared memory of each.
static double l1_bytes(int major, int minor) {
    switch (10 * major + minor) {
    case 75: return 96 << 10;
    case 80: return 192 << 10;
    case 90:
    case 100: return 256 << 10;
    default: return 128 << 10;
    }
}

void model_device(const ModelFigures *f, ModelDevice *d) {
    *d = hopper;
    d->sm_count = f->sm_count;
    d->clock_hz = 1e3 * f->clock_khz;
    d->warps_per_sm = f->max_threads_per_sm / 32.0;
    d->blocks_per_sm = f->max_blocks_per_sm;
    d->registers_per_sm = f->registers_per_sm;
    d->shared_per_sm = f->shared_per_sm;
    d->shared_reserved_per_block = f->shared_reserved_per_block;
    d->l1_bytes = l1_bytes(f->compute_major, f->compute_minor);
    d->l2_bytes = f->l2_bytes;
    d->peak_bytes_per_s = 1e9 * f->peak_gb_per_s;
    if (f->compute_major == 9) return;

    // Not measured. Latencies in nanoseconds are much the same from one device to the next; the L2 grows with
    // the SMs that it serves, and keeps pace with their clock.
    double clock = d->clock_hz / hopper_clock, size = d->sm_count / hopper_sms;
    d->l2_latency *= clock;
    d->dram_latency *= clock;
    d->dram_latency_spread *= clock;
    d->block /= clock;
    d->l2_line /= clock * size;
    d->l2_sector /= clock * size;
    d->atomic_word /= clock;
    d->atomic_sector /= clock;
    d->atomic_float /= clock;
    d->atomic_l2 /= clock * size;
    d->dirty_bytes *= f->l2_bytes / (60 << 20);
    // Throughput of native arithmetic instructions, CUDA C++ Programming Guide: doubles a clock and SM are 64
    // on compute capability 8.0, 9.0 and 10.0 and 2 on the others.
    const int version = f->compute_major * 10 + f->compute_minor;
    if (version != 80 && version != 100) d->doubles = 2.0 / 32;
}
