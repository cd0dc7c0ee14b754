// Files read and written with care: nothing is half written, nothing blocks, and every error is a sentence.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "support/text.h"

typedef enum {
    FILE_OK,
    FILE_MISSING, // no such file
    FILE_DIRECTORY,
    FILE_SPECIAL, // a FIFO, socket or device: not opened
    FILE_TOO_LARGE,
    FILE_UNREADABLE, // permissions
    FILE_UNWRITABLE, // permissions, a read-only file system
    FILE_DISK_FULL,  // or the quota
    FILE_NO_MEMORY,
    FILE_BROKEN, // any other error of the system's
} FileStatus;

typedef struct {
    FileStatus status;
    char message[640]; // a sentence with the path, for a person
} FileError;

// Writes `bytes` to a new file beside `path`, syncs it and renames it into place, so that a reader sees the
// old content or the new, never a part. On failure `path` is untouched and the new file is removed. A device
// or pipe, such as /dev/stdout, is written into.
bool write_file_atomically(const char *path, const void *bytes, size_t count, FileError *error);

// Adds the content of a regular file of at most `limit` bytes to `into`. Symbolic links are followed;
// anything except a regular file is refused without waiting for it.
bool read_regular_file(const char *path, size_t limit, Text *into, FileError *error);

// All bytes through a descriptor, however many calls it takes and signals come. False on an error, with
// errno, and for the reader also at an early end.
bool write_in_full(int descriptor, const void *bytes, size_t count);
bool read_in_full(int descriptor, void *into, size_t count);

// Makes the folder and those above it, as mkdir -p does.
bool make_directories(const char *path, FileError *error);

// Before anything is opened or printed: a standard stream that is closed becomes /dev/null, so that no file
// gets its number and its text; a reader that leaves and a limit on file sizes become errors of write(), not
// signals.
void prepare_standard_streams(void);

// Writes what printf() and the like still hold. A reader that has left a pipe is not an error.
bool flush_standard_output(FileError *error);

// Removes a folder and everything in it; links are removed, never followed. True when it is gone.
bool remove_tree(const char *path);
