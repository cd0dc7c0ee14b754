#include "@OTHER@"
@RIGHT_KERNEL@
