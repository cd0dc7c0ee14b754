// Functions are part of what every kernel.cu has already (warpbook/math.h).
#pragma once
