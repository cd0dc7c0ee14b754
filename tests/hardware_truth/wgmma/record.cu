// Asks a GPU for the results of wgmma.mma_async and writes them down. wgmma_forms.py writes the kernels and the runs.
//
//     ptxas -arch=sm_90a kernels.ptx -o kernels.cubin
//     nvcc -O2 -std=c++17 record.cu -o record -lcuda && ./record kernels.cubin runs.txt record.bin [FIRST]
//
// record.bin has for each run a hash of every batch of tiles, and the complete results of the first tiles. If a run fails, its results
// are 0xdddddddd and the exit status is 3: the same command with the number of the next run appends the rest.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda.h>

#include "../tensor/operands.h"

#define CHECK(call) do { CUresult e = (call); if (e) { const char *s; cuGetErrorString(e, &s); fprintf(stderr, "%s: %s: %s\n", key, #call, s); exit(1); } } while (0)

enum { MOST_WORDS = 1 << 20 };

int main(int count, char **arguments) {
    char kernel[128], key[128] = "start";
    if (count < 4) { fprintf(stderr, "usage: record CUBIN RUNS RECORD [FIRST]\n"); return 2; }
    const int first = count > 4 ? atoi(arguments[4]) : 0;
    FILE *runs = fopen(arguments[2], "r"), *record = fopen(arguments[3], first ? "ab" : "wb");
    if (!runs || !record) { perror("record"); return 1; }
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, arguments[1]));
    CUdeviceptr in[3], out;
    for (int k = 0; k < 3; k++) CHECK(cuMemAlloc(&in[k], MOST_WORDS * 4));
    CHECK(cuMemAlloc(&out, MOST_WORDS * 4));
    std::vector<uint32_t> values(MOST_WORDS);
    int types[3], words[3], lanes[3], scale, family, tiles, batch, full, number = 0;
    unsigned long long da, db;
    while (fscanf(runs, "%127s %127s %d %d %d %d %d %d %d %d %d %llu %llu %d %d %d %d %d", kernel, key, &types[0], &types[1], &types[2], &words[0], &words[1],
                  &words[2], &lanes[0], &lanes[1], &lanes[2], &da, &db, &scale, &family, &tiles, &batch, &full) == 18) {
        if (number++ < first) continue;
        for (int k = 0; k < 3; k++) {
            for (int t = 0; t < tiles; t++) fill_operand(&values[(size_t)t * words[k]], 32, words[k], lanes[k], types[k], k, family, tile_seed(key, family, t));
            CHECK(cuMemcpyHtoD(in[k], values.data(), (size_t)tiles * words[k] * 4));
        }
        const size_t of_tile = words[2];
        CHECK(cuMemsetD32(out, 0xeeeeeeee, tiles * of_tile));
        CUfunction function;
        CHECK(cuModuleGetFunction(&function, module, kernel));
        void *given[] = {&in[0], &in[1], &in[2], &out, &da, &db, &scale, &words[0], &words[1]};
        CHECK(cuLaunchKernel(function, tiles, 1, 1, 128, 1, 1, 0, nullptr, given, nullptr));
        const bool failed = cuCtxSynchronize() || cuMemcpyDtoH(values.data(), out, tiles * of_tile * 4);
        if (failed) values.assign(values.size(), 0xdddddddd);
        for (int t = 0; t < tiles; t += batch) {
            uint64_t sum = 0;
            for (size_t i = 0; i < batch * of_tile; i++) sum += word_hash(values[t * of_tile + i], i);
            if (fwrite(&sum, sizeof sum, 1, record) != 1) { perror("record"); return 1; }
        }
        if (fwrite(values.data(), 4, full * of_tile, record) != full * of_tile) { perror("record"); return 1; }
        if (failed) {
            fprintf(stderr, "run %d: %s failed\n", number - 1, key);
            fclose(record);
            printf("%d\n", number);
            return 3;
        }
    }
    if (fclose(record)) { perror("record"); return 1; }
    fprintf(stderr, "%d runs\n", number);
    return 0;
}
