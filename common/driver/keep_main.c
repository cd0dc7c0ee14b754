// build/bin/keep: runs a program and outlives all that it started, so that nothing of it is left behind.
//
// Whatever loses its parent below this process becomes its child, and is ended with it: when the program has
// ended, when this process is told to end, and when the process that started it is gone. The kernel does this
// (support/system.h), so it works however the others end.
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/system.h"

enum { EXIT_USAGE = 2, EXIT_MACHINE = 3, EXIT_NO_PROGRAM = 127, SIGNAL_BASE = 128 };

// SIGCHLD, and what asks this process to end.
static sigset_t awaited(void) {
    static const int signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) sigaddset(&set, signals[i]);
    return set;
}

static void become(char **command, pid_t keeper) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    system_end_with_parent(SIGKILL);
    if (getppid() != keeper) _exit(EXIT_MACHINE);
    execvp(command[0], command);
    fprintf(stderr, "keep: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(EXIT_NO_PROGRAM);
}

// Hears of every child that has ended; true when the program is one of them.
static bool reap(pid_t program, int *status) {
    int one;
    bool has_ended = false;
    for (pid_t pid; (pid = waitpid(-1, &one, WNOHANG)) > 0;) {
        if (pid != program) continue;
        *status = one;
        has_ended = true;
    }
    return has_ended;
}

// Ends every child there is, and those that become ours thereby, until there is none.
static void end_all(void) {
    for (;;) {
        const bool are_listed = system_signal_children(SIGKILL);
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD) return;
        if (!are_listed) kill(0, SIGKILL); // the group, and this process with it
    }
}

int main(int count, char **arguments) {
    if (count < 3) {
        fputs("usage: keep PARENT COMMAND [ARGUMENT...]\n"
              "  PARENT   the process without which it ends\n",
              stderr);
        return EXIT_USAGE;
    }
    const sigset_t set = awaited();
    sigprocmask(SIG_BLOCK, &set, NULL);
    system_adopt_orphans();
    system_end_with_parent(SIGTERM);
    if (getppid() != (pid_t)strtol(arguments[1], NULL, 10)) return EXIT_MACHINE;
    const pid_t keeper = getpid(), program = fork();
    if (program == 0) become(arguments + 2, keeper);
    if (program < 0) {
        perror("keep: fork");
        return EXIT_MACHINE;
    }
    int status = SIGKILL; // as if it had been ended
    for (bool is_over = false; !is_over;) {
        int number;
        if (sigwait(&set, &number) == 0) is_over = number != SIGCHLD || reap(program, &status);
    }
    end_all();
    return WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}
