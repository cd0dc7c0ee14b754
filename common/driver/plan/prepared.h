// Inputs of a case and their expected results, made once for all cases that share them (other schedules,
// other base offsets, other tasks with the same work). They stay in this process: the runner gets copies.
#pragma once

#include "driver/plan/plan.h"
#include "driver/plan/expected.h"

typedef struct {
    bool is_used;
    int users;        // cases in progress
    uint64_t stamp;   // of the last use
    const Task *task; // or an equivalent one
    CaseSize size;
    Family family;
    long long counts[MAX_BUFFERS];
    void *inputs[MAX_BUFFERS]; // NULL if a buffer is not an INPUT; buffers with .data are copies too
    Expected expected;
} Prepared;

enum { PREPARED_SLOTS = 4 };
// If no elements are added, so many share the special values of a family.
enum { ELEMENTS_OF_SPECIALS = 16 };

// Whether an input has the special values of its family more than once.
bool prepared_has_several(const Task *task, const CaseSize *size);

typedef struct {
    Prepared slots[PREPARED_SLOTS];
    uint64_t stamp;
} PreparedCache;

// The prepared inputs of a case, to be given back with prepared_release(). NULL: out of memory.
Prepared *prepared_take(PreparedCache *cache, const Task *task, const Case *wanted, const CaseShape *shape,
                        const long long counts[MAX_BUFFERS], uint64_t seed);
void prepared_release(Prepared *prepared);
void prepared_free_all(PreparedCache *cache);
