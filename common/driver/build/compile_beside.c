#include "driver/build/compile_beside.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_cancelled;

static void cancel(int signal) { is_cancelled = signal; }

pid_t compile_begin(const CompileRequest *request) {
    const pid_t process = fork();
    if (process != 0) return process > 0 ? process : 0;
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {.sa_handler = cancel};
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
    CompileRequest here = *request;
    here.cancel = &is_cancelled;
    CompileResult result;
    compile_kernel(&here, &result);
    _exit(0);
}

void compile_stop(pid_t process) {
    if (process <= 0) return;
    kill(process, SIGTERM);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
}
