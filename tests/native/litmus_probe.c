// Runs every kernel of a PTX file of litmus tests (tests/litmus.py) under many schedules and counts outcomes.
//
//     litmus_probe FILE.ptx FIRST COUNT INSTANCES      schedules FIRST, FIRST + 4, FIRST + 8 ...
//
// A kernel's name ends with the number of its roles. Block b plays role b % roles; each of its 32 threads has
// its own locations x and y, and writes what it read to its own r[4]. Prints a line per kernel and outcome:
// name, the digits r[0] to r[3], x and y at the end (4: never written), how often.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "emulator/emulator.h"

enum { LANES = 32, DIGITS = 6, BASE = 5, OUTCOMES = 15625, UNSET = 4 };

typedef struct {
    uint64_t x, y, r;
} Arguments;

static void must(bool done, const EmulatorError *error) {
    if (done) return;
    fprintf(stderr, "litmus_probe: %s\n", error->message);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    static long long seen[OUTCOMES];
    const uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    const uint32_t pairs = (uint32_t)atoi(argv[4]) / LANES, instances = pairs * LANES;
    FileError why;
    Text ptx = {0};
    if (!read_regular_file(argv[1], 64 << 20, &ptx, &why)) return 2;
    EmulatorError error = {0};
    Emulator *e = emulator_open(NULL);
    must(emulator_load(e, text_chars(&ptx), ptx.bytes, "litmus.ptx", &error), &error);
    Arguments a = {emulator_allocate(e, 4u * instances, 0, "x", &error),
                   emulator_allocate(e, 4u * instances, 0, "y", &error),
                   emulator_allocate(e, 16u * instances, 0, "r", &error)};
    const uint32_t *x = emulator_host_pointer(e, a.x, 4u * instances),
                   *y = emulator_host_pointer(e, a.y, 4u * instances),
                   *r = emulator_host_pointer(e, a.r, 16u * instances);
    for (int k = 0; k < emulator_kernel_count(e); k++) {
        const EmulatorKernel *kernel = emulator_kernel_at(e, k);
        EmulatorKernelInfo info;
        emulator_kernel_info(kernel, &info);
        const uint32_t roles = (uint32_t)(info.name[strlen(info.name) - 1] - '0');
        memset(seen, 0, sizeof seen);
        for (uint64_t s = 0; s < count; s++) {
            must(emulator_fill(e, a.x, 0, 4u * instances, true, &error) &&
                     emulator_fill(e, a.y, 0, 4u * instances, true, &error) &&
                     emulator_fill(e, a.r, UNSET, 16u * instances, true, &error),
                 &error);
            EmulatorLaunch launch = {.grid = {roles * pairs, 1, 1},
                                     .block = {LANES, 1, 1},
                                     .arguments = &a,
                                     .argument_bytes = sizeof a,
                                     .checks = CHECK_RACE,
                                     .schedule = first + 4 * s,
                                     .max_steps = 1000000};
            EmulatorResult result;
            must(emulator_launch(e, kernel, &launch, &result, &error) && result.completed, &error);
            emulator_result_free(&result);
            for (uint32_t i = 0; i < instances; i++) {
                const uint32_t digits[DIGITS] = {r[4 * i],     r[4 * i + 1], r[4 * i + 2],
                                                 r[4 * i + 3], x[i],         y[i]};
                uint32_t outcome = 0;
                for (int d = 0; d < DIGITS; d++) outcome = outcome * BASE + digits[d] % BASE;
                seen[outcome]++;
            }
        }
        for (int o = 0; o < OUTCOMES; o++) {
            if (!seen[o]) continue;
            char digits[DIGITS + 1] = "";
            for (int d = DIGITS, rest = o; d-- > 0; rest /= BASE) digits[d] = (char)('0' + rest % BASE);
            printf("%s %s %lld\n", info.name, digits, seen[o]);
        }
    }
    emulator_close(e);
    text_free(&ptx);
    return 0;
}
