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

// Makes the buffers of a value and puts their addresses into it.
static bool make_buffers(Emulator *e, Value *v, const char *what) {
    for (int i = 0; i < v->buffer_count; i++) {
        ValueBuffer *b = &v->buffers[i];
        EmulatorError error;
        b->address = emulator_allocate(e, b->bytes, 0, what, &error);
        if (!b->address) {
            fprintf(stderr, "emulate: %s\n", error.message);
            return false;
        }
        const uint64_t address = b->address;
        memcpy(v->bytes + b->offset, &address, sizeof address);
        if (b->file && !strcmp(b->file, "zero"))
            emulator_fill(e, b->address, 0, b->bytes, true, &error);
        else if (b->file) {
            FileError why;
            Text data = {0};
            const bool is_read = read_regular_file(b->file, b->bytes, &data, &why);
            if (is_read)
                emulator_write(e, b->address, text_chars(&data), data.bytes, &error);
            else
                fprintf(stderr, "emulate: %s\n", why.message);
            text_free(&data);
            if (!is_read) return false;
        }
    }
    return true;
}

static bool place_arguments(Emulator *e, Request *r, const EmulatorKernelInfo *info, unsigned char *block) {
    if (r->argument_count != info->parameter_count) {
        fprintf(stderr, "emulate: %s takes %d arguments, not %d\n", info->name, info->parameter_count,
                r->argument_count);
        return false;
    }
    for (int i = 0; i < r->argument_count; i++) {
        Value *v = &r->arguments[i];
        char name[32];
        snprintf(name, sizeof name, "argument %d", i);
        if (!make_buffers(e, v, name)) return false;
        // A struct ends with bytes that fill it to a multiple of its alignment.
        const size_t wanted = info->parameters[i].bytes,
                     whole = (v->count + v->align - 1) / v->align * v->align;
        if (wanted != v->count && wanted != whole) {
            fprintf(stderr, "emulate: argument %d of %s has %zu bytes; %zu were given\n", i, info->name,
                    wanted, v->count);
            return false;
        }
        memcpy(block + info->parameters[i].offset, v->bytes, v->count);
    }
    return true;
}

static bool set_variables(Emulator *e, Request *r) {
    for (int i = 0; i < r->setting_count; i++) {
        Setting *s = &r->settings[i];
        EmulatorVariable variable;
        EmulatorError error;
        if (!emulator_find_variable(e, NULL, s->name, &variable)) {
            fprintf(stderr, "emulate: there is no variable %s, or more than one: emulate %s lists them\n",
                    s->name, r->files[0]);
            return false;
        }
        if (s->value.count > variable.bytes) {
            fprintf(stderr, "emulate: %s has %zu bytes; %zu were given\n", s->name, variable.bytes,
                    s->value.count);
            return false;
        }
        if (!make_buffers(e, &s->value, s->name)) return false;
        emulator_write(e, variable.address, s->value.bytes, s->value.count, &error);
    }
    return true;
}

// The kernel that the request names; NULL after a message.
static const EmulatorKernel *find_kernel(const Emulator *e, const Request *r) {
    int count;
    const EmulatorKernel *kernel = emulator_find_kernel_called(e, r->kernel, &count);
    if (kernel) return kernel;
    fprintf(stderr, "emulate: %s has %s %s; it has", r->files[0], count ? "several kernels" : "no kernel",
            r->kernel);
    for (int i = 0; i < emulator_kernel_count(e); i++) {
        EmulatorKernelInfo info;
        emulator_kernel_info(emulator_kernel_at(e, i), &info);
        fprintf(stderr, " %s", info.name);
    }
    fputs(emulator_kernel_count(e) ? "\n" : " none\n", stderr);
    return NULL;
}

static int run(Emulator *e, Request *r, const EmulatorText *texts) {
    EmulatorError error = {0};
    if (!emulator_add_image(e, texts, r->file_count, &error)) {
        fprintf(stderr, "emulate: %s%s\n", error.status == EMULATOR_UNSUPPORTED ? "UNSUPPORTED: " : "",
                error.message);
        if (error.source_line) fprintf(stderr, "emulate: from %s:%d\n", error.file, error.source_line);
        return EXIT_BAD_PTX;
    }
    if (!r->kernel) {
        print_contents(e);
        return EXIT_CLEAN;
    }
    const EmulatorKernel *kernel = find_kernel(e, r);
    if (!kernel) return EXIT_USAGE;
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel, &info);
    unsigned char *block = calloc(info.parameter_bytes + 1, 1);
    if (!block) {
        fprintf(stderr, "emulate: out of memory\n");
        return EXIT_BAD_PTX;
    }
    if (!place_arguments(e, r, &info, block) || !set_variables(e, r)) {
        free(block);
        return EXIT_USAGE;
    }
    int status;
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
        printf("%s: %s, %" PRIu64 " lane instructions in %.4f s\n", info.name,
               wrong ? overall_verdict(&result) : "clean", result.lane_instructions, result.seconds);
        status = unsupported ? EXIT_BAD_PTX : wrong ? EXIT_FINDINGS : EXIT_CLEAN;
        for (int i = 0; i < r->dump_count; i++) {
            const ValueBuffer *b = &r->arguments[r->dumps[i].index].buffers[0];
            FileError why;
            if (write_file_atomically(r->dumps[i].file, emulator_host_pointer(e, b->address, b->bytes),
                                      b->bytes, &why))
                continue;
            fprintf(stderr, "emulate: %s\n", why.message);
            status = EXIT_USAGE;
        }
        if (r->json && !write_result(r->json, &result)) status = EXIT_USAGE;
        if (r->trace && !write_trace(r->trace, info.name, emulator_device(e), &result)) status = EXIT_USAGE;
    }
    emulator_result_free(&result);
    free(block);
    return status;
}

static int main_with(Request *r, int argc, char **argv) {
    int stop = read_request(argc, argv, r);
    if (stop) return stop - 1;
    FileError why;
    static Text contents[MAX_FILES];
    EmulatorText texts[MAX_FILES];
    int status = EXIT_CLEAN;
    for (int i = 0; i < r->file_count && status == EXIT_CLEAN; i++) {
        if (!read_regular_file(r->files[i], MAX_PTX_BYTES, &contents[i], &why)) {
            fprintf(stderr, "emulate: %s\n", why.message);
            status = EXIT_USAGE;
        }
        texts[i] = (EmulatorText){text_chars(&contents[i]), contents[i].bytes, r->files[i]};
    }
    if (status == EXIT_CLEAN) {
        Emulator *e = emulator_open(NULL);
        status = e ? run(e, r, texts) : EXIT_BAD_PTX;
        if (!e) fprintf(stderr, "emulate: out of memory\n");
        emulator_close(e);
    }
    for (int i = 0; i < r->file_count; i++) text_free(&contents[i]);
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
