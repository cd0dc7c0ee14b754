#include "runtime/capture.h"

#include <stdlib.h>

bool capture_set_tips(cudaStream_t stream, const cudaGraphNode_t *nodes, size_t count, bool keeps_old) {
    if (!keeps_old) stream->tips.count = 0;
    return tips_add(&stream->tips, nodes, count);
}

bool capture_begin(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count) {
    stream->capture = graph;
    return capture_set_tips(stream, nodes, count, false);
}

static enum cudaGraphNodeType type_of(const Op *op) {
    switch (op->kind) {
    case OP_LAUNCH: return cudaGraphNodeTypeKernel;
    case OP_COPY: return op->copy.is_fill ? cudaGraphNodeTypeMemset : cudaGraphNodeTypeMemcpy;
    case OP_CALL: return cudaGraphNodeTypeHost;
    case OP_ALLOCATE: return cudaGraphNodeTypeMemAlloc;
    case OP_FREE: return cudaGraphNodeTypeMemFree;
    default: return cudaGraphNodeTypeEmpty;
    }
}

cudaError_t capture_add(const Op *op) {
    cudaStream_t stream = op->stream;
    if (op->kind == OP_RECORD) {
        op->event->captured_in = stream->capture;
        op->event->tips.count = 0;
        const bool is_kept = tips_add(&op->event->tips, stream->tips.nodes, stream->tips.count);
        return is_kept ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    const struct CUgraphNode_st content = {.type = type_of(op), .op = *op};
    cudaGraphNode_t node = graph_add(stream->capture, &content, stream->tips.nodes, stream->tips.count);
    return node && capture_set_tips(stream, &node, 1, false) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t capture_wait(cudaStream_t stream, const struct CUevent_st *event) {
    const bool takes_part = stream->capture != NULL;
    stream->capture = event->captured_in;
    const bool is_kept = capture_set_tips(stream, event->tips.nodes, event->tips.count, takes_part);
    return is_kept ? cudaSuccess : cudaErrorMemoryAllocation;
}

void capture_end(cudaStream_t stream) {
    stream->capture = NULL;
    tips_free(&stream->tips);
}
