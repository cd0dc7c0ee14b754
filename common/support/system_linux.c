#define _GNU_SOURCE
#include "support/system.h"

#ifdef __linux__

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

bool system_program_path(char *path, size_t bytes) {
    const ssize_t length = readlink("/proc/self/exe", path, bytes);
    if (length <= 0 || (size_t)length >= bytes) return false;
    path[length] = '\0';
    return true;
}

void system_run_again(const char *name, const char *argument) {
    execl("/proc/self/exe", name, argument, (char *)NULL);
}

void system_end_with_parent(int signal) { prctl(PR_SET_PDEATHSIG, signal); }

void system_adopt_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

bool system_signal_children(int signal) {
    FILE *children = fopen("/proc/thread-self/children", "re");
    if (!children) return false;
    for (int pid; fscanf(children, "%d", &pid) == 1;) kill((pid_t)pid, signal);
    fclose(children);
    return true;
}

bool system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

bool system_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0; }

int system_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

struct timespec system_modified(const struct stat *status) {
    return status->st_mtim;
}

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

// What the used bytes leave of a control group's limit.
static size_t left_in_group(const char *limit_path, const char *used_path) {
    const size_t limit = number_in(limit_path, "", 1), used = number_in(used_path, "", 1);
    if (limit == SIZE_MAX || used == SIZE_MAX) return SIZE_MAX;
    return limit > used ? limit - used : 0;
}

size_t system_memory_left(void) {
    const size_t left[] = {
        number_in("/proc/meminfo", "MemAvailable:", 1024),
        left_in_group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        left_in_group("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                      "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    };
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) least = left[i] < least ? left[i] : least;
    return least;
}

size_t system_address_space(void) { return number_in("/proc/self/status", "VmSize:", 1024); }

void system_keep_freed_memory(void) {
#ifdef __GLIBC__
    enum { LARGEST_KEPT = 32 << 20 }; // bytes: glibc takes no larger one
    mallopt(M_MMAP_THRESHOLD, LARGEST_KEPT);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

#endif
