#include "support/system.h"

#include <sys/resource.h>

void system_limit(int resource, size_t most) {
    struct rlimit limits;
    if (getrlimit(resource, &limits) != 0) return;
    if (limits.rlim_max != RLIM_INFINITY && limits.rlim_max < (rlim_t)most) most = (size_t)limits.rlim_max;
    limits.rlim_cur = limits.rlim_max = (rlim_t)most;
    setrlimit(resource, &limits);
}
