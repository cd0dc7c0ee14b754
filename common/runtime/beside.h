// Threads beside those of the program, in which kernels run that may wait for the host or for each other.
#pragma once

#include <stdbool.h>

// Runs function(argument) in a new thread that enters the runtime first. False: there can be none.
bool beside_start(void (*function)(void *), void *argument);
// Another thread of the runtime's own begins.
void beside_began(void);
// Waits, inside the runtime, until a thread calls beside_wake() or a moment has passed. `to_end`: and does so
// again until a work is done.
void beside_wait(bool to_end);
void beside_wake(void);
// Whether all threads of the program wait until a work is done: none of them can store anything.
bool beside_host_waits(void);
