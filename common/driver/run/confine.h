// A runner on the emulator reads untrusted PTX. From then on it needs only memory and its socket to the
// driver, and gives up everything else. Even if an error in the emulator let a kernel take over the runner,
// the kernel would have no access to files, processes or the network.
#pragma once

#include <stdbool.h>

// From here on every other system call of this process fails with EPERM. False, with nothing changed, if the
// system cannot do this or a sanitizer needs more.
bool confine_runner(void);
