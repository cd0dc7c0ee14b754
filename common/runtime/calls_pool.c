// Pools of memory. A pool has no memory: what is allocated from it is
// allocated as by cudaMalloc.
#include <stdlib.h>
#include <string.h>

#include "runtime/allocation.h"
#include "runtime/state.h"

struct CUmemPoolHandle_st {
    uint64_t release_threshold;
};
static struct CUmemPoolHandle_st default_pool;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    *pool = &default_pool;
    return CALL(device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    *pool = &default_pool;
    return CALL(device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    (void)pool;
    return CALL(device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
    (void)properties;
    *pool = calloc(1, sizeof **pool);
    return CALL(*pool ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    if (pool != &default_pool) free(pool);
    return CALL(cudaSuccess);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value) {
    if (which == cudaMemPoolAttrReleaseThreshold) memcpy(&pool->release_threshold, value, sizeof(uint64_t));
    return CALL(cudaSuccess);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value) {
    uint64_t answer = allocation_in_use(); // reserved and used alike
    if (which == cudaMemPoolAttrReleaseThreshold) answer = pool->release_threshold;
    if (which <= cudaMemPoolReuseAllowInternalDependencies)
        memcpy(value, &(int){1}, sizeof(int));
    else
        memcpy(value, &answer, sizeof answer);
    return CALL(cudaSuccess);
}

// ---- Access
// ---------------------------------------------------------------------------------------------------

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count) {
    (void)pool;
    for (size_t i = 0; i < count; i++)
        if (list[i].location.type == cudaMemLocationTypeDevice && !device_exists(list[i].location.id))
            return CALL(cudaErrorInvalidDevice);
    return CALL(cudaSuccess);
}
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 struct cudaMemLocation *location) {
    (void)pool, (void)location;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return CALL(cudaSuccess);
}
