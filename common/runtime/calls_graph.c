// Graphs: made node by node or by capturing streams, instantiated, and launched. A launch runs the nodes one
// after the other in one stream.
#include <stdlib.h>

#include "runtime/graph.h"
#include "runtime/queue.h"
#include "runtime/report.h"
#include "runtime/state.h"

// ---- Graphs -----------------------------------------------------------------------------------------------

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
    *made = graph_ordered(graph);
    return *made ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphClone(cudaGraph_t *made, cudaGraph_t graph) { return CALL(clone(made, graph)); }

// ---- Capture ----------------------------------------------------------------------------------------------

static cudaError_t begin(cudaStream_t handle) {
    cudaStream_t stream = queue_stream(handle);
    if (stream->capture || stream->is_default) return cudaErrorStreamCaptureUnsupported;
    return new_graph(&stream->capture);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    (void)mode;
    return CALL(begin(stream));
}

// What the program adds by hand to a graph that is captured comes into it as it is.
static cudaError_t begin_to(cudaStream_t handle, cudaGraph_t graph) {
    cudaStream_t stream = queue_stream(handle);
    if (stream->capture || stream->is_default) return cudaErrorStreamCaptureUnsupported;
    stream->capture = graph;
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *after, const cudaGraphEdgeData *edges,
                                          size_t count, enum cudaStreamCaptureMode mode) {
    (void)after, (void)edges, (void)count, (void)mode; // the new nodes follow all others
    return CALL(begin_to(stream, graph));
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

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    static _Thread_local enum cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    const enum cudaStreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return CALL(cudaSuccess);
}
#if CUDART_VERSION >= 13000
static cudaError_t capture_info(cudaStream_t handle, enum cudaStreamCaptureStatus *status,
                                unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **last,
                                size_t *count) {
    cudaGraph_t capture = queue_stream(handle)->capture;
    *status = capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    if (!capture) return cudaSuccess;
    if (id) *id = (unsigned long long)(uintptr_t)capture;
    if (graph) *graph = capture;
    if (last) *last = capture->count ? &capture->nodes[capture->count - 1] : NULL;
    if (count) *count = capture->count != 0;
    return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **last,
                                     const cudaGraphEdgeData **edges, size_t *count) {
    if (edges) *edges = NULL;
    return CALL(capture_info(stream, status, id, graph, last, count));
}
// The next node follows all others, whatever the program says.
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after,
                                                const cudaGraphEdgeData *edges, size_t count,
                                                unsigned flags) {
    (void)after, (void)edges, (void)count, (void)flags;
    return CALL(queue_stream(stream)->capture ? cudaSuccess : cudaErrorIllegalState);
}
#endif

// ---- Launches ---------------------------------------------------------------------------------------------

static cudaError_t order(cudaGraphExec_t made, cudaGraph_t graph) {
    made->graph = graph_ordered(graph);
    return made->graph ? cudaSuccess : cudaErrorInvalidValue;
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

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *made, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *p) {
    p->errNode_out = NULL;
    p->result_out = cudaGraphInstantiateSuccess;
    return CALL(instantiate(made, graph));
}

static cudaError_t destroy_made(cudaGraphExec_t made) {
    if (made->graph) graph_free(made->graph);
    free(made);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) { return CALL(destroy_made(made)); }

static cudaError_t update(cudaGraphExec_t made, cudaGraph_t graph) {
    if (made->graph) graph_free(made->graph);
    return order(made, graph);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
    if (info) *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateSuccess};
    return CALL(update(made, graph));
}

static cudaError_t launch(const struct CUgraph_st *graph, cudaStream_t stream) {
    if (sticky_error()) return sticky_error();
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        cudaError_t error = cudaSuccess;
        Op op;
        if (node->is_disabled) continue;
        if (node->child) error = launch(node->child, stream);
        if (error) return error;
        if (node->op.kind == OP_NOTHING) continue;
        if (!op_copy(&node->op, &op)) return cudaErrorMemoryAllocation;
        op.stream = queue_stream(stream);
        if (op.kind == OP_WAIT) op.wait = queue_wait_for(op.event);
        error = queue_add(&op);
        if (error) return error;
    }
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
    return CALL(launch(made->graph, stream));
}
cudaError_t cudaGraphUpload(cudaGraphExec_t made, cudaStream_t stream) {
    (void)made, (void)stream;
    return CALL(cudaSuccess);
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t made, unsigned long long *flags) {
    (void)made;
    *flags = 0;
    return CALL(cudaSuccess);
}
