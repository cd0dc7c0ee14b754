// A fuzzer of the parser and the lowering alone: an image is loaded and never run. Many times faster than
// fuzz_emulator.c, for what is wrong with a text before it is a program.
#include <stdint.h>

#include "emulator/emulator.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Emulator *emulator = emulator_open(NULL);
    EmulatorError error;
    if (!emulator) return 0;
    emulator_load(emulator, (const char *)data, bytes, "fuzz.ptx", &error);
    emulator_close(emulator);
    return 0;
}
