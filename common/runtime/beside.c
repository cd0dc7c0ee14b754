#include "runtime/beside.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/state.h"

static int ours, waiting; // threads of the runtime, and those of the program that wait since the last call of
static unsigned long wakes; // beside_wake()
static _Thread_local bool is_ours;

typedef struct {
    void (*function)(void *);
    void *argument;
} Start;

static void *begin(void *given) {
    const Start start = *(Start *)given;
    free(given);
    is_ours = true;
    runtime_lock();
    start.function(start.argument);
    ours--;
    runtime_unlock();
    return NULL;
}

bool beside_start(void (*function)(void *), void *argument) {
    Start *start = malloc(sizeof *start);
    pthread_t thread;
    if (!start) return false;
    *start = (Start){function, argument};
    if (pthread_create(&thread, NULL, begin, start)) {
        free(start);
        return false;
    }
    pthread_detach(thread);
    ours++;
    return true;
}

void beside_began(void) {
    is_ours = true;
    ours++;
}

void beside_wait(bool to_end) {
    const double moment = 0.01;
    const bool counts = to_end && !is_ours;
    const unsigned long before = wakes;
    waiting += counts;
    runtime_wait(moment);
    if (counts && wakes == before) waiting--;
}

// A thread that is woken may do something before it waits again, even if it has not run yet.
void beside_wake(void) {
    wakes++;
    waiting = 0;
    runtime_wake();
}

bool beside_host_waits(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return waiting > 0; // a program that has one thread, as most
    int threads = -2;               // "." and ".."
    while (readdir(tasks)) threads++;
    closedir(tasks);
    return threads - ours <= waiting;
}
