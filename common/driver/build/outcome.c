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
    free(result->kernels);
    *result = (CompileResult){0};
}
