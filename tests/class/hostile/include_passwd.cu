#include "/etc/passwd"
@RIGHT_KERNEL@
