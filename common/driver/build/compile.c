// The steps: check the source (source_check.c), reuse what is still true, run nvcc and ptxas (compilers.c),
// write the results.
#define _GNU_SOURCE // realpath, mkdtemp, strdup under -std=c17
#include "driver/build/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "support/file.h"
#include "support/process.h"
#include "support/sha256.h"
#include "driver/build/assembly.h"
#include "driver/build/build_json.h"
#include "driver/build/compilers.h"
#include "driver/build/source_check.h"
#include "driver/build/state.h"

// ---- Reuse ----------------------------------------------------------------------------------------------

static void describe_options(Build *build) {
    const CompileRequest *request = build->request;
    CompileResult *result = build->result;
    result->ptx_arch = request->ptx_arch ? request->ptx_arch : 80;
    result->sass_arch = request->sass_arch ? request->sass_arch : 90;
    // ptxas refuses PTX for a newer device than it assembles for: an older one gets the PTX's own.
    if (result->sass_arch > 0 && result->sass_arch < result->ptx_arch) result->sass_arch = result->ptx_arch;
    snprintf(build->key.options, sizeof build->key.options, "3: -std=c++17 -lineinfo compute_%d sm_%d%s%s",
             result->ptx_arch, result->sass_arch, request->want_cubin ? " cubin" : "",
             request->is_quick ? " quick" : "");
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
    char program[PATH_MAX + 16];
    snprintf(program, sizeof program, "%s/program", build->request->output_directory);
    if (build->program_header.bytes > 0 && old.status == COMPILE_OK && access(program, X_OK) != 0)
        is_same = false;
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
            return compile_end(build, COMPILE_INFRA, "another compilation is using the folder %s", directory);
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
    // nvcc finds out where it is and hands that to a shell, which would run what is between two backquotes.
    if (build->toolchain.kind == COMPILER_NVCC && strchr(build->folder, '`')) {
        return compile_end(
            build, COMPILE_INFRA,
            "nvcc cannot work in a folder with a backquote (`) in its path; rename or move it: %s",
            build->folder);
    }
    return compile_put(build, "kernel.cu", &build->source) &&
           compile_put(build, "warpbook.cuh", &build->header) &&
           (build->program_header.bytes == 0 || compile_put(build, "program.cuh", &build->program_header));
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

// build.json is removed first and written last, so it never describes missing files.
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

// The steps after the PTX: ptxas, and what is kept.
static void assemble_and_deliver(Build *build) {
    if (compile_assemble(build) && build->program_header.bytes > 0) compile_make_program(build);
    build->result->build_seconds = monotonic_seconds() - build->compilers_began;
    deliver_all(build);
    remove_tree(build->folder);
}

// The same while this process works on with the PTX. The lock is held there, too, until that has ended.
static bool begin_to_assemble(Build *build) {
    CompileResult *result = build->result;
    if (!build->request->assembles_beside || !build->toolchain.ptxas[0] || build->program_header.bytes > 0)
        return false;
    unlink(result->json_path);
    return deliver(build, "kernel.ptx", &build->ptx, true, result->ptx_path, build->key.ptx_sha256) &&
           assembly_begin(build, assemble_and_deliver);
}

static void compile_anew(Build *build) {
    CompileResult *result = build->result;
    char why[1200];
    Toolchain *toolchain = &build->toolchain;
    bool has_compiler = find_toolchain(toolchain, build->include, why, sizeof why);
    if (reuse(build, has_compiler)) return;
    build->compilers_began = monotonic_seconds();
    compile_make_environment(build);
    char first[sizeof toolchain->identity];
    strcpy(first, toolchain->identity);
    has_compiler =
        has_compiler && toolchain_check(toolchain, build->include, build->environment, why, sizeof why);
    // Another compiler than the first: it may have made what is here.
    if (has_compiler && strcmp(first, toolchain->identity) != 0 && reuse(build, true)) return;
    if (!has_compiler) {
        compile_end(build, COMPILE_INFRA, "%s", why);
    } else if (build->program_header.bytes > 0 && toolchain->kind != COMPILER_NVCC) {
        compile_end(
            build, COMPILE_INFRA,
            "a whole program needs nvcc, and the compiler chosen here is clang. Set WARPBOOK_COMPILER=nvcc; "
            "in a checkout, make setup COMPILER=nvcc fetches one");
    } else {
        snprintf(build->key.compiler, sizeof build->key.compiler, "%s", toolchain->identity);
        snprintf(toolchain->kind == COMPILER_CLANG ? result->clang_version : result->nvcc_version,
                 sizeof result->nvcc_version, "%s", toolchain->version);
        if (toolchain->note[0]) result->note = strdup(toolchain->note);
        if (make_private_folder(build) && compile_make_ptx(build)) {
            if (!begin_to_assemble(build)) assemble_and_deliver(build);
            return;
        }
        result->build_seconds = monotonic_seconds() - build->compilers_began;
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
    build->limit = request->time_limit > 0 ? request->time_limit : COMPILE_DEFAULT_SECONDS;
    build->deadline = build->began + COMPILE_PATIENCE * build->limit;
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
    result->processor_seconds = build->used;
    if (!result->message) result->message = strdup("");
    if (!result->log) result->log = strdup("");
    text_free(&build->source);
    text_free(&build->header);
    text_free(&build->program_header);
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
