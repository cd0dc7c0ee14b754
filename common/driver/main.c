// ./chNN: build the chapter's kernel.cu where it has changed, judge it, print the page, write the JSON.
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command_words.h"
#include "support/file.h"
#include "support/system.h"
#include "driver/build/builds.h"
#include "driver/listing/disassemble.h"
#include "driver/listing/listing_page.h"
#include "driver/judge/judge.h"
#include "driver/page/editor_lines.h"
#include "driver/page/page.h"
#include "driver/page/profile.h"
#include "driver/program/judge_program.h"
#include "driver/result/result.h"
#include "driver/run/runner_child.h"
#include "driver/workbook.h"
#include "gpu/profiles.h"
#include "driver/result/access_trace_run.h"

enum { EXIT_USAGE = 2, EXIT_MACHINE = 3 };

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

// Says it on standard error, and returns `status` for main() to exit with.
static int complain(int status, const char *words) {
    Text safe = {0};
    text_add_printable(&safe, words, strlen(words));
    fprintf(stderr, "%s: %s\n", chapter.name, text_chars(&safe));
    text_free(&safe);
    return status;
}

// The exit status, once what was printed has reached standard output.
static int printed(int status) {
    FileError error;
    return flush_standard_output(&error) ? status : complain(EXIT_MACHINE, error.message);
}

// What changes how the compiler or the loader work must not come from outside.
static void clean_environment(void) {
    static const char *const names[] = {
        "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS",    "LD_PRELOAD",
        "LD_AUDIT",          "CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
}

typedef struct {
    Options options;
    char from[PATH_MAX]; // the folder the program was started in
    char tree[PATH_MAX]; // where this program's solutions and headers are
    char kernel_file[2 * PATH_MAX], against_file[2 * PATH_MAX], json_file[2 * PATH_MAX],
        trace_file[2 * PATH_MAX];
    char folder[512];
    Builds builds;
    Judgement judgement;
    Diagnosis diagnosis, second;
    Diagnosis others[MOST_OTHERS]; // of judgement.others
    Baselines baselines;
} Run;

static void show_progress(int done, int total) {
    static bool is_shown;
    if (done % 8 != 0 && done != total) return;
    is_shown = is_shown || done < total;
    if (is_shown) fprintf(stderr, done == total ? "\r\033[K" : "\r  %d of %d cases", done, total);
}

// A GPU needs images of its kind. If a GPU is requested and none answers, opening it reports that.
static int choose_device(Options *options) {
    if (chapter.is_program) { // of which a GPU would show the results and nothing else
        options->asked_device = options->device;
        options->device = GPU_EMULATOR;
        return 0;
    }
    const int architecture = options->device == GPU_EMULATOR ? 0 : gpu_nvidia_architecture(NULL, 0);
    options->asked_device = options->device;
    if (options->device == GPU_AUTO) options->device = architecture ? GPU_NVIDIA : GPU_EMULATOR;
    return architecture;
}

static bool build(Run *run) {
    const bool is_listed = run->options.wants_ptx || run->options.wants_sass;
    const bool is_judged = !run->options.is_trace_only && !is_listed;
    if (!is_judged) run->options.device = GPU_EMULATOR;
    const int architecture = choose_device(&run->options);
    const BuildPlan plan = {.of = &chapter,
                            .folder = run->folder,
                            .tree = run->tree,
                            .kernel_file = run->options.kernel_file ? run->kernel_file : NULL,
                            .against_file = run->options.against_file ? run->against_file : NULL,
                            .architecture = architecture,
                            .wants_reference = is_judged && !chapter.is_program,
                            .assembles_beside = is_judged && !chapter.is_program,
                            .cancel = &is_cancelled};
    catch_signals(cancel);
    bool fine = builds_open(&plan, &run->builds);
    catch_signals(SIG_DFL);
    if (is_cancelled) raise((int)is_cancelled);
    return fine;
}

// The path of another product of the compile step.
static void beside_image(const Builds *builds, const char *name, char *path, size_t path_bytes) {
    const char *image = builds->subjects.kernel->name, *slash = strrchr(image, '/');
    snprintf(path, path_bytes, "%.*s/%s", slash ? (int)(slash - image) : 1, slash ? image : ".", name);
}

// The judgement of what could not be built.
static void refuse_build(Run *run) {
    const Builds *builds = &run->builds;
    run->judgement = (Judgement){.verdict = builds->verdict,
                                 .first = -1,
                                 .note_case = -1,
                                 .possible = chapter.points,
                                 .is_usage = builds->is_usage,
                                 .line = builds->kernel.line};
    snprintf(run->judgement.message, sizeof run->judgement.message, "%s", builds->message);
    snprintf(run->judgement.file, sizeof run->judgement.file, "%s", builds->kernel.file);
}

static void run_kernel(Run *run) {
    const Builds *builds = &run->builds;
    if (!build(run)) {
        refuse_build(run);
        return;
    }
    const bool is_watched = isatty(STDERR_FILENO) && isatty(STDOUT_FILENO) && !run->options.is_quiet;
    JudgeProgress progress = is_watched ? show_progress : NULL;
    if (chapter.is_program) {
        char program[PATH_MAX + 16];
        beside_image(builds, "program", program, sizeof program);
        judge_program(&chapter, &builds->subjects, program, builds->source, run->tree, &run->options,
                      progress, &run->judgement);
    } else
        judge(&chapter, &builds->subjects, &run->options, progress, &run->judgement);
    if (is_watched) fprintf(stderr, "\r\033[K");
    if (builds_finish(&run->builds)) return;
    judgement_free(&run->judgement);
    refuse_build(run);
}

// A missing folder or path is the user's error; a full disk is the machine's.
static int exit_status_of(const FileError *error) {
    const bool is_slip =
        error->status == FILE_MISSING || error->status == FILE_DIRECTORY || error->status == FILE_SPECIAL;
    return is_slip ? EXIT_USAGE : EXIT_MACHINE;
}

static bool find_next_chapter(char name[16]) {
    char folder[512];
    snprintf(name, 16, "ch%02d", (chapter.number + 1) % 100);
    return workbook_chapter(name, folder, sizeof folder);
}

// The exit status: 0, or why there is no file.
static int write_trace(Run *run) {
    const Builds *builds = &run->builds;
    const bool is_built = builds->verdict == VERDICT_PASS;
    const Image *image = !is_built || chapter.is_program     ? NULL
                         : run->options.device == GPU_NVIDIA ? builds->subjects.emulated
                                                             : builds->subjects.kernel;
    const TracePlan plan = {.of = &chapter,
                            .options = &run->options,
                            .source_sha256 = builds->subjects.source_sha256,
                            .image = image && image->is_ptx ? image : NULL,
                            .message = !is_built                ? builds->message
                                       : chapter.is_program     ? "a whole program has a timeline instead"
                                       : image && image->is_ptx ? ""
                                                                : "there is no PTX to run on the emulator",
                            .source = builds->has_build ? builds->build.source : builds->source,
                            .source_text = builds_source_text(&run->builds),
                            .judgement = run->options.is_trace_only ? NULL : &run->judgement};
    FileError error;
    if (access_trace_write(run->trace_file, &plan, &error)) return 0;
    return complain(exit_status_of(&error), error.message);
}

static int report_run(Run *run) {
    char next[16];
    const Report report = {
        .of = &chapter,
        .options = &run->options,
        .build = run->builds.has_build ? &run->builds.build : NULL,
        .image = run->builds.has_image ? &run->builds.kernel : NULL,
        .judgement = &run->judgement,
        .diagnosis = &run->diagnosis,
        .second = &run->second,
        .others = run->others,
        .baselines = run->options.is_profile ? &run->baselines : NULL,
        .source = run->builds.source,
        .next_chapter = find_next_chapter(next) ? next : NULL,
    };
    if (run->options.is_profile) baselines_measure(&chapter, &run->baselines);
    Text page = {0};
    Terminal terminal = terminal_of_stdout();
    if (run->options.is_quiet)
        page_add_quiet(&page, &report);
    else if (run->options.is_for_editors)
        page_add_editor_lines(&page, &report);
    else
        page_add(&page, &terminal, &report);
    if (run->options.is_profile) profile_add(&page, &terminal, &report);
    terminal_write(&terminal, &page);
    text_free(&page);
    int status = printed(verdict_exit_status(run->judgement.verdict));
    FileError error = {0};
    if (run->options.json_file && !result_write(run->json_file, &report, &error))
        status = complain(exit_status_of(&error), error.message);
    const int traced = run->options.trace_file ? write_trace(run) : 0;
    if (traced) status = traced;
    if (!by_hand_keep(&report, &error)) complain(0, error.message); // the verdict is valid anyway
    return status;
}

static int trace_only(Run *run) {
    const bool is_built = build(run);
    if (!is_built) complain(0, run->builds.message);
    if (run->builds.is_usage) return EXIT_USAGE;
    const int status = write_trace(run);
    return status || is_built ? status : verdict_exit_status(run->builds.verdict);
}

// For a sandbox that runs the program. The exit status.
static int write_cases(Run *run) {
    char why[700];
    if (!chapter.is_program) return complain(EXIT_USAGE, "--write-cases is for a whole program");
    if (!build(run)) return complain(EXIT_MACHINE, run->builds.message);
    if (judge_program_write_cases(&chapter, &run->builds.subjects, &run->options, why, sizeof why)) return 0;
    return complain(EXIT_MACHINE, why);
}

// For the GPU that is here, or the one that --gpu names: 90 for sm_90.
static int listed_architecture(const Options *options) {
    const int here = options->profile[0] ? 0 : gpu_nvidia_architecture(NULL, 0);
    const GpuProfile *profile = gpu_profile_find(options->profile[0] ? options->profile : NULL);
    return here ? here : 10 * profile->info.compute_major + profile->info.compute_minor;
}

// --ptx and --sass.
static int list_instructions(Run *run) {
    const Builds *builds = &run->builds;
    const bool is_built = build(run);
    if (!is_built) complain(0, builds->message);
    if (builds->is_usage) return EXIT_USAGE;
    if (!is_built) return verdict_exit_status(builds->verdict);
    const Image *image = builds->subjects.kernel;
    char why[1200] = "", target[16] = "";
    const char *const sources[] = {builds->has_build ? builds->build.source : builds->source};
    Listing listing;
    Text code = {0}, page = {0};
    bool fine = true;
    listing_begin(&listing, sources, 1, "launch_");
    if (run->options.wants_ptx && image->is_ptx)
        fine = listing_add_ptx(&listing, text_chars(&image->text), image->text.bytes, why, sizeof why);
    if (fine && run->options.wants_sass) {
        fine = disassemble(image->name, image->is_ptx, text_chars(&image->text),
                           listed_architecture(&run->options), target, &code, why, sizeof why);
        if (fine) listing_add_machine_code(&listing, text_chars(&code));
    }
    listing_end(&listing);
    const Terminal terminal = terminal_of_stdout();
    // Without a disassembler the PTX that was asked for too is shown anyway.
    if (fine || run->options.wants_ptx)
        listing_add_page(&page, &terminal, &listing, builds_source_text(&run->builds));
    terminal_write(&terminal, &page);
    listing_free(&listing);
    text_free(&code);
    text_free(&page);
    return fine ? printed(0) : complain(EXIT_MACHINE, why);
}

static int run_chapter(Run *run) {
    char root[PATH_MAX], why[PATH_MAX + 200];
    if (!getcwd(run->from, sizeof run->from)) snprintf(run->from, sizeof run->from, "/");
    if (!workbook_tree(run->tree, sizeof run->tree, why, sizeof why) ||
        !workbook_root(run->tree, root, sizeof root, why, sizeof why))
        return complain(EXIT_MACHINE, why);
    if (strcmp(root, run->tree) == 0) run->tree[0] = '\0'; // messages name files relative to the root
    workbook_absolute(run->from, run->options.kernel_file, run->kernel_file, sizeof run->kernel_file);
    workbook_absolute(run->from, run->options.against_file, run->against_file, sizeof run->against_file);
    workbook_absolute(run->from, run->options.json_file, run->json_file, sizeof run->json_file);
    workbook_absolute(run->from, run->options.trace_file, run->trace_file, sizeof run->trace_file);
    if (chdir(root) != 0) {
        snprintf(why, sizeof why, "cannot enter %.500s: %s", root, strerror(errno));
        return complain(EXIT_MACHINE, why);
    }
    if (!workbook_chapter(chapter.name, run->folder, sizeof run->folder)) {
        snprintf(why, sizeof why, "there is no folder chapters/%s_... in %.500s", chapter.name, root);
        return complain(EXIT_MACHINE, why);
    }
    if (run->options.trace_file && run->options.n > TRACE_MAX_N)
        return complain(EXIT_USAGE,
                        "--trace takes at most --n 4,194,304: a picture shows only the first warps");
    if (run->options.wants_ptx || run->options.wants_sass) return list_instructions(run);
    if (run->options.is_trace_only) return trace_only(run);
    if (run->options.cases_folder) return write_cases(run);
    run_kernel(run);
    if (run->judgement.is_usage) return complain(EXIT_USAGE, run->judgement.message);
    diagnose(&chapter, builds_source_text(&run->builds), &run->judgement, &run->diagnosis);
    diagnose_what_if(&chapter, builds_source_text(&run->builds), &run->judgement, &run->diagnosis,
                     &run->second);
    diagnose_others(&chapter, builds_source_text(&run->builds), &run->judgement, &run->diagnosis,
                    run->others);
    return report_run(run);
}

int main(int count, char **arguments) {
    clean_environment();
    system_keep_freed_memory();
    if (count == 2 && strcmp(arguments[1], "--runner") == 0) return runner_main();
    prepare_standard_streams();
    static Run run;
    char why[256];
    if (!options_parse(count, arguments, &run.options, why, sizeof why)) {
        complain(EXIT_USAGE, why);
        fprintf(stderr, "Try %s%s --help.\n", command_run(), chapter.name);
        return EXIT_USAGE;
    }
    if (run.options.is_help) {
        options_print_help(chapter.name);
        return printed(0);
    }
    int status = run_chapter(&run);
    judgement_free(&run.judgement);
    builds_free(&run.builds);
    return status;
}
