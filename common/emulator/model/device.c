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
    .first_access = 1.577e-6,
    .next_launch = 2.309e-6,
    .code = 1.095e-9,
    .block = 5.945e-10,
    .warp_cycles = 11.32,
    .l2_latency = 287,
    .dram_latency = 754.9,
    .dram_latency_spread = 136.3,
    .overlap = 1.853,
    .overlap_written = 1.861,
    .dram_read = 0.98,
    .dram_write = 0.99,
    .dram_scattered = 0.4608,
    .dram_mixed = 0.06377,
    .dirty_bytes = 1.037e7,
    .l2_line = 8.54e-12,
    .l2_sector = 2e-13,
    .l2_local = 5.515,
    .l2_usable = 0.6201,
    .issue = 3.699,
    .alu = 2,
    .special = 0.5,
    .doubles = 2,
    .store_line = 4.076,
    .wavefront = 1.048,
    .sharing = 1.818,
    .queued = 10.51,
    .together = 0.9434,
    .parties = 0.5771,
    .atomic_word = 7.35e-10,
    .atomic_sector = 5.93e-10,
    .atomic_float = 1.76e-9,
    .atomic_l2 = 1e-11,
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
