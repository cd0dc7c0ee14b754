#define _GNU_SOURCE // mkdtemp under -std=c17
#include "driver/listing/disassemble.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/toolchain.h"
#include "support/file.h"
#include "support/process.h"

enum { SECONDS = 60, OUTPUT_LIMIT = 64 << 20, LOG_LIMIT = 1 << 20 };

// The target of PTX if it is newer than the architecture, or one that has no other machine code: "sm_90a".
static void choose_target(const char *ptx, int architecture, char target[16]) {
    int number = 0;
    char letter = '\0';
    const char *at = ptx ? strstr(ptx, "\n.target sm_") : NULL;
    const int read = at ? sscanf(at, "\n.target sm_%d%c", &number, &letter) : 0;
    const bool has_letter = read == 2 && letter >= 'a' && letter <= 'z';
    if (read >= 1 && (number > architecture || has_letter))
        snprintf(target, 16, has_letter ? "sm_%d%c" : "sm_%d", number, letter);
    else
        snprintf(target, 16, "sm_%d", architecture);
}

static bool run(const char *const *arguments, size_t limit, Text *output, char *why, size_t why_bytes) {
    const ProcessRequest request = {.arguments = arguments, .seconds = SECONDS, .output_limit = limit};
    ProcessResult result;
    const bool good = process_run(&request, &result) && !result.output_was_cut;
    if (good)
        text_add_bytes(output, text_chars(&result.output), result.output.bytes);
    else if (!result.was_started)
        snprintf(why, why_bytes, "%s", result.message);
    else if (result.timed_out)
        snprintf(why, why_bytes, "%.200s did not finish within %d s", arguments[0], SECONDS);
    else
        snprintf(why, why_bytes, "%.200s failed: %.300s", arguments[0], text_chars(&result.output));
    text_free(&result.output);
    return good;
}

static bool assemble(const char *ptx, const char *target, const char *cubin, char *why, size_t why_bytes) {
    char ptxas[PATH_MAX];
    if (!find_assembler(ptxas, sizeof ptxas, why, why_bytes)) return false;
    char arch[32];
    snprintf(arch, sizeof arch, "-arch=%s", target);
    const char *arguments[] = {ptxas, "-lineinfo", arch, ptx, "-o", cubin, NULL};
    Text log = {0};
    const bool good = run(arguments, LOG_LIMIT, &log, why, why_bytes);
    text_free(&log);
    return good;
}

bool disassemble(const char *image, bool is_ptx, const char *ptx, int architecture, char target[16],
                 Text *code, char *why, size_t why_bytes) {
    char nvdisasm[PATH_MAX], folder[PATH_MAX], cubin[PATH_MAX + 16];
    const char *temporary = getenv("TMPDIR");
    choose_target(is_ptx ? ptx : NULL, architecture, target);
    if (!find_nvdisasm(nvdisasm, sizeof nvdisasm, why, why_bytes)) return false;
    snprintf(folder, sizeof folder, "%s/warpbook-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) {
        snprintf(why, why_bytes, "cannot make a folder in %.200s",
                 temporary && *temporary ? temporary : "/tmp");
        return false;
    }
    snprintf(cubin, sizeof cubin, "%s/kernel.cubin", folder);
    const char *arguments[] = {nvdisasm, "-gi", "-c", is_ptx ? cubin : image, NULL};
    const bool good = (!is_ptx || assemble(image, target, cubin, why, why_bytes)) &&
                      run(arguments, OUTPUT_LIMIT, code, why, why_bytes);
    remove_tree(folder);
    return good;
}
