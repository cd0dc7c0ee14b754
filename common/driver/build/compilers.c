#define _GNU_SOURCE // realpath, strsignal
#include "driver/build/compilers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"
#include "support/process.h"
#include "driver/build/command_line.h"
#include "driver/build/compiler_output.h"
#include "driver/build/compiler_report.h"
#include "driver/build/kept_headers.h"
#include "driver/build/ptx_places.h"
#include "driver/build/ptxas_output.h"
#include "driver/build/register_estimate.h"
#include "driver/build/run_tool.h"

enum {
    PTX_LIMIT = 64 << 20,  // bytes of PTX
    MESSAGE_LINES = 40,    // of compiler output shown to people: one page
    LOG_BYTES = 64 * 1024, // of the output of a failed compilation that are kept
};

// Only what a compiler needs. NVCC_APPEND_FLAGS, NVCC_PREPEND_FLAGS, LD_PRELOAD, CUDA_INJECTION64_PATH, CPATH
// and whatever else would change what it does stay outside.
void compile_make_environment(Build *build) {
    static const char *const kept[] = {"PATH", "LD_LIBRARY_PATH", "NVCC_CCBIN"};
    int count = 0, texts = 0;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const char *value = getenv(kept[i]);
        if (!value) continue;
        int written = snprintf(build->environment_text[texts], sizeof build->environment_text[0], "%s=%s",
                               kept[i], value);
        if (written > 0 && (size_t)written < sizeof build->environment_text[0]) {
            build->environment[count++] = build->environment_text[texts++];
        }
    }
    build->environment[count++] = "LC_ALL=C";
    build->environment[count++] = "TMPDIR=.";
    build->environment[count++] = "SOURCE_DATE_EPOCH=0"; // __TIME__ and __DATE__: the same image every time
    build->environment[count] = NULL;
}

static bool run_compiler(Build *build, const char *source, const char *output, ProcessResult *result) {
    CommandLine line;
    const bool has_second = compile_needs_second_step(build);
    compile_command(build, source, has_second ? "kernel.bc" : output, &line);
    if (build->request->is_quick && build->toolchain.kind == COMPILER_NVCC) compile_quickly(&line);
    const bool first = run_tool(build, line.words, result);
    if (!first || !has_second) return first;
    ProcessResult second;
    compile_second_command(build, "kernel.bc", output, &line);
    const bool good = run_tool(build, line.words, &second);
    if (good) { // the messages are the first step's
        text_free(&second.output);
        return true;
    }
    text_free(&result->output);
    *result = second;
    return false;
}

// True when a kernel without a fault compiles: what failed before was the learner's.
static bool compiler_works(Build *build, Text *output) {
    Text probe = {0};
    ProcessResult result = {0};
    text_add(&probe, "#include \"warpbook.cuh\"\n__global__ void probe() {}\n");
    bool good =
        compile_put(build, "probe.cu", &probe) && run_compiler(build, "probe.cu", "probe.ptx", &result);
    text_add_bytes(output, text_chars(&result.output), result.output.bytes);
    if (!result.was_started) text_add(output, result.message);
    text_free(&result.output);
    text_free(&probe);
    return good;
}

static const char no_space[] = "No space left on device";

static bool disk_is_full(Build *build) {
    char path[PATH_MAX + 64];
    FileError error = {0};
    static const char zeros[65536];
    snprintf(path, sizeof path, "%s/room", build->folder);
    return !write_file_atomically(path, zeros, sizeof zeros, &error) && error.status == FILE_DISK_FULL;
}

// What stopped a compiler other than the source: true when it has been dealt with.
static bool explain_stop(Build *build, const ProcessResult *run, const char *tool) {
    const char *shown = build->result->source;
    if (!run->was_started) return !compile_end(build, COMPILE_INFRA, "%s", run->message);
    if (run->was_cancelled) return !compile_end(build, COMPILE_INFRA, "interrupted");
    if (run->timed_out) {
        return !compile_end(
            build, COMPILE_BUILD_TIMEOUT,
            "%s did not finish within %.3g s of processor time, or %.3g s by the clock, on %s", tool,
            build->limit, COMPILE_PATIENCE * build->limit, shown);
    }
    if (disk_is_full(build)) {
        return !compile_end(build, COMPILE_INFRA, "the disk is full: %s could not write to %s", tool,
                            build->request->output_directory);
    }
    return false;
}

static bool explain_failure(Build *build, const ProcessResult *run) {
    if (explain_stop(build, run, "the compiler")) return false;
    const char *output = text_chars(&run->output);
    Text probe = {0}, log = {0}, message = {0};
    // gcc names the learner's line even when it is its own output that does not fit.
    bool has_room = !strstr(output, no_space);
    bool is_machines = (!log_names_source(output) || !has_room) && !compiler_works(build, &probe);
    if (is_machines && strstr(text_chars(&probe), no_space)) {
        text_printf(&message, "the disk is full: the compiler could not write to %s\n",
                    build->request->output_directory);
    } else if (is_machines) {
        add_readable_log(&log, text_chars(&probe), probe.bytes, "an empty kernel");
        text_printf(&message,
                    "%s fails on an empty kernel; `make doctor` looks for the cause. Its output:\n\n",
                    build->toolchain.compiler);
    } else {
        add_readable_log(&log, output, run->output.bytes, build->result->source);
        text_printf(&message, "%s does not compile:\n\n", build->result->source);
        if (run->signal)
            text_printf(&message, "the compiler was stopped by signal %d (%s)\n", run->signal,
                        strsignal(run->signal));
    }
    const char *record = build->result->json_path[0] == '/' ? "build.json" : build->result->json_path;
    if (is_machines || !compiler_add_errors(&message, text_chars(&log), build->result->source,
                                            text_chars(&build->source), record))
        add_first_lines(&message, text_chars(&log), MESSAGE_LINES);
    if (run->output_was_cut) text_add(&message, "... (the compiler printed more than 1 MiB)\n");
    if (log.bytes > LOG_BYTES) text_cut(&log, LOG_BYTES);
    free(build->result->log);
    build->result->log = text_take(&log);
    text_free(&probe);
    return compile_end_with(build, is_machines ? COMPILE_INFRA : COMPILE_BUILD, &message);
}

bool compile_make_ptx(Build *build) {
    ProcessResult run;
    Text raw = {0};
    char path[PATH_MAX + 64];
    FileError error;
    const KeptEnd kept = compile_with_kept_headers(build, &run);
    bool good =
        kept == KEPT_NO_WAY ? run_compiler(build, "kernel.cu", "raw.ptx", &run) : kept == KEPT_COMPILES;
    Text readable = {0}, log = {0};
    if (!good) {
        explain_failure(build, &run);
    } else {
        add_readable_log(&readable, text_chars(&run.output), run.output.bytes, build->result->source);
        compiler_add_warnings(&log, text_chars(&readable), build->result->source, text_chars(&build->source));
        if (log.bytes > LOG_BYTES) text_cut(&log, LOG_BYTES);
        text_free(&readable);
        free(build->result->log);
        build->result->log = text_take(&log);
        snprintf(path, sizeof path, "%s/raw.ptx", build->folder);
        if (!read_regular_file(path, PTX_LIMIT, &raw, &error)) {
            good =
                compile_end(build, error.status == FILE_TOO_LARGE ? COMPILE_BUILD : COMPILE_INFRA, "%s",
                            error.status == FILE_TOO_LARGE ? "the kernel compiles to more than 64 MiB of PTX"
                                                           : error.message);
        } else if (!relabel_ptx(text_chars(&raw), build->folder, build->label, build->header_label,
                                &build->ptx)) {
            good = compile_end_without_memory(build);
        }
    }
    text_free(&raw);
    text_free(&run.output);
    return good;
}

// Without ptxas: what the PTX itself tells. What else it does not parse is refused by the audit, with its
// reason.
static bool estimate(Build *build) {
    CompileResult *result = build->result;
    static EmulatorError error;
    Text message = {0};
    PtxModule *module = ptx_parse(text_chars(&build->ptx), build->ptx.bytes, "kernel.ptx", &error);
    if (!module && error.status == EMULATOR_TOO_LARGE)
        return compile_end(build, COMPILE_BUILD, "%s", error.message);
    if (!module) return true;
    const bool good = estimate_kernels(module, result);
    ptx_free(module);
    result->has_estimate = true;
    if (!good) return compile_end_without_memory(build);
    for (int i = 0; i < result->kernel_count; i++) {
        CompiledKernel *kernel = &result->kernels[i];
        kernel->line = kernel_line_in_ptx(text_chars(&build->ptx), kernel->name, build->label);
        if (kernel->shared_bytes > MOST_STATIC_SHARED) explain_shared(kernel, result->source, &message);
    }
    if (message.bytes > 0) return compile_end_with(build, COMPILE_RESOURCE, &message);
    return true;
}

// Whether ptxas may take the kernels of a file two at a time. What it says of them stays the same, and the
// time is less by up to a half; the image is not the same byte for byte, so one that is to be kept is made in
// order.
static bool may_split(const Build *build) {
    return !build->request->want_cubin && build->toolchain.kind == COMPILER_NVCC &&
           atoi(build->toolchain.version) >= 13;
}

bool compile_assemble(Build *build) {
    CompileResult *result = build->result;
    char arch[32], path[PATH_MAX + 64];
    FileError error;
    if (result->sass_arch < 0) return true;
    if (!build->toolchain.ptxas[0]) return estimate(build);
    if (!compile_put(build, "kernel.ptx", &build->ptx)) return false;
    snprintf(arch, sizeof arch, "-arch=sm_%d", result->sass_arch);
    const char *arguments[10] = {build->toolchain.ptxas, "-v", "-lineinfo",   arch,
                                 "kernel.ptx",           "-o", "kernel.cubin"};
    if (may_split(build)) arguments[7] = "--split-compile=2";
    ProcessResult run;
    bool good = run_tool(build, arguments, &run);
    const char *output = text_chars(&run.output);
    // A wrapper whose toolkit is gone says nothing that ptxas would say.
    const bool speaks = strncmp(output, "ptxas", 5) == 0 || strstr(output, "\nptxas ");
    if (!good && !speaks && build->toolchain.kind == COMPILER_CLANG && run.was_started && !run.timed_out &&
        !run.was_cancelled) {
        text_free(&run.output);
        return estimate(build);
    }
    if (!read_ptxas_log(output, result)) good = compile_end_without_memory(build);
    for (int i = 0; i < result->kernel_count; i++) {
        CompiledKernel *kernel = &result->kernels[i];
        kernel->line = kernel_line_in_ptx(text_chars(&build->ptx), kernel->name, build->label);
    }
    Text message = {0};
    if (!good && !explain_stop(build, &run, "ptxas")) {
        if (strstr(output, no_space)) {
            compile_end(build, COMPILE_INFRA, "the disk is full: ptxas could not write to %s",
                        build->request->output_directory);
        } else if (strstr(output, "is not defined for option")) {
            compile_end(build, COMPILE_INFRA, "%s does not know sm_%d: it is too old or too new for that GPU",
                        build->toolchain.ptxas, result->sass_arch);
        } else if (explain_resources(output, result, &message)) {
            compile_end_with(build, COMPILE_RESOURCE, &message);
        } else {
            explain_assembly(output, text_chars(&build->ptx), build->label, result, MESSAGE_LINES, &message);
            compile_end_with(build, COMPILE_BUILD, &message);
        }
    }
    text_free(&message);
    text_free(&run.output);
    if (!good || !build->request->want_cubin) return good;
    snprintf(path, sizeof path, "%s/kernel.cubin", build->folder);
    if (!read_regular_file(path, tool_file_limit, &build->cubin, &error))
        return compile_end(build, COMPILE_INFRA, "%s", error.message);
    return true;
}

// Linked to Warpbook's CUDA runtime by its name alone: what runs the program says where that is.
bool compile_make_program(Build *build) {
    char arch[32], code[32], library[PATH_MAX + 8] = "-L", path[PATH_MAX + 16], made[PATH_MAX + 64];
    ProcessResult run;
    if (!realpath(build->runtime, library + 2))
        return compile_end(
            build, COMPILE_INFRA,
            "Warpbook's CUDA runtime is not built, which a whole program is linked to: make cudart");
    snprintf(arch, sizeof arch, "-arch=compute_%d", build->result->ptx_arch);
    snprintf(code, sizeof code, "-code=compute_%d", build->result->ptx_arch);
    const char *arguments[24] = {build->toolchain.compiler,
                                 "-g",
                                 "-lineinfo",
                                 "-std=c++17",
                                 arch,
                                 code,
                                 "-I.",
                                 "--no-compress",
                                 "--cudart",
                                 "shared",
                                 "--cudadevrt",
                                 "none",
                                 library,
                                 "-allow-unsupported-compiler",
                                 "-Wno-deprecated-gpu-targets",
                                 "-w"};
    int count = 16;
    if (build->toolchain.host_compiler[0]) {
        arguments[count++] = "-ccbin";
        arguments[count++] = build->toolchain.host_compiler;
    }
    arguments[count++] = "-o";
    arguments[count++] = "program";
    arguments[count++] = "kernel.cu";
    const bool good = run_tool(build, arguments, &run);
    if (!good) explain_failure(build, &run);
    text_free(&run.output);
    if (!good) return false;
    snprintf(path, sizeof path, "%s/program", build->request->output_directory);
    snprintf(made, sizeof made, "%s/program", build->folder);
    return rename(made, path) == 0 || compile_end(build, COMPILE_INFRA, "cannot write %s", path);
}
