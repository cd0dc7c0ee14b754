#include "/dev/stdin"
@RIGHT_KERNEL@
