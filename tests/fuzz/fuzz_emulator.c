// A fuzzer of the whole emulator: parse, decode, and run every kernel of a PTX text, with all checks on.
//
// Built for libFuzzer by `make fuzz` (clang -fsanitize=fuzzer,address,undefined). Half of the mutations
// are its own, by bytes; the other half know that PTX is lines of words, so that inputs get past the parser.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/emulator/emulator.h"

enum { BUFFER_BYTES = 4096, MAX_KERNELS = 4, MAX_TEXT = 16384 };

static void run_kernel(Emulator *emulator, const EmulatorKernel *kernel, uint64_t buffer, uint64_t schedule) {
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel, &info);
    unsigned char *arguments = calloc(info.parameter_bytes + 1, 1);
    if (!arguments) return;
    // Pointers where there is room for one, a small number elsewhere.
    for (int i = 0; i < info.parameter_count; i++) {
        uint64_t value = info.parameters[i].bytes == 8 ? buffer : 100;
        memcpy(arguments + info.parameters[i].offset, &value, info.parameters[i].bytes < 8 ? info.parameters[i].bytes : 8);
    }
    EmulatorLaunch launch = {.grid = {3, 1, 1},
                             .block = {48, 1, 1},
                             .dynamic_shared = 256,
                             .arguments = arguments,
                             .argument_bytes = info.parameter_bytes,
                             .checks = CHECK_ALL,
                             .count = true,
                             .schedule = schedule,
                             .max_steps = 50000};
    EmulatorResult result;
    EmulatorError error;
    emulator_launch(emulator, kernel, &launch, &result, &error);
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

// ---- Mutations that keep most of the text PTX --------------------------------------------------------------

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed);

static uint32_t draw(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static int is_word(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '%' || c == '$';
}

typedef struct {
    size_t start, bytes;
} Span;

// A line, or a word, somewhere in the text.
static Span span_at(const uint8_t *data, size_t bytes, uint32_t *state, int whole_line) {
    Span span = {draw(state) % bytes, 0};
    if (whole_line) {
        while (span.start && data[span.start - 1] != '\n') span.start--;
        while (span.start + span.bytes < bytes && data[span.start + span.bytes] != '\n') span.bytes++;
        span.bytes += span.start + span.bytes < bytes;
        return span;
    }
    for (int tries = 0; tries < 64 && !is_word(data[span.start]); tries++) span.start = draw(state) % bytes;
    while (span.start && is_word(data[span.start - 1])) span.start--;
    while (span.start + span.bytes < bytes && is_word(data[span.start + span.bytes])) span.bytes++;
    return span;
}

// Replaces `at` by `with`, which holds `count` bytes.
static size_t splice(uint8_t *data, size_t bytes, size_t room, Span at, const uint8_t *with, size_t count) {
    if (bytes - at.bytes + count > room) return bytes;
    memmove(data + at.start + count, data + at.start + at.bytes, bytes - at.start - at.bytes);
    memcpy(data + at.start, with, count);
    return bytes - at.bytes + count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed) {
    uint32_t state = seed * 2654435761u + 1;
    if (bytes < 8 || draw(&state) % 2) return LLVMFuzzerMutate(data, bytes, room);
    for (uint32_t times = 1 + draw(&state) % 3; times; times--) {
        int whole_line = (int)(draw(&state) % 2);
        Span to = span_at(data, bytes, &state, whole_line), from = span_at(data, bytes, &state, whole_line);
        static uint8_t kept[MAX_TEXT];
        size_t count = from.bytes < sizeof kept ? from.bytes : sizeof kept;
        memcpy(kept, data + from.start, count);
        switch (draw(&state) % 4) {
        case 0: bytes = splice(data, bytes, room, (Span){to.start, 0}, kept, count); break; // copied
        case 1: bytes = splice(data, bytes, room, to, kept, 0); break;                      // removed
        default: bytes = splice(data, bytes, room, to, kept, count); break;                 // replaced
        }
        if (bytes < 8) break;
    }
    return bytes;
}
