// build.json: what was built, from what, and what came of it.
#define _GNU_SOURCE // strdup under -std=c17
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "support/json.h"
#include "support/sha256.h"
#include "driver/build/compile_parts.h"

static const char schema[] = "warpbook/build/1";

static void write_kernel(JsonWriter *json, const CompiledKernel *kernel) {
    json_open_object(json, NULL);
    json_string(json, "name", kernel->name);
    json_integer(json, "line", kernel->line);
    json_integer(json, "registers", kernel->registers);
    json_integer(json, "stack_bytes", kernel->stack_bytes);
    json_integer(json, "spill_store_bytes", kernel->spill_store_bytes);
    json_integer(json, "spill_load_bytes", kernel->spill_load_bytes);
    json_integer(json, "shared_bytes", kernel->shared_bytes);
    json_integer(json, "constant_bytes", kernel->constant_bytes);
    json_integer(json, "barriers", kernel->barriers);
    json_close_object(json);
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
    json_string(&json, "compiler", key->compiler);
    json_string(&json, "options", key->options);
    json_boolean(&json, "is_self_contained", key->is_self_contained);
    json_integer(&json, "ptx_arch", result->ptx_arch);
    json_integer(&json, "sass_arch", result->sass_arch);
    json_real(&json, "seconds", result->build_seconds);
    json_string(&json, "ptx_sha256", key->ptx_sha256[0] ? key->ptx_sha256 : NULL);
    json_string(&json, "cubin_sha256", key->cubin_sha256[0] ? key->cubin_sha256 : NULL);
    json_open_array(&json, "kernels");
    for (int i = 0; i < result->kernel_count; i++) write_kernel(&json, &result->kernels[i]);
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
        kernel->line = int_member(value, "line");
        kernel->registers = int_member(value, "registers");
        kernel->stack_bytes = int_member(value, "stack_bytes");
        kernel->spill_store_bytes = int_member(value, "spill_store_bytes");
        kernel->spill_load_bytes = int_member(value, "spill_load_bytes");
        kernel->shared_bytes = int_member(value, "shared_bytes");
        kernel->constant_bytes = int_member(value, "constant_bytes");
        kernel->barriers = int_member(value, "barriers");
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
