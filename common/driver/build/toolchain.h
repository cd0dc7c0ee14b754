// Finding a compiler for kernels, what it needs, and warpbook.cuh, and saying what to do when one is missing.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum { COMPILER_NVCC, COMPILER_CLANG } CompilerKind;

typedef struct {
    CompilerKind kind;
    char compiler[1024];      // nvcc, clang, or zig, which holds a clang
    char version[64];         // "13.0.88"; "" until it was asked for
    char ptxas[1024];         // "" where there is none, which only clang can do without
    char host_compiler[1024]; // for nvcc's -ccbin; "" where its own choice, gcc, is there
    char headers[1024];       // clang's: common/include/clang
    char identity[1400];      // changes when the compiler does: its path, size and time
    char note[1300];          // what was passed over, as a sentence; "" when nothing was
} Toolchain;

// The compiler that WARPBOOK_COMPILER names: nvcc, clang, or auto (also when it is not set), which is an nvcc
// that works, else clang. `include_directory` is where warpbook.cuh is. Only the path is looked at, so that
// unchanged results can be reused at no cost: see toolchain_check(). False when something is missing, with
// what to do about it in `why`.
bool find_toolchain(Toolchain *toolchain, const char *include_directory, char *why, size_t why_bytes);
// Asks the compiler for its version. If it does not answer, takes the next one that auto allows, and says so
// in `note`. False, with what to do in `why`, when there is no other.
bool toolchain_check(Toolchain *toolchain, const char *include_directory, const char *const *environment,
                     char *why, size_t why_bytes);
// Whether the program holds a clang as its subcommand.
bool toolchain_is_zig(const char *program);
// The ptxas of an nvcc that is here, or the one on PATH. False when there is none, with what to do in `why`.
bool find_assembler(char *path, size_t path_bytes, char *why, size_t why_bytes);
// NVIDIA's disassembler, which no build needs: WARPBOOK_NVDISASM, else where nvcc is looked for. False when
// there is none, with what to do about it in `why`.
bool find_nvdisasm(char *path, size_t path_bytes, char *why, size_t why_bytes);

// The folder of warpbook.cuh: WARPBOOK_INCLUDE, else common/include below the working folder or beside
// this program (build/bin/../../common/include).
bool compile_include_directory(char *path, size_t path_bytes);
