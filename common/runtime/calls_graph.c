// Graphs: made node by node or by capturing streams, instantiated, and launched. A launch runs the nodes one
// after the other in one stream.
#include <stdlib.h>

#include "runtime/capture.h"
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

static cudaError_t begin(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t *tips, size_t count) {
    cudaStream_t stream = queue_stream(handle);
    if (stream->capture || stream->is_default) return cudaErrorStreamCaptureUnsupported;
    const cudaError_t error = graph ? cudaSuccess : new_graph(&graph);
    if (error) return error;
    return capture_begin(stream, graph, tips, count) ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    (void)mode;
    return CALL(begin(stream, NULL, NULL, 0));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *after, const cudaGraphEdgeData *edges,
                                          size_t count, enum cudaStreamCaptureMode mode) {
    (void)edges, (void)mode;
    return CALL(begin(stream, graph, after, count));
}

static cudaError_t end(cudaStream_t stream, cudaGraph_t *graph) {
    cudaGraph_t capture = queue_stream(stream)->capture;
    if (!capture) return cudaErrorIllegalState;
    if (graph) *graph = capture; // a program that captures into a graph of its own knows it
    queue_end_capture(capture);
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
    if (last) *last = queue_stream(handle)->tips.nodes;
    if (count) *count = queue_stream(handle)->tips.count;
    return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **last,
                                     const cudaGraphEdgeData **edges, size_t *count) {
    if (edges) *edges = NULL;
    return CALL(capture_info(stream, status, id, graph, last, count));
}
static cudaError_t update_tips(cudaStream_t stream, const cudaGraphNode_t *after, size_t count,
                               unsigned flags) {
    if (!stream->capture) return cudaErrorIllegalState;
    const bool is_kept = capture_set_tips(stream, after, count, !(flags & cudaStreamSetCaptureDependencies));
    return is_kept ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after,
                                                const cudaGraphEdgeData *edges, size_t count,
                                                unsigned flags) {
    (void)edges;
    return CALL(update_tips(queue_stream(stream), after, count, flags));
}
#endif

// ---- Launches ---------------------------------------------------------------------------------------------

// What a condition decides on is kernels, copies, fills, graphs of these, and other conditions.
static bool is_decidable(const struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        const OpKind kind = node->op.kind;
        if (kind != OP_NOTHING && kind != OP_LAUNCH && kind != OP_COPY && kind != OP_DECIDE) return false;
        if (node->child && !is_decidable(node->child)) return false;
    }
    return true;
}

static bool has_decidable_bodies(const struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->child && !has_decidable_bodies(node->child)) return false;
        if (node->op.kind != OP_DECIDE) continue;
        const Decision *d = &node->op.decision;
        for (unsigned b = 0; b < d->body_count; b++)
            if (!is_decidable(d->bodies[b]) || !has_decidable_bodies(d->bodies[b])) return false;
    }
    return true;
}

static cudaError_t order(cudaGraphExec_t made, cudaGraph_t graph) {
    if (!has_decidable_bodies(graph)) return cudaErrorInvalidValue;
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

// A graph of another form is refused, and what was made stays as it is.
static cudaError_t update(cudaGraphExec_t made, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    cudaGraph_t now = graph_ordered(graph);
    if (!now) return cudaErrorInvalidValue;
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateSuccess};
    if (made->graph) graph_compare(made->graph, now, info); // there is none if it could not be instantiated
    if (info->result != cudaGraphExecUpdateSuccess) {
        graph_free(now);
        return cudaErrorGraphExecUpdateFailure;
    }
    if (made->graph) graph_free(made->graph);
    made->graph = now;
    return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
    cudaGraphExecUpdateResultInfo unasked;
    return CALL(update(made, graph, info ? info : &unasked));
}

// Nodes that follow each other without a fork share a lane.
static void give_lanes(cudaGraph_t graph) {
    for (size_t i = 0; i < graph->count; i++) {
        cudaGraphNode_t node = graph->nodes[i];
        for (size_t j = 0; j < node->after_count && !node->lane; j++) {
            cudaGraphNode_t before = node->after[j];
            if (!before->has_heir) node->lane = before->lane;
            before->has_heir = true;
        }
        if (!node->lane) node->lane = queue_new_lane();
    }
}

static cudaError_t launch(cudaGraph_t graph, cudaStream_t stream, const Known *start, Known *end);

// Before a node happens what happens before the nodes that it depends on, and `start`.
static cudaError_t launch_node(cudaGraphNode_t node, cudaStream_t stream, const Known *start) {
    known_free(&node->known);
    known_join(&node->known, start);
    for (size_t i = 0; i < node->after_count; i++) known_join(&node->known, &node->after[i]->known);
    if (node->is_disabled) return cudaSuccess;
    if (node->child) {
        Known end = {0};
        const cudaError_t error = launch(node->child, stream, &node->known, &end);
        known_join(&node->known, &end);
        known_free(&end);
        return error;
    }
    if (node->op.kind == OP_NOTHING) return cudaSuccess;
    Op op;
    if (!op_copy(&node->op, &op)) return cudaErrorMemoryAllocation;
    op.stream = stream;
    op.lane = node->lane;
    op.in_graph = &node->known;
    if (op.kind == OP_WAIT) {
        op.wait = queue_wait_for(op.event);
        known_join(&node->known, op.wait.known);
    }
    const cudaError_t error = queue_add(&op);
    if (!error) known_add(&node->known, node->lane, op.number);
    return error;
}

static cudaError_t launch(cudaGraph_t graph, cudaStream_t stream, const Known *start, Known *end) {
    if (graph->count && !graph->nodes[0]->lane) give_lanes(graph);
    for (size_t i = 0; i < graph->count; i++) {
        const cudaError_t error = launch_node(graph->nodes[i], stream, start);
        if (error) return error;
        known_join(end, &graph->nodes[i]->known);
    }
    return cudaSuccess;
}

// Before anything else, the graph's conditions get the values that every launch starts with.
static cudaError_t assign(const struct CUgraph_st *graph, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < graph->count && !error; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->child) error = assign(node->child, stream);
        if (node->op.kind != OP_DECIDE) continue;
        const Decision *d = &node->op.decision;
        error = queue_add(&(Op){.kind = OP_ASSIGN, .stream = stream, .condition = d->condition});
        for (unsigned b = 0; b < d->body_count && !error; b++) error = assign(d->bodies[b], stream);
    }
    return error;
}

static cudaError_t launch_all(const struct CUgraphExec_st *made, cudaStream_t handle) {
    if (sticky_error()) return sticky_error();
    Known start = {0}, end = {0};
    cudaStream_t stream = queue_stream(handle);
    cudaError_t error = assign(made->graph, stream);
    queue_known(stream, &start);
    if (made->graph->count > 1) queue_expect_overlap();
    if (!error) error = launch(made->graph, stream, &start, &end);
    known_free(&start);
    known_free(&end);
    return error;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
    return CALL(launch_all(made, stream));
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
