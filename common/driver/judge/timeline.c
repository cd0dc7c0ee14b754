#include "driver/judge/timeline.h"

const char *engine_name(EngineKind engine) {
    static const char *const names[] = {
        [ENGINE_KERNELS] = "kernel", [ENGINE_IN] = "copy-in", [ENGINE_OUT] = "copy-out"};
    return names[engine];
}
