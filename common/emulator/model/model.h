// The time model: how long a GPU would take for a kernel that the emulator has run.
//
// It has three stages:
//   cost.c         which machine instructions each PTX instruction becomes: issue slots, pipe, latency
//   warp_clocks.c  while blocks run on the emulator (launch.timing): how long each warp's chain of dependent
//                  operations is; and, in sectors.c, which sectors were touched before, by which warp, and
//                  how long ago
//   time.c         from that work, the launch shape and a device (device.c): seconds, and what they go to
// what_if.c changes that work to what it would be with more loads in flight.
// scale.c finds the work of a large launch from that of smaller ones.
// docs/time-model.md explains the terms, and how well they agree with a GPU.
#pragma once

#include "emulator/model/device.h"
#include "emulator/model/scale.h"
#include "emulator/model/time.h"
#include "emulator/model/what_if.h"
#include "emulator/model/work.h"
