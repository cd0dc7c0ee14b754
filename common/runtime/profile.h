// Counters and modelled times of every kernel, summed over its launches, as JSON at the end.
#pragma once

#include "emulator/emulator.h"
#include "emulator/model/model.h"

void profile_add(const char *kernel, const uint32_t grid[3], const uint32_t block[3],
                 const EmulatorResult *result, const ModelEstimate *estimate);
// Writes the file that WARPBOOK_PROFILE names.
void profile_end(void);
