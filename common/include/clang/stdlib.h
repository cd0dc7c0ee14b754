// Part of what every kernel.cu has already: see warpbook/cuda.h.
#pragma once
