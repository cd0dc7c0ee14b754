#define _GNU_SOURCE // realpath under -std=c17
#include "driver/build/toolchain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/build/find_clang.h"
#include "driver/build/find_program.h"
#include "support/process.h"

// NVIDIA's wheels install a toolkit in site-packages/nvidia/cu13: bin/nvcc, nvvm/bin/cicc and include, which
// nvcc finds relative to itself.
static bool in_packages(const char *program, char pattern[64]) {
    return snprintf(pattern, 64, "nvidia/cu*/bin/%s", program) < 64;
}

typedef enum { ASKED_AUTO, ASKED_NVCC, ASKED_CLANG, ASKED_WRONGLY } Asked;

static Asked asked_compiler(char *why, size_t why_bytes) {
    const char *name = getenv("WARPBOOK_COMPILER");
    if (!name || !*name || strcmp(name, "auto") == 0) return ASKED_AUTO;
    if (strcmp(name, "nvcc") == 0) return ASKED_NVCC;
    if (strcmp(name, "clang") == 0) return ASKED_CLANG;
    snprintf(why, why_bytes,
             "the compiler must be auto, nvcc or clang, not %.100s (COMPILER, WARPBOOK_COMPILER)", name);
    return ASKED_WRONGLY;
}

// ---- nvcc ------------------------------------------------------------------------------------------------

// The places of nvcc in the order in which they are taken. WARPBOOK_NVCC is the only one where it is set.
enum { NVCC_GIVEN, NVCC_ON_PATH, NVCC_USUAL, NVCC_IN_ENVIRONMENT, NVCC_OF_PYTHON, NVCC_PLACES };

static bool toolkit_program_at(int place, const char *program, char *path, size_t path_bytes) {
    char pattern[64];
    switch (place) {
    case NVCC_ON_PATH: return find_in_path(program, path, path_bytes);
    case NVCC_USUAL:
        return text_fits(snprintf(path, path_bytes, "/usr/local/cuda/bin/%s", program), path_bytes) &&
               is_program(path);
    case NVCC_IN_ENVIRONMENT:
        return in_packages(program, pattern) && find_in_environments(pattern, path, path_bytes);
    case NVCC_OF_PYTHON: return in_packages(program, pattern) && find_by_python(pattern, path, path_bytes);
    default: return false;
    }
}

static bool nvcc_at(int place, char *path, size_t path_bytes) {
    return toolkit_program_at(place, "nvcc", path, path_bytes);
}

// The program that an environment variable names.
static bool given_program(const char *variable, const char *wanted, char *path, size_t path_bytes, char *why,
                          size_t why_bytes) {
    char *whole = realpath(wanted, NULL);
    const bool good = whole && is_program(whole) && strlen(whole) < path_bytes;
    if (good) strcpy(path, whole);
    free(whole);
    if (!good)
        snprintf(why, why_bytes, "%s is %s, which is not a program: correct or unset it", variable, wanted);
    return good;
}

bool find_nvdisasm(char *path, size_t path_bytes, char *why, size_t why_bytes) {
    const char *wanted = getenv("WARPBOOK_NVDISASM");
    if (wanted && *wanted)
        return given_program("WARPBOOK_NVDISASM", wanted, path, path_bytes, why, why_bytes);
    for (int place = NVCC_ON_PATH; place < NVCC_PLACES; place++) {
        if (toolkit_program_at(place, "nvdisasm", path, path_bytes)) return true;
    }
    snprintf(why, why_bytes,
             "there is no nvdisasm on this machine, which shows machine code; to download NVIDIA's "
             "(6 MB), run: make nvdisasm");
    return false;
}

// nvcc preprocesses with a C++ compiler, gcc unless told otherwise.
static bool find_host_compiler(Toolchain *toolchain, char *why, size_t why_bytes) {
    static const char *const others[] = {"g++", "clang++", "clang", "c++", "cc"};
    const char *wanted = getenv("NVCC_CCBIN");
    toolchain->host_compiler[0] = '\0';
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
                 text_fits(snprintf(path, sizeof toolchain->host_compiler, "%s", stand_in),
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

// The ptxas beside nvcc, else the one on PATH.
static bool find_ptxas(Toolchain *toolchain, const char *nvcc, char *why, size_t why_bytes) {
    char path[PATH_MAX];
    char *whole = realpath(nvcc, NULL);
    const char *const beside[] = {nvcc, whole};
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        if (!beside[i]) continue;
        const char *slash = strrchr(beside[i], '/');
        int length = slash ? (int)(slash - beside[i]) : 0;
        found = text_fits(snprintf(path, sizeof path, "%.*s/ptxas", length, beside[i]),
                          sizeof toolchain->ptxas) &&
                is_program(path);
    }
    free(whole);
    if (found)
        strcpy(toolchain->ptxas, path);
    else
        found = find_in_path("ptxas", toolchain->ptxas, sizeof toolchain->ptxas);
    if (!found) {
        toolchain->ptxas[0] = '\0';
        snprintf(why, why_bytes, "there is no ptxas beside %s: install the complete CUDA compiler", nvcc);
    }
    return found;
}

// What nvcc needs beside itself, and its identity.
static bool complete_nvcc(Toolchain *toolchain, char *why, size_t why_bytes) {
    struct stat status;
    toolchain->kind = COMPILER_NVCC;
    toolchain->version[0] = '\0';
    if (!find_ptxas(toolchain, toolchain->compiler, why, why_bytes)) return false;
    if (!find_host_compiler(toolchain, why, why_bytes)) return false;
    if (stat(toolchain->compiler, &status) != 0) {
        snprintf(why, why_bytes, "cannot read %s: %s", toolchain->compiler, strerror(errno));
        return false;
    }
    snprintf(toolchain->identity, sizeof toolchain->identity, "%s %lld %lld", toolchain->compiler,
             (long long)status.st_size, (long long)status.st_mtime);
    return true;
}

// The first nvcc after `place`; that place, or NVCC_PLACES where there is none. A place that names the same
// program as the one that was passed over is skipped.
static int next_nvcc(int place, Toolchain *toolchain) {
    char passed[sizeof toolchain->compiler];
    strcpy(passed, toolchain->compiler);
    for (place++; place < NVCC_PLACES; place++) {
        if (nvcc_at(place, toolchain->compiler, sizeof toolchain->compiler) &&
            strcmp(passed, toolchain->compiler) != 0)
            return place;
    }
    return NVCC_PLACES;
}

static bool given_nvcc(Toolchain *toolchain, const char *wanted, char *why, size_t why_bytes) {
    return given_program("WARPBOOK_NVCC", wanted, toolchain->compiler, sizeof toolchain->compiler, why,
                         why_bytes) &&
           complete_nvcc(toolchain, why, why_bytes);
}

bool find_assembler(char *path, size_t path_bytes, char *why, size_t why_bytes) {
    Toolchain any = {0};
    char nvcc[PATH_MAX];
    const char *wanted = getenv("WARPBOOK_NVCC");
    bool found = wanted && *wanted && find_ptxas(&any, wanted, why, why_bytes);
    for (int place = NVCC_ON_PATH; place < NVCC_OF_PYTHON && !found; place++)
        found = nvcc_at(place, nvcc, sizeof nvcc) && find_ptxas(&any, nvcc, why, why_bytes);
    found = (found && strlen(any.ptxas) < path_bytes) || find_in_path("ptxas", path, path_bytes);
    if (!found)
        snprintf(why, why_bytes,
                 "there is no ptxas on this machine; to download NVIDIA's, run: make COMPILER=nvcc tools");
    if (found && any.ptxas[0]) strcpy(path, any.ptxas);
    return found;
}

// ---- The choice
// --------------------------------------------------------------------------------------------

static bool take_clang(Toolchain *toolchain, const char *include_directory, char *why, size_t why_bytes) {
    toolchain->host_compiler[0] = toolchain->ptxas[0] = '\0';
    if (!find_clang(toolchain, include_directory, why, why_bytes)) return false;
    // ptxas counts registers, where there is one; else they are estimated.
    char ptxas[sizeof toolchain->ptxas], ignored[1400];
    if (!find_assembler(ptxas, sizeof ptxas, ignored, sizeof ignored)) ptxas[0] = '\0';
    strcpy(toolchain->ptxas, ptxas);
    const size_t used = strlen(toolchain->identity);
    snprintf(toolchain->identity + used, sizeof toolchain->identity - used, "%s",
             toolchain->ptxas[0] ? " ptxas" : "");
    return true;
}

static void add_note(Toolchain *toolchain, const char *passed, const char *reason) {
    if (toolchain->note[0]) return; // the first is the one that a person put on PATH
    snprintf(toolchain->note, sizeof toolchain->note, "%.500s %.700s", passed, reason);
}

// The first toolchain after `place` that auto or nvcc allows.
static bool take_next(Toolchain *toolchain, int place, Asked asked, const char *include_directory, char *why,
                      size_t why_bytes) {
    bool has_passed = place != NVCC_GIVEN;
    for (place = next_nvcc(place, toolchain); place < NVCC_PLACES; place = next_nvcc(place, toolchain)) {
        if (complete_nvcc(toolchain, why, why_bytes)) return true;
        add_note(toolchain, toolchain->compiler, why);
        has_passed = true;
    }
    if (asked == ASKED_AUTO && take_clang(toolchain, include_directory, why, why_bytes)) return true;
    if (!has_passed)
        snprintf(why, why_bytes,
                 "there is no CUDA compiler (nvcc%s) on this machine; to download one, run: make tools",
                 asked == ASKED_AUTO ? " or clang" : "");
    return false;
}

bool find_toolchain(Toolchain *toolchain, const char *include_directory, char *why, size_t why_bytes) {
    const Asked asked = asked_compiler(why, why_bytes);
    const char *wanted = getenv("WARPBOOK_NVCC");
    *toolchain = (Toolchain){0};
    if (asked == ASKED_WRONGLY) return false;
    if (asked == ASKED_CLANG) return take_clang(toolchain, include_directory, why, why_bytes);
    if (wanted && *wanted) return given_nvcc(toolchain, wanted, why, why_bytes);
    return take_next(toolchain, NVCC_GIVEN, asked, include_directory, why, why_bytes);
}

static void read_nvcc_version(Toolchain *toolchain, const char *const *environment) {
    const char *arguments[] = {toolchain->compiler, "--version", NULL};
    ProcessRequest request = {
        .arguments = arguments, .environment = environment, .seconds = 10, .output_limit = 8192};
    ProcessResult result;
    toolchain->version[0] = '\0';
    if (process_run(&request, &result)) {
        // "Cuda compilation tools, release 13.0, V13.0.88"
        const char *at = strstr(text_chars(&result.output), ", V");
        if (at)
            snprintf(toolchain->version, sizeof toolchain->version, "%.*s",
                     (int)strspn(at + 3, "0123456789."), at + 3);
    }
    text_free(&result.output);
}

bool toolchain_check(Toolchain *toolchain, const char *include_directory, const char *const *environment,
                     char *why, size_t why_bytes) {
    const Asked asked = asked_compiler(why, why_bytes);
    const char *wanted = getenv("WARPBOOK_NVCC");
    while (toolchain->kind == COMPILER_NVCC) {
        read_nvcc_version(toolchain, environment);
        if (toolchain->version[0] || asked != ASKED_AUTO || (wanted && *wanted)) return true;
        int place = NVCC_ON_PATH;
        char path[sizeof toolchain->compiler];
        while (place < NVCC_OF_PYTHON &&
               !(nvcc_at(place, path, sizeof path) && strcmp(path, toolchain->compiler) == 0))
            place++;
        add_note(toolchain, toolchain->compiler,
                 "does not work: it does not print its version; remove it from PATH or repair it");
        if (!take_next(toolchain, place, asked, include_directory, why, why_bytes)) {
            snprintf(why, why_bytes,
                     "%.700s, and there is no other compiler; to download one, run: make tools",
                     toolchain->note);
            return false;
        }
    }
    return true;
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
        if (!text_fits(snprintf(header, sizeof header, "%s/warpbook.cuh", candidate), sizeof header))
            continue;
        if (access(header, R_OK) == 0)
            return text_fits(snprintf(path, path_bytes, "%s", candidate), path_bytes);
    }
    return false;
}
