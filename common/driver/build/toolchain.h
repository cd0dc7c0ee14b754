// Finding nvcc, ptxas, a host compiler and warpbook.cuh, and saying what to do when one is missing.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char nvcc[1024];
    char ptxas[1024];
    char host_compiler[1024]; // for nvcc's -ccbin; "" where its own choice, gcc, is there
    char identity[1400];      // changes when nvcc does: its path, size and time
} Toolchain;

// False when something is missing, with what to do about it in `why`.
bool find_toolchain(Toolchain *toolchain, char *why, size_t why_bytes);
// NVIDIA's disassembler, which no build needs: WARPBOOK_NVDISASM, else where nvcc is looked for. False when
// there is none, with what to do about it in `why`.
bool find_nvdisasm(char *path, size_t path_bytes, char *why, size_t why_bytes);
// "13.0.88", or "" when nvcc does not tell.
void read_nvcc_version(const Toolchain *toolchain, const char *const *environment, char version[64]);

// The folder of warpbook.cuh: WARPBOOK_INCLUDE, else common/include below the working folder or beside
// this program (build/bin/../../common/include).
bool compile_include_directory(char *path, size_t path_bytes);
