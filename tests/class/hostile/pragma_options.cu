#pragma GCC optimize("O0")
#pragma GCC diagnostic error "-Wall"
#pragma GCC system_header
#pragma nv_diag_suppress 20012
#pragma comment(compiler, "-Xcompiler -fplugin=@OTHER@")
@RIGHT_KERNEL@
