// Streams, and the asynchronous work in them. Work runs as late as the program's own waiting allows, so that
// a missing wait shows; with a seed, in an order that the seed chooses among those that are allowed.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/op.h"

// The stream that a handle stands for; NULL and the two constants of the header mean the default stream.
cudaStream_t queue_stream(cudaStream_t handle);
// There will be work beside that of the first default stream.
void queue_expect_overlap(void);
cudaStream_t queue_new_stream(bool is_non_blocking, int priority);
// Adds work, which the queue owns from then on. `op` may be on the stack; it receives its number.
cudaError_t queue_add(Op *op);
// `known` also knows what happens before work that is added to the stream now.
void queue_known(cudaStream_t stream, Known *known);
// A place in every Known that no stream has, for a chain of a graph's nodes.
int queue_new_lane(void);
// For what the event stands for now.
Wait queue_wait_for(const struct CUevent_st *event);
// Runs the work of a stream, without the host waiting for it: to its end, or until a kernel waits for others.
void queue_advance(cudaStream_t stream);
// Runs what the host waits for.
void queue_run_stream(cudaStream_t stream);
void queue_run_all(void);
void queue_run_device(void); // all streams of the current device
void queue_run_number(unsigned long number);
// Runs that work, without the host waiting for it: to its end, or until a kernel waits for others, and then
// it is false.
bool queue_advance_number(unsigned long number);
bool queue_has(cudaStream_t stream); // pending work
// Runs what was put off as a repetition: before memory, or what kernels use, goes away.
void queue_settle(void);
bool queue_is_pending(unsigned long number);
// The first pending operation that reads or, if not `reads_only`, writes that byte; of a kernel, whose
// argument points into the same allocation. NULL: none.
const Op *queue_user_of(const Allocation *allocation, const void *byte, bool *is_kernel);
// In a program that is checked: reports that the host, at `place`, uses a byte of shared memory that work
// which it has not waited for uses as well. Kernels that may use it run first, to see what they use.
bool queue_report_early_use(const Allocation *allocation, const void *byte, bool writes, const Place *place);
// The host has waited for these.
void queue_host_waited(const Known *known);
void queue_end_capture(cudaGraph_t graph);
bool queue_is_captured(const struct CUgraph_st *graph); // by some stream, now; NULL is not
double queue_host_time(void);
