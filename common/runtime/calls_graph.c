// Graphs: made node by node or by capturing streams, instantiated, and launched. A launch runs the nodes one
// after the other in one stream.
#include <stdlib.h>

#include "runtime/array.h"
#include "runtime/graph.h"
#include "runtime/kernel.h"
#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

struct CUgraphExec_st {
    cudaGraph_t graph;          // in an order in which it may run
    cudaGraphNode_t *originals; // of its nodes, by place
};

// ---- Nodes ------------------------------------------------------------------------------------------------

static cudaError_t new_graph(cudaGraph_t *graph) {
    *graph = calloc(1, sizeof **graph);
    return *graph ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
    (void)flags;
    return CALL(new_graph(graph));
}
static cudaError_t destroy_graph(cudaGraph_t graph) {
    if (graph) graph_free(graph);
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return CALL(destroy_graph(graph)); }

// In an order in which it may run, which takes the place of the dependencies.
static cudaError_t clone(cudaGraph_t *made, cudaGraph_t graph) {
    cudaGraphNode_t *originals = calloc(graph->count + 1, sizeof(cudaGraphNode_t));
    *made = originals ? graph_ordered(graph, originals) : NULL;
    free(originals);
    return *made ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphClone(cudaGraph_t *made, cudaGraph_t graph) { return CALL(clone(made, graph)); }

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                       const Op *op) {
    *node = graph_add(graph, op, after, count);
    return *node ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t launch_of(const struct cudaKernelNodeParams *p, Op *op) {
    cudaError_t error;
    *op = (Op){.kind = OP_LAUNCH,
               .launch = {.grid = p->gridDim, .block = p->blockDim, .dynamic_shared = p->sharedMemBytes}};
    place_here(&op->launch.place);
    op->place = op->launch.place;
    op->launch.function = module_function(p->func, &error);
    return op->launch.function ? kernel_prepare(&op->launch, p->kernelParams) : error;
}

static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                              size_t count, const struct cudaKernelNodeParams *p) {
    Op op;
    const cudaError_t error = launch_of(p, &op);
    return error ? error : add(node, graph, after, count, &op);
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const struct cudaKernelNodeParams *p) {
    return CALL(add_kernel(node, graph, after, count, p));
}

static cudaError_t add_copy(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, const Copy *copy) {
    const cudaError_t error = copy_check(copy);
    return error
               ? error
               : add(node, graph, after, count, &(Op){.kind = OP_COPY, .place = copy->place, .copy = *copy});
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const struct cudaMemcpy3DParms *p) {
    const Copy copy = array_copy(p, "cudaGraphAddMemcpyNode");
    return CALL(add_copy(node, graph, after, count, &copy));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind) {
    const Copy copy = copy_row(to, from, bytes, kind, "cudaGraphAddMemcpyNode1D");
    return CALL(add_copy(node, graph, after, count, &copy));
}

static cudaError_t add_fill(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, const struct cudaMemsetParams *p) {
    const unsigned byte = p->value & 0xff;
    const bool is_repeated = p->elementSize == 1 || (p->elementSize == 2 && p->value == byte * 0x101) ||
                             (p->elementSize == 4 && p->value == byte * 0x1010101);
    if (!is_repeated) {
        report_once("cudaGraphAddMemsetNode with a value of different bytes is not supported yet");
        return cudaErrorNotSupported;
    }
    Copy copy = copy_fill(p->dst, (int)byte, p->width * p->elementSize, "cudaGraphAddMemsetNode");
    copy.height = p->height;
    copy.to_pitch = p->pitch;
    return add_copy(node, graph, after, count, &copy);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const struct cudaMemsetParams *p) {
    return CALL(add_fill(node, graph, after, count, p));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                 size_t count, const struct cudaHostNodeParams *p) {
    return CALL(add(node, graph, after, count, &(Op){.kind = OP_CALL, .call = {p->fn, p->userData}}));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                  size_t count) {
    return CALL(add(node, graph, after, count, NULL));
}

static cudaError_t nodes_of(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    for (size_t i = 0; nodes && i < *count && i < graph->count; i++) nodes[i] = graph->nodes[i];
    *count = graph->count;
    return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return CALL(nodes_of(graph, nodes, count));
}

// ---- Capture ----------------------------------------------------------------------------------------------

static cudaError_t begin(cudaStream_t handle) {
    cudaStream_t stream = queue_stream(handle);
    if (stream->capture || stream == queue_stream(NULL)) return cudaErrorStreamCaptureUnsupported;
    return new_graph(&stream->capture);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    (void)mode;
    return CALL(begin(stream));
}

static cudaError_t end(cudaStream_t stream, cudaGraph_t *graph) {
    if (!queue_stream(stream)->capture) return cudaErrorIllegalState;
    *graph = queue_stream(stream)->capture;
    queue_end_capture(*graph);
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) { return CALL(end(stream, graph)); }

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    *status = queue_stream(stream)->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return CALL(cudaSuccess);
}

// ---- Launches ---------------------------------------------------------------------------------------------

static cudaError_t order(cudaGraphExec_t made, cudaGraph_t graph) {
    made->originals = calloc(graph->count + 1, sizeof(cudaGraphNode_t));
    made->graph = made->originals ? graph_ordered(graph, made->originals) : NULL;
    return made->graph ? cudaSuccess : cudaErrorInvalidValue;
}
static void forget(cudaGraphExec_t made) {
    if (made->graph) graph_free(made->graph);
    free(made->originals);
}

static cudaError_t instantiate(cudaGraphExec_t *made, cudaGraph_t graph) {
    *made = calloc(1, sizeof **made);
    return *made ? order(*made, graph) : cudaErrorMemoryAllocation;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags) {
    (void)flags;
    return CALL(instantiate(made, graph));
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph,
                                          unsigned long long flags) {
    (void)flags;
    return CALL(instantiate(made, graph));
}

static cudaError_t destroy_made(cudaGraphExec_t made) {
    forget(made);
    free(made);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) { return CALL(destroy_made(made)); }

static cudaError_t update(cudaGraphExec_t made, cudaGraph_t graph) {
    forget(made);
    return order(made, graph);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
    if (info) *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateSuccess};
    return CALL(update(made, graph));
}

static cudaError_t set_kernel(cudaGraphExec_t made, cudaGraphNode_t node,
                              const struct cudaKernelNodeParams *p) {
    for (size_t i = 0; i < made->graph->count; i++) {
        if (made->originals[i] != node) continue;
        Op op;
        const cudaError_t error = launch_of(p, &op);
        if (error) return error;
        op_release(&made->graph->nodes[i]->op);
        made->graph->nodes[i]->op = op;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t made, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p) {
    return CALL(set_kernel(made, node, p));
}

static cudaError_t launch(const struct CUgraphExec_st *made, cudaStream_t stream) {
    if (sticky_error()) return sticky_error();
    for (size_t i = 0; i < made->graph->count; i++) {
        if (made->graph->nodes[i]->does_nothing) continue;
        Op op;
        if (!op_copy(&made->graph->nodes[i]->op, &op)) return cudaErrorMemoryAllocation;
        op.stream = queue_stream(stream);
        const cudaError_t error = queue_add(&op);
        if (error) return error;
    }
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) { return CALL(launch(made, stream)); }
cudaError_t cudaGraphUpload(cudaGraphExec_t made, cudaStream_t stream) {
    (void)made, (void)stream;
    return CALL(cudaSuccess);
}
