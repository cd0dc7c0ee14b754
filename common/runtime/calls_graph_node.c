// Nodes of graphs: what each does, as the program asks for it, asks it back, and changes it.
#include <limits.h>
#include <stdlib.h>

#include "runtime/array.h"
#include "runtime/condition.h"
#include "runtime/graph.h"
#include "runtime/kernel.h"
#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

typedef struct CUgraphNode_st Content; // of a node that is to be made

// ---- From parameters to what a node does ------------------------------------------------------------------

static cudaError_t of_kernel(const struct cudaKernelNodeParams *p, Content *content) {
    cudaError_t error;
    Launch launch = {.grid = p->gridDim, .block = p->blockDim, .dynamic_shared = p->sharedMemBytes};
    place_here(&launch.place);
    launch.function = module_function(p->func, &error);
    if (launch.function) error = kernel_prepare(&launch, p->kernelParams);
    *content = (Content){.type = cudaGraphNodeTypeKernel,
                         .op = {.kind = OP_LAUNCH, .place = launch.place, .launch = launch}};
    return error;
}

static cudaError_t of_copy(const Copy *copy, Content *content) {
    *content = (Content){.type = copy->is_fill ? cudaGraphNodeTypeMemset : cudaGraphNodeTypeMemcpy,
                         .op = {.kind = OP_COPY, .place = copy->place, .copy = *copy}};
    return copy_check(copy);
}

static cudaError_t of_slices(const struct cudaMemcpy3DParms *p, Content *content) {
    const Copy copy = array_copy(p, "a copy node");
    return of_copy(&copy, content);
}

static cudaError_t of_fill(const struct cudaMemsetParams *p, Content *content) {
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) return cudaErrorInvalidValue;
    Copy copy = copy_fill(p->dst, p->value, p->elementSize, p->width * p->elementSize, "a fill node");
    copy.height = p->height;
    copy.to_pitch = p->pitch;
    return of_copy(&copy, content);
}

static cudaError_t of_call(cudaHostFn_t function, void *argument, Content *content) {
    *content =
        (Content){.type = cudaGraphNodeTypeHost, .op = {.kind = OP_CALL, .call = {function, argument}}};
    return function ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t of_event(cudaEvent_t event, OpKind kind, Content *content) {
    *content = (Content){.type = kind == OP_WAIT ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord,
                         .op = {.kind = kind, .event = event}};
    if (event && event->has_timing && kind == OP_RECORD) kernel_model_times();
    return event ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t of_graph(cudaGraph_t graph, Content *content) {
    *content = (Content){.type = cudaGraphNodeTypeGraph, .child = graph_ordered(graph)};
    return content->child ? cudaSuccess : cudaErrorInvalidValue;
}

// The address stays the same in every launch.
static cudaError_t of_allocation(size_t bytes, void **pointer, Content *content) {
    Allocation *a = bytes ? allocation_new(MEMORY_DEVICE, bytes) : NULL;
    if (!a) return bytes ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    a->is_of_graph = true;
    *pointer = (void *)a->device;
    *content = (Content){.type = cudaGraphNodeTypeMemAlloc, .op = {.kind = OP_ALLOCATE, .memory = a}};
    return cudaSuccess;
}

static cudaError_t of_free(const void *pointer, Content *content) {
    Allocation *a = allocation_live_at(pointer);
    if (!a || !a->is_of_graph) return cudaErrorInvalidValue;
    *content = (Content){.type = cudaGraphNodeTypeMemFree, .op = {.kind = OP_FREE, .memory = a}};
    return cudaSuccess;
}

static cudaError_t of_anything(struct cudaGraphNodeParams *p, Content *content) {
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return of_kernel(&(struct cudaKernelNodeParams){.func = p->kernel.func,
                                                        .gridDim = p->kernel.gridDim,
                                                        .blockDim = p->kernel.blockDim,
                                                        .sharedMemBytes = p->kernel.sharedMemBytes,
                                                        .kernelParams = p->kernel.kernelParams},
                         content);
    case cudaGraphNodeTypeMemcpy: return of_slices(&p->memcpy.copyParams, content);
    case cudaGraphNodeTypeMemset:
        return of_fill(&(struct cudaMemsetParams){p->memset.dst, p->memset.pitch, p->memset.value,
                                                  p->memset.elementSize, p->memset.width, p->memset.height},
                       content);
    case cudaGraphNodeTypeHost: return of_call(p->host.fn, p->host.userData, content);
    case cudaGraphNodeTypeGraph: return of_graph(p->graph.graph, content);
    case cudaGraphNodeTypeEmpty: *content = (Content){.type = p->type}; return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return of_event(p->eventWait.event, OP_WAIT, content);
    case cudaGraphNodeTypeEventRecord: return of_event(p->eventRecord.event, OP_RECORD, content);
    case cudaGraphNodeTypeMemAlloc: return of_allocation(p->alloc.bytesize, &p->alloc.dptr, content);
    case cudaGraphNodeTypeMemFree: return of_free(p->free.dptr, content);
    default: report_once("graph nodes of type %d are not supported yet", (int)p->type);
    }
    return cudaErrorNotSupported;
}

#if CUDART_VERSION >= 13000
// The graphs that the decision is about are empty: the program adds nodes to them.
static cudaError_t of_condition(struct cudaConditionalNodeParams *p, Content *content) {
    const unsigned most = p->type == cudaGraphCondTypeIf       ? 2
                          : p->type == cudaGraphCondTypeWhile  ? 1
                          : p->type == cudaGraphCondTypeSwitch ? UINT_MAX
                                                               : 0;
    if (!condition_exists(p->handle) || !p->size || p->size > most) return cudaErrorInvalidValue;
    Decision d = {.condition = p->handle, .type = p->type, .body_count = p->size};
    d.bodies = calloc(p->size, sizeof(cudaGraph_t));
    *content = (Content){.type = cudaGraphNodeTypeConditional, .op = {.kind = OP_DECIDE, .decision = d}};
    place_here(&content->op.place);
    bool is_whole = d.bodies != NULL;
    for (unsigned i = 0; is_whole && i < p->size; i++)
        is_whole = (d.bodies[i] = calloc(1, sizeof(struct CUgraph_st))) != NULL;
    p->phGraph_out = d.bodies;
    if (is_whole) return cudaSuccess;
    if (d.bodies) op_release(&content->op);
    return cudaErrorMemoryAllocation;
}

static cudaError_t new_condition(cudaGraphConditionalHandle *handle, unsigned value, unsigned flags) {
    if (flags & ~(unsigned)cudaGraphCondAssignDefault) return cudaErrorInvalidValue;
    *handle = condition_new(value, flags & cudaGraphCondAssignDefault);
    return *handle ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned value, unsigned flags) {
    (void)graph;
    return CALL(new_condition(handle, value, flags));
}
#endif

// ---- Adding -----------------------------------------------------------------------------------------------

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                       const Content *content, cudaError_t error) {
    if (error) return error;
    *node = graph_add(graph, content, after, count);
    return *node ? cudaSuccess : cudaErrorMemoryAllocation;
}

// `make` fills `content`.
#define ADD(make)                                                                                            \
    ({                                                                                                       \
        Content content;                                                                                     \
        const cudaError_t made = make;                                                                       \
        add(node, graph, after, count, &content, made);                                                      \
    })

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const struct cudaKernelNodeParams *p) {
    return CALL(ADD(of_kernel(p, &content)));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const struct cudaMemcpy3DParms *p) {
    return CALL(ADD(of_slices(p, &content)));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind) {
    const Copy copy = copy_row(to, from, bytes, kind, "a copy node");
    return CALL(ADD(of_copy(&copy, &content)));
}

static cudaError_t of_symbol(const void *symbol, void *host, size_t bytes, size_t offset, bool to_symbol,
                             enum cudaMemcpyKind kind, Content *content) {
    cudaError_t error = cudaSuccess;
    const Allocation *a = module_variable(symbol, &error);
    if (!a) return error;
    void *device = (void *)(a->device + offset);
    const Copy copy =
        copy_row(to_symbol ? device : host, to_symbol ? host : device, bytes, kind, "a copy node");
    return of_copy(&copy, content);
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *after, size_t count, const void *symbol,
                                           const void *from, size_t bytes, size_t offset,
                                           enum cudaMemcpyKind kind) {
    return CALL(ADD(of_symbol(symbol, (void *)(uintptr_t)from, bytes, offset, true, kind, &content)));
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *after, size_t count, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind) {
    return CALL(ADD(of_symbol(symbol, to, bytes, offset, false, kind, &content)));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const struct cudaMemsetParams *p) {
    return CALL(ADD(of_fill(p, &content)));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                 size_t count, const struct cudaHostNodeParams *p) {
    return CALL(ADD(of_call(p->fn, p->userData, &content)));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                  size_t count) {
    const Content content = {.type = cudaGraphNodeTypeEmpty};
    return CALL(add(node, graph, after, count, &content, cudaSuccess));
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                       size_t count, cudaGraph_t child) {
    return CALL(ADD(of_graph(child, &content)));
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *after, size_t count, cudaEvent_t event) {
    return CALL(ADD(of_event(event, OP_RECORD, &content)));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                      size_t count, cudaEvent_t event) {
    return CALL(ADD(of_event(event, OP_WAIT, &content)));
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, struct cudaMemAllocNodeParams *p) {
    return CALL(ADD(of_allocation(p->bytesize, &p->dptr, &content)));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                    size_t count, void *pointer) {
    return CALL(ADD(of_free(pointer, &content)));
}
#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *p) {
    (void)edges;
    if (p->type == cudaGraphNodeTypeConditional) return CALL(ADD(of_condition(&p->conditional, &content)));
    return CALL(ADD(of_anything(p, &content)));
}
#endif

// ---- Changing ---------------------------------------------------------------------------------------------

static cudaError_t change(cudaGraphNode_t node, const Content *content, cudaError_t error) {
    if (error) return error;
    if (!node || node->type != content->type) return cudaErrorInvalidValue;
    graph_change(node, content);
    return cudaSuccess;
}
#define CHANGE(node, make)                                                                                   \
    ({                                                                                                       \
        Content content;                                                                                     \
        const cudaError_t made_error = make;                                                                 \
        change(node, &content, made_error);                                                                  \
    })
// Two calls: one changes a node in a graph, the other its copy in what was instantiated.
#define SETTERS(name, parameters, make)                                                                      \
    cudaError_t cudaGraph##name##NodeSetParams(cudaGraphNode_t node, parameters p) {                         \
        return CALL(CHANGE(node, make(p, &content)));                                                        \
    }                                                                                                        \
    cudaError_t cudaGraphExec##name##NodeSetParams(cudaGraphExec_t made, cudaGraphNode_t node,               \
                                                   parameters p) {                                           \
        return CALL(CHANGE(graph_copy_of(made->graph, node), make(p, &content)));                            \
    }
static cudaError_t of_host(const struct cudaHostNodeParams *p, Content *content) {
    return of_call(p->fn, p->userData, content);
}
SETTERS(Kernel, const struct cudaKernelNodeParams *, of_kernel)
SETTERS(Memcpy, const struct cudaMemcpy3DParms *, of_slices)
SETTERS(Memset, const struct cudaMemsetParams *, of_fill)
SETTERS(Host, const struct cudaHostNodeParams *, of_host)

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p) {
    return CALL(CHANGE(node, of_anything(p, &content)));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t made, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *p) {
    return CALL(CHANGE(graph_copy_of(made->graph, node), of_anything(p, &content)));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind) {
    const Copy copy = copy_row(to, from, bytes, kind, "a copy node");
    return CALL(CHANGE(node, of_copy(&copy, &content)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t made, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    const Copy copy = copy_row(to, from, bytes, kind, "a copy node");
    return CALL(CHANGE(graph_copy_of(made->graph, node), of_copy(&copy, &content)));
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t made, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
    return CALL(CHANGE(graph_copy_of(made->graph, node), of_graph(child, &content)));
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return CALL(CHANGE(node, of_event(event, OP_RECORD, &content)));
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return CALL(CHANGE(node, of_event(event, OP_WAIT, &content)));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t made, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
    return CALL(CHANGE(graph_copy_of(made->graph, node), of_event(event, OP_RECORD, &content)));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t made, cudaGraphNode_t node,
                                               cudaEvent_t event) {
    return CALL(CHANGE(graph_copy_of(made->graph, node), of_event(event, OP_WAIT, &content)));
}

static cudaError_t enable(cudaGraphNode_t node, unsigned is_enabled) {
    if (!node) return cudaErrorInvalidValue;
    node->is_disabled = !is_enabled;
    return cudaSuccess;
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t made, cudaGraphNode_t node, unsigned is_enabled) {
    return CALL(enable(graph_copy_of(made->graph, node), is_enabled));
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t made, cudaGraphNode_t node, unsigned *is_enabled) {
    const struct CUgraphNode_st *copy = graph_copy_of(made->graph, node);
    if (copy) *is_enabled = !copy->is_disabled;
    return CALL(copy ? cudaSuccess : cudaErrorInvalidValue);
}
