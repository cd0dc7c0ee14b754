// The compile step: check the source (source_check.c), reuse what is still true, run nvcc and ptxas
// (compilers.c), write the results.
#define _GNU_SOURCE // realpath, mkdtemp, strdup under -std=c17
#include "driver/build/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/file.h"
#include "support/process.h"
#include "support/sha256.h"
#include "driver/build/compile_parts.h"

const char *compile_verdict(CompileStatus status) {
    static const char *const verdicts[] = {"PASS", "BUILD", "BUILD_TIMEOUT", "RESOURCE", "INFRA"};
    return verdicts[status];
}

const CompiledKernel *compile_find_kernel(const CompileResult *result, const char *name) {
    for (int i = 0; i < result->kernel_count; i++) {
        if (strcmp(result->kernels[i].name, name) == 0) return &result->kernels[i];
    }
    return NULL;
}

void compile_result_free(CompileResult *result) {
    free(result->message);
    free(result->log);
    free(result->kernels);
    *result = (CompileResult){0};
}

// ---- Ending with a message ------------------------------------------------------------------------------

bool compile_end_with(Build *build, CompileStatus status, Text *message) {
    CompileResult *result = build->result;
    free(result->message);
    result->status = status;
    result->message = text_take(message);
    return false;
}

bool compile_end(Build *build, CompileStatus status, const char *format, ...) {
    Text written = {0}, message = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&written, format, arguments);
    va_end(arguments);
    text_add_printable(&message, text_chars(&written), written.bytes);
    text_free(&written);
    return compile_end_with(build, status, &message);
}

bool compile_end_without_memory(Build *build) {
    return compile_end(build, COMPILE_INFRA, "out of memory while compiling");
}

bool compile_put(Build *build, const char *name, const Text *content) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", build->folder, name);
    FILE *file = fopen(path, "wxe");
    bool good =
        file && fwrite(text_chars(content), 1, content->bytes, file) == content->bytes && fflush(file) == 0;
    if (good)
        futimens(fileno(file), (struct timespec[2]){{0}}); // what __TIMESTAMP__ says, where a disk lets us
    int number = errno;
    if (file && fclose(file) != 0) {
        good = false;
        number = errno;
    }
    if (good) return true;
    return compile_end(build, COMPILE_INFRA, "cannot write to %s: %s", build->request->output_directory,
                       number == ENOSPC ? "the disk is full" : strerror(number));
}

// ---- Reuse ----------------------------------------------------------------------------------------------

static void describe_options(Build *build) {
    const CompileRequest *request = build->request;
    CompileResult *result = build->result;
    result->ptx_arch = request->ptx_arch ? request->ptx_arch : 80;
    result->sass_arch = request->sass_arch ? request->sass_arch : 90;
    // ptxas refuses PTX for a newer device than it assembles for: an older one gets the PTX's own.
    if (result->sass_arch > 0 && result->sass_arch < result->ptx_arch) result->sass_arch = result->ptx_arch;
    snprintf(build->key.options, sizeof build->key.options, "1: -std=c++17 -lineinfo compute_%d sm_%d%s",
             result->ptx_arch, result->sass_arch, request->want_cubin ? " cubin" : "");
}

// Takes the results of an earlier call where nothing has changed since. `has_compiler` false: the
// compiler is gone, and cannot have changed what it made.
static bool reuse(Build *build, bool has_compiler) {
    CompileResult *result = build->result, old;
    CompileKey key;
    if (build->request->always || !build->key.is_self_contained) return false;
    if (!read_record(build->request->output_directory, &old, &key)) return false;
    bool is_same =
        (old.status == COMPILE_OK || old.status == COMPILE_BUILD || old.status == COMPILE_RESOURCE) &&
        key.is_self_contained && strcmp(old.source, result->source) == 0 &&
        strcmp(old.source_sha256, result->source_sha256) == 0 &&
        strcmp(old.header_sha256, result->header_sha256) == 0 &&
        strcmp(key.options, build->key.options) == 0 &&
        (!has_compiler || strcmp(key.compiler, build->toolchain.identity) == 0);
    if (!is_same || !record_files_intact(&old, &key)) {
        compile_result_free(&old);
        return false;
    }
    old.was_reused = true;
    compile_result_free(result);
    *result = old;
    return true;
}

// ---- Folders --------------------------------------------------------------------------------------------

// Another compile into the same folder is waited for: what it makes may be just what is wanted.
static bool lock_output(Build *build) {
    const char *directory = build->request->output_directory;
    FileError error;
    char path[PATH_MAX];
    if (!make_directories(directory, &error)) {
        return compile_end(build, COMPILE_INFRA, "%s; build products must go there", error.message);
    }
    int written = snprintf(path, sizeof path, "%s/.lock", directory);
    if (written < 0 || (size_t)written + 32 >= sizeof build->result->ptx_path) {
        return compile_end(build, COMPILE_INFRA, "the path %s is too long", directory);
    }
    build->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (build->lock < 0) {
        bool is_full = errno == ENOSPC || errno == EDQUOT;
        return compile_end(build, COMPILE_INFRA, "cannot write to the folder %s: %s", directory,
                           is_full ? "the disk is full" : strerror(errno));
    }
    while (flock(build->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (monotonic_seconds() > build->deadline || (build->request->cancel && *build->request->cancel)) {
            return compile_end(build, COMPILE_INFRA, "another compile holds the folder %s", directory);
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return true;
}

// The compiler sees copies of exactly the bytes that were checked and hashed, under names of ours: what a
// path is called, or what becomes of the file meanwhile, cannot reach its command lines.
static bool make_private_folder(Build *build) {
    char folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/.compile-XXXXXX", build->request->output_directory);
    if (!mkdtemp(folder)) {
        bool is_full = errno == ENOSPC || errno == EDQUOT;
        return compile_end(build, COMPILE_INFRA, "cannot write to the folder %s: %s",
                           build->request->output_directory, is_full ? "the disk is full" : strerror(errno));
    }
    char *whole = realpath(folder, NULL);
    snprintf(build->folder, sizeof build->folder, "%s", whole ? whole : folder);
    free(whole);
    return compile_put(build, "kernel.cu", &build->source) &&
           compile_put(build, "warpbook.cuh", &build->header);
}

// ---- Results --------------------------------------------------------------------------------------------

// Writes one product or, where there is none, removes what an earlier call left: a stale image must not run.
static bool deliver(Build *build, const char *name, const Text *content, bool is_wanted, char path[1024],
                    char hash[65]) {
    FileError error;
    snprintf(path, 1024, "%s/%s", build->request->output_directory, name);
    if (!is_wanted) {
        unlink(path);
        path[0] = '\0';
        return true;
    }
    sha256_hex(text_chars(content), content->bytes, hash);
    if (write_file_atomically(path, text_chars(content), content->bytes, &error)) return true;
    path[0] = hash[0] = '\0';
    return compile_end(build, COMPILE_INFRA, "%s", error.message);
}

// build.json is removed first and written last: it never speaks of files that are not there.
static void deliver_all(Build *build) {
    CompileResult *result = build->result;
    FileError error;
    unlink(result->json_path);
    bool has_image = result->status == COMPILE_OK || result->status == COMPILE_RESOURCE;
    bool good =
        deliver(build, "kernel.ptx", &build->ptx, has_image, result->ptx_path, build->key.ptx_sha256) &&
        deliver(build, "kernel.cubin", &build->cubin, has_image && build->cubin.bytes > 0, result->cubin_path,
                build->key.cubin_sha256);
    if (!good || result->status == COMPILE_INFRA) return;
    if (!result->message) result->message = strdup("");
    if (!result->log) result->log = strdup("");
    if (!write_record(result, &build->key, &error)) compile_end(build, COMPILE_INFRA, "%s", error.message);
}

static void compile_anew(Build *build) {
    CompileResult *result = build->result;
    char why[1200];
    bool has_compiler = find_toolchain(&build->toolchain, why, sizeof why);
    if (reuse(build, has_compiler)) return;
    if (!has_compiler) {
        compile_end(build, COMPILE_INFRA, "%s", why);
    } else {
        double began = monotonic_seconds();
        compile_make_environment(build);
        snprintf(build->key.compiler, sizeof build->key.compiler, "%s", build->toolchain.identity);
        read_nvcc_version(&build->toolchain, build->environment, result->nvcc_version);
        if (make_private_folder(build) && compile_make_ptx(build)) compile_assemble(build);
        result->build_seconds = monotonic_seconds() - began;
    }
    deliver_all(build);
    if (build->folder[0]) remove_tree(build->folder);
}

bool compile_kernel(const CompileRequest *request, CompileResult *result) {
    *result = (CompileResult){.status = COMPILE_OK};
    Build *build = calloc(1, sizeof *build);
    if (!build) {
        result->status = COMPILE_INFRA;
        result->message = strdup("out of memory while compiling");
        return false;
    }
    build->request = request;
    build->result = result;
    build->lock = -1;
    build->began = monotonic_seconds();
    build->deadline =
        build->began + (request->time_limit > 0 ? request->time_limit : COMPILE_DEFAULT_SECONDS);
    compile_show_path(request->source, result->source, sizeof result->source);
    memcpy(build->label, result->source, sizeof build->label);
    compile_make_label(build->label);
    describe_options(build);
    if (lock_output(build)) {
        snprintf(result->json_path, sizeof result->json_path, "%s/build.json", request->output_directory);
        if (compile_read_source(build) && compile_read_header(build)) {
            build->key.is_self_contained = is_self_contained(text_chars(&build->source));
            compile_anew(build);
        } else {
            deliver_all(build);
        }
    }
    if (build->lock >= 0) close(build->lock);
    result->seconds = monotonic_seconds() - build->began;
    if (!result->message) result->message = strdup("");
    if (!result->log) result->log = strdup("");
    text_free(&build->source);
    text_free(&build->header);
    text_free(&build->ptx);
    text_free(&build->cubin);
    free(build);
    return result->status == COMPILE_OK;
}

bool compile_load(const char *output_directory, CompileResult *result) {
    CompileKey key;
    if (read_record(output_directory, result, &key) && record_files_intact(result, &key)) {
        return result->status == COMPILE_OK;
    }
    compile_result_free(result);
    Text message = {0};
    text_printf(&message, "there is no build in %s, or it is damaged; run make again", output_directory);
    result->status = COMPILE_INFRA;
    result->message = text_take(&message);
    result->log = strdup("");
    return false;
}
