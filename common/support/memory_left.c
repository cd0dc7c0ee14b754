#include "support/memory_left.h"

#include <stdint.h>
#include <sys/resource.h>

#include "support/system.h"

size_t memory_left(void) {
    struct rlimit own;
    const size_t left = system_memory_left();
    if (getrlimit(RLIMIT_AS, &own) != 0 || own.rlim_cur == RLIM_INFINITY) return left;
    const size_t limit = (size_t)own.rlim_cur, used = system_address_space();
    const size_t rest = used == SIZE_MAX ? SIZE_MAX : limit > used ? limit - used : 0;
    return rest < left ? rest : left;
}
