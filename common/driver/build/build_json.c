#define _GNU_SOURCE // strdup under -std=c17
#include "driver/build/build_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "support/json.h"
#include "support/sha256.h"

static const char schema[] = "warpbook/build/1";

// The numbers of a kernel, by their names in the file.
static const struct {
    const char *name;
    size_t place;
} kernel_numbers[] = {
#define NUMBER(member)                                                                                       \
    { #member, offsetof(CompiledKernel, member) }
    NUMBER(line),
    NUMBER(registers),
    NUMBER(stack_bytes),
    NUMBER(spill_store_bytes),
    NUMBER(spill_load_bytes),
    NUMBER(shared_bytes),
    NUMBER(constant_bytes),
    NUMBER(barriers),
};
enum { KERNEL_NUMBERS = sizeof kernel_numbers / sizeof kernel_numbers[0] };

static int *number_of(CompiledKernel *kernel, int which) {
    return (int *)((char *)kernel + kernel_numbers[which].place);
}

bool write_record(const CompileResult *result, const CompileKey *key, FileError *error) {
    JsonWriter json = {0};
    json_open_object(&json, NULL);
    json_string(&json, "schema", schema);
    json_boolean(&json, "ok", result->status == COMPILE_OK);
    json_string(&json, "verdict", compile_verdict(result->status));
    json_string(&json, "source", result->source);
    json_string(&json, "source_sha256", result->source_sha256);
    json_string(&json, "header_sha256", result->header_sha256);
    json_string(&json, "nvcc_version", result->nvcc_version);
    json_string(&json, "clang_version", result->clang_version);
    json_boolean(&json, "registers_estimated", result->has_estimate);
    json_string(&json, "compiler", key->compiler);
    json_string(&json, "options", key->options);
    json_boolean(&json, "is_self_contained", key->is_self_contained);
    json_integer(&json, "ptx_arch", result->ptx_arch);
    json_integer(&json, "sass_arch", result->sass_arch);
    json_real(&json, "seconds", result->build_seconds);
    json_string(&json, "ptx_sha256", key->ptx_sha256[0] ? key->ptx_sha256 : NULL);
    json_string(&json, "cubin_sha256", key->cubin_sha256[0] ? key->cubin_sha256 : NULL);
    json_open_array(&json, "kernels");
    for (int i = 0; i < result->kernel_count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "name", result->kernels[i].name);
        for (int k = 0; k < KERNEL_NUMBERS; k++)
            json_integer(&json, kernel_numbers[k].name, *number_of(&result->kernels[i], k));
        json_close_object(&json);
    }
    json_close_array(&json);
    json_string(&json, "message", result->message);
    json_string(&json, "log", result->log);
    json_close_object(&json);
    return json_write_file(&json, result->json_path, error);
}

// ---- Reading --------------------------------------------------------------------------------------------

static void copy_member(const JsonValue *root, const char *key, char *to, size_t bytes) {
    snprintf(to, bytes, "%s", json_as_string(json_member(root, key), ""));
}

static int int_member(const JsonValue *object, const char *key) {
    return (int)json_as_integer(json_member(object, key), 0);
}

static bool read_kernels(const JsonValue *kernels, CompileResult *result) {
    if (!kernels || kernels->kind != JSON_ARRAY) return false;
    if (kernels->count == 0) return true;
    result->kernels = calloc((size_t)kernels->count, sizeof *result->kernels);
    if (!result->kernels) return false;
    for (const JsonValue *value = kernels->first; value; value = value->next) {
        CompiledKernel *kernel = &result->kernels[result->kernel_count++];
        copy_member(value, "name", kernel->name, sizeof kernel->name);
        for (int k = 0; k < KERNEL_NUMBERS; k++)
            *number_of(kernel, k) = int_member(value, kernel_numbers[k].name);
    }
    return true;
}

static bool read_status(const char *verdict, CompileStatus *status) {
    for (int i = COMPILE_OK; i <= COMPILE_INFRA; i++) {
        if (strcmp(verdict, compile_verdict((CompileStatus)i)) != 0) continue;
        *status = (CompileStatus)i;
        return true;
    }
    return false;
}

static bool read_members(const JsonValue *root, CompileResult *result, CompileKey *key) {
    if (strcmp(json_as_string(json_member(root, "schema"), ""), schema) != 0) return false;
    if (!read_status(json_as_string(json_member(root, "verdict"), ""), &result->status)) return false;
    copy_member(root, "source", result->source, sizeof result->source);
    copy_member(root, "source_sha256", result->source_sha256, sizeof result->source_sha256);
    copy_member(root, "header_sha256", result->header_sha256, sizeof result->header_sha256);
    copy_member(root, "nvcc_version", result->nvcc_version, sizeof result->nvcc_version);
    copy_member(root, "clang_version", result->clang_version, sizeof result->clang_version);
    result->has_estimate = json_as_boolean(json_member(root, "registers_estimated"), false);
    copy_member(root, "compiler", key->compiler, sizeof key->compiler);
    copy_member(root, "options", key->options, sizeof key->options);
    copy_member(root, "ptx_sha256", key->ptx_sha256, sizeof key->ptx_sha256);
    copy_member(root, "cubin_sha256", key->cubin_sha256, sizeof key->cubin_sha256);
    key->is_self_contained = json_as_boolean(json_member(root, "is_self_contained"), false);
    result->ptx_arch = int_member(root, "ptx_arch");
    result->sass_arch = int_member(root, "sass_arch");
    result->build_seconds = json_as_real(json_member(root, "seconds"), 0);
    result->message = strdup(json_as_string(json_member(root, "message"), ""));
    result->log = strdup(json_as_string(json_member(root, "log"), ""));
    return result->message && result->log && read_kernels(json_member(root, "kernels"), result);
}

bool read_record(const char *output_directory, CompileResult *result, CompileKey *key) {
    *result = (CompileResult){0};
    *key = (CompileKey){0};
    snprintf(result->json_path, sizeof result->json_path, "%s/build.json", output_directory);
    Text text = {0};
    FileError error;
    char why[128];
    JsonValue *root = NULL;
    if (read_regular_file(result->json_path, 16 << 20, &text, &error)) {
        root = json_parse(text_chars(&text), text.bytes, why, sizeof why);
    }
    text_free(&text);
    bool good = root && read_members(root, result, key);
    json_free(root);
    if (!good) {
        compile_result_free(result);
        return false;
    }
    if (key->ptx_sha256[0])
        snprintf(result->ptx_path, sizeof result->ptx_path, "%s/kernel.ptx", output_directory);
    if (key->cubin_sha256[0]) {
        snprintf(result->cubin_path, sizeof result->cubin_path, "%s/kernel.cubin", output_directory);
    }
    return true;
}

static bool file_has_hash(const char *path, const char *expected) {
    if (!expected[0]) return true;
    Text text = {0};
    FileError error;
    char actual[65] = "";
    if (read_regular_file(path, 256 << 20, &text, &error)) sha256_hex(text_chars(&text), text.bytes, actual);
    text_free(&text);
    return strcmp(actual, expected) == 0;
}

bool record_files_intact(const CompileResult *result, const CompileKey *key) {
    if (result->status == COMPILE_OK && !key->ptx_sha256[0]) return false;
    return file_has_hash(result->ptx_path, key->ptx_sha256) &&
           file_has_hash(result->cubin_path, key->cubin_sha256);
}
