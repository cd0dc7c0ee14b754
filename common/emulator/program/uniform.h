// Which registers have one value in all lanes of a warp.
#pragma once

#include "emulator/program/program.h"

// By register of the function: whether its value may differ from lane to lane. `are_loads_uniform`: what is
// read from one address is one value. To be freed; NULL without memory.
bool *find_varying(const PtxFunction *function, bool are_loads_uniform);
// Whether an operand has one value in all lanes.
bool is_uniform(const PtxOperand *operand, const bool *varies);
