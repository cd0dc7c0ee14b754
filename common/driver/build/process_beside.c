#include "driver/build/process_beside.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/system.h"

static volatile sig_atomic_t is_cancelled;

static void cancel_it(int signal) { is_cancelled = signal; }

pid_t process_beside(const volatile sig_atomic_t **cancel) {
    const pid_t parent = getpid(), process = fork();
    if (process != 0) return process;
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    is_cancelled = 0;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {.sa_handler = cancel_it};
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
    system_end_with_parent(SIGTERM);
    if (getppid() != parent) is_cancelled = SIGTERM; // it ended before that line
    *cancel = &is_cancelled;
    return 0;
}

void process_beside_stop(pid_t process) {
    if (process <= 0) return;
    kill(process, SIGTERM);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
}
