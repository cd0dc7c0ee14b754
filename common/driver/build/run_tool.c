#define _GNU_SOURCE // PATH_MAX under -std=c17
#include "driver/build/run_tool.h"

#include <stdio.h>

enum { OUTPUT_LIMIT = 1 << 20 };                    // bytes kept of what a compiler prints
static const size_t memory_limit = (size_t)4 << 30; // address space; nvcc needs about 0.3 GiB
const size_t tool_file_limit = (size_t)256 << 20;

bool run_tool_in(Build *build, const char *inner, const char *const *arguments,
                 const char *const *environment, ProcessResult *result) {
    const double left = build->deadline - monotonic_seconds(), unused = build->limit - build->used;
    char folder[sizeof build->folder + 32];
    snprintf(folder, sizeof folder, "%s%s%.30s", build->folder, inner[0] ? "/" : "", inner);
    ProcessRequest request = {.arguments = arguments,
                              .environment = environment,
                              .directory = folder,
                              .seconds = left > 0.001 ? left : 0.001,
                              .processor_seconds = unused > 0.001 ? unused : 0.001,
                              .output_limit = OUTPUT_LIMIT,
                              .memory_limit = memory_limit,
                              .file_limit = tool_file_limit,
                              .cancel = build->request->cancel};
    const bool good = process_run(&request, result);
    build->used += result->processor_seconds;
    return good;
}

bool run_tool(Build *build, const char *const *arguments, ProcessResult *result) {
    return run_tool_in(build, "", arguments, build->environment, result);
}
