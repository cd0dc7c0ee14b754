// Machine code as text, by NVIDIA's ptxas and nvdisasm.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "support/text.h"

// Adds what nvdisasm prints of an image. PTX goes through ptxas first, for sm_`architecture` or for what its
// own .target says where that is newer; `target` receives its name, "sm_90". Seconds. False, with the reason
// and what to do in `why`, where a tool is missing or fails.
bool disassemble(const char *image, bool is_ptx, const char *ptx, int architecture, char target[16],
                 Text *code, char *why, size_t why_bytes);
