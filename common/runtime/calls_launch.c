// Launches, and what is known of a kernel beforehand.
#include <stdlib.h>
#include <string.h>

#include "support/mangle.h"
#include "runtime/kernel.h"
#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream);

// ---- <<<grid, block, shared, stream>>> --------------------------------------------------------------------

// nvcc pushes these, evaluates the arguments, and pops them in the kernel's stub.
typedef struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    Place place;
} Configuration;
enum { MOST_CONFIGURATIONS = 16 }; // arguments that launch kernels themselves
static _Thread_local Configuration configurations[MOST_CONFIGURATIONS];
static _Thread_local int configuration_count;
static _Thread_local bool has_configuration; // the launch that follows is that of the last one popped

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    if (configuration_count == MOST_CONFIGURATIONS) return 1;
    Configuration *c = &configurations[configuration_count++];
    *c = (Configuration){.grid = grid, .block = block, .shared = shared, .stream = stream};
    place_here(&c->place);
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!configuration_count) return cudaErrorMissingConfiguration;
    const Configuration *c = &configurations[--configuration_count];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(cudaStream_t *)stream = c->stream;
    has_configuration = true;
    return cudaSuccess;
}

// ---- Launches ---------------------------------------------------------------------------------------------

static _Thread_local Place launch_place;

static cudaError_t launch(const void *stub, Launch *launch, void **arguments, cudaStream_t stream) {
    if (has_configuration)
        launch->place = configurations[configuration_count].place;
    else
        place_here(&launch->place);
    has_configuration = false;
    launch_place = launch->place;
    error_is_from(&launch_place);
    if (sticky_error()) return sticky_error();
    if (call_is_to_fail("launch", &launch_place)) return cudaErrorMemoryAllocation;
    cudaError_t error;
    launch->function = module_function(stub, &error);
    if (!launch->function) return error;
    error = kernel_prepare(launch, arguments);
    if (error) return error;
    return queue_add(
        &(Op){.kind = OP_LAUNCH, .stream = queue_stream(stream), .place = launch->place, .launch = *launch});
}

cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
    return CALL_OF_LAUNCH(
        launch(stub, &(Launch){.grid = grid, .block = block, .dynamic_shared = shared}, arguments, stream));
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream) {
    return CALL_OF_LAUNCH(
        launch(kernel, &(Launch){.grid = grid, .block = block, .dynamic_shared = shared}, arguments, stream));
}

cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
                                        size_t shared, cudaStream_t stream) {
    return CALL_OF_LAUNCH(launch(
        stub, &(Launch){.grid = grid, .block = block, .dynamic_shared = shared, .is_cooperative = true},
        arguments, stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *stub, void **arguments) {
    Launch how = {
        .grid = config->gridDim, .block = config->blockDim, .dynamic_shared = config->dynamicSmemBytes};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeCooperative) how.is_cooperative = a->val.cooperative != 0;
        if (a->id == cudaLaunchAttributeClusterDimension)
            how.cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
    }
    return CALL_OF_LAUNCH(launch(stub, &how, arguments, config->stream));
}

// ---- What is known of a kernel ----------------------------------------------------------------------------

static cudaError_t attributes_of(struct cudaFuncAttributes *attributes, const void *stub) {
    cudaError_t error;
    const Function *f = module_function(stub, &error);
    if (!f) return error;
    EmulatorKernelInfo info;
    emulator_kernel_info(f->kernel, &info);
    const GpuInfo *device = &device_profile()->info;
    int threads = 1;
    for (int i = 0; i < 3; i++) threads *= info.max_threads[i] ? info.max_threads[i] : 1;
    const int version = device->compute_major * 10 + device->compute_minor;
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = info.static_shared,
        .maxThreadsPerBlock = info.max_threads[0] ? threads : device->max_threads_per_block,
        .numRegs = ASSUMED_REGISTERS,
        .ptxVersion = version,
        .binaryVersion = version,
        .maxDynamicSharedSizeBytes =
            f->dynamic_shared ? f->dynamic_shared : device->shared_per_block - (int)info.static_shared,
        .preferredShmemCarveout = f->carveout,
    };
    return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *stub) {
    return CALL(attributes_of(attributes, stub));
}

static cudaError_t set_attribute(const void *stub, enum cudaFuncAttribute attribute, int value) {
    cudaError_t error;
    Function *f = module_function(stub, &error);
    if (!f) return error;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) f->carveout = value;
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) f->is_non_portable_cluster = value;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    EmulatorKernelInfo info;
    emulator_kernel_info(f->kernel, &info);
    if (value < 0 ||
        (size_t)value + info.static_shared > (size_t)device_profile()->info.shared_per_block_optin)
        return cudaErrorInvalidValue;
    f->dynamic_shared = value;
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *stub, enum cudaFuncAttribute attribute, int value) {
    return CALL(set_attribute(stub, attribute, value));
}

static cudaError_t name_of(const char **name, const void *stub) {
    cudaError_t error;
    const Function *f = module_function(stub, &error);
    if (f) *name = f->name;
    return error;
}
cudaError_t cudaFuncGetName(const char **name, const void *stub) { return CALL(name_of(name, stub)); }

static cudaError_t occupancy(int *blocks, const void *stub, int threads, size_t shared) {
    cudaError_t error;
    const Function *f = module_function(stub, &error);
    if (!f) return error;
    if (threads <= 0) return cudaErrorInvalidValue;
    *blocks = threads > device_profile()->info.max_threads_per_block
                  ? 0
                  : kernel_resident_blocks(f, (unsigned)threads, shared);
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub, int threads,
                                                          size_t shared) {
    return CALL(occupancy(blocks, stub, threads, shared));
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub, int threads,
                                                                   size_t shared, unsigned flags) {
    (void)flags;
    return CALL(occupancy(blocks, stub, threads, shared));
}

static cudaError_t parameter(const void *stub, size_t index, size_t *offset, size_t *bytes) {
    cudaError_t error;
    const Function *f = module_function(stub, &error);
    if (!f) return error;
    EmulatorKernelInfo info;
    emulator_kernel_info(f->kernel, &info);
    if (index >= (size_t)info.parameter_count) return cudaErrorInvalidValue;
    *offset = info.parameters[index].offset;
    if (bytes) *bytes = info.parameters[index].bytes;
    return cudaSuccess;
}
cudaError_t cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *bytes) {
    return CALL(parameter(stub, index, offset, bytes));
}

// What is left for each of so many blocks.
static cudaError_t shared_left(size_t *bytes, const void *stub, int blocks, int threads) {
    cudaError_t error;
    const Function *f = module_function(stub, &error);
    if (!f) return error;
    const GpuInfo *device = &device_profile()->info;
    if (blocks < 1 || kernel_resident_blocks(f, (unsigned)threads, 0) < blocks) return cudaErrorInvalidValue;
    EmulatorKernelInfo info;
    emulator_kernel_info(f->kernel, &info);
    const long share = device->shared_per_sm / blocks - device->shared_reserved_per_block -
                       (long)info.static_shared,
               most = device->shared_per_block_optin - (long)info.static_shared;
    *bytes = (size_t)(share < 0 ? 0 : share < most ? share : most);
    return cudaSuccess;
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *stub, int blocks,
                                                      int threads) {
    return CALL(shared_left(bytes, stub, blocks, threads));
}

static cudaError_t clusters(int *count, const void *stub, const cudaLaunchConfig_t *config) {
    cudaError_t error;
    const Function *f = module_function(stub, &error);
    if (!f) return error;
    unsigned size = 1;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            size = config->attrs[i].val.clusterDim.x * config->attrs[i].val.clusterDim.y *
                   config->attrs[i].val.clusterDim.z;
    const unsigned threads = config->blockDim.x * config->blockDim.y * config->blockDim.z;
    *count = kernel_resident_blocks(f, threads, config->dynamicSmemBytes) * device_profile()->info.sm_count /
             (int)(size ? size : 1);
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *stub, const cudaLaunchConfig_t *config) {
    return CALL(clusters(count, stub, config));
}
static cudaError_t largest_cluster(int *size, const void *stub) {
    cudaError_t error;
    const Function *f = module_function(stub, &error);
    if (f) *size = f->is_non_portable_cluster ? 16 : 8; // CUDA C++ Programming Guide, "Thread Block Clusters"
    return error;
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *stub,
                                                 const cudaLaunchConfig_t *config) {
    (void)config;
    return CALL(largest_cluster(size, stub));
}
