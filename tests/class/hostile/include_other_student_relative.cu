#include "../other/kernel.cu"
@RIGHT_KERNEL@
