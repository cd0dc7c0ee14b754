#define _GNU_SOURCE // getrlimit
#include "support/memory_left.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

// The number behind `label` in a file, times `unit`; SIZE_MAX if there is none. An empty label: the first
// number.
static size_t number_in(const char *path, const char *label, size_t unit) {
    char line[256];
    size_t found = SIZE_MAX;
    FILE *file = fopen(path, "r");
    if (!file) return SIZE_MAX;
    while (found == SIZE_MAX && fgets(line, sizeof line, file)) {
        unsigned long long value;
        if (!strncmp(line, label, strlen(label)) && sscanf(line + strlen(label), "%llu", &value) == 1)
            found = (size_t)value * unit;
    }
    fclose(file);
    return found;
}

// What `used` leaves of `limit`.
static size_t rest(size_t limit, size_t used) {
    if (limit == SIZE_MAX || used == SIZE_MAX) return SIZE_MAX;
    return limit > used ? limit - used : 0;
}

size_t memory_left(void) {
    struct rlimit own;
    const size_t limit =
        getrlimit(RLIMIT_AS, &own) || own.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (size_t)own.rlim_cur;
    const size_t left[] = {
        number_in("/proc/meminfo", "MemAvailable:", 1024),
        rest(number_in("/sys/fs/cgroup/memory.max", "", 1),
             number_in("/sys/fs/cgroup/memory.current", "", 1)),
        rest(number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1),
             number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes", "", 1)),
        limit == SIZE_MAX ? SIZE_MAX : rest(limit, number_in("/proc/self/status", "VmSize:", 1024)),
    };
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) least = left[i] < least ? left[i] : least;
    return least;
}
