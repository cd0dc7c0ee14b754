// Seen on an H200 (driver 580) for allocations of 3 to 98 KB, and where one was freed before; what is larger
// than half a page is an assumption.
#include "runtime/packing.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"

enum { UNIT = 512, PAGE = EMULATOR_PAGE };

typedef struct {
    const void *owner;
    uint64_t begin, end;
} Range;

static Range *ranges; // taken, by address
static size_t count, capacity;

// The place for `bytes` in the gap before range `at`, or UINT64_MAX.
static uint64_t fit(size_t at, uint64_t bytes) {
    uint64_t begin = at ? ranges[at - 1].end : 0;
    const uint64_t end = at < count ? ranges[at].begin : UINT64_MAX - PAGE;
    const uint64_t left = PAGE - begin % PAGE;
    if (bytes > PAGE / 2 ? left < PAGE : left < bytes) begin += left;
    return begin + bytes <= end ? begin : UINT64_MAX;
}

uint64_t packing_take(const void *owner, size_t bytes) {
    const uint64_t taken = bytes ? ((uint64_t)bytes + UNIT - 1) / UNIT * UNIT : UNIT;
    if (count == capacity) {
        const size_t more = capacity ? capacity * 2 : 64;
        Range *grown = realloc(ranges, more * sizeof *grown);
        if (!grown) return 0;
        ranges = grown;
        capacity = more;
    }
    size_t at = 0;
    uint64_t begin = fit(at, taken);
    while (begin == UINT64_MAX && at < count) begin = fit(++at, taken);
    memmove(ranges + at + 1, ranges + at, (count - at) * sizeof *ranges);
    ranges[at] = (Range){owner, begin, begin + taken};
    count++;
    return begin;
}

void packing_give(const void *owner) {
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].owner != owner) continue;
        memmove(ranges + i, ranges + i + 1, (--count - i) * sizeof *ranges);
        return;
    }
}
