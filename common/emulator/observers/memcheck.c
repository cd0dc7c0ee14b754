// The machine refuses accesses that no memory can answer; here each gets the name of what it was most likely
// meant for.
#include "emulator/observers/memcheck.h"

#include <stdio.h>

#include "emulator/machine/findings.h"
#include "emulator/machine/heap.h"
#include "emulator/machine/resolve.h"
#include "emulator/observers/wording.h"

enum { NULL_PAGE = 4096 }; // addresses below come from null pointers

// The buffer that an address outside all objects was most likely meant for: the one in whose address range
// it lies.
static const Memory *nearest(const Machine *m, uint64_t address) {
    const Memory *memory = memory_near(m->emulator, address);
    return memory && memory->space == PTX_SPACE_GLOBAL ? memory : NULL;
}

// The variable of shared memory that starts last before `offset`, or the first one if that is negative.
static const SharedVariable *shared_before(const Machine *m, int64_t offset) {
    const SharedVariable *best = NULL;
    for (int i = 0; i < m->shared_variable_count; i++) {
        const SharedVariable *v = &m->shared_variables[i];
        const int64_t from = (int64_t)v->offset;
        if (offset < 0 ? !best || from < (int64_t)best->offset
                       : from <= offset && (!best || from > (int64_t)best->offset))
            best = v;
    }
    return best;
}

// An address of 32 bits wraps around where a place is before the first one of shared memory.
static int64_t unwrapped(uint64_t offset) {
    const uint64_t ranks = UINT32_MAX >> RANK_SHIFT;
    return offset >> RANK_SHIFT == ranks ? (int64_t)offset - ((int64_t)1 << 32) : (int64_t)offset;
}

static bool is_shared(const Instruction *in, uint64_t address) {
    return in->space == PTX_SPACE_SHARED ||
           (in->space == PTX_SPACE_NONE && address >> ADDRESS_SHIFT == SHARED_WINDOW >> ADDRESS_SHIFT);
}

static void name_shared(const Machine *m, uint64_t address, MemoryFacts *facts) {
    const int64_t offset = unwrapped(address);
    const SharedVariable *v = shared_before(m, offset);
    facts->address = address;
    if (!v) {
        facts->fault = m->shared_variable_count ? MEMORY_SHARED_GAP : MEMORY_NO_SHARED;
        return;
    }
    facts->fault = MEMORY_PAST_SHARED;
    facts->object = v->name;
    facts->index = offset - (int64_t)v->offset;
    facts->object_bytes = v->bytes;
}

// The same of an address in the shared memory of a cluster; false: it is one of the thread's own block.
static bool name_far(const Warp *w, const Instruction *in, uint64_t *offset, MemoryFacts *facts,
                     char name[64]) {
    const Cluster *cluster = w->block->cluster;
    const uint64_t rank = *offset >> RANK_SHIFT;
    if (cluster->size == 1 || !rank || unwrapped(*offset) < 0) return false;
    *offset &= (1u << RANK_SHIFT) - 1;
    facts->index = (int64_t)rank - 1;
    facts->object_bytes = cluster->size;
    if (rank > cluster->size)
        facts->fault = MEMORY_OF_RANK;
    else if (in->space == PTX_SPACE_SHARED && !(in->flags & IN_CLUSTER))
        facts->fault = MEMORY_OF_CLUSTER;
    else if (!cluster->blocks[rank - 1]->live_warps) {
        const uint32_t *id = cluster->blocks[rank - 1]->id;
        snprintf(name, 64, "block (%u,%u,%u)", id[0], id[1], id[2]);
        facts->fault = MEMORY_OF_ENDED;
        facts->object = name;
    } else
        return false;
    return true;
}

static void name_global(const Machine *m, uint64_t address, MemoryFacts *facts) {
    static const char *const windows[] = {NULL, "shared", "local", "parameter", "code, not"};
    const Memory *memory = nearest(m, address);
    uint64_t window = address >> ADDRESS_SHIFT;
    const HeapAllocation *a =
        memory && memory->heap ? heap_allocation(memory->heap, address - memory->base) : NULL;
    if (a) {
        facts->fault = a->is_free ? MEMORY_FREED : MEMORY_PAST_BUFFER;
        facts->object = "an allocation";
        facts->index = (int64_t)(address - memory->base) - a->offset;
        facts->object_bytes = a->bytes;
    } else if (memory) {
        facts->fault = MEMORY_PAST_BUFFER;
        facts->object = memory->name;
        facts->index = (int64_t)(address - memory->base);
        facts->object_bytes = memory->bytes;
    } else if (address < NULL_PAGE)
        facts->fault = MEMORY_NULL_POINTER;
    else if (window >= 1 && window < sizeof windows / sizeof *windows) {
        facts->fault = MEMORY_OTHER_SPACE;
        facts->object = windows[window];
    } else
        facts->fault = MEMORY_NO_BUFFER;
}

// What was meant, and how it was missed. The finding's address is that of the generic address space.
static FindingKind find_out(const Machine *m, const Fault *fault, MemoryFacts *facts, uint64_t *address,
                            char name[64]) {
    const Instruction *in = fault->access->in;
    if (fault->kind == FAULT_OUTSIDE_LOCAL) {
        facts->fault = MEMORY_OUTSIDE_LOCAL;
        facts->address = *address - (in->space == PTX_SPACE_LOCAL ? 0 : LOCAL_WINDOW);
        return FINDING_OUT_OF_BOUNDS;
    }
    if (fault->kind == FAULT_OUTSIDE) {
        if (is_shared(in, *address)) {
            uint64_t offset = *address - (in->space == PTX_SPACE_SHARED ? 0 : SHARED_WINDOW);
            *address = SHARED_WINDOW + offset;
            if (!name_far(fault->access->warp, in, &offset, facts, name)) name_shared(m, offset, facts);
        } else
            name_global(m, *address, facts);
        return facts->fault == MEMORY_OTHER_SPACE ? FINDING_WRONG_SPACE : FINDING_OUT_OF_BOUNDS;
    }
    facts->fault = fault->kind == FAULT_MISALIGNED ? MEMORY_MISALIGNED : MEMORY_READ_ONLY;
    facts->object = fault->memory->name;
    facts->index = (int64_t)fault->offset;
    facts->object_bytes = fault->memory->bytes;
    return fault->kind == FAULT_MISALIGNED ? FINDING_MISALIGNED : FINDING_READ_ONLY;
}

static void fault_met(void *self, const Fault *fault) {
    Machine *m = self;
    const Access *a = fault->access;
    uint64_t address = fault->addresses ? fault->addresses[fault->lane] : fault->memory->base + fault->offset;
    MemoryFacts facts = {.kind = a->kind, .bytes = a->bytes, .address = address};
    char name[64];
    FindingKind kind = find_out(m, fault, &facts, &address, name);
    Finding *finding = add_finding(m, kind, a->warp, (int)fault->lane, a->in, NULL, !fault->is_done);
    if (!finding) return;
    word_memory(finding, &facts);
    finding->address = address;
    finding->bytes = a->bytes;
    finding->is_store = a->kind != ACCESS_LOAD;
    finding->is_atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_REDUCTION;
    if (!facts.object || facts.fault == MEMORY_OTHER_SPACE || facts.fault == MEMORY_OF_ENDED) return;
    snprintf(finding->object, sizeof finding->object, "%s%s",
             facts.fault == MEMORY_PAST_SHARED ? "shared " : "", facts.object);
    finding->index = facts.index;
    finding->object_bytes = facts.object_bytes;
}

void memcheck_observe(Machine *m, Observer *observer) {
    *observer = (Observer){.self = m, .fault = fault_met};
}
