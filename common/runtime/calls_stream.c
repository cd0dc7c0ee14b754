// Streams and events.
#include <stdlib.h>

#include "runtime/capture.h"
#include "runtime/kernel.h"
#include "runtime/queue.h"
#include "runtime/recording.h"
#include "runtime/report.h"
#include "runtime/state.h"

// ---- Streams ----------------------------------------------------------------------------------------------

static cudaError_t new_stream(cudaStream_t *stream, unsigned flags, int priority) {
    if (!stream) return cudaErrorInvalidValue;
    *stream = queue_new_stream(flags & cudaStreamNonBlocking, priority);
    return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return CALL(new_stream(stream, 0, 0)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return CALL(new_stream(stream, flags, 0));
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    return CALL(new_stream(stream, flags, priority));
}

// False after a report that the stream was destroyed before.
static bool is_alive(cudaStream_t stream, const char *call) {
    if (!queue_stream(stream)->is_destroyed) return true;
    report_call(call, "a stream that was destroyed before");
    return false;
}

// Its work still runs; it stays in the list of streams, because times are compared with its own.
static cudaError_t destroy_stream(cudaStream_t stream) {
    if (!stream || queue_stream(stream) != stream || !is_alive(stream, "cudaStreamDestroy"))
        return cudaErrorInvalidResourceHandle;
    stream->is_destroyed = true;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return CALL(destroy_stream(stream)); }

static cudaError_t synchronize(cudaStream_t stream) {
    if (!is_alive(stream, "cudaStreamSynchronize")) return cudaErrorInvalidResourceHandle;
    queue_run_stream(queue_stream(stream));
    return sticky_error();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return CALL(synchronize(stream)); }

static cudaError_t synchronize_all(void) {
    queue_run_device();
    return sticky_error();
}
cudaError_t cudaDeviceSynchronize(void) { return CALL(synchronize_all()); }

// A program that asks again and again gets its answer the second time.
static cudaError_t query_stream(cudaStream_t stream) {
    const bool is_done = !queue_has(queue_stream(stream));
    if (!is_done) {
        queue_advance(queue_stream(stream));
        return cudaErrorNotReady;
    }
    queue_run_stream(queue_stream(stream)); // the host knows now
    return sticky_error();
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return CALL(query_stream(stream)); }

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    *flags = queue_stream(stream)->is_non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
    return CALL(cudaSuccess);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    *priority = queue_stream(stream)->priority;
    return CALL(cudaSuccess);
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    *device = queue_stream(stream)->device;
    return CALL(cudaSuccess);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    *id = (unsigned long long)queue_stream(stream)->index;
    return CALL(cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5; // of an H200
    return CALL(cudaSuccess);
}

static cudaError_t call_later(cudaStream_t stream, cudaHostFn_t function, void *argument) {
    return queue_add(&(Op){.kind = OP_CALL, .stream = queue_stream(stream), .call = {function, argument}});
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument) {
    return CALL(call_later(stream, function, argument));
}

// The older kind of callback also gets the stream and an error.
typedef struct {
    cudaStream_t stream;
    cudaStreamCallback_t function;
    void *argument;
} Callback;
static void call_back(void *argument) {
    Callback *callback = argument;
    callback->function(callback->stream, sticky_error(), callback->argument);
    free(callback);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *argument,
                                  unsigned flags) {
    (void)flags;
    Callback *callback = malloc(sizeof *callback);
    if (!callback) return CALL(cudaErrorMemoryAllocation);
    *callback = (Callback){stream, function, argument};
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): call_back() frees it
    return CALL(call_later(stream, call_back, callback));
}

// ---- Events -----------------------------------------------------------------------------------------------

static cudaError_t new_event(cudaEvent_t *event, unsigned flags) {
    const bool is_shared = flags & cudaEventInterprocess;
    if (!event || (is_shared && !(flags & cudaEventDisableTiming))) return cudaErrorInvalidValue;
    *event = calloc(1, sizeof **event);
    if (!*event) return cudaErrorMemoryAllocation;
    (*event)->has_timing = !(flags & cudaEventDisableTiming);
    (*event)->is_shared = is_shared;
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return CALL(new_event(event, 0)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    return CALL(new_event(event, flags));
}

// False after a report of what is wrong with the handle.
static bool is_event(cudaEvent_t event, const char *call) {
    if (!event) return false;
    if (!event->is_destroyed) return true;
    report_call(call, "an event that was destroyed before");
    return false;
}

// The last of those that were destroyed stay, to recognise their use.
static void keep_destroyed(cudaEvent_t event) {
    enum { MOST_KEPT = 256 };
    static cudaEvent_t kept[MOST_KEPT];
    static unsigned next;
    free(kept[next]);
    kept[next] = event;
    next = (next + 1) % MOST_KEPT;
}

static cudaError_t destroy_event(cudaEvent_t event) {
    if (!is_event(event, "cudaEventDestroy")) return cudaErrorInvalidResourceHandle;
    queue_run_number(event->recorded); // the queue points to it
    known_free(&event->known);
    tips_free(&event->tips);
    event->is_destroyed = true;
    keep_destroyed(event);
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return CALL(destroy_event(event)); }

static cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
    if (!is_event(event, "cudaEventRecord")) return cudaErrorInvalidResourceHandle;
    if (event->has_timing) kernel_model_times();
    event->captured_in = NULL;
    const cudaError_t error =
        queue_add(&(Op){.kind = OP_RECORD, .stream = queue_stream(stream), .event = event});
    if (!error && event->is_shared) queue_run_number(event->recorded);
    return error;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return CALL(record(event, stream)); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    (void)flags;
    return CALL(record(event, stream));
}

static cudaError_t wait_for(cudaStream_t stream, cudaEvent_t event) {
    if (!is_event(event, "cudaStreamWaitEvent")) return cudaErrorInvalidResourceHandle;
    if (queue_is_captured(event->captured_in)) return capture_wait(queue_stream(stream), event);
    return queue_add(&(Op){.kind = OP_WAIT, .stream = queue_stream(stream), .wait = queue_wait_for(event)});
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)flags;
    return CALL(wait_for(stream, event));
}

static cudaError_t synchronize_event(cudaEvent_t event) {
    if (!is_event(event, "cudaEventSynchronize")) return cudaErrorInvalidResourceHandle;
    queue_run_number(event->recorded);
    queue_host_waited(&event->known);
    return sticky_error();
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return CALL(synchronize_event(event)); }

static cudaError_t query_event(cudaEvent_t event) {
    if (!is_event(event, "cudaEventQuery")) return cudaErrorInvalidResourceHandle;
    if (!queue_is_pending(event->recorded)) {
        queue_host_waited(&event->known);
        return sticky_error();
    }
    queue_advance_number(event->recorded);
    return cudaErrorNotReady;
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return CALL(query_event(event)); }

static cudaError_t elapsed(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    static const char call[] = "cudaEventElapsedTime";
    if (!milliseconds || !is_event(start, call) || !is_event(end, call) || !start->recorded ||
        !end->recorded || !start->has_timing || !end->has_timing)
        return cudaErrorInvalidResourceHandle;
    if (!start->is_done || !end->is_done) {
        Place place;
        place_here(&place);
        report_host(READ_TOO_EARLY, &place,
                    "%s is asked for a time before the work up to that event is done, and returns "
                    "cudaErrorNotReady: wait with cudaEventSynchronize first",
                    call);
        queue_advance_number(start->recorded);
        queue_advance_number(end->recorded);
        return cudaErrorNotReady;
    }
    *milliseconds = (float)((end->time - start->time) * 1e3);
    recording_elapsed(start->recorded, end->recorded, *milliseconds);
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return CALL(elapsed(milliseconds, start, end));
}
