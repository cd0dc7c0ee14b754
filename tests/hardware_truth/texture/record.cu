// Runs the kernels of kernels.ptx, video.ptx and patterns_texture.ptx on a GPU and writes what they store.
//
//     nvcc -O2 -std=c++17 record.cu -o record -lcuda && ./record cases.txt record.bin
//
// in the folder that cases.py fills. cases.txt has a launch in each line. record.bin has the results of all, one after the
// other: 512 times four words of 32 bits. A launch that fails leaves zeros, and a line on standard error.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

constexpr int threads = 512;

static CUresult check(CUresult result, const char *what) {
    const char *words = "?";
    if (result != CUDA_SUCCESS) {
        cuGetErrorString(result, &words);
        std::fprintf(stderr, "%s: %s\n", what, words);
    }
    return result;
}
#define MUST(call)                                                                                           \
    if (check(call, #call) != CUDA_SUCCESS) std::exit(1)

static std::string text_of(const char *path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

static uint32_t mixed(uint32_t x) {
    x *= 0x9e3779b9u;
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
    return x;
}

// The texels: random integers, and floats of moderate size. cases.py has the same.
static std::vector<uint32_t> texels(const std::string &type, size_t bytes) {
    std::vector<uint32_t> words((bytes + 3) / 4);
    for (size_t i = 0; i < words.size(); i++) {
        uint32_t h = mixed((uint32_t)i + 1);
        if (type == "f32") h = (h & 0x807fffffu) | (120 + (h >> 23 & 7)) << 23;
        if (type == "f16")
            h = (h & 0x83ff83ffu) | (10 + (h >> 10 & 7)) << 10 | (10 + (h >> 26 & 7)) << 26;
        words[i] = h;
    }
    return words;
}

struct Case {
    std::string kernel, storage, type;
    unsigned channels, width, height, depth, layered, cube, modes[3], filter, normalised, reads_normalised, seed;
    int layers;
};

static CUarray_format format_of(const std::string &type) {
    return type == "u8"    ? CU_AD_FORMAT_UNSIGNED_INT8
           : type == "s8"  ? CU_AD_FORMAT_SIGNED_INT8
           : type == "u16" ? CU_AD_FORMAT_UNSIGNED_INT16
           : type == "s16" ? CU_AD_FORMAT_SIGNED_INT16
           : type == "u32" ? CU_AD_FORMAT_UNSIGNED_INT32
           : type == "s32" ? CU_AD_FORMAT_SIGNED_INT32
           : type == "f16" ? CU_AD_FORMAT_HALF
                           : CU_AD_FORMAT_FLOAT;
}

static unsigned bytes_of(const std::string &type) {
    return (type == "f16" ? 16 : (unsigned)std::stoul(type.substr(1))) / 8;
}

static CUresult launch(CUmodule module, const Case &c, unsigned long long object, CUdeviceptr out) {
    CUfunction kernel;
    CUresult result = check(cuModuleGetFunction(&kernel, module, c.kernel.c_str()), c.kernel.c_str());
    if (result != CUDA_SUCCESS) return result;
    unsigned seed = c.seed;
    float x = (float)c.width, y = (float)c.height, z = (float)c.depth;
    int layers = c.layers;
    void *arguments[] = {&object, &seed, &x, &y, &z, &layers, &out};
    result = cuLaunchKernel(kernel, threads / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
    if (result == CUDA_SUCCESS) result = cuCtxSynchronize();
    return check(result, c.kernel.c_str());
}

// An array or linear memory with the case's texels, and its object; false when the GPU refuses it.
static bool run(CUmodule module, const Case &c, CUdeviceptr out) {
    const unsigned texel = bytes_of(c.type) * c.channels;
    const size_t rows = c.height ? c.height : 1, slices = c.depth ? c.depth : 1;
    const std::vector<uint32_t> data = texels(c.type, c.width * rows * slices * texel);
    CUDA_RESOURCE_DESC resource = {};
    CUarray array = nullptr;
    CUdeviceptr memory = 0;
    if (c.storage == "none") return launch(module, c, 0, out) == CUDA_SUCCESS;
    if (c.storage == "linear") {
        MUST(cuMemAlloc(&memory, data.size() * 4));
        MUST(cuMemcpyHtoD(memory, data.data(), data.size() * 4));
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear = {memory, format_of(c.type), c.channels, c.width * texel};
    } else if (c.storage == "pitch") {
        const size_t pitch = 512;
        MUST(cuMemAlloc(&memory, pitch * rows));
        for (size_t y = 0; y < rows; y++)
            MUST(cuMemcpyHtoD(memory + y * pitch, (const char *)data.data() + y * c.width * texel, c.width * texel));
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D = {memory, format_of(c.type), c.channels, c.width, c.height, pitch};
    } else {
        CUDA_ARRAY3D_DESCRIPTOR shape = {c.width, c.height, c.depth, format_of(c.type), c.channels, 0};
        if (c.layered) shape.Flags |= CUDA_ARRAY3D_LAYERED;
        if (c.cube) shape.Flags |= CUDA_ARRAY3D_CUBEMAP;
        if (c.kernel.rfind("gather", 0) == 0) shape.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
        if (c.storage == "surface") shape.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
        if (check(cuArray3DCreate(&array, &shape), "cuArray3DCreate") != CUDA_SUCCESS) return false;
        CUDA_MEMCPY3D copy = {};
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = data.data();
        copy.srcPitch = c.width * texel;
        copy.srcHeight = rows;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array;
        copy.WidthInBytes = c.width * texel;
        copy.Height = rows;
        copy.Depth = slices;
        MUST(cuMemcpy3D(&copy));
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = array;
    }
    bool done = false;
    if (c.storage == "surface") {
        CUsurfObject surface;
        if (check(cuSurfObjectCreate(&surface, &resource), "cuSurfObjectCreate") == CUDA_SUCCESS) {
            done = launch(module, c, surface, out) == CUDA_SUCCESS;
            cuSurfObjectDestroy(surface);
        }
    } else {
        CUDA_TEXTURE_DESC how = {};
        for (int k = 0; k < 3; k++) how.addressMode[k] = (CUaddress_mode)c.modes[k];
        how.filterMode = c.filter ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        how.flags = (c.normalised ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                    (c.reads_normalised ? 0 : CU_TRSF_READ_AS_INTEGER);
        CUtexObject texture;
        if (check(cuTexObjectCreate(&texture, &resource, &how, nullptr), "cuTexObjectCreate") == CUDA_SUCCESS) {
            done = launch(module, c, texture, out) == CUDA_SUCCESS;
            cuTexObjectDestroy(texture);
        }
    }
    if (array) cuArrayDestroy(array);
    if (memory) cuMemFree(memory);
    return done;
}

int main(int argc, char **argv) {
    if (argc != 3) return std::fprintf(stderr, "usage: record CASES RECORD\n"), 2;
    CUdevice device;
    CUcontext context;
    CUmodule modules[3];
    CUdeviceptr out;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&modules[0], text_of("kernels.ptx").c_str()));
    MUST(cuModuleLoadData(&modules[1], text_of("video.ptx").c_str()));
    MUST(cuModuleLoadData(&modules[2], text_of("patterns_texture.ptx").c_str()));
    MUST(cuMemAlloc(&out, threads * 16));
    std::ifstream cases(argv[1]);
    std::FILE *record = std::fopen(argv[2], "wb");
    std::string line;
    int failed = 0, count = 0;
    while (std::getline(cases, line)) {
        Case c;
        std::istringstream words(line);
        words >> c.kernel >> c.storage >> c.type >> c.channels >> c.width >> c.height >> c.depth >> c.layered >>
            c.cube >> c.modes[0] >> c.modes[1] >> c.modes[2] >> c.filter >> c.normalised >> c.reads_normalised >>
            c.seed >> c.layers;
        std::vector<uint32_t> results(threads * 4);
        MUST(cuMemsetD32(out, 0, threads * 4));
        CUfunction unused;
        const bool is_pattern = cuModuleGetFunction(&unused, modules[2], c.kernel.c_str()) == CUDA_SUCCESS;
        if (!run(modules[is_pattern ? 2 : c.storage == "none"], c, out)) {
            std::fprintf(stderr, "not run: %s\n", line.c_str());
            failed++;
        } else
            MUST(cuMemcpyDtoH(results.data(), out, threads * 16));
        std::fwrite(results.data(), 4, results.size(), record);
        count++;
    }
    std::fclose(record);
    std::printf("%d launches, %d of them not run\n", count, failed);
    return 0;
}
