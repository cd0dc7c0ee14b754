// What a program asks about its graphs: nodes, edges and parameters; and the edges that it changes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/mangle.h"
#include "runtime/graph.h"
#include "runtime/report.h"
#include "runtime/state.h"

// ---- Nodes and edges --------------------------------------------------------------------------------------

// A list that the program reads twice: first with no room, to learn how long it is.
typedef struct {
    cudaGraphNode_t *nodes;
    size_t room, count;
} List;
static void put(List *list, cudaGraphNode_t node) {
    if (list->nodes && list->count < list->room) list->nodes[list->count] = node;
    list->count++;
}

static cudaError_t nodes_of(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count, bool only_roots) {
    List list = {nodes, *count, 0};
    for (size_t i = 0; i < graph->count; i++)
        if (!only_roots || !graph->nodes[i]->after_count) put(&list, graph->nodes[i]);
    *count = list.count;
    return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return CALL(nodes_of(graph, nodes, count, false));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return CALL(nodes_of(graph, nodes, count, true));
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    *type = node->type;
    return CALL(cudaSuccess);
}
static cudaError_t destroy(cudaGraphNode_t node) {
    graph_remove(node);
    return cudaSuccess;
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { return CALL(destroy(node)); }

static cudaError_t find_in_clone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone) {
    *found = graph_copy_of(clone, node);
    return *found ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone) {
    return CALL(find_in_clone(found, node, clone));
}

#if CUDART_VERSION >= 13000
static cudaError_t edges_of(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                            cudaGraphEdgeData *data, size_t *count) {
    List sources = {from, *count, 0}, targets = {to, *count, 0};
    if (data) memset(data, 0, *count * sizeof *data);
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->nodes[i]->after_count; j++) {
            put(&sources, graph->nodes[i]->after[j]);
            put(&targets, graph->nodes[i]);
        }
    *count = sources.count;
    return cudaSuccess;
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *data, size_t *count) {
    return CALL(edges_of(graph, from, to, data, count));
}

static cudaError_t before(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                          size_t *count) {
    List list = {nodes, *count, 0};
    if (data) memset(data, 0, *count * sizeof *data);
    for (size_t i = 0; i < node->after_count; i++) put(&list, node->after[i]);
    *count = list.count;
    return cudaSuccess;
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         cudaGraphEdgeData *data, size_t *count) {
    return CALL(before(node, nodes, data, count));
}

static cudaError_t after(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                         size_t *count) {
    List list = {nodes, *count, 0};
    if (data) memset(data, 0, *count * sizeof *data);
    for (size_t i = 0; i < node->graph->count; i++)
        for (size_t j = 0; j < node->graph->nodes[i]->after_count; j++)
            if (node->graph->nodes[i]->after[j] == node) put(&list, node->graph->nodes[i]);
    *count = list.count;
    return cudaSuccess;
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           cudaGraphEdgeData *data, size_t *count) {
    return CALL(after(node, nodes, data, count));
}

static cudaError_t connect(const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count, bool adds) {
    for (size_t i = 0; i < count; i++)
        if (!(adds ? graph_depend(to[i], from[i]) : graph_depend_not(to[i], from[i])))
            return adds ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    return cudaSuccess;
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count) {
    (void)graph, (void)data;
    return CALL(connect(from, to, count, true));
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                        size_t count) {
    (void)graph, (void)data;
    return CALL(connect(from, to, count, false));
}
#endif

// ---- Parameters -------------------------------------------------------------------------------------------

static cudaError_t kernel_of(cudaGraphNode_t node, struct cudaKernelNodeParams *p) {
    if (node->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    const Launch *l = &node->op.launch;
    EmulatorKernelInfo info;
    emulator_kernel_info(l->function->kernel, &info);
    if (!node->arguments) node->arguments = calloc((size_t)info.parameter_count + 1, sizeof(void *));
    if (!node->arguments) return cudaErrorMemoryAllocation;
    for (int i = 0; i < info.parameter_count; i++)
        node->arguments[i] = (char *)l->arguments + info.parameters[i].offset;
    *p = (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)l->function->stub,
                                       .gridDim = l->grid,
                                       .blockDim = l->block,
                                       .sharedMemBytes = (unsigned)l->dynamic_shared,
                                       .kernelParams = node->arguments};
    return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p) {
    return CALL(kernel_of(node, p));
}

// As a copy of memory: rows of an array are memory here.
static cudaError_t copy_of(cudaGraphNode_t node, struct cudaMemcpy3DParms *p) {
    if (node->type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
    const Copy *c = &node->op.copy;
    *p = (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)c->from, c->from_pitch ? c->from_pitch : c->width, c->width, c->height},
        .dstPtr = {c->to, c->to_pitch ? c->to_pitch : c->width, c->width, c->height},
        .extent = {c->width, c->height, c->depth},
        .kind = c->kind};
    return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p) {
    return CALL(copy_of(node, p));
}

static cudaError_t fill_of(cudaGraphNode_t node, struct cudaMemsetParams *p) {
    if (node->type != cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    const Copy *c = &node->op.copy;
    *p = (struct cudaMemsetParams){.dst = c->to,
                                   .pitch = c->to_pitch,
                                   .value = c->value,
                                   .elementSize = c->unit,
                                   .width = c->width / c->unit,
                                   .height = c->height};
    return cudaSuccess;
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p) {
    return CALL(fill_of(node, p));
}

static cudaError_t call_of(cudaGraphNode_t node, struct cudaHostNodeParams *p) {
    if (node->type != cudaGraphNodeTypeHost) return cudaErrorInvalidValue;
    *p = (struct cudaHostNodeParams){node->op.call.function, node->op.call.argument};
    return cudaSuccess;
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p) {
    return CALL(call_of(node, p));
}

static cudaError_t child_of(cudaGraphNode_t node, cudaGraph_t *child) {
    *child = node->child;
    return node->child ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child) {
    return CALL(child_of(node, child));
}

static cudaError_t event_of(cudaGraphNode_t node, enum cudaGraphNodeType type, cudaEvent_t *event) {
    if (node->type != type) return cudaErrorInvalidValue;
    *event = node->op.event;
    return cudaSuccess;
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return CALL(event_of(node, cudaGraphNodeTypeEventRecord, event));
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return CALL(event_of(node, cudaGraphNodeTypeWaitEvent, event));
}

static cudaError_t memory_of(cudaGraphNode_t node, void **pointer, size_t *bytes) {
    if (node->op.kind != OP_ALLOCATE && node->op.kind != OP_FREE) return cudaErrorInvalidValue;
    *pointer = (void *)node->op.memory->device;
    if (bytes) *bytes = node->op.memory->size;
    return cudaSuccess;
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p) {
    *p = (struct cudaMemAllocNodeParams){0};
    return CALL(memory_of(node, &p->dptr, &p->bytesize));
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
    return CALL(memory_of(node, pointer, NULL));
}

// ---- Memory of graphs -------------------------------------------------------------------------------------

static cudaError_t graph_memory(enum cudaGraphMemAttributeType which, void *value) {
    uint64_t bytes = 0;
    (void)which; // used and reserved, now and at most, are the same here
    for (int i = 0; allocation_by_index(i); i++)
        if (allocation_by_index(i)->is_of_graph) bytes += allocation_by_index(i)->size;
    memcpy(value, &bytes, sizeof bytes);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType which, void *value) {
    (void)device;
    return CALL(graph_memory(which, value));
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
    (void)device;
    return CALL(cudaSuccess);
}

// ---- A picture --------------------------------------------------------------------------------------------

static const char *name_of(const struct CUgraphNode_st *node, char *name, size_t bytes) {
    static const char *const names[] = {"kernel",   "copy", "fill",   "host function", "graph",
                                        "empty",    "wait", "record", "signal",        "wait",
                                        "allocate", "free", "batch",  "condition"};
    if (node->type == cudaGraphNodeTypeKernel)
        symbol_source_name(node->op.launch.function->name, name, bytes);
    else
        snprintf(name, bytes, "%s",
                 (size_t)node->type < sizeof names / sizeof *names ? names[node->type] : "?");
    return name;
}

// In the language of Graphviz.
static cudaError_t print(cudaGraph_t graph, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) return cudaErrorOperatingSystem;
    fprintf(file, "digraph {\n");
    for (size_t i = 0; i < graph->count; i++) {
        char name[256];
        const struct CUgraphNode_st *node = graph->nodes[i];
        fprintf(file, "  n%zu [label=\"%s\"];\n", i, name_of(node, name, sizeof name));
        for (size_t j = 0; j < node->after_count; j++)
            for (size_t k = 0; k < graph->count; k++)
                if (graph->nodes[k] == node->after[j]) fprintf(file, "  n%zu -> n%zu;\n", k, i);
    }
    fprintf(file, "}\n");
    return fclose(file) ? cudaErrorOperatingSystem : cudaSuccess;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags) {
    (void)flags;
    return CALL(print(graph, path));
}
