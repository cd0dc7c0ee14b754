#define _GNU_SOURCE // realpath under -std=c17
#include "driver/build/find_clang.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/build/find_program.h"
#include "support/file.h"
#include "support/process.h"
#include "support/sha256.h"

// Of the headers in common/include/clang: the oldest release that has every built-in function they use.
enum { OLDEST_CLANG = 18, HEADER_LIMIT = 1 << 20 };

static const char zig_in_packages[] = "ziglang/zig";

bool toolchain_is_zig(const char *program) {
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, "zig") == 0;
}

// What `clang ARGUMENT` prints, "" when it does not run.
static void ask(const char *program, const char *argument, Text *output) {
    const char *arguments[4] = {program};
    int count = 1;
    if (toolchain_is_zig(program)) arguments[count++] = "clang";
    arguments[count++] = argument;
    ProcessRequest request = {.arguments = arguments, .seconds = 10, .output_limit = 64 * 1024};
    ProcessResult result;
    if (process_run(&request, &result)) text_add(output, text_chars(&result.output));
    text_free(&result.output);
}

// "clang version 22.1.8" or "Debian clang version 14.0.6".
static bool read_version(const char *program, char version[64]) {
    Text output = {0};
    ask(program, "--version", &output);
    const char *at = strstr(text_chars(&output), "clang version ");
    version[0] = '\0';
    if (at) snprintf(version, 64, "%.*s", (int)strspn(at + 14, "0123456789."), at + 14);
    text_free(&output);
    return version[0] != '\0';
}

static bool has_target(const char *program) {
    Text output = {0};
    ask(program, "--print-targets", &output);
    const bool has = strstr(text_chars(&output), "nvptx64") != NULL;
    text_free(&output);
    return has;
}

// A clang on PATH is asked for its release and its targets: distributions leave some out.
static bool find_on_path(Toolchain *toolchain, char *why, size_t why_bytes) {
    if (!find_in_path("clang", toolchain->compiler, sizeof toolchain->compiler)) return false;
    if (!read_version(toolchain->compiler, toolchain->version)) {
        snprintf(why, why_bytes, "%s does not print its version", toolchain->compiler);
    } else if (atoi(toolchain->version) < OLDEST_CLANG) {
        snprintf(why, why_bytes, "%s is release %s, and %d is the oldest that compiles kernels",
                 toolchain->compiler, toolchain->version, OLDEST_CLANG);
    } else if (!has_target(toolchain->compiler)) {
        snprintf(why, why_bytes, "%s has no NVPTX target", toolchain->compiler);
    } else {
        return true;
    }
    return false;
}

static bool find_program(Toolchain *toolchain, char *why, size_t why_bytes) {
    const char *wanted = getenv("WARPBOOK_CLANG");
    char *path = toolchain->compiler;
    const size_t bytes = sizeof toolchain->compiler;
    if (wanted && *wanted) {
        char *whole = realpath(wanted, NULL);
        const bool good = whole && is_program(whole) && strlen(whole) < bytes;
        if (good) strcpy(path, whole);
        free(whole);
        if (good && read_version(path, toolchain->version)) return true;
        snprintf(why, why_bytes, "WARPBOOK_CLANG is %s, which is not a clang: correct or unset it", wanted);
        return false;
    }
    why[0] = '\0';
    bool found = find_in_environments(zig_in_packages, path, bytes);
    if (!found && find_on_path(toolchain, why, why_bytes)) return true;
    found = found || find_by_python(zig_in_packages, path, bytes);
    if (found && read_version(path, toolchain->version)) return true;
    if (found) {
        snprintf(why, why_bytes, "%s does not run; to install it again, run: make clean && make setup", path);
        return false;
    }
    char reason[1200];
    snprintf(reason, sizeof reason, "%s%.1000s", why[0] ? ": " : "", why);
    snprintf(why, why_bytes,
             "there is no clang for CUDA on this machine%s; to download one, run: make COMPILER=clang tools",
             reason);
    return false;
}

// ---- Our headers -----------------------------------------------------------------------------------------

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

// Adds the names and texts of the headers below `folder`.
static bool add_headers(const char *folder, int depth, Text *all) {
    struct dirent **entries = NULL;
    const int count = depth > 4 ? -1 : scandir(folder, &entries, NULL, by_name);
    bool good = count >= 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat status;
        const bool is_hidden = entries[i]->d_name[0] == '.';
        if (!is_hidden && good &&
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path &&
            stat(path, &status) == 0) {
            Text text = {0};
            FileError ignored;
            if (S_ISDIR(status.st_mode)) {
                good = add_headers(path, depth + 1, all);
            } else if (read_regular_file(path, HEADER_LIMIT, &text, &ignored)) {
                text_printf(all, "%s %zu\n", entries[i]->d_name, text.bytes);
                text_add_bytes(all, text_chars(&text), text.bytes);
            }
            text_free(&text);
        }
        free(entries[i]);
    }
    free(entries);
    return good;
}

bool find_clang(Toolchain *toolchain, const char *include_directory, char *why, size_t why_bytes) {
    char folder[PATH_MAX], hash[65];
    struct stat status;
    toolchain->kind = COMPILER_CLANG;
    if (!find_program(toolchain, why, why_bytes)) return false;
    snprintf(folder, sizeof folder, "%s/clang", include_directory);
    char *whole = realpath(folder, NULL);
    Text all = {0};
    const bool good = whole && strlen(whole) < sizeof toolchain->headers && add_headers(whole, 0, &all) &&
                      all.bytes > 0 && !all.failed && stat(toolchain->compiler, &status) == 0;
    if (good) {
        strcpy(toolchain->headers, whole);
        sha256_hex(text_chars(&all), all.bytes, hash);
        snprintf(toolchain->identity, sizeof toolchain->identity, "%s %lld %lld headers %.16s",
                 toolchain->compiler, (long long)status.st_size, (long long)status.st_mtime, hash);
    } else {
        snprintf(why, why_bytes, "the headers for clang were not found in %s", folder);
    }
    text_free(&all);
    free(whole);
    return good;
}
