#pragma GCC dependency "@OTHER@" is newer
@RIGHT_KERNEL@
