// What the operating systems do in different ways. system_linux.c and system_macos.c each implement all of
// it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

// The absolute path of the program that this process runs. False if it is longer than `bytes` or unknown.
bool system_program_path(char *path, size_t bytes);

// Replaces this process by a fresh one of its own program, even if the file has been renamed or replaced
// since. Returns only on an error. Safe between fork and exec.
void system_run_again(const char *name, const char *argument);

// Sends this process the signal when its parent ends. macOS has nothing of the kind: there a runner ends when
// it reads the end of its socket, and a compiler at its limit of processor time. Safe between fork and exec.
void system_end_with_parent(int signal);

// This process becomes the parent of what loses its own parent below it. Does nothing on macOS.
void system_adopt_orphans(void);

// Sends every child of this process the signal. False if the system does not list them.
bool system_signal_children(int signal);

// A pipe and a pair of connected stream sockets, whose ends close on exec. False with errno.
bool system_pipe(int ends[2]);
bool system_socket_pair(int ends[2]);

// A file of this process alone, without a name, for memory that is shared with a child. -1 with errno.
int system_memory_file(const char *name);

// When the file was last written.
struct timespec system_modified(const struct stat *status);

// Bytes of memory that the system, and what it confines this process to, have left. SIZE_MAX if unknown.
size_t system_memory_left(void);

// Bytes of address space that this process uses. SIZE_MAX if unknown.
size_t system_address_space(void);

// Lowers a limit of setrlimit(2), hard and soft, and never raises it. Safe between fork and exec.
void system_limit(int resource, size_t most);

// This process keeps the memory that it frees for what it allocates next. Otherwise the system takes back
// that of every large buffer, and clears each page again for the next one. Does nothing where the allocator
// has no choice.
void system_keep_freed_memory(void);
