#define _POSIX_C_SOURCE 200809L // clock_gettime, nanosleep
#include "runtime/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/report.h"

// ---- The lock ---------------------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int wanted;         // threads that wait for the lock
static _Thread_local int entered; // how often this thread is inside

void runtime_lock(void) {
    if (entered++) return;
    atomic_fetch_add(&wanted, 1);
    pthread_mutex_lock(&lock);
    atomic_fetch_sub(&wanted, 1);
}

void runtime_unlock(void) {
    if (--entered == 0) pthread_mutex_unlock(&lock);
}

static struct timespec time_of(double seconds) {
    return (struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
}

void runtime_wait(double seconds) {
    struct timespec end, length = time_of(seconds);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += length.tv_sec + (end.tv_nsec + length.tv_nsec) / 1000000000;
    end.tv_nsec = (end.tv_nsec + length.tv_nsec) % 1000000000;
    const int times = entered;
    entered = 0;
    atomic_fetch_add(&wanted, 1); // as soon as it is woken
    pthread_cond_timedwait(&changed, &lock, &end);
    atomic_fetch_sub(&wanted, 1);
    entered = times;
}

void runtime_wake(void) { pthread_cond_broadcast(&changed); }

void runtime_leave(double seconds) {
    const struct timespec length = time_of(seconds);
    const int times = entered;
    entered = 0;
    pthread_mutex_unlock(&lock);
    nanosleep(&length, NULL);
    pthread_mutex_lock(&lock);
    entered = times;
}

void runtime_yield(void) {
    const double moment = 50e-6; // a thread that sleeps on the lock is awake by then
    if (atomic_load(&wanted)) runtime_leave(moment);
}

// ---- The device -------------------------------------------------------------------------------------------

const GpuProfile *device_profile(void) {
    static const GpuProfile *profile;
    if (profile) return profile;
    profile = gpu_profile_find(options()->gpu);
    if (!profile) {
        char why[700];
        gpu_profile_refuse(options()->gpu, why, sizeof why);
        report_once("%s; the H200 is taken", why);
        profile = gpu_profile_find(NULL);
    }
    return profile;
}

Emulator *device_emulator(void) {
    static Emulator *emulator;
    if (emulator) return emulator;
    EmulatorDevice device;
    gpu_profile_device(device_profile(), &device);
    emulator = emulator_open(&device);
    if (!emulator) {
        fprintf(stderr, "warpbook: out of memory\n");
        abort();
    }
    emulator_leave_host_addresses(emulator);
    return emulator;
}

static _Thread_local int current;
int device_current(void) { return current; }
void device_use(int device) { current = device; }
bool device_exists(int device) { return device >= 0 && device < options()->devices; }

// ---- Errors -----------------------------------------------------------------------------------------------

static cudaError_t sticky;
static _Thread_local cudaError_t last;
static cudaError_t unseen;
static Place unseen_place;
static _Thread_local const Place *known_place;

void error_is_from(const Place *place) { known_place = place; }

void set_sticky(cudaError_t error) {
    if (!sticky) sticky = error;
}
cudaError_t sticky_error(void) { return sticky; }

// Whether a program that gives up may still call it.
static bool gives_up(const char *name) {
    static const char *const parts[] = {"Free", "Destroy", "Reset", "Get", "Query"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i])) return true;
    return false;
}

// Places are told apart by all calls that led there: calls in a loop are one, templates of headers are not.
bool call_is_to_fail(const char *name, const Place *place) {
    enum { MOST_PLACES = 1024 };
    static Place met[MOST_PLACES];
    static int count;
    Place here;
    const bool may_fail = options()->failing && count < options()->failing;
    // A launch may follow a launch: both can be asked after once.
    const bool continues = failure_is_reported() && !place && !gives_up(name);
    if (entered > 1 || name[0] == '_' || !(may_fail || continues)) return false;
    if (place)
        here = *place;
    else
        place_here(&here);
    if (continues) report_continues(&here);
    if (!may_fail) return false;
    for (int i = 0; i < count; i++)
        if (memcmp(&met[i], &here, sizeof here) == 0) return false;
    if (count == MOST_PLACES) return false;
    met[count++] = here;
    return count == options()->failing;
}

cudaError_t finish(cudaError_t error) {
    if (sticky) error = sticky;
    if (!error) known_place = NULL;
    if (!error || error == cudaErrorNotReady) return error;
    last = error;
    Place here;
    if (known_place)
        here = *known_place;
    else
        place_here(&here);
    report_failure(&here, error_text(error));
    if (!unseen) {
        unseen = error;
        unseen_place = here;
    }
    known_place = NULL;
    return error;
}

cudaError_t last_error(bool forget) {
    const cudaError_t error = sticky ? sticky : last;
    unseen = cudaSuccess;
    if (forget) last = cudaSuccess;
    return error;
}

void error_was_looked_at(void) { unseen = cudaSuccess; }

cudaError_t unseen_error(Place *place) {
    *place = unseen_place;
    return unseen;
}

// The names of the header's enum: build/cudart/errors.h.
static const struct {
    cudaError_t error;
    const char *name;
} names[] = {
#define ERROR(name) {name, #name},
#include "errors.h"
#undef ERROR
};

const char *error_name(cudaError_t error) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error) return names[i].name;
    return "unrecognized error code";
}

// Texts that programs print and people search for; the others are their names in words.
static const struct {
    cudaError_t error;
    const char *text;
} texts[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "the launch timed out and was terminated"},
    {cudaErrorMisalignedAddress, "misaligned address"},
    {cudaErrorAssert, "device-side assert triggered"},
    {cudaErrorLaunchFailure, "unspecified launch failure"},
    {cudaErrorNotSupported, "operation not supported"},
    {cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
};

// "cudaErrorTextureFetchFailed" becomes "texture fetch failed".
static const char *words_of(const char *name) {
    static _Thread_local char words[128];
    size_t used = 0;
    for (const char *at = name + strlen("cudaError"); *at && used < sizeof words - 2; at++) {
        const bool is_capital = *at >= 'A' && *at <= 'Z';
        if (is_capital && used) words[used++] = ' ';
        words[used++] = is_capital ? (char)(*at - 'A' + 'a') : *at;
    }
    words[used] = '\0';
    return words;
}

const char *error_text(cudaError_t error) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].error == error) return texts[i].text;
    const char *name = error_name(error);
    return strncmp(name, "cudaError", strlen("cudaError")) ? name : words_of(name);
}
