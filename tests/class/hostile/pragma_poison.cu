#pragma GCC poison launch_sum_single
#pragma push_macro("LAUNCH")
@RIGHT_KERNEL@
