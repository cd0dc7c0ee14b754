// How fast a task is, in bytes that must move over time, and how that compares with the reference: measured
// on a GPU or modelled from what the emulator counted. One struct for both, so that goals, page and JSON need
// not know which; every view says which it was.
#pragma once

#include "driver/plan/chapter.h"
#include "driver/plan/timed_size.h"
#include "gpu/gpu.h"

typedef enum { BANDWIDTH_NONE, BANDWIDTH_MEASURED, BANDWIDTH_MODELLED } BandwidthKind;

typedef enum {
    BANDWIDTH_UNAVAILABLE,    // `words` says why; of the rest only task and size hold
    BANDWIDTH_DECIDED,        // the ratio's interval lies on one side of full_bandwidth_ratio, or there is no
                              // reference; what is modelled is always decided
    BANDWIDTH_TOO_NOISY,      // the interval holds full_bandwidth_ratio
    BANDWIDTH_UNTRUSTED_TIME, // faster than the memory can be: something was not done
} BandwidthState;

// Of the reference's bandwidth: from here on a kernel is as good as the reference.
static const double full_bandwidth_ratio = 0.95;

// 0 stands for what is not known, in every number below.
typedef struct {
    BandwidthKind kind;
    BandwidthState state;
    char words[320]; // unavailable, untrusted: why; else a remark, or ""
    int task;        // index
    CaseSize size;
    char device[128];  // measured: the GPU; modelled: the one whose profile was taken
    double bytes;      // that must move in one run
    double operations; // of floats, that one run has to do; 0: the task does not count them
    double seconds;    // of one run; measured: the median
    double gb_per_s;
    double peak_gb_per_s;    // of the device's memory, from clock and bus width
    double peak_tflop_per_s; // of its float units, at the highest clock
    double ceiling_gb_per_s; // the most that a kernel of ours read on this device in the same run

    char reference[160]; // the file it is compared with, as shown to people; "": none
    double reference_seconds, reference_gb_per_s;
    double ratio;                 // gb_per_s / reference_gb_per_s
    double ratio_low, ratio_high; // measured: an interval at 99.9 %, and 60 ns a run for
                                  // where the code lies; modelled: both equal to ratio

    // Measured
    int samples; // of the kernel, and as many of the reference
    int launches_per_sample;
    int dropped;                 // samples taken while the clock was throttled
    char throttle[128];          // "": it was watched; else why it could not be
    double *raw, *reference_raw; // seconds of every sample, `samples` each; NULL: not kept. Owned

    // Modelled
    double error_band; // of `seconds` and what follows from it: GpuProfile. It is not the ratio's
    double longer; // if its blocks take longer at this size than at smaller ones: `seconds` in terms of what
                   // follows from these
    char limiter[200]; // "bytes in flight: 16 KiB an SM, 40 KiB would fill it"
} Bandwidth;

// The bytes that must move in one run of that shape.
double bytes_that_must_move(const Task *task, const CaseShape *shape);

// The float operations of one run of that shape; 0: the task does not count them.
double operations_to_do(const Task *task, const CaseShape *shape);
// 1e12 operations a second, and as a part of the device's peak; NaN where that is not known.
double bandwidth_tflop_per_s(const Bandwidth *bandwidth);
double bandwidth_peak_share(const Bandwidth *bandwidth);

// Fills in what follows from seconds, bytes and reference_seconds: gb_per_s, and where there is a reference
// its bandwidth and the ratio; the interval shrinks to the ratio unless `ratio_low` is already set.
void bandwidth_complete(Bandwidth *bandwidth);
// The least time in which the bytes can move at the memory's peak and the operations be done: inputs come
// from memory, and of the outputs a cacheful may still wait to be written. 0: nothing can be said. `may_hit`:
// a cache may hold inputs that fit into it, so that nothing can be said of these.
double bandwidth_least_seconds(const Task *task, const CaseShape *shape, const GpuInfo *device, bool may_hit);
// Untrusted if it is below that: some of the work was not done.
void bandwidth_distrust(Bandwidth *bandwidth, double least_seconds);
// Whether it would be full if the blocks took no longer at this size than at smaller ones.
bool bandwidth_is_lost_by_size(const Bandwidth *bandwidth);
// An unavailable one. `words` is a sentence without a full stop: "the emulator measures no times".
void bandwidth_unavailable(Bandwidth *bandwidth, int task, CaseSize size, const char *words);
bool bandwidth_is_known(const Bandwidth *bandwidth); // it has a gb_per_s
