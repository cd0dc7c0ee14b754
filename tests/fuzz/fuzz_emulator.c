// A fuzzer of the whole emulator: parse, decode, and run every kernel of a PTX text, with all checks on, and
// once followed for the time model and recorded as an access trace.
//
// Built for libFuzzer by `make fuzz` (clang -fsanitize=fuzzer,address,undefined).
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"
#include "emulator/model/model.h"
#include "mutate.h"

enum { BUFFER_BYTES = 4096, MAX_KERNELS = 4, TRACE_BYTES = 96 << 10 };

static void estimate(const EmulatorLaunch *launch, const ModelWork *work) {
    ModelFigures figures = {132, 1980000, 9, 0, 2048, 32, 65536, 233472, 1024, 62914560, 4814};
    ModelDevice device;
    ModelShape shape = {launch->grid[0], launch->block[0], 32, launch->dynamic_shared};
    ModelEstimate told;
    model_device(&figures, &device);
    model_estimate(&device, &shape, work, &told);
    if (!(told.seconds >= 0)) abort();
}

static void run_kernel(Emulator *emulator, const EmulatorKernel *kernel, uint64_t buffer, uint64_t schedule) {
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel, &info);
    unsigned char *arguments = calloc(info.parameter_bytes + 1, 1);
    if (!arguments) return;
    // Pointers where there is room for one, a small number elsewhere.
    for (int i = 0; i < info.parameter_count; i++) {
        uint64_t value = info.parameters[i].bytes == 8 ? buffer : 100;
        memcpy(arguments + info.parameters[i].offset, &value,
               info.parameters[i].bytes < 8 ? info.parameters[i].bytes : 8);
    }
    const uint32_t threads = info.required_threads[0] > 0 ? (uint32_t)info.required_threads[0] : 48;
    EmulatorLaunch launch = {.grid = {3, 1, 1},
                             .block = {threads, 1, 1},
                             .dynamic_shared = 256,
                             .arguments = arguments,
                             .argument_bytes = info.parameter_bytes,
                             .checks = CHECK_ALL,
                             .count = true,
                             .timing = !schedule,
                             .schedule = schedule,
                             .max_steps = 50000,
                             .trace_bytes = schedule ? 0 : TRACE_BYTES};
    EmulatorResult result;
    EmulatorError error;
    if (emulator_launch(emulator, kernel, &launch, &result, &error) && result.work)
        estimate(&launch, result.work);
    if (result.trace_bytes > launch.trace_bytes) abort();
    emulator_result_free(&result);
    free(arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Emulator *emulator = emulator_open(NULL);
    EmulatorError error;
    if (!emulator) return 0;
    uint64_t buffer = emulator_allocate(emulator, BUFFER_BYTES, 0, "buffer", &error);
    if (buffer && emulator_load(emulator, (const char *)data, bytes, "fuzz.ptx", &error)) {
        for (int i = 0; i < emulator_kernel_count(emulator) && i < MAX_KERNELS; i++) {
            emulator_fill(emulator, buffer, 0x3f800000u, BUFFER_BYTES / 2, true, &error);
            run_kernel(emulator, emulator_kernel_at(emulator, i), buffer, 0);
            run_kernel(emulator, emulator_kernel_at(emulator, i), buffer, 7);
        }
    }
    emulator_close(emulator);
    return 0;
}
