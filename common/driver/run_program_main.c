// build/bin/run_program: runs a whole program on every case of a folder, one after the other, and gathers
// what it leaves. It runs as the learner does, on the learner's own machine; for a class, in a sandbox that
// holds the program and the cases, and nothing else.
#define _GNU_SOURCE // realpath
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/program/outcomes.h"
#include "support/process.h"

static const char usage[] = "usage: run_program PROGRAM CASES OUTPUT LIBRARY [SECONDS]\n"
                            "  CASES    a folder with 00/input, 00/settings, 01/input ...\n"
                            "  OUTPUT   a folder, where the file `outcomes` is written\n"
                            "  LIBRARY  the folder of libcudart.so\n"
                            "  SECONDS  for one case, 10 if not given\n";

enum { MOST_PRINTED = 64 << 10, MOST_SETTINGS = 16 };
static const size_t MOST_ADDRESSES = (size_t)64 << 30, MOST_FILE = (size_t)300 << 20;

typedef struct {
    char program[PATH_MAX], cases[PATH_MAX], output[PATH_MAX], library[PATH_MAX];
    double seconds;
} Request;

// The environment of the program: only what it needs.
static void make_environment(const Request *r, const char *settings, const char *folder,
                             Text lines[MOST_SETTINGS], const char *environment[MOST_SETTINGS + 1]) {
    int count = 0;
    text_printf(&lines[count++], "LD_LIBRARY_PATH=%s", r->library);
    text_add(&lines[count++], "PATH=/usr/bin:/bin"); // of addr2line
    text_add(&lines[count++], "LC_ALL=C.UTF-8");
    text_add(&lines[count++], "WARPBOOK_CHECK=1");
    text_printf(&lines[count++], "WARPBOOK_FINDINGS=%s/findings", folder);
    text_printf(&lines[count++], "WARPBOOK_RECORD=%s/record", folder);
    for (const char *at = settings; *at && count < MOST_SETTINGS;) {
        const size_t length = strcspn(at, "\n");
        text_add_bytes(&lines[count++], at, length);
        at += length + (at[length] == '\n');
    }
    for (int i = 0; i < count; i++) environment[i] = text_chars(&lines[i]);
    environment[count] = NULL;
}

// False when the program did not end in time: no case after it would.
static bool run_case(const Request *r, int index, Text *file) {
    char input[PATH_MAX + 32], path[PATH_MAX + 32], folder[PATH_MAX + 16], result[PATH_MAX + 32];
    Text settings = {0}, lines[MOST_SETTINGS] = {0}, ended = {0};
    const char *environment[MOST_SETTINGS + 1];
    FileError error;
    snprintf(path, sizeof path, "%s/%02d/settings", r->cases, index);
    if (!read_regular_file(path, 4096, &settings, &error)) return false;
    snprintf(folder, sizeof folder, "%s/case", r->output);
    remove_tree(folder);
    if (!make_directories(folder, &error)) return false;
    snprintf(input, sizeof input, "%s/%02d/input", r->cases, index);
    snprintf(result, sizeof result, "%s/result", folder);
    make_environment(r, text_chars(&settings), folder, lines, environment);
    const char *arguments[] = {r->program, input, result, NULL};
    ProcessResult done;
    process_run(&(ProcessRequest){.arguments = arguments,
                                  .environment = environment,
                                  .directory = folder,
                                  .seconds = r->seconds,
                                  .output_limit = MOST_PRINTED,
                                  .memory_limit = MOST_ADDRESSES,
                                  .file_limit = MOST_FILE},
                &done);
    text_printf(&ended, "%d %d %d %d %d\n", done.was_started, done.timed_out, done.exit_status, done.signal,
                done.output_was_cut);
    outcome_add(file, index, OUTCOME_ENDED, &ended);
    outcome_add(file, index, OUTCOME_PRINTED, &done.output);
    for (OutcomePart part = OUTCOME_RESULT; part < OUTCOME_PARTS; part++) {
        Text content = {0};
        snprintf(path, sizeof path, "%s/%s", folder, outcome_name(part));
        if (read_regular_file(path, outcome_limit(part), &content, &error))
            outcome_add(file, index, part, &content);
        text_free(&content);
    }
    remove_tree(folder);
    for (int i = 0; i < MOST_SETTINGS; i++) text_free(&lines[i]);
    text_free(&settings);
    text_free(&ended);
    text_free(&done.output);
    return !done.timed_out;
}

static bool has_case(const Request *r, int index) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%02d", r->cases, index);
    return access(path, F_OK) == 0;
}

int main(int count, char **arguments) {
    prepare_standard_streams();
    static Request r = {.seconds = PROGRAM_CASE_SECONDS};
    if (count < 5 || count > 6) {
        fputs(usage, stderr);
        return 2;
    }
    if (count == 6) r.seconds = strtod(arguments[5], NULL);
    char *const paths[] = {r.program, r.cases, r.output, r.library};
    for (int i = 0; i < 4; i++) {
        if (realpath(arguments[1 + i], paths[i])) continue;
        fprintf(stderr, "run_program: there is no %s\n", arguments[1 + i]);
        return 2;
    }
    Text file = {0};
    FileError error;
    char path[PATH_MAX + 16];
    for (int i = 0; i < MOST_OUTCOMES && has_case(&r, i) && run_case(&r, i, &file); i++) continue;
    snprintf(path, sizeof path, "%s/outcomes", r.output);
    if (file.failed || !write_file_atomically(path, text_chars(&file), file.bytes, &error)) {
        fprintf(stderr, "run_program: %s\n", file.failed ? "no memory is left" : error.message);
        return 3;
    }
    text_free(&file);
    return 0;
}
