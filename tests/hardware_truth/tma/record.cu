// Encodes the tensor maps of cases.txt (tensor_copy_cases.py writes it), runs the copies on a GPU, and writes down what came of them.
//
//     nvcc -O2 -std=c++17 -arch=sm_90a record.cu -o record && ./record cases.txt record.bin [FIRST]
//
// record.bin has for each case the status of cuTensorMapEncodeTiled, the address of the tensor, the 128 bytes of the map, and
// the words that the copy wrote: 0xcccccccc if the driver refused the map. If a copy fails, its words are 0xdddddddd and the
// exit status is 3: the same command with the number of the next case appends the rest.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels.cu"
#include <cuda.h>

#define CHECK(call) do { cudaError_t e = (call); if (e) { fprintf(stderr, "case %d: %s: %s\n", number, #call, cudaGetErrorString(e)); return 1; } } while (0)

enum { MAP, LOADS, CLUSTER, STORES, INPUT_WORDS = 1 << 18, STORE_WORDS = 4096, FIGURES = 36 };

static u32 given(size_t i) { return (u32)i * 2654435761u; }

int main(int count, char **arguments) {
    int number = -1, refused = 0;
    if (count < 3) { fprintf(stderr, "usage: record CASES RECORD [FIRST]\n"); return 2; }
    const int first = count > 3 ? atoi(arguments[3]) : 0;
    FILE *cases = fopen(arguments[1], "r"), *record = fopen(arguments[2], first ? "ab" : "wb");
    if (!cases || !record) { perror("record"); return 1; }
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    if (!entry) { fprintf(stderr, "the driver has no cuTensorMapEncodeTiled\n"); return 1; }
    const auto encode = (decltype(&cuTensorMapEncodeTiled))entry;
    u32 *in, *stored, *out;
    std::vector<u32> words(INPUT_WORDS), got(INPUT_WORDS);
    for (size_t i = 0; i < words.size(); i++) words[i] = given(i);
    CHECK(cudaMalloc(&in, INPUT_WORDS * 4));
    CHECK(cudaMalloc(&stored, STORE_WORDS * 4));
    CHECK(cudaMalloc(&out, INPUT_WORDS * 4));
    CHECK(cudaMemcpy(in, words.data(), INPUT_WORDS * 4, cudaMemcpyHostToDevice));
    unsigned long long v[FIGURES];
    for (number = 0;; number++) {
        int read = 0;
        long long value;
        while (read < FIGURES && fscanf(cases, "%lld", &value) == 1) v[read++] = (unsigned long long)value;
        if (read != FIGURES) break;
        if (number < first) continue;
        const int kind = (int)v[0], rank = (int)v[2];
        const unsigned long long *at = v + 3;
        cuuint64_t dims[5], strides[4];
        cuuint32_t box[5], steps[5];
        for (int i = 0; i < 5; i++) dims[i] = *at++;
        for (int i = 0; i < 4; i++) strides[i] = *at++;
        for (int i = 0; i < 5; i++) box[i] = (cuuint32_t)*at++;
        for (int i = 0; i < 5; i++) steps[i] = (cuuint32_t)*at++;
        const int interleave = (int)*at++, swizzle = (int)*at++, l2 = (int)*at++, fill = (int)*at++;
        const unsigned long long base = *at++;
        Place place;
        for (int i = 0; i < 5; i++) place.c[i] = (int)*at++;
        const u32 more = (u32)*at++, bytes = (u32)*at++, of_box = (u32)*at++, written = (u32)*at++;
        void *tensor = (char *)(kind == STORES ? stored : in) + base;
        alignas(64) CUtensorMap map;
        memset(&map, 0, sizeof map);
        const u32 status = encode(&map, (CUtensorMapDataType)v[1], (cuuint32_t)rank, tensor, dims, strides, box, steps, (CUtensorMapInterleave)interleave,
                                  (CUtensorMapSwizzle)swizzle, (CUtensorMapL2promotion)l2, (CUtensorMapFloatOOBfill)fill);
        const u64 address = (u64)tensor;
        if (fwrite(&status, 4, 1, record) != 1 || fwrite(&address, 8, 1, record) != 1 || fwrite(&map, 128, 1, record) != 1) { perror("record"); return 1; }
        if (kind == MAP) continue;
        if (status) {
            got.assign(got.size(), 0xcccccccc);
            if (fwrite(got.data(), 4, written, record) != written) { perror("record"); return 1; }
            refused++;
            continue;
        }
        Map given_map;
        memcpy(&given_map, &map, 128);
        const u32 shared = of_box * 4;
        if (kind == STORES) CHECK(cudaMemcpy(stored, words.data() + 4096, STORE_WORDS * 4, cudaMemcpyHostToDevice));
        if (kind == LOADS) load<<<1, 64, shared>>>(given_map, rank, place, bytes, of_box, out);
        if (kind == CLUSTER) load_for_cluster<<<4, 64, shared>>>(given_map, rank, place, bytes, of_box, out, more);
        if (kind == STORES) store<<<1, 64, shared>>>(given_map, rank, place, more, of_box, in);
        cudaError_t failed = cudaGetLastError();
        if (!failed) failed = cudaDeviceSynchronize();
        if (!failed) failed = cudaMemcpy(got.data(), kind == STORES ? stored : out, written * 4, cudaMemcpyDeviceToHost);
        if (failed) got.assign(got.size(), 0xdddddddd);
        if (fwrite(got.data(), 4, written, record) != written) { perror("record"); return 1; }
        if (failed) {
            fprintf(stderr, "case %d: %s\n", number, cudaGetErrorString(failed));
            fclose(record);
            printf("%d\n", number + 1);
            return 3;
        }
    }
    if (fclose(record)) { perror("record"); return 1; }
    fprintf(stderr, "%d cases, %d copies not tried because the driver refuses their map\n", number, refused);
    return 0;
}
