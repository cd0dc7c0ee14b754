// Compiled and linked by `make check-ports`, and never run by us: docs/platforms.md.
#include "support/system.h"

#ifdef __APPLE__

#include <fcntl.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

bool system_program_path(char *path, size_t bytes) {
    uint32_t room = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    char found[4096], real[4096];
    uint32_t found_room = sizeof found;
    if (_NSGetExecutablePath(found, &found_room) != 0 || !realpath(found, real)) return false;
    return snprintf(path, room, "%s", real) < (int)room;
}

void system_run_again(const char *name, const char *argument) {
    char path[4096];
    uint32_t room = sizeof path;
    if (_NSGetExecutablePath(path, &room) == 0) execl(path, name, argument, (char *)NULL);
}

void system_end_with_parent(int signal) { (void)signal; }

void system_adopt_orphans(void) {}

bool system_signal_children(int signal) {
    (void)signal;
    return false;
}

static bool close_on_exec(int ends[2]) {
    return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

bool system_pipe(int ends[2]) { return pipe(ends) == 0 && close_on_exec(ends); }

bool system_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && close_on_exec(ends);
}

int system_memory_file(const char *name) {
    char path[64];
    (void)name;
    snprintf(path, sizeof path, "/tmp/warpbook.XXXXXX");
    const int file = mkstemp(path);
    if (file < 0) return -1;
    unlink(path);
    fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
}

struct timespec system_modified(const struct stat *status) {
    return status->st_mtimespec;
}

size_t system_memory_left(void) {
    vm_statistics64_data_t pages;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&pages, &count) != KERN_SUCCESS)
        return SIZE_MAX;
    return ((size_t)pages.free_count + pages.inactive_count) * (size_t)sysconf(_SC_PAGESIZE);
}

size_t system_address_space(void) { return SIZE_MAX; }

void system_keep_freed_memory(void) {}

#endif
