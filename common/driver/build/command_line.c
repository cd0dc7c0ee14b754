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

// The version of PTX is stated: otherwise it depends on whether there is a CUDA toolkit, for which clang must
// not look. 8.0 is what drivers of CUDA 12 read; only newer devices need a newer one.
static void add_clang(const Build *build, CommandLine *line) {
    if (toolchain_is_zig(build->toolchain.compiler)) add(line, "clang");
    add(line, build->result->ptx_arch < 100 ? "--cuda-feature=+ptx80" : "--cuda-feature=+ptx87");
    add(line, "-O3");
}

// From CUDA to clang's own representation. What nvcc makes fast, this must too: every function is inlined,
// and loops whose number of rounds is known are unrolled completely, so that arrays stay in registers.
static void clang_command(const Build *build, CommandLine *line) {
    static const char *const options[] = {
        // Device code only, and nothing of a CUDA toolkit, of the C library or of clang's own headers.
        "-x", "cuda", "--cuda-device-only", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib",
        "-nostdinc", "-nostdinc++", "-emit-llvm", "-c", "-std=c++17", "-fno-finite-loops",
        "-gline-directives-only", "-mllvm", "-unroll-threshold=1000", "-mllvm", "-inline-threshold=100000",
        // One line for each message, which names the place; compiler_report.c shows the line of code.
        "-fno-caret-diagnostics", "-fno-color-diagnostics", "-ferror-limit=50",
        // What nvcc warns about too.
        "-Wunused-variable", "-Wunused-but-set-variable", "-Wshadow", "-Wtautological-unsigned-zero-compare",
        "-Wunreachable-code", "-Wno-pass-failed", "-Wno-cuda-compat", "-Wno-unknown-cuda-version", "-I.",
        "-include", "warpbook/cuda.h", "-isystem"};
    add_clang(build, line);
    ADD_ALL(line, options);
    add(line, build->toolchain.headers);
    snprintf(line->architecture, sizeof line->architecture, "--cuda-gpu-arch=sm_%d", build->result->ptx_arch);
    add(line, line->architecture);
}

// From there to PTX. The loops that are left run as often as their data says. nvcc repeats the body of a
// small one four times, so that four loads are under way, and so does this; a forced count would cut the
// other loops short, which is why there are two steps.
static void ptx_command(const Build *build, CommandLine *line) {
    static const char *const options[] = {"-x",
                                          "ir",
                                          "--target=nvptx64-nvidia-cuda",
                                          "-S",
                                          "-w",
                                          "-fno-verbose-asm",
                                          "-mllvm",
                                          "-unroll-count=4",
                                          "-mllvm",
                                          "-unroll-threshold=150"};
    add_clang(build, line);
    ADD_ALL(line, options);
    snprintf(line->architecture, sizeof line->architecture, "-march=sm_%d", build->result->ptx_arch);
    add(line, line->architecture);
}

static void finish(const char *source, const char *output, CommandLine *line) {
    add(line, "-o");
    add(line, output);
    add(line, source);
    line->words[line->count] = NULL;
}

bool compile_needs_second_step(const Build *build) { return build->toolchain.kind == COMPILER_CLANG; }

void compile_command(const Build *build, const char *source, const char *output, CommandLine *line) {
    line->count = 0;
    add(line, build->toolchain.compiler);
    if (build->toolchain.kind == COMPILER_CLANG)
        clang_command(build, line);
    else
        nvcc_command(build, line);
    finish(source, output, line);
}

void compile_quickly(CommandLine *line) {
    add(line, "-Xcicc");
    add(line, "-O1");
    line->words[line->count] = NULL;
}

void compile_second_command(const Build *build, const char *source, const char *output, CommandLine *line) {
    line->count = 0;
    add(line, build->toolchain.compiler);
    ptx_command(build, line);
    finish(source, output, line);
}
