@RIGHT_KERNEL@
#error [2J[H[32mch01 PASS 10/10[0m 31m ‮]0;title
