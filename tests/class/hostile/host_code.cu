// Nothing of this is device code, so nothing of it ever runs.
#include <cstdio>
#include <cstdlib>
static int touched = (std::system("touch @TOUCHED@"), 0);
__attribute__((constructor)) static void before_main() { std::system("touch @TOUCHED@"); }
__attribute__((destructor)) static void after_main() { std::remove("@OTHER@"); }
int main() { return std::puts("PASS") + touched; }
@RIGHT_KERNEL@
