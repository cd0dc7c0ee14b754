#define _GNU_SOURCE // usleep
#include "runtime/queue.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/process.h"
#include "runtime/beside.h"
#include "runtime/capture.h"
#include "runtime/condition.h"
#include "runtime/hazard.h"
#include "runtime/kernel.h"
#include "runtime/protect.h"
#include "runtime/recording.h"
#include "runtime/recording_work.h"
#include "runtime/repeat.h"
#include "runtime/report.h"
#include "runtime/state.h"

static struct CUstream_st default_streams[MOST_DEVICES]; // the first ones in the list
static cudaStream_t streams;
static Op *pending;
static unsigned long numbered;
static int lanes = MOST_DEVICES; // given out: the first ones to the default streams
int queue_new_lane(void) { return lanes++; }
enum { MOST_PENDING = 1024 }; // as a driver's queues, these are full at some point
static double host_time;

// When the engines of each device work: for kernels, for copies to the device and for copies from it. Work
// runs in another order than that of its times, and so an engine has gaps that earlier work can fill.
enum { ENGINES = 3, MOST_BUSY = 512 };
typedef struct {
    double start[MOST_BUSY], end[MOST_BUSY]; // in order
    int count;
} Engine;
static Engine engines[MOST_DEVICES][ENGINES];
double queue_host_time(void) { return host_time; }

// Of each device, a default stream.
__attribute__((constructor)) static void make_default_streams(void) {
    for (int i = 0; i < MOST_DEVICES; i++) {
        default_streams[i] =
            (struct CUstream_st){.is_default = true, .device = i, .index = i, .next = streams};
        streams = &default_streams[i];
    }
}

cudaStream_t queue_stream(cudaStream_t handle) {
    return !handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread
               ? &default_streams[device_current()]
               : handle;
}

void queue_expect_overlap(void) {
    if (options()->checks) repeat_forbid();
    hazard_expect();
}

cudaStream_t queue_new_stream(bool is_non_blocking, int priority) {
    cudaStream_t stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    *stream = (struct CUstream_st){.is_non_blocking = is_non_blocking,
                                   .device = device_current(),
                                   .priority = priority,
                                   .index = lanes++,
                                   .next = streams};
    queue_expect_overlap();
    return streams = stream;
}

// Whether work in one stream waits for earlier work in the other.
static bool follows(const struct CUstream_st *stream, const struct CUstream_st *earlier) {
    if (stream == earlier) return true;
    if (stream->device != earlier->device) return false;
    return (stream->is_default && !earlier->is_non_blocking) ||
           (earlier->is_default && !stream->is_non_blocking);
}

static bool depends(const Op *op, const Op *earlier) {
    return follows(op->stream, earlier->stream) ||
           (op->kind == OP_WAIT && op->wait.number == earlier->number);
}

// ---- Memory that the host shares
// ---------------------------------------------------------------------------

static bool run(unsigned long number, bool to_end);

const Op *queue_user_of(const Allocation *a, const void *byte, bool *is_kernel) {
    for (const Op *op = pending; op; op = op->next) {
        *is_kernel = op->kind != OP_COPY;
        if (protect_may_use(op, a)) return op;
        if (op->kind == OP_COPY && ((uintptr_t)byte - (uintptr_t)op->copy.to < copy_span_to(&op->copy) ||
                                    (uintptr_t)byte - (uintptr_t)op->copy.from < copy_span_from(&op->copy)))
            return op;
    }
    return NULL;
}

// Whether an operation has to wait for a function of the program that is running.
static bool waits_for_call(const Op *op) {
    for (const Op *other = pending; other; other = other->next)
        if (other->is_running && known_has(&op->known, other->lane, other->number)) return true;
    return false;
}

bool queue_report_early_use(const Allocation *a, const void *byte, bool writes, const Place *place) {
    unsigned long seen = 0;
    for (const Op *op = pending; op;) {
        if (op->number > seen && protect_may_use(op, a) && !waits_for_call(op)) {
            seen = op->number;
            run(seen, false); // to see what it uses
            op = pending;
        } else
            op = op->next;
    }
    const uint64_t address = allocation_device_address(a, byte);
    for (const Op *op = pending; op; op = op->next)
        if ((op->kind == OP_COPY || op->touched) && hazard_of_host_with(op, address, writes, place))
            return true;
    return hazard_of_host(address, writes, place);
}

// ---- Running ----------------------------------------------------------------------------------------------

// Takes the first time from `earliest` on in which an engine is free for so long.
static double occupy(Engine *e, double earliest, double seconds) {
    int at = 0;
    double start = earliest;
    while (at < e->count && start + seconds > e->start[at]) {
        if (e->end[at] > start) start = e->end[at];
        at++;
    }
    if (e->count == MOST_BUSY) { // the oldest are forgotten: no new work is that early
        memmove(e->start, e->start + 1, (MOST_BUSY - 1) * sizeof *e->start);
        memmove(e->end, e->end + 1, (MOST_BUSY - 1) * sizeof *e->end);
        e->count--;
        at -= at > 0;
    }
    memmove(e->start + at + 1, e->start + at, (size_t)(e->count - at) * sizeof *e->start);
    memmove(e->end + at + 1, e->end + at, (size_t)(e->count - at) * sizeof *e->end);
    e->start[at] = start;
    e->end[at] = start + seconds;
    e->count++;
    return start;
}

// The modelled time of an operation: it starts when its stream, those it waits for, and its engine are free.
static void advance(const Op *op, double seconds, int engine) {
    double start = op->issued;
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (follows(op->stream, s) && s->end > start) start = s->end;
    if (op->kind == OP_WAIT && op->wait.time > start) start = op->wait.time;
    if (engine >= 0) start = occupy(&engines[op->stream->device][engine], start, seconds);
    op->stream->end = start + seconds;
}

// A launch or a copy; its modelled time.
static double work(const Op *op) {
    if (op->kind == OP_LAUNCH) return kernel_run(&op->launch, NULL, NULL).seconds;
    copy_run(&op->copy);
    return copy_seconds(&op->copy);
}

void queue_settle(void) {
    for (Op op; repeat_take(&op); op_release(&op)) work(&op);
}

// The first pending operation that this one has to wait for; NULL: it can start.
static const Op *first_before(const Op *op) {
    const Op *earlier = pending;
    while (earlier != op && !depends(op, earlier)) earlier = earlier->next;
    return earlier == op ? NULL : earlier;
}

static bool can_start(const Op *op) { return !op->is_running && !first_before(op); }

// Kernels that wait for each other, or for a host that waits for them, wait for ever. A host that does
// something else may yet store what they wait for; but not after so long a time.
static bool nothing_can_change(double since) {
    const double patience = 30;
    for (const Op *op = pending; op; op = op->next)
        if (can_start(op) || (op->is_running && !op->is_stuck)) return false;
    return beside_host_waits() || monotonic_seconds() - since > patience;
}

static void something_changes(void) {
    for (Op *op = pending; op; op = op->next) op->is_stuck = false;
}

// A kernel polls memory in vain: the host, and other work, get their turn.
static bool pause_kernel(void *self, EmulatorPause why) {
    const double shortest = 50e-6, usual = 2e-3, longest = 20e-3;
    Op *op = self;
    repeat_forget(); // what it does depends on when others do something
    op->has_paused = true;
    if (why != PAUSE_WAITS_STILL) {
        something_changes();
        beside_wake();
    }
    if (why == PAUSE_MAY_WAIT) {
        runtime_yield();
        return true;
    }
    if (why == PAUSE_WAITS) op->stuck_since = monotonic_seconds();
    op->is_stuck = why == PAUSE_WAITS_STILL;
    if (op->is_stuck && nothing_can_change(op->stuck_since)) return false;
    // Each look at what all threads of a large grid poll takes a while, in which others do not run.
    const double now = monotonic_seconds(), waited = (now - op->stuck_since) / 8,
                 look = op->is_stuck ? 4 * (now - op->looks_since) : 0;
    const double length = fmin(fmax(fmin(waited, usual), look), longest);
    runtime_leave(fmax(length, shortest));
    op->looks_since = monotonic_seconds();
    return true;
}

// The same, unless it is left out because it repeats what was done.
static double work_unless_repeated(Op *op, Touched *touched) {
    Ran ran = {0};
    if (repeat_skips(op, &ran.seconds)) return op->kind == OP_COPY ? copy_seconds(&op->copy) : ran.seconds;
    queue_settle();
    repeat_before(op);
    if (op->kind == OP_LAUNCH)
        ran = kernel_run(&op->launch, touched, op->is_beside ? &(KernelPause){pause_kernel, op} : NULL);
    else
        ran = (Ran){.seconds = copy_seconds(&op->copy), .is_clean = true};
    if (op->has_paused)
        repeat_forget();
    else if (op->kind == OP_LAUNCH || copy_run(&op->copy))
        repeat_after(op, ran);
    return ran.seconds;
}

// What a decision has chosen takes its place, with its number and its lane: what is in order with the
// decision is in order with all of that. Returns where the next operation goes; NULL when memory ran out.
static Op **insert_graph(Op **at, const struct CUgraph_st *graph, const Op *decision) {
    for (size_t i = 0; at && i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->is_disabled) continue;
        if (node->child) {
            at = insert_graph(at, node->child, decision);
            continue;
        }
        if (node->op.kind == OP_NOTHING) continue;
        Op *op = malloc(sizeof *op);
        if (!op || !op_copy(&node->op, op)) {
            free(op);
            return NULL;
        }
        op->stream = decision->stream;
        op->number = decision->number;
        op->lane = decision->lane;
        op->issued = decision->issued;
        known_join(&op->known, &decision->known);
        op->next = *at;
        *at = op;
        at = &op->next;
    }
    return at;
}

static const struct CUgraph_st *chosen(const Decision *d) {
    const unsigned value = condition_value(d->condition);
    const unsigned which = d->type == cudaGraphCondTypeSwitch ? value : !value;
    return which < d->body_count ? d->bodies[which] : NULL;
}

// After the body of a loop comes the same decision again.
static void decide(Op *op) {
    const struct CUgraph_st *graph = chosen(&op->decision);
    if (!graph) return;
    Op **end = insert_graph(&op->next, graph, op);
    Op *again = end && op->decision.type == cudaGraphCondTypeWhile ? malloc(sizeof *again) : NULL;
    if (again) {
        *again = *op;
        again->is_running = false;
        again->known = (Known){0};
        known_join(&again->known, &op->known);
        op->decision = (Decision){0}; // it is the new operation's
        again->next = *end;
        *end = again;
    }
    if (!end || (!again && op->decision.type == cudaGraphCondTypeWhile)) {
        report_once("out of memory");
        set_sticky(cudaErrorMemoryAllocation);
    }
    for (Op *added = op->next; added && added->number == op->number; added = added->next)
        protect_used(added, pending);
}

static void perform(Op *op) {
    recording_run(op);
    Reach reach = hazard_before(op);
    op->touched = reach.touched;
    const bool is_lost = sticky_error() != cudaSuccess; // after a kernel's error, nothing more runs
    switch (op->kind) {
    case OP_LAUNCH:
        if (!is_lost) advance(op, work_unless_repeated(op, reach.touched), 0);
        break;
    case OP_COPY:
        if (is_lost) break;
        advance(op, work_unless_repeated(op, NULL), copy_engine(&op->copy));
        break;
    case OP_RECORD:
        advance(op, 0, -1);
        if (op->event->recorded == op->number) {
            op->event->is_done = true;
            op->event->time = op->stream->end;
        }
        for (Op *other = pending; other; other = other->next)
            if (other->kind == OP_WAIT && other->wait.number == op->number)
                other->wait.time = op->stream->end;
        break;
    case OP_WAIT: advance(op, 0, -1); break;
    case OP_CALL:
        advance(op, 0, -1);
        queue_host_waited(
            &op->known); // from now on any thread of the program may know of it by this function
        runtime_unlock();
        op->call.function(op->call.argument);
        runtime_lock();
        break;
    case OP_FREE:
        queue_settle();
        // A graph may be launched again, and then has this memory again.
        if (!op->memory->is_freed && !op->memory->is_of_graph) allocation_free(op->memory);
        break;
    case OP_ASSIGN: condition_assign(op->condition); break;
    case OP_DECIDE:
        if (!is_lost) decide(op);
        break;
    case OP_ALLOCATE:
    case OP_NOTHING: break;
    }
    op->touched = NULL;
    hazard_after(op, reach);
    recording_ran(op);
}

static Op *find(unsigned long number) {
    Op *op = pending;
    while (op && op->number != number) op = op->next;
    return op;
}

static void carry_out(void *given) {
    Op *op = given;
    perform(op);
    something_changes();
    Op **link = &pending;
    while (*link && *link != op) link = &(*link)->next;
    if (*link) *link = op->next;
    protect_used(op, pending);
    hazard_forget(pending);
    op_release(op);
    free(op);
    beside_wake();
}

// A kernel that nothing can be beside needs no separate thread.
static void start(Op *op) {
    op->is_running = true;
    something_changes();
    op->is_beside = op->kind == OP_LAUNCH && hazard_is_expected();
    if (op->is_beside && beside_start(carry_out, op)) return;
    op->is_beside = false;
    carry_out(op);
}

// Starts something that need not wait for anything. False: there is nothing.
static bool start_another(void) {
    Op *op = pending;
    while (op && !can_start(op)) op = op->next;
    if (op) start(op);
    return op != NULL;
}

// Runs an operation, and before it all that it waits for. False: unless `to_end`, where a kernel of these
// waits for others. Meanwhile another thread may run any of them, if this one is inside a function of the
// program.
static bool run(unsigned long number, bool to_end) {
    for (Op *op; (op = find(number));) {
        const Op *earlier = first_before(op);
        if (op->has_paused && !to_end) return false;
        if (op->is_running) {
            if (!op->has_paused || !start_another()) beside_wait(to_end);
        } else if (!earlier)
            start(op);
        else if (!run(earlier->number, to_end))
            return false;
    }
    return true;
}

// A function of the program may be what a thread of the program waits for, without any call of CUDA: it runs
// after a while, whether or not something asks for it.
static void *run_calls(void *unused) {
    (void)unused;
    runtime_lock();
    beside_began();
    for (;;) {
        runtime_unlock();
        usleep(20000);
        runtime_lock();
        const Op *op = pending;
        while (op && op->kind != OP_CALL) op = op->next;
        if (op && !op->is_running) run(op->number, true);
    }
    return NULL;
}

static void start_running_calls(void) {
    static bool is_started;
    pthread_t thread;
    if (!is_started && !pthread_create(&thread, NULL, run_calls, NULL)) pthread_detach(thread);
    is_started = true;
}

static uint64_t random_state;
static unsigned random_below(unsigned count) {
    if (!random_state) random_state = options()->seed;
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % count);
}

// One operation of those that are pending, by lot; with all that it waits for. False: a kernel of these waits
// for others.
static bool run_any(void) {
    unsigned count = 0;
    for (const Op *op = pending; op; op = op->next) count++;
    if (!count) return true;
    const Op *op = pending;
    for (unsigned steps = random_below(count); steps; steps--) op = op->next;
    return run(op->number, false);
}

// Comes nearer to the end of an operation, for which the host waits if `to_end`. False: a kernel waits for
// others, and the host does not wait for it.
static bool run_towards(const Op *op, bool to_end) {
    if (!options()->seed) return run(op->number, to_end);
    const bool has_run = run_any();
    if (!has_run && to_end) beside_wait(true);
    return has_run || to_end;
}

void queue_known(cudaStream_t stream, Known *known) {
    known_join(known, hazard_host());
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (follows(stream, s)) known_join(known, &s->known);
}

// Before an operation that is added now happens what comes before it in its graph, or else in its stream and
// in those that its stream waits for; and what comes before the event that it waits for.
static void order(Op *op) {
    op->known = (Known){0};
    if (op->in_graph) {
        known_join(&op->known, op->in_graph);
    } else {
        queue_known(op->stream, &op->known);
        op->lane = op->stream->index;
    }
    if (op->kind == OP_WAIT) known_join(&op->known, op->wait.known);
    known_add(&op->known, op->lane, op->number);
    known_join(&op->stream->known, &op->known);
    if (op->kind != OP_RECORD) return;
    known_free(&op->event->known);
    known_join(&op->event->known, &op->known);
}

Wait queue_wait_for(const struct CUevent_st *event) {
    return (Wait){event->recorded, event->time, &event->known};
}

cudaError_t queue_add(Op *given) {
    if (given->stream->is_destroyed) {
        Place place = given->place;
        if (!place.frames[0]) place_here(&place);
        report_host(BAD_CALL, &place, "work is given to a stream that was destroyed before");
        op_release(given);
        return cudaErrorInvalidResourceHandle;
    }
    if (given->stream->capture) return capture_add(given);
    Op *op = malloc(sizeof *op);
    if (!op) return cudaErrorMemoryAllocation;
    *op = *given;
    op->next = NULL;
    op->number = ++numbered;
    op->issued = host_time;
    if (op->kind == OP_RECORD) {
        op->event->recorded = op->number;
        op->event->is_done = false;
    }
    int count = 1;
    Op **link = &pending;
    for (; *link; count++) link = &(*link)->next;
    *link = op;
    order(op);
    recording_issue(op);
    given->number = op->number;
    protect_used(op, pending);
    if (op->kind == OP_CALL) start_running_calls();
    while (options()->seed && pending && random_below(2))
        if (!run_any()) break;
    if (count > MOST_PENDING && pending) run(pending->number, true);
    return cudaSuccess;
}

static void wait_until(double time) {
    if (time > host_time) host_time = time;
}

void queue_host_waited(const Known *known) {
    if (hazard_host_waited(known)) protect_all(pending);
    hazard_forget(pending);
}

static void run_stream(cudaStream_t stream, bool to_end) {
    for (const Op *op = pending; op;) {
        if (stream != op->stream && !(stream->is_default && follows(stream, op->stream))) {
            op = op->next;
            continue;
        }
        if (!run_towards(op, to_end)) return;
        op = pending;
    }
}

void queue_advance(cudaStream_t stream) { run_stream(stream, false); }

void queue_run_stream(cudaStream_t stream) {
    run_stream(stream, true);
    recording_wait_stream(stream);
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (s == stream || (stream->is_default && follows(stream, s))) {
            wait_until(s->end);
            queue_host_waited(&s->known);
        }
}

// Runs the work of a device, or of all (-1), in the order in which the program asked for it.
static void run_device(int device) {
    for (const Op *op = pending; op;) {
        if (device >= 0 && op->stream->device != device) {
            op = op->next;
            continue;
        }
        run_towards(op, true);
        op = pending;
    }
    recording_wait_all();
    for (const struct CUstream_st *s = streams; s; s = s->next) {
        if (device >= 0 && s->device != device) continue;
        wait_until(s->end);
        queue_host_waited(&s->known);
    }
}

void queue_run_all(void) { run_device(-1); }
void queue_run_device(void) { run_device(device_current()); }

void queue_run_number(unsigned long number) {
    const Op *op = find(number);
    recording_wait_work(number);
    if (!op) return;
    const struct CUstream_st *stream = op->stream;
    run(number, true);
    wait_until(stream->end);
}

bool queue_advance_number(unsigned long number) { return run(number, false); }

bool queue_is_pending(unsigned long number) { return find(number) != NULL; }

void queue_end_capture(cudaGraph_t graph) {
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s->capture == graph) capture_end(s);
}

bool queue_is_captured(const struct CUgraph_st *graph) {
    for (const struct CUstream_st *s = streams; s && graph; s = s->next)
        if (s->capture == graph) return true;
    return false;
}

bool queue_has(cudaStream_t stream) {
    for (const Op *op = pending; op; op = op->next)
        if (op->stream == stream || (stream->is_default && follows(stream, op->stream))) return true;
    return false;
}
