#define _GNU_SOURCE // strdup under -std=c17
#include "driver/build/assembly.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/build/process_beside.h"
#include "support/file.h"
#include "support/system.h"

// What goes through the pipe: the result, whose pointers mean nothing there, its kernels, and its texts.
typedef struct {
    CompileResult result;
    size_t message_bytes;
} Answer;

static void answer(int pipe, const CompileResult *result) {
    const char *message = result->message ? result->message : "";
    const Answer all = {.result = *result, .message_bytes = strlen(message)};
    signal(SIGPIPE, SIG_IGN);
    (void)(write_in_full(pipe, &all, sizeof all) &&
           write_in_full(pipe, result->kernels, (size_t)result->kernel_count * sizeof *result->kernels) &&
           write_in_full(pipe, message, all.message_bytes));
}

bool assembly_begin(Build *build, void (*work)(Build *build)) {
    int ends[2];
    CompileRequest here = *build->request;
    if (!system_pipe(ends)) return false;
    const pid_t process = process_beside(&here.cancel);
    if (process == 0) {
        build->request = &here;
        work(build);
        answer(ends[1], build->result);
        _exit(0);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    build->result->assembler = process;
    build->result->answer = ends[0];
    return true;
}

static bool receive(CompileResult *result) {
    Answer all;
    if (!read_in_full(result->answer, &all, sizeof all)) return false;
    CompileResult *got = &all.result;
    const size_t bytes = (size_t)got->kernel_count * sizeof *got->kernels;
    got->kernels = calloc(1, bytes + 1);
    got->message = calloc(1, all.message_bytes + 1);
    if (!got->kernels || !got->message || !read_in_full(result->answer, got->kernels, bytes) ||
        !read_in_full(result->answer, got->message, all.message_bytes)) {
        free(got->kernels);
        free(got->message);
        return false;
    }
    // What this process knows already, and what is not of the other one.
    got->log = result->log;
    got->note = result->note;
    got->seconds = result->seconds;
    got->assembler = result->assembler;
    got->answer = result->answer;
    free(result->kernels);
    free(result->message);
    *result = *got;
    return true;
}

static void forget(CompileResult *result) {
    close(result->answer);
    result->assembler = 0;
    result->answer = -1;
}

bool assembly_end(CompileResult *result) {
    if (result->assembler > 0) {
        if (!receive(result)) {
            free(result->message);
            result->status = COMPILE_INFRA;
            result->message = strdup("the process that ran ptxas ended early");
        }
        while (waitpid(result->assembler, NULL, 0) < 0 && errno == EINTR) continue;
        forget(result);
    }
    return result->status == COMPILE_OK;
}

void assembly_stop(CompileResult *result) {
    if (result->assembler <= 0) return;
    process_beside_stop(result->assembler);
    forget(result);
}
