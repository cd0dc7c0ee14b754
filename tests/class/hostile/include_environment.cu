#include "/proc/self/environ"
@RIGHT_KERNEL@
