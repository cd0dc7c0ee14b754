// What all calls share: the lock, the device, and the last error.
#pragma once

#include <cuda_runtime_api.h>

#include "gpu/profiles.h"
#include "runtime/place.h"

// Only one thread at a time is inside the runtime. Calls from inside it, such as those of a callback, may
// nest.
void runtime_lock(void);
void runtime_unlock(void);
// Inside, leaves the runtime to other threads: until one of them calls runtime_wake(), but not for longer
// than so many seconds; or for so long in any case; or for a moment, if one wants it.
void runtime_wait(double seconds);
void runtime_leave(double seconds);
void runtime_yield(void);
void runtime_wake(void);

// The device, opened when it is first needed.
Emulator *device_emulator(void);
const GpuProfile *device_profile(void);

// The device that this thread uses, and whether there is one of that number.
int device_current(void);
void device_use(int device);
bool device_exists(int device);

// The call `name` begins, at `place`; NULL: here. Whether it is the one that WARPBOOK_FAIL lets fail: it does
// nothing then.
bool call_is_to_fail(const char *name, const Place *place);
// What a call returns: remembers an error as the last one. An error of a kernel is sticky: every call returns
// it from then on.
cudaError_t finish(cudaError_t error);
// The call that ends next was asked for there, and not where it was called from: a launch.
void error_is_from(const Place *place);
void set_sticky(cudaError_t error);
cudaError_t sticky_error(void);
// The last error, forgotten when `forget`; a sticky one stays.
cudaError_t last_error(bool forget);
// The program asked for the name or the text of an error: it looks at errors.
void error_was_looked_at(void);
// An error that the program may not have looked at, and the call that returned it; cudaSuccess: none.
cudaError_t unseen_error(Place *place);

const char *error_name(cudaError_t error);
const char *error_text(cudaError_t error);

// The body of a call, under the lock: `return CALL(work)`.
#define CALL(work) CALL_OF_LAUNCH(call_is_to_fail(__func__, NULL) ? cudaErrorMemoryAllocation : (work))
// The same of a launch, which knows where it was asked for, and asks itself whether it is to fail.
#define CALL_OF_LAUNCH(work)                                                                                 \
    ({                                                                                                       \
        runtime_lock();                                                                                      \
        cudaError_t call_error = finish(work);                                                               \
        runtime_unlock();                                                                                    \
        call_error;                                                                                          \
    })
