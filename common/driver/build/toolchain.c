#define _GNU_SOURCE // realpath under -std=c17
#include "driver/build/toolchain.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/process.h"
#include "support/system.h"

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool fits(int written, size_t bytes) { return written > 0 && (size_t)written < bytes; }

// Looks the program up in PATH. Empty parts (the working folder, which holds learners' files) are passed
// over.
static bool find_in_path(const char *program, char *path, size_t path_bytes) {
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        if (length > 0 && at[0] == '/' &&
            fits(snprintf(path, path_bytes, "%.*s/%s", (int)length, at, program), path_bytes) &&
            is_program(path)) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

// The folder so many levels above the one this program is in: the checkout, for ./chNN with 0, for
// build/bin/NAME with 2 and for build/sanitize/bin/NAME with 3.
static bool program_folder(int levels, char *folder, size_t bytes) {
    if (!system_program_path(folder, bytes)) return false;
    for (int i = 0; i <= levels; i++) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) return false;
        *slash = '\0';
    }
    return true;
}

// NVIDIA's wheels install a toolkit in site-packages/nvidia/cu13: bin/nvcc, nvvm/bin/cicc and include, which
// nvcc finds relative to itself.
static bool find_in_packages(const char *program, const char *folder, const char *inner, char *path,
                             size_t path_bytes) {
    char pattern[PATH_MAX];
    glob_t found;
    bool has_found = false;
    if (!fits(snprintf(pattern, sizeof pattern, "%s%snvidia/cu*/bin/%s", folder, inner, program),
              sizeof pattern))
        return false;
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    for (size_t i = found.gl_pathc; i > 0 && !has_found; i--) { // the newest release sorts last
        char *whole = realpath(found.gl_pathv[i - 1], NULL);
        has_found = whole && is_program(whole) && fits(snprintf(path, path_bytes, "%s", whole), path_bytes);
        free(whole);
    }
    globfree(&found);
    return has_found;
}

// Where `python3` keeps its packages, for a machine whose packages are already there. A matter of tens of
// milliseconds, so it comes last.
static bool find_by_python(const char *program, char *path, size_t path_bytes) {
    char python[PATH_MAX];
    if (!find_in_path("python3", python, sizeof python)) return false;
    const char *arguments[] = {python, "-c",
                               "import sysconfig; print(sysconfig.get_paths()['purelib'], end='/')", NULL};
    ProcessRequest request = {.arguments = arguments, .seconds = 10, .output_limit = PATH_MAX};
    ProcessResult result;
    bool found = process_run(&request, &result) && result.output.bytes > 1 &&
                 find_in_packages(program, text_chars(&result.output), "", path, path_bytes);
    text_free(&result.output);
    return found;
}

// A program of the toolkit: the variable's, else the first of PATH, /usr/local/cuda/bin, and NVIDIA's wheels
// in .venv, $VIRTUAL_ENV and where `python3` keeps its packages. False when there is none: `why` then says
// that the variable is wrong, or stays empty.
static bool find_program(const char *program, const char *variable, char *path, size_t path_bytes, char *why,
                         size_t why_bytes) {
    const char *wanted = getenv(variable);
    why[0] = '\0';
    if (wanted && *wanted) {
        char *whole = realpath(wanted, NULL);
        bool good = whole && is_program(whole) && fits(snprintf(path, path_bytes, "%s", whole), path_bytes);
        free(whole);
        if (!good)
            snprintf(why, why_bytes, "%s is %s, which is not a program: correct or unset it", variable,
                     wanted);
        return good;
    }
    if (find_in_path(program, path, path_bytes)) return true;
    if (fits(snprintf(path, path_bytes, "/usr/local/cuda/bin/%s", program), path_bytes) && is_program(path))
        return true;

    static const char inner[] = "/lib/python3*/site-packages/";
    const char *active = getenv("VIRTUAL_ENV");
    char folder[PATH_MAX];
    if (find_in_packages(program, ".venv", inner, path, path_bytes)) return true;
    for (int levels = 0; levels <= 3; levels++) {
        if (!program_folder(levels, folder, sizeof folder - sizeof "/.venv")) continue;
        strcat(folder, "/.venv");
        if (find_in_packages(program, folder, inner, path, path_bytes)) return true;
    }
    if (active && find_in_packages(program, active, inner, path, path_bytes)) return true;
    return find_by_python(program, path, path_bytes);
}

static bool find_nvcc(char *path, size_t path_bytes, char *why, size_t why_bytes) {
    if (find_program("nvcc", "WARPBOOK_NVCC", path, path_bytes, why, why_bytes)) return true;
    if (!why[0])
        snprintf(why, why_bytes,
                 "there is no CUDA compiler (nvcc) on this machine; to download NVIDIA's, run: make tools");
    return false;
}

bool find_nvdisasm(char *path, size_t path_bytes, char *why, size_t why_bytes) {
    if (find_program("nvdisasm", "WARPBOOK_NVDISASM", path, path_bytes, why, why_bytes)) return true;
    if (!why[0])
        snprintf(why, why_bytes,
                 "there is no nvdisasm on this machine, which shows machine code; to download NVIDIA's "
                 "(6 MB), run: make nvdisasm");
    return false;
}

// nvcc preprocesses with a C++ compiler, gcc unless told otherwise.
static bool find_host_compiler(Toolchain *toolchain, char *why, size_t why_bytes) {
    static const char *const others[] = {"g++", "clang++", "clang", "c++", "cc"};
    const char *wanted = getenv("NVCC_CCBIN");
    if (wanted && *wanted) return true; // nvcc reads it itself
    char *path = toolchain->host_compiler;
    // The Makefile's stand-in for a gcc that lacks C++ (mk/host); it is there only where it is needed.
    char *stand_in = realpath("build/ccbin/gcc", NULL), folder[PATH_MAX], beside[PATH_MAX + 32];
    for (int levels = 0; levels <= 3 && !stand_in; levels++) {
        if (!program_folder(levels, folder, sizeof folder)) continue;
        snprintf(beside, sizeof beside, "%s/build/ccbin/gcc", folder);
        stand_in = realpath(beside, NULL);
    }
    bool found = stand_in && is_program(stand_in) &&
                 fits(snprintf(path, sizeof toolchain->host_compiler, "%s", stand_in),
                      sizeof toolchain->host_compiler);
    free(stand_in);
    if (found) return true;
    if (find_in_path("gcc", path, sizeof toolchain->host_compiler)) {
        path[0] = '\0';
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (find_in_path(others[i], path, sizeof toolchain->host_compiler)) return true;
    }
    snprintf(why, why_bytes,
             "nvcc needs a C++ compiler and there is none on PATH; on Debian or Ubuntu run: "
             "sudo apt-get install g++");
    return false;
}

static bool find_ptxas(Toolchain *toolchain, char *why, size_t why_bytes) {
    char folder[PATH_MAX];
    char *whole = realpath(toolchain->nvcc, NULL);
    const char *const beside[] = {toolchain->nvcc, whole};
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        if (!beside[i]) continue;
        const char *slash = strrchr(beside[i], '/');
        int length = slash ? (int)(slash - beside[i]) : 0;
        found =
            fits(snprintf(folder, sizeof folder, "%.*s/ptxas", length, beside[i]), sizeof toolchain->ptxas) &&
            is_program(folder);
    }
    free(whole);
    if (found)
        strcpy(toolchain->ptxas, folder);
    else
        found = find_in_path("ptxas", toolchain->ptxas, sizeof toolchain->ptxas);
    if (!found)
        snprintf(why, why_bytes, "there is no ptxas beside %s: install the complete CUDA compiler",
                 toolchain->nvcc);
    return found;
}

bool find_toolchain(Toolchain *toolchain, char *why, size_t why_bytes) {
    *toolchain = (Toolchain){0};
    if (!find_nvcc(toolchain->nvcc, sizeof toolchain->nvcc, why, why_bytes)) return false;
    if (!find_ptxas(toolchain, why, why_bytes) || !find_host_compiler(toolchain, why, why_bytes))
        return false;
    struct stat status;
    if (stat(toolchain->nvcc, &status) != 0) {
        snprintf(why, why_bytes, "cannot read %s: %s", toolchain->nvcc, strerror(errno));
        return false;
    }
    snprintf(toolchain->identity, sizeof toolchain->identity, "%s %lld %lld", toolchain->nvcc,
             (long long)status.st_size, (long long)status.st_mtime);
    return true;
}

void read_nvcc_version(const Toolchain *toolchain, const char *const *environment, char version[64]) {
    const char *arguments[] = {toolchain->nvcc, "--version", NULL};
    ProcessRequest request = {
        .arguments = arguments, .environment = environment, .seconds = 10, .output_limit = 8192};
    ProcessResult result;
    version[0] = '\0';
    if (process_run(&request, &result)) {
        // "Cuda compilation tools, release 13.0, V13.0.88"
        const char *at = strstr(text_chars(&result.output), ", V");
        if (at) snprintf(version, 64, "%.*s", (int)strspn(at + 3, "0123456789."), at + 3);
    }
    text_free(&result.output);
}

bool compile_include_directory(char *path, size_t path_bytes) {
    const char *wanted = getenv("WARPBOOK_INCLUDE");
    char header[PATH_MAX], folder[PATH_MAX], beside[PATH_MAX + 32] = "";
    for (int i = -2; i <= 3; i++) {
        const char *candidate = i == -2 ? wanted : i == -1 ? "common/include" : beside;
        if (!candidate || !*candidate) continue;
        if (i >= 0) {
            if (!program_folder(i, folder, sizeof folder)) continue;
            snprintf(beside, sizeof beside, "%s/common/include", folder);
        }
        if (!fits(snprintf(header, sizeof header, "%s/warpbook.cuh", candidate), sizeof header)) continue;
        if (access(header, R_OK) == 0) return fits(snprintf(path, path_bytes, "%s", candidate), path_bytes);
    }
    return false;
}
