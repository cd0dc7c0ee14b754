// Calls that only make a real device faster. They do nothing here, whatever their arguments are, and so this
// file does not include CUDA's headers, whose versions differ in them.
#define HINT(name)                                                                                           \
    int name(void);                                                                                          \
    int name(void) { return 0; }

HINT(cudaCtxResetPersistingL2Cache)
HINT(cudaDeviceSetCacheConfig)
HINT(cudaDeviceSetSharedMemConfig)
HINT(cudaFuncSetCacheConfig)
HINT(cudaFuncSetSharedMemConfig)
HINT(cudaMemAdvise)
HINT(cudaMemPoolTrimTo)
HINT(cudaMemPrefetchAsync)
HINT(cudaProfilerStart)
HINT(cudaProfilerStop)
HINT(cudaSetDeviceFlags)
HINT(cudaStreamAttachMemAsync)
HINT(cudaStreamSetAttribute)
