// Capturing streams: what is asked for becomes nodes of a graph. Each stream that takes part has its tips:
// the nodes that its next one depends on.
#pragma once

#include "runtime/graph.h"

// `stream` takes part from now on; its next node depends on `tips`. False when memory ran out.
bool capture_begin(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *tips, size_t count);
// Its tips become these, or these as well.
bool capture_set_tips(cudaStream_t stream, const cudaGraphNode_t *tips, size_t count, bool keeps_old);
// What `op` does becomes a node; a record leaves its event the tips of the stream.
cudaError_t capture_add(const Op *op);
// The stream waits for an event that was recorded while its stream was captured, and so takes part.
cudaError_t capture_wait(cudaStream_t stream, const struct CUevent_st *event);
void capture_end(cudaStream_t stream);
