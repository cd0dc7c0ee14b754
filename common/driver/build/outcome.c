#include "driver/build/outcome.h"

#include <stdlib.h>
#include <string.h>

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
    free(result->note);
    free(result->kernels);
    *result = (CompileResult){0};
}

CompiledKernel *compile_add_kernel(CompileResult *result, const char *name, size_t length) {
    if (length >= sizeof result->kernels->name) length = sizeof result->kernels->name - 1;
    for (int i = 0; i < result->kernel_count; i++) {
        CompiledKernel *kernel = &result->kernels[i];
        if (strlen(kernel->name) == length && memcmp(kernel->name, name, length) == 0) return kernel;
    }
    CompiledKernel *kernels = realloc(result->kernels, ((size_t)result->kernel_count + 1) * sizeof *kernels);
    if (!kernels) return NULL;
    result->kernels = kernels;
    CompiledKernel *kernel = &kernels[result->kernel_count++];
    *kernel = (CompiledKernel){0};
    memcpy(kernel->name, name, length);
    return kernel;
}
