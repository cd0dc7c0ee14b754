#include "driver/build/builds.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"
#include "support/sha256.h"
#include "driver/build/assembly.h"

enum { MAX_SOURCE_BYTES = 4 * 1024 * 1024, EMULATORS_ARCHITECTURE = 80 };

static bool ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

static bool is_usual(int architecture) { return architecture == 0 || architecture == EMULATORS_ARCHITECTURE; }

// `name`, which is relative to the tree of this program, from the working folder.
static void find_in_tree(const BuildPlan *plan, const char *name, char *path, size_t bytes) {
    snprintf(path, bytes, "%s%s%s", plan->tree, plan->tree[0] ? "/" : "", name);
}

// Compiles a kernel.cu if it has changed, into a separate folder for each architecture.
static bool compile(const BuildPlan *plan, const char *source, const char *folder, int architecture,
                    bool assembles_beside, CompileResult *result) {
    char output[PATH_MAX], include[PATH_MAX];
    find_in_tree(plan, "common/include", include, sizeof include);
    if (is_usual(architecture))
        snprintf(output, sizeof output, "%s", folder);
    else
        snprintf(output, sizeof output, "%s/sm_%d", folder, architecture);
    const CompileRequest request = {.source = source,
                                    .output_directory = output,
                                    .include_directory = include,
                                    .ptx_arch = is_usual(architecture) ? 0 : architecture,
                                    .sass_arch = is_usual(architecture) ? 0 : architecture,
                                    .assembles_beside = assembles_beside,
                                    .cancel = plan->cancel};
    if (compile_kernel(&request, result)) return true;
    // A GPU newer than the compiler: its driver takes PTX for an older one.
    if (is_usual(architecture) || result->status != COMPILE_INFRA || !result->message ||
        !strstr(result->message, "nsupported gpu architecture"))
        return false;
    compile_result_free(result);
    return compile(plan, source, folder, 0, assembles_beside, result);
}

// build/other/0123456789abcdef: for a kernel.cu from anywhere.
static void folder_for(const char *source, char folder[64]) {
    char path[PATH_MAX], hex[65];
    if (!realpath(source, path)) snprintf(path, sizeof path, "%s", source);
    sha256_hex(path, strlen(path), hex);
    snprintf(folder, 64, "build/other/%.16s", hex);
}

static bool give_up(Builds *builds, Verdict verdict, const char *words) {
    builds->verdict = verdict;
    snprintf(builds->message, sizeof builds->message, "%.1199s", words);
    return false;
}

static bool give_up_build(Builds *builds, const CompileResult *build) {
    return give_up(builds, verdict_from_word(compile_verdict(build->status)),
                   build->message ? build->message : "");
}

const char *builds_source_text(Builds *builds) {
    FileError ignored;
    if (builds->source_text.bytes == 0 &&
        !read_regular_file(builds->source, MAX_SOURCE_BYTES, &builds->source_text, &ignored))
        return NULL;
    return text_chars(&builds->source_text);
}

// ---- The kernel ------------------------------------------------------------------------------------------

static bool open_kernel(const BuildPlan *plan, Builds *builds, const char *path) {
    builds->has_image = true;
    builds->subjects.kernel = &builds->kernel;
    builds->subjects.source_text = builds_source_text(builds);
    return image_open(path, plan->of, builds->has_build ? &builds->build : NULL, builds->source,
                      builds_source_text(builds), &builds->kernel);
}

// A kernel.cu: for the device, and beside a GPU also for the emulator.
static bool build_kernel(const BuildPlan *plan, Builds *builds, const char *folder) {
    builds->has_build = true;
    const bool assembles_beside = plan->assembles_beside && plan->architecture == 0;
    if (!compile(plan, builds->source, folder, plan->architecture, assembles_beside, &builds->build))
        return give_up_build(builds, &builds->build);
    if (!open_kernel(plan, builds, builds->build.ptx_path)) {
        builds_finish(builds); // whose reason counts first
        return false;
    }
    if (plan->architecture == 0) return true;
    CompileResult emulators;
    bool fine = compile(plan, builds->source, folder, 0, false, &emulators);
    if (fine) {
        builds->has_emulated = true;
        builds->subjects.emulated = &builds->emulated;
        fine = image_open(emulators.ptx_path, plan->of, &emulators, builds->source,
                          builds_source_text(builds), &builds->emulated);
        if (!fine) { // what is refused in one is refused in both
            builds->kernel.verdict = builds->emulated.verdict;
            builds->kernel.line = builds->emulated.line;
            memcpy(builds->kernel.message, builds->emulated.message, sizeof builds->kernel.message);
            memcpy(builds->kernel.file, builds->emulated.file, sizeof builds->kernel.file);
        }
    } else {
        give_up_build(builds, &emulators);
    }
    compile_result_free(&emulators);
    return fine;
}

// The build.json beside an image, if there is one, has what ptxas reported about it, or why the compiler made
// no image. False when there is no image to run.
static bool read_image_record(Builds *builds, const char *image_path) {
    char folder[PATH_MAX], record[PATH_MAX + 16], here[PATH_MAX], there[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", image_path);
    char *slash = strrchr(folder, '/');
    if (!slash) return true;
    *slash = '\0';
    snprintf(record, sizeof record, "%s/build.json", folder);
    if (access(record, R_OK) != 0) return true;
    if (!compile_load(folder, &builds->build)) {
        if (builds->build.status != COMPILE_INFRA && access(image_path, F_OK) != 0) {
            builds->has_build = true;
            snprintf(builds->source, sizeof builds->source, "%s", builds->build.source);
            return give_up_build(builds, &builds->build);
        }
    } else { // a record of another image in the same folder says nothing of this one
        const CompileResult *build = &builds->build;
        builds->has_build =
            realpath(image_path, here) && ((realpath(build->ptx_path, there) && strcmp(here, there) == 0) ||
                                           (realpath(build->cubin_path, there) && strcmp(here, there) == 0));
        if (builds->has_build) snprintf(builds->source, sizeof builds->source, "%s", build->source);
    }
    if (builds->has_build) return true;
    compile_result_free(&builds->build);
    memset(&builds->build, 0, sizeof builds->build);
    return true;
}

static bool use_image(const BuildPlan *plan, Builds *builds) {
    snprintf(builds->source, sizeof builds->source,
             "kernel.cu"); // not the chapter's, which it may not come from
    if (!read_image_record(builds, plan->kernel_file)) return false;
    // PTX for a newer GPU than this one: its kernel.cu, if it is available, is built for this one.
    const bool is_too_new =
        builds->has_build && plan->architecture > 0 && builds->build.ptx_arch > plan->architecture;
    if (is_too_new && access(builds->source, R_OK) == 0) {
        char folder[64];
        compile_result_free(&builds->build);
        folder_for(builds->source, folder);
        return build_kernel(plan, builds, folder);
    }
    if (!open_kernel(plan, builds, plan->kernel_file)) return false;
    if (plan->architecture > 0 && builds->kernel.is_ptx) builds->subjects.emulated = &builds->kernel;
    return true;
}

// ---- The reference ---------------------------------------------------------------------------------------

// Built like the kernel that it is compared with, whatever device that was built for.
static int architecture_of(const BuildPlan *plan, const Builds *builds) {
    return builds->has_build && plan->kernel_file ? builds->build.ptx_arch : plan->architecture;
}

static bool open_reference(const BuildPlan *plan, Builds *builds, const char *path,
                           const CompileResult *build) {
    builds->has_reference = true;
    if (image_open(path, plan->of, build, builds->subjects.reference_name, NULL, &builds->reference)) {
        builds->subjects.reference = &builds->reference;
        return true;
    }
    snprintf(builds->subjects.no_reference, sizeof builds->subjects.no_reference,
             "no reference: %.100s is refused: %.180s", builds->subjects.reference_name,
             builds->reference.message);
    return false;
}

static bool build_reference(const BuildPlan *plan, Builds *builds, const char *source, const char *folder) {
    CompileResult build;
    bool fine = compile(plan, source, folder, architecture_of(plan, builds), false, &build);
    if (fine)
        fine = open_reference(plan, builds, build.ptx_path, &build);
    else
        snprintf(builds->subjects.no_reference, sizeof builds->subjects.no_reference,
                 "no reference: %.120s does not compile", source);
    compile_result_free(&build);
    return fine;
}

// An autograder has solutions as images with the compiler's records.
static bool find_reference_image(const BuildPlan *plan, Builds *builds, const char *chapter) {
    char name[256], folder[PATH_MAX];
    CompileResult build;
    snprintf(name, sizeof name, "solutions/%.200s", chapter);
    find_in_tree(plan, name, folder, sizeof folder);
    bool fine = compile_load(folder, &build);
    if (fine) {
        snprintf(builds->subjects.reference_name, sizeof builds->subjects.reference_name, "%.159s",
                 build.ptx_path);
        fine = open_reference(plan, builds, build.ptx_path, &build);
    }
    compile_result_free(&build);
    return fine;
}

// A handout has the reference's modelled times only: its image would be the answer.
static void find_recorded_times(const char *chapter, const char *source, Subjects *subjects) {
    char path[sizeof subjects->recorded];
    snprintf(path, sizeof path, "solutions/%.200s/reference.times", chapter);
    if (access(path, R_OK) == 0) {
        memcpy(subjects->recorded, path, sizeof path);
        snprintf(subjects->reference_name, sizeof subjects->reference_name, "%.159s", path);
        snprintf(subjects->no_reference, sizeof subjects->no_reference,
                 "no reference: a handout has its modelled time at the usual size and device only");
        return;
    }
    snprintf(subjects->no_reference, sizeof subjects->no_reference,
             "no reference: %.200s does not exist here", source);
}

// False, with the reason in subjects.no_reference, when there is nothing to compare with.
static bool find_reference(const BuildPlan *plan, Builds *builds) {
    Subjects *subjects = &builds->subjects;
    char path[256], source[PATH_MAX], folder[64];
    if (plan->against_file) {
        snprintf(subjects->reference_name, sizeof subjects->reference_name, "%.159s", plan->against_file);
        folder_for(plan->against_file, folder);
        return ends_in(plan->against_file, ".cu") ? build_reference(plan, builds, plan->against_file, folder)
                                                  : open_reference(plan, builds, plan->against_file, NULL);
    }
    const char *name = strrchr(plan->folder, '/');
    snprintf(path, sizeof path, "solutions/%.200s/kernel.cu", name ? name + 1 : plan->folder);
    snprintf(subjects->reference_name, sizeof subjects->reference_name, "%.159s", path);
    find_in_tree(plan, path, source, sizeof source);
    snprintf(folder, sizeof folder, "build/reference/%.40s", plan->of->name);
    subjects->is_solution = true;
    if (access(source, R_OK) == 0) return build_reference(plan, builds, source, folder);
    if (find_reference_image(plan, builds, name ? name + 1 : plan->folder)) return true;
    if (builds->has_reference) return false; // and is refused
    find_recorded_times(name ? name + 1 : plan->folder, source, subjects);
    return false;
}

// ---- All of them -----------------------------------------------------------------------------------------

// Beside the image, if that was compiled from the source that is here.
static void find_variants_folder(const BuildPlan *plan, Builds *builds) {
    Subjects *subjects = &builds->subjects;
    const char *slash = strrchr(builds->kernel.name, '/');
    const char *text = builds_source_text(builds);
    char sha256[65], include[PATH_MAX];
    if (!builds->has_build || !slash || !text) return;
    sha256_hex(text, builds->source_text.bytes, sha256);
    find_in_tree(plan, "common/include", include, sizeof include);
    if (strcmp(sha256, builds->build.source_sha256) != 0 ||
        strlen(include) >= sizeof subjects->include_folder)
        return;
    memcpy(subjects->include_folder, include, strlen(include) + 1);
    subjects->ptx_arch = plan->architecture ? 0 : builds->build.ptx_arch;
    snprintf(subjects->variants_folder, sizeof subjects->variants_folder, "%.*s/variants",
             (int)(slash - builds->kernel.name), builds->kernel.name);
}

bool builds_open(const BuildPlan *plan, Builds *builds) {
    char folder[64];
    bool fine = false;
    *builds = (Builds){.of = plan->of, .subjects.of = builds, .verdict = VERDICT_PASS};
    if (!plan->kernel_file) {
        snprintf(builds->source, sizeof builds->source, "%.600s/kernel.cu", plan->folder);
        snprintf(folder, sizeof folder, "build/%.40s", plan->of->name);
        fine = build_kernel(plan, builds, folder);
    } else if (ends_in(plan->kernel_file, ".cu")) {
        snprintf(builds->source, sizeof builds->source, "%.639s", plan->kernel_file);
        folder_for(plan->kernel_file, folder);
        fine = build_kernel(plan, builds, folder);
    } else {
        fine = use_image(plan, builds);
    }
    if (!fine) {
        if (builds->verdict == VERDICT_PASS) { // the image tells
            give_up(builds, builds->kernel.verdict, builds->kernel.message);
            builds->is_usage = builds->kernel.is_usage && plan->kernel_file;
        }
        return false;
    }
    Subjects *subjects = &builds->subjects;
    if (builds->has_build)
        memcpy(subjects->source_sha256, builds->build.source_sha256, sizeof subjects->source_sha256);
    else
        sha256_hex(text_chars(&builds->kernel.text), builds->kernel.text.bytes, subjects->source_sha256);
    find_variants_folder(plan, builds);
    // A reference that the command line names has to be there.
    if (!plan->wants_reference || find_reference(plan, builds) || !plan->against_file) return true;
    builds->is_usage = true;
    return give_up(builds, VERDICT_REJECT, builds->subjects.no_reference);
}

bool builds_finish(Builds *builds) {
    if (builds->build.assembler == 0) return builds->verdict == VERDICT_PASS;
    if (assembly_end(&builds->build)) {
        if (builds->kernel.verdict == VERDICT_PASS)
            image_add_resources(&builds->kernel, builds->of, &builds->build);
        return true;
    }
    image_free(&builds->kernel);
    builds->kernel = (Image){0};
    builds->has_image = false;
    return give_up_build(builds, &builds->build);
}

void builds_free(Builds *builds) {
    assembly_stop(&builds->build);
    if (builds->has_image) image_free(&builds->kernel);
    if (builds->has_emulated) image_free(&builds->emulated);
    if (builds->has_reference) image_free(&builds->reference);
    if (builds->has_build) compile_result_free(&builds->build);
    text_free(&builds->source_text);
}
