#include "driver/plan/host_kind.h"

#include <stddef.h>
#include <string.h>

// The worst first.
static const HostKind kinds[] = {
    {"HOST_ACCESS", VERDICT_FAULT, "uses device memory on the host",
     "A pointer from cudaMalloc is an address of the device: the host can only hand it on, to copies and "
     "kernels."},
    {"HOST_POINTER", VERDICT_FAULT, "gives the device a pointer of the host",
     "Memory from malloc, new or a local variable has no address on the device."},
    {"COPY_DIRECTION", VERDICT_FAULT, "copies in another direction than it says",
     "The fourth argument of cudaMemcpy says where the two pointers belong: cudaMemcpyHostToDevice is from "
     "host memory "
     "to device memory."},
    {"COPY_SIZE", VERDICT_OOB, "copies past the end of memory",
     "Sizes of allocations and copies are in bytes: the number of elements times sizeof(float)."},
    {"USE_AFTER_FREE", VERDICT_OOB, "uses memory that it has freed", "Free memory after its last use."},
    {"BAD_FREE", VERDICT_FAULT, "frees memory that it cannot free",
     "What cudaMalloc and cudaMallocManaged allocate is freed once, with cudaFree; what cudaMallocHost "
     "allocates, with "
     "cudaFreeHost."},
    {"BAD_CALL", VERDICT_FAULT, "uses a stream or an event that it has destroyed",
     "Destroy streams and events after their last use."},
    {"BAD_LAUNCH", VERDICT_LAUNCH, "asks for a launch that is not possible",
     "A launch with an impossible shape returns an error, and its kernel does not run."},
    {"UNORDERED", VERDICT_RACE, "uses memory in two streams without an order",
     "Work in two streams runs at the same time, or in any order, unless an event, a wait or the default "
     "stream orders "
     "it."},
    {"READ_TOO_EARLY", VERDICT_RACE, "uses memory on the host before the device is done with it",
     "Launches and asynchronous copies return before their work is done: the host has to wait for the "
     "stream, for an "
     "event or for the device."},
    {"UNCHECKED", VERDICT_FAULT, "continues after a call that failed",
     "A call that fails has not done its work, and everything after it computes with what is not there."},
    {"LEAK", VERDICT_RESOURCE, "does not free what it allocates",
     "Memory that is never freed is missing to everything that runs later in the same process."},
};

const HostKind *host_kind(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}
