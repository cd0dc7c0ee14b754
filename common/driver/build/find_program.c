#define _GNU_SOURCE // realpath under -std=c17
#include "driver/build/find_program.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/process.h"
#include "support/system.h"

bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool text_fits(int written, size_t bytes) { return written > 0 && (size_t)written < bytes; }

bool find_in_path(const char *program, char *path, size_t path_bytes) {
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        if (length > 0 && at[0] == '/' &&
            text_fits(snprintf(path, path_bytes, "%.*s/%s", (int)length, at, program), path_bytes) &&
            is_program(path)) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

bool program_folder(int levels, char *folder, size_t bytes) {
    if (!system_program_path(folder, bytes)) return false;
    for (int i = 0; i <= levels; i++) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) return false;
        *slash = '\0';
    }
    return true;
}

static bool find_in_packages(const char *folder, const char *inner, const char *name, char *path,
                             size_t path_bytes) {
    char pattern[PATH_MAX];
    glob_t found;
    bool has_found = false;
    if (!text_fits(snprintf(pattern, sizeof pattern, "%s%s%s", folder, inner, name), sizeof pattern))
        return false;
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    for (size_t i = found.gl_pathc; i > 0 && !has_found; i--) { // the newest release sorts last
        char *whole = realpath(found.gl_pathv[i - 1], NULL);
        has_found =
            whole && is_program(whole) && text_fits(snprintf(path, path_bytes, "%s", whole), path_bytes);
        free(whole);
    }
    globfree(&found);
    return has_found;
}

bool find_in_environments(const char *name, char *path, size_t path_bytes) {
    static const char inner[] = "/lib/python3*/site-packages/";
    const char *active = getenv("VIRTUAL_ENV");
    char folder[PATH_MAX];
    if (find_in_packages(".venv", inner, name, path, path_bytes)) return true;
    for (int levels = 0; levels <= 3; levels++) {
        if (!program_folder(levels, folder, sizeof folder - sizeof "/.venv")) continue;
        strcat(folder, "/.venv");
        if (find_in_packages(folder, inner, name, path, path_bytes)) return true;
    }
    return active && find_in_packages(active, inner, name, path, path_bytes);
}

bool find_by_python(const char *name, char *path, size_t path_bytes) {
    char python[PATH_MAX];
    if (!find_in_path("python3", python, sizeof python)) return false;
    const char *arguments[] = {python, "-c",
                               "import sysconfig; print(sysconfig.get_paths()['purelib'], end='/')", NULL};
    ProcessRequest request = {.arguments = arguments, .seconds = 10, .output_limit = PATH_MAX};
    ProcessResult result;
    bool found = process_run(&request, &result) && result.output.bytes > 1 &&
                 find_in_packages(text_chars(&result.output), "", name, path, path_bytes);
    text_free(&result.output);
    return found;
}
