#include __FILE__
@RIGHT_KERNEL@
