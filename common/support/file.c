#define _GNU_SOURCE // O_CLOEXEC, mkostemp
#include "support/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool __attribute__((format(printf, 3, 4)))
fail(FileError *error, FileStatus status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

// What errno means for a person who wanted to `verb` ("read", "write", "make") the file.
static bool fail_errno(FileError *error, const char *verb, const char *path, int number) {
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return fail(error, FILE_MISSING, "cannot %s %s: there is no such file or folder", verb, path);
    case EISDIR: return fail(error, FILE_DIRECTORY, "cannot %s %s: it is a folder", verb, path);
    case EACCES:
    case EPERM:
    case EROFS:
        return fail(error, strcmp(verb, "read") == 0 ? FILE_UNREADABLE : FILE_UNWRITABLE, "cannot %s %s: %s",
                    verb, path, number == EROFS ? "the file system is read-only" : "permission denied");
    case ENOSPC:
    case EDQUOT:
        return fail(error, FILE_DISK_FULL, "cannot %s %s: %s", verb, path,
                    number == ENOSPC ? "the disk is full" : "your disk quota is used up");
    case EFBIG:
        return fail(error, FILE_DISK_FULL, "cannot %s %s: the limit on file sizes is too low (ulimit -f)",
                    verb, path);
    case EMFILE:
    case ENFILE:
        return fail(error, FILE_BROKEN, "cannot %s %s: the limit on open files is too low (ulimit -n)", verb,
                    path);
    case ENOMEM: return fail(error, FILE_NO_MEMORY, "cannot %s %s: out of memory", verb, path);
    default: return fail(error, FILE_BROKEN, "cannot %s %s: %s", verb, path, strerror(number));
    }
}

void prepare_standard_streams(void) {
    int descriptor;
    do descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0) close(descriptor);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool flush_standard_output(FileError *error) {
    static int first; // what the first failure said; the stream remembers only that there was one
    const bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (!is_written && !first) first = errno;
    return is_written || first == EPIPE || fail_errno(error, "write", "standard output", first);
}

bool write_in_full(int descriptor, const void *bytes, size_t count) {
    const char *at = bytes;
    while (count > 0) {
        const ssize_t written = write(descriptor, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        at += written;
        count -= (size_t)written;
    }
    return true;
}

bool read_in_full(int descriptor, void *into, size_t count) {
    char *at = into;
    while (count > 0) {
        const ssize_t got = read(descriptor, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        count -= (size_t)got;
    }
    return true;
}

// Closes what was written, well or not, and says whether all was well; errno tells what was not.
static bool close_written(int descriptor, bool good) {
    int number = errno;
    if (close(descriptor) != 0 && good) return false;
    errno = number;
    return good;
}

// Writes into a device or pipe, such as /dev/stdout, which a new file of that name would otherwise replace:
// for root, /dev/null too. Nobody reading a pipe is an error and no wait.
static bool write_special(const char *path, const void *bytes, size_t count, FileError *error) {
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0 && errno == ENXIO) {
        return fail(error, FILE_UNWRITABLE, "cannot write %s: it is a pipe without a reader, or a socket",
                    path);
    }
    if (descriptor < 0) return fail_errno(error, "write", path, errno);
    int flags = fcntl(descriptor, F_GETFL);
    bool good = flags >= 0 && fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
                write_in_full(descriptor, bytes, count);
    return close_written(descriptor, good) || fail_errno(error, "write", path, errno);
}

bool write_file_atomically(const char *path, const void *bytes, size_t count, FileError *error) {
    *error = (FileError){0};
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return write_special(path, bytes, count, error);
    }
    Text name = {0};
    const char *slash = strrchr(path, '/');
    int folder_length = slash ? (int)(slash - path) + 1 : 0;
    if (!path[folder_length])
        return fail(error, FILE_DIRECTORY, "cannot write %s: %s", path,
                    slash ? "it names a folder" : "the name of a file is empty");
    text_printf(&name, "%.*s.%s.XXXXXX", folder_length, path, path + folder_length);
    char *new_path = text_take(&name);
    if (!new_path) return fail(error, FILE_NO_MEMORY, "cannot write %s: out of memory", path);

    int descriptor = mkostemp(new_path, O_CLOEXEC);
    if (descriptor < 0) {
        fail_errno(error, "write", path, errno);
        free(new_path);
        return false;
    }
    mode_t mask = umask(0);
    umask(mask);
    // The content must have reached the disk before the name does, or a crash leaves an empty file.
    bool good = fchmod(descriptor, 0666 & ~mask) == 0 && write_in_full(descriptor, bytes, count) &&
                fsync(descriptor) == 0;
    good = close_written(descriptor, good) && rename(new_path, path) == 0;
    if (!good) {
        int number = errno;
        unlink(new_path);
        fail_errno(error, "write", path, number);
    }
    free(new_path);
    return good;
}

bool read_regular_file(const char *path, size_t limit, Text *into, FileError *error) {
    *error = (FileError){0};
    // Opening a FIFO would wait for its writer, and opening a device may do anything: look first.
    struct stat status;
    if (stat(path, &status) != 0) return fail_errno(error, "read", path, errno);
    if (S_ISDIR(status.st_mode)) return fail_errno(error, "read", path, EISDIR);
    const char *not_a_file = "cannot read %s: it is not an ordinary file (a pipe, socket or device)";
    if (!S_ISREG(status.st_mode)) return fail(error, FILE_SPECIAL, not_a_file, path);

    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return fail_errno(error, "read", path, errno);
    bool good = true;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        good = fail(error, FILE_SPECIAL, not_a_file, path);
    }
    size_t before = into->bytes;
    while (good) {
        char chunk[65536];
        ssize_t count = read(descriptor, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) good = fail_errno(error, "read", path, errno);
        if (count <= 0) break;
        if ((size_t)count > limit - (into->bytes - before)) {
            good = fail(error, FILE_TOO_LARGE, "%s is too large: it has more than %zu bytes", path, limit);
            break;
        }
        text_add_bytes(into, chunk, (size_t)count);
        if (into->failed) good = fail(error, FILE_NO_MEMORY, "cannot read %s: out of memory", path);
    }
    close(descriptor);
    return good;
}

bool make_directories(const char *path, FileError *error) {
    *error = (FileError){0};
    char *copy = strdup(path);
    if (!copy) return fail(error, FILE_NO_MEMORY, "cannot make %s: out of memory", path);
    size_t length = strlen(copy);
    bool good = length > 0 || fail(error, FILE_MISSING, "a folder must have a name");
    for (size_t i = 1; good && i <= length; i++) {
        if (copy[i] != '/' && copy[i] != '\0') continue;
        char end = copy[i];
        copy[i] = '\0';
        if (mkdir(copy, 0777) != 0) {
            int number = errno;
            struct stat status;
            // A read-only file system reports that even for folders that exist.
            bool is_there = stat(copy, &status) == 0;
            if (is_there && !S_ISDIR(status.st_mode)) {
                good = fail(error, FILE_BROKEN, "cannot make the folder %s: %s is a file", path, copy);
            } else if (!is_there) {
                good = fail_errno(error, "make the folder", copy, number);
            }
        }
        copy[i] = end;
    }
    free(copy);
    return good;
}

static bool remove_entries(int parent, const char *name, int depth) {
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *listing = folder < 0 ? NULL : fdopendir(folder);
    if (!listing) {
        if (folder >= 0) close(folder);
        return unlinkat(parent, name, 0) == 0; // no folder, or a link to one
    }
    bool good = true;
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(folder, entry->d_name, 0) == 0) continue;
        if (depth == 0 || !remove_entries(folder, entry->d_name, depth - 1)) good = false;
    }
    closedir(listing);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 && good;
}

bool remove_tree(const char *path) { return remove_entries(AT_FDCWD, path, 32); }
