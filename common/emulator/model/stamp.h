// A point on a warp's clock, and the trips that are in it: their length is a matter of the device and its
// load.
#pragma once

#include "emulator/model/work.h"

// Cycles that decide which of two chains is the longer one; the time model puts in the device's own.
static const double nominal_l2 = 270, nominal_dram = 700;

// `at` has the trips in it, at their nominal length.
typedef struct {
    double at;
    float l2_trips, dram_trips;
} Stamp;

static inline Stamp later(Stamp a, Stamp b) { return b.at > a.at ? b : a; }

static inline Stamp after(Stamp start, double cycles) {
    start.at += cycles;
    return start;
}

static inline Stamp after_l2(Stamp start) {
    start.at += nominal_l2;
    start.l2_trips += 1;
    return start;
}

static inline Stamp after_dram(Stamp start) {
    start.at += nominal_dram;
    start.dram_trips += 1;
    return start;
}

static inline ModelTime time_of(Stamp stamp) {
    return (ModelTime){stamp.at - nominal_l2 * (double)stamp.l2_trips -
                           nominal_dram * (double)stamp.dram_trips,
                       (double)stamp.l2_trips, (double)stamp.dram_trips};
}
