// What a runner can still do once it has confined itself: prints a word for each thing that it tries.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/run/confine.h"

static void say(const char *what, long answer) {
    printf("%s %s\n", what, answer >= 0 ? "done" : errno == EPERM ? "refused" : "failed");
}

int main(int count, char **arguments) {
    static char *const command[] = {"/bin/true", NULL};
    if (!confine_runner()) return 3;
    if (count > 1 && strcmp(arguments[1], "abort") == 0) abort();
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {&byte, 1};
    say("read a file", open("/etc/passwd", O_RDONLY));
    say("write a file", open("confined", O_WRONLY | O_CREAT, 0600));
    say("rename", rename("a", "b"));
    say("unlink", unlink("a"));
    say("socket", socket(AF_INET, SOCK_STREAM, 0));
    say("fork", fork());
    say("run a program", execv(command[0], command));
    say("signal the parent", kill(getppid(), 0));
    say("trace the parent", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
    say("read the parent", process_vm_readv(getppid(), &here, 1, &there, 1, 0));
    say("change folder", chdir("/"));
    void *memory = mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("memory", memory == MAP_FAILED ? -1 : 0);
    char *text = malloc(1 << 26);
    say("more memory", text ? 0 : -1);
    free(text);
    return 0;
}
