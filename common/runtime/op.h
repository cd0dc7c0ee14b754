// One asynchronous operation, and the streams and events that order them.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/copy.h"
#include "runtime/known.h"
#include "runtime/launch.h"

// Nodes of a graph, each once.
typedef struct {
    cudaGraphNode_t *nodes;
    size_t count, capacity;
} Tips;
bool tips_add(Tips *tips, const cudaGraphNode_t *nodes, size_t count); // false when memory ran out
void tips_free(Tips *tips);

struct CUstream_st {
    bool is_default; // of its device
    int device;
    bool is_non_blocking; // never waits for the default stream, nor the default stream for it
    bool is_destroyed;
    int priority;
    cudaGraph_t capture; // what is asked for goes there, and does not run; NULL: it runs
    double end;          // modelled time at which its last work ends
    int index;           // from 0, of all streams ever made
    Known known;         // what happens before work that is added now
    Tips tips;           // of capture
    struct CUstream_st *next;
};

struct CUevent_st {
    unsigned long recorded; // the number of the operation that records it; 0: never
    bool is_done, has_timing, is_destroyed;
    bool is_shared;          // with other processes: what it records runs at once
    double time;             // modelled
    Known known;             // what happens before the record, and the record
    Tips tips;               // those of its stream then, if it was captured
    cudaGraph_t captured_in; // recorded while its stream was captured; NULL: it was not
};

typedef enum {
    OP_NOTHING,
    OP_LAUNCH,
    OP_COPY,
    OP_RECORD,
    OP_WAIT,
    OP_CALL,
    OP_FREE,
    OP_ALLOCATE,
    OP_ASSIGN,
    OP_DECIDE
} OpKind;

// For what an event stands for.
typedef struct {
    unsigned long number; // of the record that it waits for
    double time;          // if that is done
    const Known *known;   // what happens before that; good until the operation is added
} Wait;

// A decision, by a condition, on which of the graphs runs next. They are the operation's own.
typedef struct {
    cudaGraphConditionalHandle condition;
    enum cudaGraphConditionalNodeType type;
    cudaGraph_t *bodies;
    unsigned body_count;
} Decision;

typedef struct Op {
    struct Op *next; // in the order in which the program asked
    OpKind kind;
    unsigned long number;
    cudaStream_t stream;
    bool is_running;
    bool is_beside;         // it runs in its own thread
    bool has_paused;        // it runs, and has polled memory in vain
    bool is_stuck;          // it has done nothing else since its last pause, and nothing else has happened
    double stuck_since;     // on the clock, as
    double looks_since;     // when its last pause ended
    const Touched *touched; // by a kernel that runs, so far; NULL: not kept
    Known known;            // what happens before it, and itself
    int lane;               // its place in every Known: that of its stream, or one of a graph's
    const Known *in_graph;  // of a node, while it is added: what happens before it; else NULL
    double issued;          // modelled time of the host
    Place place;
    union {
        Launch launch;
        Copy copy;
        cudaEvent_t event; // of OP_RECORD, and of OP_WAIT in a graph
        Wait wait;
        struct {
            cudaHostFn_t function;
            void *argument;
        } call;
        Allocation *memory;                   // of OP_FREE and OP_ALLOCATE
        cudaGraphConditionalHandle condition; // of OP_ASSIGN: it gets its first value
        Decision decision;
    };
} Op;
