#include "/proc/1/cmdline"
@RIGHT_KERNEL@
