// build/bin/compile: the compile step by itself, for make and the grader.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/compile.h"
#include "support/file.h"

static const char usage[] =
    "usage: compile KERNEL.cu [OUTDIR] [options]\n"
    "  OUTDIR            where kernel.ptx and build.json go (build/chNN for chapters/chNN_*/kernel.cu)\n"
    "  --arch NN         PTX for compute_NN (80)\n"
    "  --ptxas NN        registers and shared memory as ptxas counts them for sm_NN (90); 0: leave ptxas "
    "out\n"
    "  --cubin           keep the machine code too\n"
    "  --include DIR     where warpbook.cuh is\n"
    "  --time-limit S    seconds of processor time until the compiler is stopped (30)\n"
    "  --always          compile even when nothing changed\n"
    "  --quiet           print errors only\n"
    "exit status: 0 compiled, 1 an error in KERNEL.cu, 2 wrong usage, 3 the machine's fault\n";

static volatile sig_atomic_t interrupted;

static void interrupt(int number) { interrupted = number; }

static bool read_number(const char *text, double least, double most, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return errno == 0 && end != text && *end == '\0' && *value >= least && *value <= most;
}

// chapters/ch04_warp_shuffle/kernel.cu -> build/ch04
static bool default_output(const char *source, char *directory, size_t bytes) {
    const char *slash = strrchr(source, '/');
    if (!slash) return false;
    const char *folder = slash;
    while (folder > source && folder[-1] != '/') folder--;
    size_t length = strspn(folder + 2, "0123456789");
    bool is_chapter = strncmp(folder, "ch", 2) == 0 && length == 2 && (folder[4] == '_' || folder[4] == '/');
    bool is_learners = folder == source || (folder - source >= 9 && strncmp(folder - 9, "chapters/", 9) == 0);
    return is_chapter && is_learners && snprintf(directory, bytes, "build/%.4s", folder) < (int)bytes;
}

static int wrong(const char *message, const char *what) {
    fprintf(stderr, "compile: %s%s\n\n%s", message, what, usage);
    return 2;
}

// The exit status, once what was printed has reached standard output.
static int printed(int status) {
    FileError error;
    if (flush_standard_output(&error)) return status;
    fprintf(stderr, "compile: %s\n", error.message);
    return 3;
}

int main(int argc, char **argv) {
    prepare_standard_streams();
    CompileRequest request = {.cancel = &interrupted};
    bool is_quiet = false;
    char directory[64];
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        double number = 0;
        if (strcmp(option, "--help") == 0) {
            fputs(usage, stdout);
            return printed(0);
        }
        if (strcmp(option, "--quiet") == 0) {
            is_quiet = true;
        } else if (strcmp(option, "--cubin") == 0) {
            request.want_cubin = true;
        } else if (strcmp(option, "--always") == 0) {
            request.always = true;
        } else if (strncmp(option, "--", 2) == 0) {
            bool is_arch = strcmp(option, "--arch") == 0, is_ptxas = strcmp(option, "--ptxas") == 0;
            bool is_limit = strcmp(option, "--time-limit") == 0,
                 is_include = strcmp(option, "--include") == 0;
            if (!is_arch && !is_ptxas && !is_limit && !is_include) return wrong("no such option: ", option);
            if (!value) return wrong("a value must follow ", option);
            i++;
            if (is_include) {
                request.include_directory = value;
            } else if (is_limit) {
                if (!read_number(value, 0.01, 86400, &request.time_limit))
                    return wrong("not a number of seconds: ", value);
            } else if (strcmp(value, "0") == 0 && is_ptxas) {
                request.sass_arch = -1;
            } else {
                if (!read_number(value, 50, 999, &number) || number != (int)number)
                    return wrong("no architecture: ", value);
                if (is_arch)
                    request.ptx_arch = (int)number;
                else
                    request.sass_arch = (int)number;
            }
        } else if (!request.source) {
            request.source = option;
        } else if (!request.output_directory) {
            request.output_directory = option;
        } else {
            return wrong("one argument too many: ", option);
        }
    }
    if (!request.source || !*request.source) return wrong("KERNEL.cu is missing", "");
    if (!request.output_directory) {
        if (!default_output(request.source, directory, sizeof directory))
            return wrong("OUTDIR is missing", "");
        request.output_directory = directory;
    }
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);

    CompileResult result;
    bool good = compile_kernel(&request, &result);
    if (result.note)
        fprintf(stderr, "warpbook: %s; compiled with %s\n", result.note,
                result.clang_version[0] ? "clang" : "another nvcc");
    if (!good) {
        fprintf(stderr, "%s%s", result.message,
                result.message[0] && strchr(result.message, '\n') ? "" : "\n");
    } else if (!is_quiet) {
        fputs(result.log, stderr);
        printf("%s -> %s  %.2f s%s\n", result.source, result.ptx_path, result.seconds,
               result.was_reused ? ", unchanged" : "");
    }
    int status = good ? 0 : result.status == COMPILE_INFRA ? 3 : 1;
    compile_result_free(&result);
    if (interrupted) {
        signal((int)interrupted, SIG_DFL);
        raise((int)interrupted);
    }
    return printed(status);
}
