// Graphs with nodes that decide. Compiled with -rdc=true. The program's argument names a case, or `all` of the
// right ones; those whose line is marked end with that finding.

#include "cases.h"

typedef cudaGraphConditionalHandle Handle;

// ---- Graphs

static cudaGraph_t new_graph() {
    cudaGraph_t graph;
    need(!cudaGraphCreate(&graph, 0));
    return graph;
}
template <typename... A>
static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(A...), A... arguments) {
    void *list[] = {&arguments..., nullptr};
    cudaKernelNodeParams p = {};
    cudaGraphNode_t node;
    p.func = (void *)kernel;
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = list;
    need(!cudaGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &p));
    return node;
}
// `bodies` gets the graphs.
static cudaGraphNode_t add_condition(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalNodeType type,
                                     Handle handle, cudaGraph_t *bodies, unsigned count = 1) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    cudaGraphNode_t node;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = count;
    need(!cudaGraphAddNode(&node, graph, &after, nullptr, after ? 1 : 0, &p));
    for (unsigned i = 0; i < count; i++) bodies[i] = p.conditional.phGraph_out[i];
    return node;
}
static Handle new_handle(cudaGraph_t graph) {
    Handle handle;
    need(!cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    return handle;
}
static cudaGraphExec_t make(cudaGraph_t graph) {
    cudaGraphExec_t made;
    need(!cudaGraphInstantiate(&made, graph, 0) && !cudaGraphDestroy(graph));
    return made;
}
static int *integers(int n) {
    int *device;
    need(!cudaMalloc(&device, n * sizeof(int)) && !cudaMemset(device, 0, n * sizeof(int)));
    return device;
}
static int value_of(const int *device) {
    int value;
    need(!cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}
static void set(int *device, int value) {
    need(!cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice));
}
static void launch(cudaGraphExec_t made) { need(!cudaGraphLaunch(made, 0) && !cudaDeviceSynchronize()); }
static void end(cudaGraphExec_t made, int *memory) { need(!cudaGraphExecDestroy(made) && !cudaFree(memory)); }

// ---- Right

__global__ void asks(Handle handle, int *x) { cudaGraphSetConditional(handle, *x); }
__global__ void add(int *x, int value) { *x += value; }

static void decides_if() {
    int *x = integers(3);
    cudaGraph_t graph = new_graph(), body;
    Handle handle = new_handle(graph);
    cudaGraphNode_t node = add_kernel(graph, nullptr, asks, handle, x);
    node = add_condition(graph, node, cudaGraphCondTypeIf, handle, &body);
    add_kernel(body, nullptr, add, x + 1, 5);
    add_kernel(graph, node, add, x + 2, 1);
    cudaGraphExec_t made = make(graph);
    launch(made);
    need(value_of(x + 1) == 0 && value_of(x + 2) == 1);
    set(x, 7);
    launch(made);
    launch(made);
    need(value_of(x + 1) == 10 && value_of(x + 2) == 3);
    end(made, x);
}
static void decides_else() {
    int *x = integers(3);
    cudaGraph_t graph = new_graph(), bodies[2];
    Handle handle = new_handle(graph);
    cudaGraphNode_t node = add_kernel(graph, nullptr, asks, handle, x);
    add_condition(graph, node, cudaGraphCondTypeIf, handle, bodies, 2);
    add_kernel(bodies[0], nullptr, add, x + 1, 1);
    add_kernel(bodies[1], nullptr, add, x + 2, 1);
    cudaGraphExec_t made = make(graph);
    for (int value : {0, 1, 0}) set(x, value), launch(made);
    need(value_of(x + 1) == 1 && value_of(x + 2) == 2);
    end(made, x);
}
static void switches() { // of a value that no graph has, none runs
    int *x = integers(4);
    cudaGraph_t graph = new_graph(), bodies[3];
    Handle handle = new_handle(graph);
    cudaGraphNode_t node = add_kernel(graph, nullptr, asks, handle, x);
    add_condition(graph, node, cudaGraphCondTypeSwitch, handle, bodies, 3);
    for (int i = 0; i < 3; i++) add_kernel(bodies[i], nullptr, add, x + 1 + i, 1);
    cudaGraphExec_t made = make(graph);
    for (int value : {2, 0, 2, 3, -1}) set(x, value), launch(made);
    need(value_of(x + 1) == 1 && value_of(x + 2) == 0 && value_of(x + 3) == 2);
    end(made, x);
}

__global__ void counts_down(Handle handle, int *x) { cudaGraphSetConditional(handle, --*x > 0); }
static void repeats() { // and what follows in the stream sees all of it
    int *x = integers(2);
    cudaGraph_t graph = new_graph(), body;
    Handle handle;
    need(!cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t node = add_condition(graph, nullptr, cudaGraphCondTypeWhile, handle, &body);
    cudaGraphNode_t first = add_kernel(body, nullptr, add, x + 1, 3);
    add_kernel(body, first, counts_down, handle, x);
    add_kernel(graph, node, add, x, 100);
    cudaGraphExec_t made = make(graph);
    set(x, 20);
    launch(made);
    need(value_of(x) == 100 && value_of(x + 1) == 60);
    launch(made); // starts with 1 again
    need(value_of(x) == 100 && value_of(x + 1) == 360);
    set(x, 1);
    for (int i = 0; i < 3; i++) need(!cudaGraphLaunch(made, 0));
    add<<<1, 1>>>(x + 1, 1000);
    need(value_of(x) == 100 && value_of(x + 1) == 360 + 3 * 201 + 1000);
    end(made, x);
}
static void keeps_value() { // a condition without such a value is what it was
    int *x = integers(2);
    cudaGraph_t graph = new_graph(), other = new_graph(), body;
    Handle handle = new_handle(graph);
    add_condition(graph, nullptr, cudaGraphCondTypeIf, handle, &body);
    add_kernel(body, nullptr, add, x + 1, 1);
    add_kernel(other, nullptr, asks, handle, x);
    cudaGraphExec_t made = make(graph), asking = make(other);
    for (int value : {1, 0, 1}) {
        set(x, value);
        launch(asking);
        launch(made);
        launch(made);
    }
    need(value_of(x + 1) == 4 && !cudaGraphExecDestroy(asking));
    end(made, x);
}
__global__ void is_left(Handle handle, const int *x, int least) { cudaGraphSetConditional(handle, *x >= least); }
static void nests() { // a loop in a loop in a branch; graphs in graphs; copies and fills
    int *x = integers(5);
    cudaGraph_t graph = new_graph(), branch, outer, inner, child = new_graph();
    Handle some = new_handle(graph), rows, columns;
    need(!cudaGraphConditionalHandleCreate(&rows, graph, 1, cudaGraphCondAssignDefault));
    need(!cudaGraphConditionalHandleCreate(&columns, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t node = add_kernel(graph, nullptr, asks, some, x);
    add_condition(graph, node, cudaGraphCondTypeIf, some, &branch);
    add_condition(branch, nullptr, cudaGraphCondTypeWhile, rows, &outer);
    need(!cudaGraphAddMemcpyNode1D(&node, outer, nullptr, 0, x + 1, x, sizeof(int), cudaMemcpyDeviceToDevice));
    node = add_kernel(outer, node, is_left, columns, (const int *)x, 1);
    node = add_condition(outer, node, cudaGraphCondTypeWhile, columns, &inner);
    add_kernel(outer, node, counts_down, rows, x);
    add_kernel(child, nullptr, add, x + 2, 1);
    cudaGraphNode_t in_child;
    need(!cudaGraphAddChildGraphNode(&in_child, inner, nullptr, 0, child) && !cudaGraphDestroy(child));
    add_kernel(inner, in_child, counts_down, columns, x + 1);
    cudaMemsetParams fill = {};
    fill.dst = x + 3, fill.value = 9, fill.elementSize = 4, fill.width = fill.height = 1;
    need(!cudaGraphAddMemsetNode(&node, inner, &in_child, 1, &fill));
    cudaGraphExec_t made = make(graph);
    launch(made);
    need(value_of(x + 2) == 0 && value_of(x + 3) == 0);
    set(x, 4);
    launch(made);
    need(value_of(x) == 0 && value_of(x + 2) == 4 + 3 + 2 + 1 && value_of(x + 3) == 9);
    end(made, x);
}
static void captures_body() {
    int *x = integers(2);
    cudaStream_t stream;
    cudaGraph_t graph = new_graph(), body;
    Handle handle;
    need(!cudaStreamCreate(&stream) && !cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    add_condition(graph, nullptr, cudaGraphCondTypeWhile, handle, &body);
    need(!cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(x + 1, 2);
    counts_down<<<1, 1, 0, stream>>>(handle, x);
    need(!cudaStreamEndCapture(stream, nullptr));
    cudaGraphExec_t made = make(graph);
    set(x, 3);
    need(!cudaGraphLaunch(made, stream) && !cudaStreamSynchronize(stream) && value_of(x + 1) == 6);
    need(!cudaStreamDestroy(stream));
    end(made, x);
}
static void other_stream_waits() { // for the graph, by an event, and so for what it has decided on
    int *x = integers(2);
    cudaStream_t one, other;
    cudaEvent_t event;
    cudaGraph_t graph = new_graph(), body;
    Handle handle;
    need(!cudaStreamCreate(&one) && !cudaStreamCreate(&other) && !cudaEventCreate(&event) && !cudaDeviceSynchronize());
    need(!cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    add_condition(graph, nullptr, cudaGraphCondTypeIf, handle, &body);
    add_kernel(body, nullptr, add, x, 1);
    cudaGraphExec_t made = make(graph);
    need(!cudaGraphLaunch(made, one) && !cudaEventRecord(event, one) && !cudaStreamWaitEvent(other, event));
    add<<<1, 1, 0, other>>>(x, 1);
    need(!cudaStreamSynchronize(other) && value_of(x) == 2 && !cudaStreamDestroy(one) && !cudaStreamDestroy(other));
    need(!cudaEventDestroy(event));
    end(made, x);
}
static void refuses() { // what has no handle, no size, or nodes that nothing can decide on
    cudaGraph_t graph = new_graph(), body;
    cudaGraphNode_t node;
    cudaGraphExec_t made;
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.size = 1;
    need(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p) == cudaErrorInvalidValue);
    p.conditional.handle = new_handle(graph);
    p.conditional.type = cudaGraphCondTypeWhile;
    for (unsigned size : {0, 2}) {
        p.conditional.size = size;
        need(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p) == cudaErrorInvalidValue);
    }
    add_condition(graph, nullptr, cudaGraphCondTypeIf, p.conditional.handle, &body);
    cudaHostNodeParams call = {[](void *) {}, nullptr};
    need(!cudaGraphAddHostNode(&node, body, nullptr, 0, &call));
    need(cudaGraphInstantiate(&made, graph, 0) == cudaErrorInvalidValue && !cudaGraphDestroy(graph));
    need(cudaGetLastError() == cudaErrorInvalidValue);
}

// ---- Wrong

__global__ void sets_unknown() { cudaGraphSetConditional(12, 1); } // FINDING unknown_handle: FAULT
static void unknown_handle() {
    sets_unknown<<<1, 1>>>();
    need(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    exit(1);
}
__global__ void past_the_end(int *x) { x[2] = 1; } // FINDING body_past_the_end: OOB
static cudaGraphExec_t always(void (*kernel)(int *), int *x) {
    cudaGraph_t graph = new_graph(), body;
    Handle handle;
    need(!cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    add_condition(graph, nullptr, cudaGraphCondTypeIf, handle, &body);
    add_kernel(body, nullptr, kernel, x);
    return make(graph);
}
static void body_past_the_end() {
    cudaGraphExec_t made = always(past_the_end, integers(2));
    need(!cudaGraphLaunch(made, 0) && cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    exit(1);
}
__global__ void increment(int *x) { ++*x; }
static void body_unordered() {
    int *x = integers(1);
    cudaStream_t one, other;
    need(!cudaStreamCreate(&one) && !cudaStreamCreate(&other) && !cudaDeviceSynchronize());
    cudaGraphExec_t made = always(increment, x);
    need(!cudaGraphLaunch(made, one));
    increment<<<1, 1, 0, other>>>(x); // FINDING body_unordered: UNORDERED
    need(!cudaDeviceSynchronize() && !cudaStreamDestroy(one) && !cudaStreamDestroy(other));
    end(made, x);
}
static void body_not_waited() {
    int *x;
    cudaStream_t stream;
    need(!cudaStreamCreate(&stream) && !cudaMallocManaged(&x, sizeof *x));
    *x = 0;
    cudaGraphExec_t made = always(increment, x);
    need(!cudaGraphLaunch(made, stream));
    need(*x < 2); // FINDING body_not_waited: READ_TOO_EARLY
    need(!cudaDeviceSynchronize() && !cudaStreamDestroy(stream));
    end(made, x);
}

static const Case cases[] = {CASE(decides_if), CASE(decides_else), CASE(switches), CASE(repeats), CASE(keeps_value),
             CASE(nests), CASE(captures_body), CASE(other_stream_waits), CASE(refuses)},
                  wrong[] = {CASE(unknown_handle), CASE(body_past_the_end), CASE(body_unordered), CASE(body_not_waited)};

int main(int count, char **words) {
    if (count < 2) return 2;
    (void)run_cases(cases, true, words[1]);
    return run_cases(wrong, false, words[1]);
}
