#include "@FIFO@"
@RIGHT_KERNEL@
