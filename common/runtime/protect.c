#define _GNU_SOURCE // sysconf
#include "runtime/protect.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/graph.h"
#include "runtime/hazard.h"
#include "runtime/report.h"

bool protect_points_into(const Launch *launch, const Allocation *a) {
    uint64_t value;
    for (size_t at = 0; at + sizeof value <= launch->argument_bytes; at += sizeof value) {
        memcpy(&value, (const char *)launch->arguments + at, sizeof value);
        if (value - a->device < a->size) return true;
    }
    return false;
}

static bool graph_may_use(const struct CUgraph_st *graph, const Allocation *a) {
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->child ? graph_may_use(node->child, a) : protect_may_use(&node->op, a)) return true;
        if (node->op.kind != OP_COPY) continue;
        const CopySides sides = copy_sides(&node->op.copy);
        if (sides.from == a || sides.to == a) return true;
    }
    return false;
}

bool protect_may_use(const Op *op, const Allocation *a) {
    if (op->kind == OP_LAUNCH) return protect_points_into(&op->launch, a);
    for (unsigned i = 0; op->kind == OP_DECIDE && i < op->decision.body_count; i++)
        if (graph_may_use(op->decision.bodies[i], a)) return true;
    return false;
}

static uintptr_t page_size(void) { return (uintptr_t)sysconf(_SC_PAGESIZE); }

static void protect_range(const Allocation *a, const char *from, size_t bytes, int how) {
    const uintptr_t page = page_size();
    uintptr_t start = (uintptr_t)from, end = start + bytes;
    if (end >= (uintptr_t)a->host + a->size) end = ((uintptr_t)a->host + a->size + page - 1) / page * page;
    start = (start + page - 1) / page * page;
    end = end / page * page;
    if (start < end) mprotect((void *)start, end - start, how);
}

static bool is_shared(const Allocation *a) {
    return a && !a->is_freed && (a->kind == MEMORY_PINNED || a->kind == MEMORY_MANAGED);
}

void protect_open(const Allocation *a) { protect_range(a, a->host, a->size, PROT_READ | PROT_WRITE); }

void protect_open_page(const void *address) {
    const uintptr_t page = page_size();
    mprotect((void *)((uintptr_t)address / page * page), page, PROT_READ | PROT_WRITE);
}

// Reading was forbidden already where work writes.
static void protect_reads(const Allocation *a, const Op *pending, bool written) {
    const int how = written ? PROT_NONE : PROT_READ;
    for (const Op *op = pending; op; op = op->next) {
        if (written && protect_may_use(op, a)) protect_range(a, a->host, a->size, PROT_NONE);
        if (op->kind != OP_COPY) continue;
        const CopySides sides = copy_sides(&op->copy);
        if (sides.from == a && !written) protect_range(a, op->copy.from, copy_span_from(&op->copy), how);
        if (sides.to == a && written) protect_range(a, op->copy.to, copy_span_to(&op->copy), how);
    }
    HazardPart part;
    for (size_t index = 0, within = 0; hazard_part(a, &index, &within, &part);)
        if (part.written == written)
            protect_range(a, (char *)a->host + (part.start - a->device), part.bytes, how);
}

void protect_allocation(const Allocation *a, const Op *pending) {
    protect_open(a);
    protect_reads(a, pending, false);
    protect_reads(a, pending, true);
}

void protect_all(const Op *pending) {
    for (int i = 0; allocation_by_index(i); i++)
        if (is_shared(allocation_by_index(i))) protect_allocation(allocation_by_index(i), pending);
}

void protect_used(const Op *op, const Op *pending) {
    if (op->kind == OP_LAUNCH || op->kind == OP_DECIDE) {
        for (int i = 0; allocation_by_index(i); i++) {
            const Allocation *a = allocation_by_index(i);
            if (is_shared(a) && (options()->checks || protect_may_use(op, a))) protect_allocation(a, pending);
        }
    } else if (op->kind == OP_COPY) {
        const CopySides sides = copy_sides(&op->copy);
        if (is_shared(sides.from)) protect_allocation(sides.from, pending);
        if (is_shared(sides.to)) protect_allocation(sides.to, pending);
    }
}
