// A libnvidia-ml.so.1 for testing common/gpu/nvml.c: WARPBOOK_LIBNVML names it.
//
//   FAKE_NVML_REASONS=N   the clocks' event reasons that every call answers (0)
//   FAKE_NVML_FAIL=NAME   that call fails: init, handle or reasons
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons);

static int answer(const char *name) {
    const char *failing = getenv("FAKE_NVML_FAIL");
    return failing && strcmp(failing, name) == 0 ? 3 : 0;
}

int nvmlInit_v2(void) { return answer("init"); }

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device) {
    static int only;
    *device = &only;
    return strcmp(bus_id, "0000:00:1f.0") == 0 ? answer("handle") : 6;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons) {
    const char *set = getenv("FAKE_NVML_REASONS");
    *reasons = set ? strtoull(set, NULL, 0) : 0;
    return device ? answer("reasons") : 2;
}
