// build/bin/emulate: runs one kernel of any PTX file and says what it did, what it did wrong and what it
// counted. To a laptop what compute-sanitizer and ncu are to a GPU.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "emulator/emulate_output.h"
#include "emulator/emulate_request.h"

static const size_t MAX_PTX_BYTES = (size_t)256 << 20;

static int place_arguments(Emulator *e, Request *r, const EmulatorKernelInfo *info, unsigned char *block) {
    if (r->argument_count != info->parameter_count) {
        fprintf(stderr, "emulate: %s takes %d arguments, not %d\n", info->name, info->parameter_count,
                r->argument_count);
        return EXIT_USAGE;
    }
    for (int i = 0; i < r->argument_count; i++) {
        Argument *a = &r->arguments[i];
        if (a->type == 'b') {
            EmulatorError error;
            char name[32];
            snprintf(name, sizeof name, "argument %d", i);
            a->address = emulator_allocate(e, a->bytes, 0, name, &error);
            if (!a->address) {
                fprintf(stderr, "emulate: %s\n", error.message);
                return EXIT_USAGE;
            }
            if (a->file && !strcmp(a->file, "zero"))
                emulator_fill(e, a->address, 0, a->bytes, true, &error);
            else if (a->file) {
                FileError why;
                Text data = {0};
                if (!read_regular_file(a->file, a->bytes, &data, &why)) {
                    fprintf(stderr, "emulate: %s\n", why.message);
                    text_free(&data);
                    return EXIT_USAGE;
                }
                emulator_write(e, a->address, text_chars(&data), data.bytes, &error);
                text_free(&data);
            }
            memcpy(a->value, &a->address, 8);
        }
        size_t wanted = info->parameters[i].bytes, have = a->type == 'b' ? 8 : a->bytes;
        if (wanted != have) {
            fprintf(stderr, "emulate: argument %d of %s has %zu bytes; %zu were given\n", i, info->name,
                    wanted, have);
            return EXIT_USAGE;
        }
        memcpy(block + info->parameters[i].offset, a->value, have);
    }
    return 0;
}

static int run(Emulator *e, Request *r, const char *ptx, size_t bytes) {
    EmulatorError error = {0};
    if (!emulator_load(e, ptx, bytes, r->ptx, &error)) {
        fprintf(stderr, "emulate: %s%s\n", error.status == EMULATOR_UNSUPPORTED ? "UNSUPPORTED: " : "",
                error.message);
        if (error.source_line) fprintf(stderr, "emulate: from %s:%d\n", error.file, error.source_line);
        return EXIT_BAD_PTX;
    }
    const EmulatorKernel *kernel = emulator_find_kernel(e, r->kernel);
    if (!kernel) {
        fprintf(stderr, "emulate: %s has no kernel %s; it has", r->ptx, r->kernel);
        for (int i = 0; i < emulator_kernel_count(e); i++) {
            EmulatorKernelInfo info;
            emulator_kernel_info(emulator_kernel_at(e, i), &info);
            fprintf(stderr, " %s", info.name);
        }
        fputs(emulator_kernel_count(e) ? "\n" : " none\n", stderr);
        return EXIT_USAGE;
    }
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel, &info);
    unsigned char *block = calloc(info.parameter_bytes + 1, 1);
    if (!block) {
        fprintf(stderr, "emulate: out of memory\n");
        return EXIT_BAD_PTX;
    }
    int status = place_arguments(e, r, &info, block);
    if (status) {
        free(block);
        return status;
    }
    r->launch.arguments = block;
    r->launch.argument_bytes = info.parameter_bytes;
    EmulatorResult result;
    if (!emulator_launch(e, kernel, &r->launch, &result, &error)) {
        fprintf(stderr, "emulate: %s\n", error.message);
        status = EXIT_BAD_PTX;
    } else {
        if (result.output_bytes) fwrite(result.output, 1, result.output_bytes, stdout);
        print_findings(&result);
        if (r->profile) print_profile(&result);
        bool unsupported = false, wrong = !result.completed;
        for (int i = 0; i < result.finding_count; i++) {
            unsupported |= result.findings[i].kind == FINDING_UNSUPPORTED;
            wrong |= !finding_is_information(result.findings[i].kind);
        }
        printf("%s: %s, %" PRIu64 " lane instructions in %.3f s\n", info.name,
               wrong ? overall_verdict(&result) : "clean", result.lane_instructions, result.seconds);
        status = unsupported ? EXIT_BAD_PTX : wrong ? EXIT_FINDINGS : EXIT_CLEAN;
        for (int i = 0; i < r->dump_count; i++) {
            const Argument *a = &r->arguments[r->dumps[i].index];
            FileError why;
            if (write_file_atomically(r->dumps[i].file, emulator_host_pointer(e, a->address, a->bytes),
                                      a->bytes, &why))
                continue;
            fprintf(stderr, "emulate: %s\n", why.message);
            status = EXIT_USAGE;
        }
        if (r->json && !write_result(r->json, &result)) status = EXIT_USAGE;
        if (r->trace && !write_trace(r->trace, r->kernel, emulator_device(e), &result)) status = EXIT_USAGE;
    }
    emulator_result_free(&result);
    free(block);
    return status;
}

static int main_with(Request *r, int argc, char **argv) {
    int stop = read_request(argc, argv, r);
    if (stop) return stop - 1;
    FileError why;
    Text ptx = {0};
    if (!read_regular_file(r->ptx, MAX_PTX_BYTES, &ptx, &why)) {
        fprintf(stderr, "emulate: %s\n", why.message);
        return EXIT_USAGE;
    }
    Emulator *e = emulator_open(NULL);
    int status = EXIT_BAD_PTX;
    if (e)
        status = run(e, r, text_chars(&ptx), ptx.bytes);
    else
        fprintf(stderr, "emulate: out of memory\n");
    emulator_close(e);
    text_free(&ptx);
    return status;
}

// The exit status, once what was printed is known to have got where it was sent.
static int printed(int status) {
    FileError why;
    if (flush_standard_output(&why)) return status;
    fprintf(stderr, "emulate: %s\n", why.message);
    return status == EXIT_CLEAN ? EXIT_USAGE : status;
}

int main(int argc, char **argv) {
    static Request request;
    prepare_standard_streams();
    int status = main_with(&request, argc, argv);
    request_free(&request);
    return printed(status);
}
