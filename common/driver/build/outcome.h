// What is asked of the compile step, and what comes of it.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum {
    COMPILE_OK,
    COMPILE_BUILD,         // the source is missing, is not text, or does not compile
    COMPILE_BUILD_TIMEOUT, // the compiler did not finish within the limit
    COMPILE_RESOURCE,      // ptxas: too much shared memory or too many registers
    COMPILE_INFRA,         // the machine's fault: no compiler, disk full; never the learner's
} CompileStatus;

// The verdict: "PASS", "BUILD", "BUILD_TIMEOUT", "RESOURCE", "INFRA".
const char *compile_verdict(CompileStatus status);

typedef struct {
    const char *source;            // kernel.cu
    const char *output_directory;  // "build/ch04"; made when absent
    const char *headers_directory; // where kept_headers.h keeps them, from the first compilation on, whose
                                   // messages do then; NULL: in output_directory, from the second on
    const char *include_directory; // where warpbook.cuh is; NULL: found, see compile_include_directory()
    int ptx_arch;                  // 80 for compute_80; 0: 80
    int sass_arch; // 90 to let ptxas assemble for sm_90 (raised to ptx_arch when lower); 0: 90; -1: no ptxas
    bool want_cubin;       // keep what ptxas makes
    double time_limit;     // seconds of processor time for all compilers; 0: 30
    bool always;           // run the compiler even when nothing changed
    bool is_quick;         // nvcc: hardly optimize; a text of many variants takes a third of the time
    bool assembles_beside; // ptxas may work on after the call, until assembly_end()
    const volatile sig_atomic_t *cancel; // becomes non-zero to stop; NULL: never
} CompileRequest;

// What ptxas reports of one kernel (an .entry).
typedef struct {
    char name[256]; // as in the PTX: mangled where the source is C++
    int line;       // of kernel.cu where the PTX tells; 0 unknown
    int registers;  // per thread
    int stack_bytes;
    int spill_store_bytes, spill_load_bytes;
    int shared_bytes;   // static
    int constant_bytes; // all banks
    int barriers;
} CompiledKernel;

typedef struct {
    CompileStatus status;
    char *message;            // for a person, one page, safe on a terminal; "" when all went well
    char *log;                // warnings and remarks of the compilers, made safe likewise; "" when none
    char *note;               // of a compiler that was passed over, and why; NULL when none was
    bool was_reused;          // nothing had changed, nothing was run
    double seconds;           // this call
    double build_seconds;     // of the compilers when they last ran
    double processor_seconds; // of them in this call
    int ptx_arch, sass_arch;
    CompiledKernel *kernels;
    int kernel_count;
    char source_sha256[65]; // of kernel.cu
    char header_sha256[65]; // of warpbook.cuh
    char nvcc_version[64];  // "13.0.88"; "" if clang compiled
    bool has_estimate;      // there was no ptxas: registers are estimated from the PTX
    char clang_version[64]; // "22.1.8"; "" if nvcc compiled
    char source[512];       // kernel.cu as shown to people: relative to the working folder
    char ptx_path[1024];    // "" when not made
    char cubin_path[1024];
    char json_path[1024]; // build.json; also written for status BUILD, BUILD_TIMEOUT and RESOURCE
    // Of assembly.h: the process that runs ptxas, and the pipe of what it finds. 0: there is none.
    pid_t assembler;
    int answer;
} CompileResult;

void compile_result_free(CompileResult *result);

// The record of that kernel, or NULL.
const CompiledKernel *compile_find_kernel(const CompileResult *result, const char *name);
// The same of a name of `length` characters, added where there is none yet. NULL when memory runs out.
CompiledKernel *compile_add_kernel(CompileResult *result, const char *name, size_t length);
