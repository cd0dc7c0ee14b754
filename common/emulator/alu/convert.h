// What the three files of cvt share.
#pragma once

#include "emulator/alu/float_lanes.h"

#define CVT_WORDS                                                                                            \
    (ROUNDINGS | INTEGER_ROUNDINGS | W(ftz) | W(sat) | W(relu) | W(satfinite) | W(rna) | W(pack) |           \
     W(e4m3x2) | W(e5m2x2))

// Bytes of one lane of a cvt operand: its register's, which may be wider than the type, or the type's own.
unsigned convert_lane_bytes(const PtxOperand *operand, PtxType type);

bool convert_float_to_float(const AluForm *f, Selection *s); // convert_float.c
bool convert_packed(const AluForm *f, Selection *s);         // convert_packed.c

// Rounding to an integral value.
static inline double integral_nearest(double x) { return rint(x); }
static inline double integral_zero(double x) { return trunc(x); }
static inline double integral_down(double x) { return floor(x); }
static inline double integral_up(double x) { return ceil(x); }
