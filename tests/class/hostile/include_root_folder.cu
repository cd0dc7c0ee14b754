#include "/"
@RIGHT_KERNEL@
