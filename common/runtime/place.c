#define _GNU_SOURCE // dladdr, posix_spawn
#include "runtime/place.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

// The start of the library or program that an address lies in; NULL: none.
static void *object_of(const void *address, const char **path) {
    Dl_info info;
    if (!dladdr(address, &info)) return NULL;
    if (path) *path = info.dli_fname;
    return info.dli_fbase;
}

typedef struct {
    Place *place;
    int count;
    const void *own; // this library
} Walk;

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument) {
    Walk *walk = argument;
    void *address = (void *)_Unwind_GetIP(context);
    if (!address) return _URC_END_OF_STACK;
    if (object_of(address, NULL) != walk->own) walk->place->frames[walk->count++] = address;
    return walk->count < PLACE_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void place_here(Place *place) {
    *place = (Place){0};
    Walk walk = {.place = place, .own = object_of((void *)(uintptr_t)place_here, NULL)};
    _Unwind_Backtrace(take_frame, &walk);
}

// ---- Lines ------------------------------------------------------------------------------------------------

// Runs addr2line (of binutils, which the linker of the program belongs to) on one address and reads its
// answer: a line "file:line", and one more for each function that was inlined around it. The caller may be a
// signal handler: of memory, only the stack is used.
static bool ask_addr2line(const char *path, uintptr_t offset, char *answer, size_t answer_bytes) {
    char address[32];
    snprintf(address, sizeof address, "0x%lx", (unsigned long)offset);
    char *arguments[] = {"addr2line", "-i", "-e", (char *)(uintptr_t)path, address, NULL};
    int ends[2];
    if (pipe(ends)) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    pid_t child;
    const bool runs = posix_spawnp(&child, "addr2line", &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t count = 0;
    for (ssize_t got = 1; runs && got > 0 && count < answer_bytes - 1; count += (size_t)got) {
        got = read(ends[0], answer + count, answer_bytes - 1 - count);
        if (got < 0) got = 0;
    }
    close(ends[0]);
    answer[count] = '\0';
    int status = 1;
    if (runs) waitpid(child, &status, 0);
    return status == 0;
}

// The same, without another process for an address that was asked for before: a mistake in a loop is at few
// places, but each report and its notes name them.
static bool ask(const char *path, uintptr_t offset, char *answer, size_t answer_bytes) {
    enum { MOST_KNOWN = 128 };
    static struct {
        const char *path; // the loader's, one for each object
        uintptr_t offset;
        char answer[512];
    } known[MOST_KNOWN];
    static int count;
    for (int i = 0; i < count; i++) {
        if (known[i].path != path || known[i].offset != offset) continue;
        snprintf(answer, answer_bytes, "%s", known[i].answer);
        return true;
    }
    if (!ask_addr2line(path, offset, answer, answer_bytes)) return false;
    const size_t bytes = strlen(answer) + 1;
    if (count < MOST_KNOWN && bytes <= sizeof known->answer) {
        known[count].path = path;
        known[count].offset = offset;
        memcpy(known[count++].answer, answer, bytes);
    }
    return true;
}

// CUDA's own headers, which wrap many calls in templates, and nvcc's stubs.
static bool is_wrapper(const char *file) {
    static const char *const parts[] = {"/cuda_runtime.h", "/crt/", "/cccl/", "cudafe1.stub.c",
                                        "/include/c++/"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(file, parts[i])) return true;
    return false;
}

// Cuts "file:line (discriminator 3)" behind the file. False if it is unknown, or not the program's own
// source.
static bool read_line(char *answer, int *line) {
    char *colon = strrchr(answer, ':');
    if (!colon || answer[0] == '?' || is_wrapper(answer)) return false;
    *line = (int)strtol(colon + 1, NULL, 10);
    if (*line) *colon = '\0';
    return *line != 0;
}

const char *place_short(const char *path) {
    static char folder[4096];
    if (path[0] != '/' || !getcwd(folder, sizeof folder)) return path;
    const size_t length = strlen(folder);
    return !strncmp(path, folder, length) && path[length] == '/' ? path + length + 1 : path;
}

bool place_line(const Place *place, char *file, size_t file_bytes, int *line) {
    *line = 0;
    snprintf(file, file_bytes, "the program");
    for (int i = 0; i < PLACE_FRAMES && place->frames[i]; i++) {
        const char *path;
        // The call itself is before the address that it returns to.
        const uintptr_t address = (uintptr_t)place->frames[i] - 1;
        const void *base = object_of((void *)address, &path);
        if (!base || strstr(path, "/libc.so") || strstr(path, "/libstdc++")) continue;
        if (i == 0) snprintf(file, file_bytes, "%s", path);
        // Addresses in a position-independent file count from its start.
        Dl_info info;
        const bool is_fixed = dladdr((void *)address, &info) && (uintptr_t)base == 0x400000;
        char answer[4096];
        if (!ask(path, is_fixed ? address : address - (uintptr_t)base, answer, sizeof answer)) continue;
        for (char *at = answer, *rest; (rest = strchr(at, '\n')); at = rest + 1) {
            *rest = '\0';
            if (!read_line(at, line)) continue;
            snprintf(file, file_bytes, "%s", place_short(at));
            return true;
        }
    }
    return false;
}

void place_text(const Place *place, char *text, size_t text_bytes) {
    char file[4096];
    int line;
    if (place_line(place, file, sizeof file, &line)) {
        snprintf(text, text_bytes, "%s:%d", file, line);
        return;
    }
    Dl_info info;
    if (place->frames[0] && dladdr(place->frames[0], &info) && info.dli_sname)
        snprintf(text, text_bytes, "%s + 0x%lx of %s", info.dli_sname,
                 (unsigned long)((uintptr_t)place->frames[0] - (uintptr_t)info.dli_saddr), info.dli_fname);
    else
        snprintf(text, text_bytes, "%s", file);
}
