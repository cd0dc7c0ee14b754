#include "@SECRET@"
@RIGHT_KERNEL@
