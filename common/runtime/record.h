// The record of what a program asked of the device: every allocation, copy, fill, launch, event and wait,
// with the bytes that the host sent. Another process can carry all of it out again, on another device,
// without the program.
//
// WARPBOOK_RECORD names the file: a sequence of Records, each followed by `data_bytes` bytes. The layout is
// that of the machine: writer and reader are built together.
#pragma once

#include <stdint.h>

typedef enum {
    RECORD_ALLOCATE = 1, // memory of `memory` at `address`, `bytes` of it
    RECORD_FREE,         // at `address`
    RECORD_ISSUE,        // the program asks for operation `number` in `stream`
    RECORD_RUN,          // it is carried out now
    RECORD_HOST_DATA,    // `bytes` at `address`, which both sides reach, have this content now
    RECORD_WAIT_STREAM,  // the host waits for `stream`, ...
    RECORD_WAIT_ALL,     // ... for everything, ...
    RECORD_WAIT_WORK,    // ... or for operation `number`
    RECORD_ELAPSED, // the program got `milliseconds` for the time between operations `number` and `other`
    RECORD_END,     // the program ended by itself, with status `value`
} RecordKind;

typedef enum {
    WORK_LAUNCH = 1, // `grid`, `block`, `shared`; data: the kernel's name, a NUL and its parameter block
    WORK_COPY_IN,    // data: what comes from the host, to `address`
    WORK_COPY_OUT,   // `bytes` from `from` to the host's own memory at `address`
    WORK_COPY,       // from `from` to `address`, both of them allocations
    WORK_FILL,       // `bytes` at `address` with `value` of `unit` bytes
    WORK_EVENT,      // an event is recorded
    WORK_WAIT,       // the stream waits for operation `other`
    WORK_OTHER,      // what a record has no form for; data: its name
} WorkKind;

typedef enum {
    RECORDED_HOST,
    RECORDED_DEVICE,
    RECORDED_PINNED,
    RECORDED_MANAGED,
    RECORDED_OTHER
} RecordedMemory;

typedef struct {
    uint32_t kind, work;
    uint32_t stream, is_blocking; // by index: 0 is the default stream; whether it waits for that one
    uint64_t number, other;
    uint64_t address, from, bytes;
    uint32_t to_memory, from_memory; // of copies
    uint32_t memory, value, unit, line;
    uint32_t grid[3], block[3];
    uint64_t shared;
    double milliseconds;
    uint64_t data_bytes;
} Record;
