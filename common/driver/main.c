// ./chNN: build the chapter's kernel.cu where it has changed, judge it, print the page, write the JSON.
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/file.h"
#include "judge.h"
#include "page.h"
#include "result.h"
#include "runner.h"
#include "workbook.h"

enum { EXIT_USAGE = 2, EXIT_MACHINE = 3, MAX_SOURCE_BYTES = 4 * 1024 * 1024 };

static volatile sig_atomic_t is_cancelled;
static void cancel(int signal) { is_cancelled = signal; }

// While the compiler runs, its processes are to be ended too; afterwards the runners end with this process by
// themselves, and the default is right.
static void catch_signals(void (*handler)(int)) {
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_handler = handler};
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
}

static void complain(const char *words) {
    Text safe = {0};
    text_add_printable(&safe, words, strlen(words));
    fprintf(stderr, "%s: %s\n", chapter.name, text_chars(&safe));
    text_free(&safe);
}

// What changes how the compiler or the loader work must not come from outside (DESIGN section 9).
static void clean_environment(void) {
    static const char *const names[] = {
        "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS",    "LD_PRELOAD",
        "LD_AUDIT",          "CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
}

typedef struct {
    Options options;
    char from[PATH_MAX]; // the folder the program was started in
    char kernel_file[2 * PATH_MAX], json_file[2 * PATH_MAX];
    char folder[512], source[640], build_folder[64];
    Text source_text;
    CompileResult build;
    bool has_build;
    Image image;
    bool has_image;
    Judgement judgement;
    Diagnosis diagnosis;
    Baselines baselines;
} Run;

static void judge_without_cases(Run *run, Verdict verdict, const char *message) {
    run->judgement = (Judgement){.verdict = verdict, .first = -1, .possible = chapter.points};
    snprintf(run->judgement.message, sizeof run->judgement.message, "%.1199s", message);
}

// The chapter's own kernel: compiled where it has changed. False when there is no image to run.
static bool build_kernel(Run *run, char image_path[PATH_MAX]) {
    const CompileRequest request = {.source = run->source,
                                    .output_directory = run->build_folder,
                                    .include_directory = "common/include",
                                    .cancel = &is_cancelled};
    catch_signals(cancel);
    bool fine = compile_kernel(&request, &run->build);
    catch_signals(SIG_DFL);
    if (is_cancelled) raise((int)is_cancelled);
    run->has_build = true;
    if (fine) {
        snprintf(image_path, PATH_MAX, "%s", run->build.ptx_path);
        return true;
    }
    judge_without_cases(run, verdict_from_word(compile_verdict(run->build.status)),
                        run->build.message ? run->build.message : "");
    return false;
}

// An image from the command line. What ptxas knows of it stands in the build.json beside it, where there is
// one; so does why the compiler made none. False when there is no image to run.
static bool use_image(Run *run, char image_path[PATH_MAX]) {
    snprintf(image_path, PATH_MAX, "%.*s", PATH_MAX - 1, run->kernel_file);
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", image_path);
    char *slash = strrchr(folder, '/');
    if (!slash) return true;
    *slash = '\0';
    char record[PATH_MAX + 16], here[PATH_MAX], there[PATH_MAX];
    snprintf(record, sizeof record, "%s/build.json", folder);
    if (access(record, R_OK) != 0) return true;
    if (!compile_load(folder, &run->build)) {
        if (run->build.status == COMPILE_INFRA || access(image_path, F_OK) == 0) {
            compile_result_free(&run->build);
            memset(&run->build, 0, sizeof run->build);
            return true;
        }
        run->has_build = true;
        snprintf(run->source, sizeof run->source, "%s", run->build.source);
        judge_without_cases(run, verdict_from_word(compile_verdict(run->build.status)),
                            run->build.message ? run->build.message : "");
        return false;
    }
    // A record of another image in the same folder says nothing of this one.
    bool is_ours =
        realpath(image_path, here) && ((realpath(run->build.ptx_path, there) && strcmp(here, there) == 0) ||
                                       (realpath(run->build.cubin_path, there) && strcmp(here, there) == 0));
    run->has_build = is_ours;
    snprintf(run->source, sizeof run->source, "%s", is_ours ? run->build.source : "kernel.cu");
    if (is_ours) return true;
    compile_result_free(&run->build);
    memset(&run->build, 0, sizeof run->build);
    return true;
}

static void show_progress(int done, int total) {
    static bool is_shown;
    if (done % 8 != 0 && done != total) return;
    is_shown = is_shown || done < total;
    if (is_shown) fprintf(stderr, done == total ? "\r\033[K" : "\r  %d of %d cases", done, total);
}

// kernel.cu, or NULL where it cannot be read.
static const char *source_of(Run *run) {
    FileError ignored;
    if (run->source_text.bytes > 0) return text_chars(&run->source_text);
    if (!read_regular_file(run->source, MAX_SOURCE_BYTES, &run->source_text, &ignored)) return NULL;
    return text_chars(&run->source_text);
}

static void run_image(Run *run, const char *image_path) {
    const char *text = source_of(run);
    run->has_image = true;
    if (!image_open(image_path, &chapter, run->has_build ? &run->build : NULL, run->source, text,
                    &run->image)) {
        judge_without_cases(run, run->image.verdict, run->image.message);
        snprintf(run->judgement.file, sizeof run->judgement.file, "%s", run->image.file);
        run->judgement.line = run->image.line;
        run->judgement.is_usage = run->image.is_usage && run->options.kernel_file != NULL;
        return;
    }
    const bool is_watched = isatty(STDERR_FILENO) && isatty(STDOUT_FILENO) && !run->options.is_quiet;
    judge(&chapter, &run->image, &run->options, is_watched ? show_progress : NULL, &run->judgement);
    if (is_watched) fprintf(stderr, "\r\033[K");
}

static bool find_next_chapter(char name[16]) {
    char folder[512];
    snprintf(name, 16, "ch%02d", (chapter.number + 1) % 100);
    return workbook_chapter(name, folder, sizeof folder);
}

static int report_run(Run *run) {
    char next[16];
    const Report report = {
        .of = &chapter,
        .options = &run->options,
        .build = run->has_build ? &run->build : NULL,
        .image = run->has_image ? &run->image : NULL,
        .judgement = &run->judgement,
        .diagnosis = &run->diagnosis,
        .baselines = run->options.is_profile ? &run->baselines : NULL,
        .source = run->source,
        .next_chapter = find_next_chapter(next) ? next : NULL,
    };
    if (run->options.is_profile) baselines_measure(&chapter, &run->baselines);
    Text page = {0};
    Terminal terminal = terminal_of_stdout();
    if (run->options.is_quiet)
        page_add_quiet(&page, &report);
    else
        page_add(&page, &terminal, &report);
    if (run->options.is_profile) profile_add(&page, &terminal, &report);
    terminal_write(&terminal, &page);
    text_free(&page);
    int status = verdict_exit_status(run->judgement.verdict);
    FileError error = {0};
    if (run->options.json_file && !result_write(run->json_file, &report, &error)) {
        complain(error.message);
        // A folder or a path that is not there is a slip of whoever typed it; a full disk is the machine's.
        bool is_slip =
            error.status == FILE_MISSING || error.status == FILE_DIRECTORY || error.status == FILE_SPECIAL;
        status = is_slip ? EXIT_USAGE : EXIT_MACHINE;
    }
    if (fflush(stdout) != 0) status = EXIT_MACHINE;
    return status;
}

static int run_chapter(Run *run) {
    char root[PATH_MAX], why[700], image_path[PATH_MAX];
    if (!getcwd(run->from, sizeof run->from)) snprintf(run->from, sizeof run->from, "/");
    if (!workbook_root(root, sizeof root, why, sizeof why)) {
        complain(why);
        return EXIT_MACHINE;
    }
    if (run->options.kernel_file)
        workbook_absolute(run->from, run->options.kernel_file, run->kernel_file, sizeof run->kernel_file);
    if (run->options.json_file)
        workbook_absolute(run->from, run->options.json_file, run->json_file, sizeof run->json_file);
    if (chdir(root) != 0) {
        snprintf(why, sizeof why, "cannot enter %.500s: %s", root, strerror(errno));
        complain(why);
        return EXIT_MACHINE;
    }
    snprintf(run->build_folder, sizeof run->build_folder, "build/%s", chapter.name);
    if (!workbook_chapter(chapter.name, run->folder, sizeof run->folder)) {
        snprintf(why, sizeof why, "there is no folder chapters/%s_... in %.500s", chapter.name, root);
        complain(why);
        return EXIT_MACHINE;
    }
    snprintf(run->source, sizeof run->source, "%s/kernel.cu", run->folder);
    bool has_image = true;
    if (run->options.kernel_file)
        has_image = use_image(run, image_path);
    else
        has_image = build_kernel(run, image_path);
    if (has_image) run_image(run, image_path);
    if (run->judgement.is_usage) {
        complain(run->judgement.message);
        return EXIT_USAGE;
    }
    diagnose(&chapter, source_of(run), &run->judgement, &run->diagnosis);
    return report_run(run);
}

int main(int count, char **arguments) {
    clean_environment();
    if (count == 2 && strcmp(arguments[1], "--runner") == 0) return runner_main();
    signal(SIGPIPE, SIG_IGN);
    static Run run;
    char why[256];
    if (!options_parse(count, arguments, &run.options, why, sizeof why)) {
        complain(why);
        fprintf(stderr, "Try ./%s --help.\n", chapter.name);
        return EXIT_USAGE;
    }
    if (run.options.is_help) {
        options_print_help(chapter.name);
        return 0;
    }
    int status = run_chapter(&run);
    judgement_free(&run.judgement);
    if (run.has_image) image_free(&run.image);
    if (run.has_build) compile_result_free(&run.build);
    text_free(&run.source_text);
    return status;
}
