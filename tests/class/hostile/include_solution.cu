#include "@BOOK@/solutions/ch01_single_thread/kernel.cu"
@RIGHT_KERNEL@
