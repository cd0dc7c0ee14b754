// What nvcc declares before the first line of a kernel.cu, for clang without any of NVIDIA's files. The driver
// includes this file first (-include). What is declared here is what the CUDA C++ Programming Guide and the PTX ISA
// describe; a function that they describe and that is missing here does not exist with clang.
#pragma once

#include "warpbook/qualifiers.h"
#include "warpbook/fixed_width.h"
#include "warpbook/vectors.h"
#include "warpbook/built_in_variables.h"
#include "warpbook/barriers.h"
#include "warpbook/lanes.h"
#include "warpbook/memory.h"
#include "warpbook/atomics.h"
#include "warpbook/integers.h"
#include "warpbook/floats.h"
#include "warpbook/math.h"
#include "warpbook/library.h"
