// Every allocation of the program: on the device, or on the host where kernels reach it too.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/texture.h"
#include "runtime/place.h"

typedef enum {
    MEMORY_DEVICE,
    MEMORY_PINNED,     // host memory that kernels may use at the same address
    MEMORY_MANAGED,    // likewise
    MEMORY_REGISTERED, // the program's own memory, at another address for kernels
    MEMORY_VARIABLE,   // a __device__ or __constant__ variable
    MEMORY_ARRAY,      // texels, reached through a texture or surface
} MemoryKind;

typedef struct {
    MemoryKind kind;
    int number;           // from 1, in the order of allocation: findings call it "allocation 3"
    uint64_t device;      // its address for kernels
    void *host;           // its address for the host; NULL: none
    unsigned char *bytes; // where this library reads and writes it, whatever the host may do there
    size_t size;
    unsigned flags;
    int owner; // the device that was current
    bool is_freed;
    bool is_of_graph;  // allocated by a node: it stays as long as the program runs
    uint64_t recorded; // hash of the content that a record knows of; recording.c
    Place made, released;
    const char *variable; // its name; the image's
    int file;             // which other processes map too, and one more than its descriptor; 0: none
    int process;          // whose memory it is, and
    int its_file;         // its name there; 0: this process's
    unsigned opened;      // how often
} Allocation;

// NULL when memory ran out.
Allocation *allocation_new(MemoryKind kind, size_t size);
Allocation *allocation_array(const EmulatorTexels *texels);
// Registers the program's own memory; a variable's, which the image owns.
Allocation *allocation_register(void *host, size_t size);
Allocation *allocation_variable(uint64_t device, size_t size, const char *name);
void allocation_free(Allocation *allocation);
// The descriptor of the file in which device memory lies from now on, so that other processes can map it; -1:
// there is none. Such a file of another process; NULL: it cannot be mapped.
int allocation_share(Allocation *allocation);
Allocation *allocation_import(int file, size_t size);

// The live allocation that a pointer lies in, by its address for the host or for kernels; one that was freed
// only if there is no other. The end of an allocation belongs to it. NULL: none.
Allocation *allocation_at(const void *pointer);
// The same of what is not freed.
Allocation *allocation_live_at(const void *pointer);
// Where in the allocation a pointer of the host's or of a kernel's points, and that place's address for
// kernels.
size_t allocation_offset(const Allocation *allocation, const void *pointer);
uint64_t allocation_device_address(const Allocation *allocation, const void *pointer);
// By index; NULL after the last.
Allocation *allocation_by_index(int index);
// Another number after every allocation and every free.
unsigned long allocation_changes(void);
// Bytes of device memory that the program can have, and how many are in use.
size_t allocation_capacity(void);
size_t allocation_in_use(void);

const char *allocation_kind_name(const Allocation *allocation); // "pinned host"
// "allocation 3, 4000 bytes of device memory, made at vector.cu:14".
void allocation_words(const Allocation *allocation, char *words, size_t words_bytes);
