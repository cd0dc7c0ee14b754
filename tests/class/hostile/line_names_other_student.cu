@RIGHT_KERNEL@
#line 1 "@OTHER@"
this is no CUDA
