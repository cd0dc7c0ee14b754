#include "gpu/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// nvml.h is not part of what is installed with a compiler; these are its calls and bits (NVML API Reference,
// "NvmlClocksEventReasons"). A driver of before release 535 has the third under its older name.
typedef int (*InitCall)(void);
typedef int (*HandleCall)(const char *bus_id, void **device);
typedef int (*ReasonsCall)(void *device, unsigned long long *reasons);

static const struct {
    unsigned long long bit;
    const char *words;
} reasons_to_drop[] = {
    {0x04, "its power limit"},    {0x08, "the hardware's protection"}, {0x20, "heat (by software)"},
    {0x40, "heat (by hardware)"}, {0x80, "the power supply's brake"},
};

static struct {
    bool was_tried;
    HandleCall handle;
    ReasonsCall reasons;
    char why_not[128];
} library;

static void open_library(void) {
    library.was_tried = true;
    const char *wanted = getenv("WARPBOOK_LIBNVML"); // for the tests
    void *opened = dlopen(wanted && *wanted ? wanted : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        snprintf(library.why_not, sizeof library.why_not, "there is no libnvidia-ml.so.1");
        return;
    }
    InitCall init = NULL;
    *(void **)&init = dlsym(opened, "nvmlInit_v2");
    *(void **)&library.handle = dlsym(opened, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&library.reasons = dlsym(opened, "nvmlDeviceGetCurrentClocksEventReasons");
    if (!library.reasons)
        *(void **)&library.reasons = dlsym(opened, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!init || !library.handle || !library.reasons)
        snprintf(library.why_not, sizeof library.why_not, "libnvidia-ml.so.1 is too old");
    else if (init() != 0)
        snprintf(library.why_not, sizeof library.why_not, "libnvidia-ml.so.1 does not start");
}

void *nvml_device(const char *bus_id, char *why, size_t why_bytes) {
    if (!library.was_tried) open_library();
    void *device = NULL;
    if (library.why_not[0])
        snprintf(why, why_bytes, "%s", library.why_not);
    else if (library.handle(bus_id, &device) != 0 || !device)
        snprintf(why, why_bytes, "libnvidia-ml.so.1 does not find the device %.40s", bus_id);
    else
        return device;
    return NULL;
}

GpuClocks nvml_clocks(void *device, char *why, size_t why_bytes) {
    unsigned long long reasons = 0;
    if (library.reasons(device, &reasons) != 0) {
        snprintf(why, why_bytes, "libnvidia-ml.so.1 does not report it for this device");
        return GPU_CLOCKS_UNKNOWN;
    }
    for (size_t i = 0; i < sizeof reasons_to_drop / sizeof reasons_to_drop[0]; i++) {
        if (!(reasons & reasons_to_drop[i].bit)) continue;
        snprintf(why, why_bytes, "%s", reasons_to_drop[i].words);
        return GPU_CLOCKS_HELD;
    }
    return GPU_CLOCKS_FREE;
}
