// A launch: checked and packed when the program asks for it, run when its turn comes.
#pragma once

#include "emulator/launch.h"
#include "runtime/launch.h"

// Copies the arguments and checks the shape; an impossible launch is reported. The launch is the caller's, to
// be released with kernel_release().
cudaError_t kernel_prepare(Launch *launch, void **arguments);
void kernel_release(Launch *launch);
// Runs it to its end, prints what it prints and reports what it does wrong. An error is sticky.
// `touched` (NULL: nobody asks) receives what it reads and writes.
// `pause` (NULL: there is nothing beside it) lets others do something while the kernel waits.
typedef struct {
    bool (*function)(void *self, EmulatorPause why); // EmulatorLaunch.pause
    void *self;
} KernelPause;
Ran kernel_run(const Launch *launch, Touched *touched, const KernelPause *pause);
// Whether the kernel can wait for what the host or another kernel stores.
bool kernel_may_wait(const Launch *launch);
// From now on launches are modelled in time: the program measures.
void kernel_model_times(void);
// Blocks that fit a multiprocessor at a time; 0: none.
int kernel_resident_blocks(const Function *function, unsigned threads, size_t dynamic_shared);
// What a thread is taken to need, as ptxas would tell: nothing here runs it.
enum { ASSUMED_REGISTERS = 32 };
