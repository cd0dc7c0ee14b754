// A process beside this one that runs compilers, and clears up where it is told to end.
#pragma once

#include <signal.h>
#include <sys/types.h>

// As fork(). In the new process *cancel becomes non-zero by a signal that asks it to end, or, where the
// system tells, when this process has ended.
pid_t process_beside(const volatile sig_atomic_t **cancel);
// Asks it to end, if it has not ended by itself, and waits for that.
void process_beside_stop(pid_t process);
