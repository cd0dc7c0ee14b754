#include "driver/build/command_line.h"

#include <stdio.h>

static void add(CommandLine *line, const char *word) {
    if (line->count < COMMAND_WORDS) line->words[line->count++] = word;
}

static void add_all(CommandLine *line, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) add(line, words[i]);
}
#define ADD_ALL(line, words) add_all(line, words, sizeof(words) / sizeof(words)[0])

static void nvcc_command(const Build *build, CommandLine *line) {
    static const char *const options[] = {
        "-ptx", "-lineinfo", "-std=c++17", "-I.",
        // libstdc++'s special functions of C++17 (Bessel, zeta ...), which <cmath> brings in and only host
        // code could call: without them the front end has a fifth less to read, and the PTX is the same.
        "-D_GLIBCXX_BITS_SPECFUN_H=1",
        // The host compiler only preprocesses here, so one newer than nvcc knows does no harm.
        "-allow-unsupported-compiler", "-Wno-deprecated-gpu-targets",
        // Remarks that are worth a warning: an argument of printf of another type than its format says, and a
        // declaration that hides a variable. Comparisons of signed and unsigned numbers (1873) are not:
        // reference solutions have eleven.
        "-diag-warn=181,1348"};
    ADD_ALL(line, options);
    snprintf(line->architecture, sizeof line->architecture, "-arch=compute_%d", build->result->ptx_arch);
    add(line, line->architecture);
    if (build->toolchain.host_compiler[0]) {
        add(line, "-ccbin");
        add(line, build->toolchain.host_compiler);
    }
}

static void clang_command(const Build *build, CommandLine *line) {
    static const char *const options[] = {
        // Device code only, and nothing of a CUDA toolkit, of the C library or of clang's own headers.
        "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++",
        "-Wno-unknown-cuda-version", "-S", "-std=c++17", "-O3", "-gline-directives-only", "-fno-verbose-asm",
        // One line for each message, which names the place; compiler_report.c shows the line of code.
        "-fno-caret-diagnostics", "-fno-color-diagnostics", "-ferror-limit=50",
        // What nvcc warns about too.
        "-Wunused-variable", "-Wunused-but-set-variable", "-Wshadow", "-Wtautological-unsigned-zero-compare",
        "-Wunreachable-code", "-Wno-pass-failed", "-mllvm", "-unroll-threshold=1000", "-mllvm",
        "-inline-threshold=100000", "-Wno-cuda-compat", "-I.", "-include", "warpbook/cuda.h", "-isystem"};
    if (toolchain_is_zig(build->toolchain.compiler)) add(line, "clang");
    ADD_ALL(line, options);
    add(line, build->toolchain.headers);
    // Wgmma and TMA belong to one architecture only, and nvcc's compute_90 lacks them too.
    snprintf(line->architecture, sizeof line->architecture, "--cuda-gpu-arch=sm_%d", build->result->ptx_arch);
    add(line, line->architecture);
}

void compile_command(const Build *build, const char *source, const char *output, CommandLine *line) {
    line->count = 0;
    add(line, build->toolchain.compiler);
    if (build->toolchain.kind == COMPILER_CLANG)
        clang_command(build, line);
    else
        nvcc_command(build, line);
    add(line, "-o");
    add(line, output);
    add(line, source);
    line->words[line->count] = NULL;
}
