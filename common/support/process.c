#define _DEFAULT_SOURCE // wait4
#include "support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/system.h"

extern char **environ; // POSIX leaves its declaration to the program

double monotonic_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct {
    ProcessRequest request;
    pid_t pid;
    int pipe;
    double began;
} Process;

// Runs in the child, after fork: only what POSIX calls async-signal-safe.
static void become(const ProcessRequest *request, int output, int failure) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGQUIT, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    system_end_with_parent(SIGKILL);
    int nothing = open("/dev/null", O_RDONLY);
    system_limit(RLIMIT_CORE, 0);
    if (request->memory_limit) system_limit(RLIMIT_AS, request->memory_limit);
    // The system ends each process at this limit, and the sum is looked at when all have ended. It counts in
    // ticks of its clock, which may come to some percent more than that sum: with this allowance the sum is
    // over the limit too.
    if (request->processor_seconds > 0)
        system_limit(RLIMIT_CPU, (size_t)ceil(1.1 * request->processor_seconds) + 1);
    if (request->file_limit) system_limit(RLIMIT_FSIZE, request->file_limit);
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0 &&
        (!request->directory || chdir(request->directory) == 0)) {
        const char *const *environment =
            request->environment ? request->environment : (const char *const *)environ;
        execve(request->arguments[0], (char *const *)request->arguments, (char *const *)environment);
    }
    int number = errno;
    ssize_t ignored = write(failure, &number, sizeof number);
    (void)ignored;
    _exit(127);
}

static bool start(const ProcessRequest *request, Process *process, ProcessResult *result) {
    *result = (ProcessResult){.exit_status = -1};
    *process = (Process){.request = *request, .pid = -1, .pipe = -1, .began = monotonic_seconds()};
    int output[2] = {-1, -1}, failure[2] = {-1, -1}, number = 0;
    if (!system_pipe(output) || !system_pipe(failure)) {
        number = errno;
    } else {
        process->pid = fork();
        if (process->pid == 0) become(request, output[1], failure[1]);
        if (process->pid < 0) number = errno;
    }
    if (output[1] >= 0) close(output[1]);
    if (failure[1] >= 0) close(failure[1]);
    if (number == 0) {
        setpgid(process->pid, process->pid); // in both processes, so that it does not matter which runs first
        ssize_t count;
        do count = read(failure[0], &number, sizeof number); // ends at once when exec closes the pipe
        while (count < 0 && errno == EINTR);
        if (count != (ssize_t)sizeof number)
            number = 0;
        else
            waitpid(process->pid, NULL, 0);
    }
    if (failure[0] >= 0) close(failure[0]);
    if (number != 0) {
        if (output[0] >= 0) close(output[0]);
        snprintf(result->message, sizeof result->message, "cannot run %s: %s", request->arguments[0],
                 strerror(number));
        return false;
    }
    process->pipe = output[0];
    fcntl(process->pipe, F_SETFL, O_NONBLOCK);
    result->was_started = true;
    return true;
}

// Takes what the pipe holds. False at its end.
static bool read_output(Process *process, ProcessResult *result) {
    for (;;) {
        char chunk[65536];
        ssize_t count = read(process->pipe, chunk, sizeof chunk);
        if (count == 0) return false;
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        size_t room = process->request.output_limit - result->output.bytes, keep = (size_t)count;
        if (keep > room) {
            keep = room;
            result->output_was_cut = true;
        }
        text_add_bytes(&result->output, chunk, keep);
    }
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

static bool finish(Process *process, ProcessResult *result) {
    const ProcessRequest *request = &process->request;
    double deadline = request->seconds > 0 ? process->began + request->seconds : 0;
    bool is_open = true;
    int status = 0, wait_ms = 0;
    struct rusage used = {0};
    for (;;) {
        struct pollfd watched = {.fd = is_open ? process->pipe : -1, .events = POLLIN};
        poll(&watched, 1, wait_ms);
        if (is_open && !read_output(process, result)) is_open = false;
        if (wait4(process->pid, &status, WNOHANG, &used) == process->pid) break;
        double now = monotonic_seconds();
        result->timed_out = deadline > 0 && now >= deadline;
        result->was_cancelled = request->cancel && *request->cancel;
        if (result->timed_out || result->was_cancelled) {
            kill(-process->pid, SIGKILL);
            while (wait4(process->pid, &status, 0, &used) < 0 && errno == EINTR) continue;
            break;
        }
        // While the pipe is open its end wakes us; the short wait is for a program that closed it and lives
        // on.
        wait_ms = is_open ? 20 : 1;
    }
    kill(-process->pid, SIGKILL); // whatever it left behind; the group outlives its leader
    if (is_open) read_output(process, result);
    close(process->pipe);
    process->pipe = -1;
    result->seconds = monotonic_seconds() - process->began;
    result->processor_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    if (request->processor_seconds > 0 && result->processor_seconds >= request->processor_seconds)
        result->timed_out = true;
    if (WIFSIGNALED(status))
        result->signal = WTERMSIG(status);
    else if (WIFEXITED(status))
        result->exit_status = WEXITSTATUS(status);
    return !result->timed_out && !result->was_cancelled && result->exit_status == 0;
}

bool process_run(const ProcessRequest *request, ProcessResult *result) {
    Process process;
    return start(request, &process, result) && finish(&process, result);
}
