#include "/dev/zero"
@RIGHT_KERNEL@
