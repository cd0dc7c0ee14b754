// One case of a chapter on one kernel: what the emulator finds in it, and all that a GPU needs to run the
// same.
//
//     case-ch05 KERNEL.ptx TASK N ROWS COLUMNS DEPTH FAMILY MISALIGNMENT STAGGERED SCHEDULE [FOLDER]
//
// writes JSON to stdout: the verdict, the findings, the buffers and the launches. With FOLDER, the content of
// input buffer I goes to FOLDER/I.bin. Inputs are drawn from seed 1 whatever the kernel, so that kernels
// share them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/builds.h"
#include "driver/judge/launch_shape.h"
#include "driver/run/runner_child.h"
#include "driver/workbook.h"
#include "emulator/emulator_json.h"

enum { EXIT_USAGE = 2, EXIT_MACHINE = 3, SEED = 1 };
static const size_t arena_bytes = (size_t)1 << 30; // sparse: only what is used takes memory

static int complain(const char *words) {
    fprintf(stderr, "case: %s\n", words);
    return EXIT_MACHINE;
}

static bool read_case(char **arguments, Case *one) {
    one->task = -1;
    for (int t = 0; t < chapter_task_count(&chapter); t++)
        if (strcmp(chapter.tasks[t].name, arguments[0]) == 0) one->task = t;
    one->size =
        (CaseSize){atoll(arguments[1]), atoll(arguments[2]), atoll(arguments[3]), atoll(arguments[4])};
    one->family = FAMILIES;
    for (Family family = 0; family < FAMILIES; family++)
        if (strcmp(family_name(family), arguments[5]) == 0) one->family = family;
    one->misalignment = (unsigned)atoi(arguments[6]);
    one->is_staggered = atoi(arguments[7]) != 0;
    one->schedule = strtoull(arguments[8], NULL, 10);
    return one->task >= 0 && one->family < FAMILIES;
}

static bool write_inputs(const char *folder, const RunProgram *program, const unsigned char *arena) {
    for (int b = 0; b < program->buffer_count; b++) {
        const RunBuffer *buffer = &program->buffers[b];
        char path[1024];
        FileError error;
        snprintf(path, sizeof path, "%s/%d.bin", folder, b);
        if (buffer->fill == FILL_DATA &&
            !write_file_atomically(path, arena + buffer->arena_offset, buffer->bytes, &error)) {
            complain(error.message);
            return false;
        }
    }
    return true;
}

static void add_program(JsonWriter *json, const RunProgram *program) {
    static const char *const fills[] = {[FILL_DATA] = "data", [FILL_POISON] = "none", [FILL_ZERO] = "zero"};
    json_open_array(json, "buffers");
    for (int b = 0; b < program->buffer_count; b++) {
        const RunBuffer *buffer = &program->buffers[b];
        json_open_object(json, NULL);
        json_string(json, "name", buffer->name);
        json_unsigned(json, "bytes", buffer->bytes);
        json_unsigned(json, "misalignment", buffer->misalignment);
        json_string(json, "fill", fills[buffer->fill]);
        json_boolean(json, "constant", buffer->is_constant); // the module's variable of that name
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "launches");
    for (int l = 0; l < program->launch_count; l++) {
        const RunLaunch *launch = &program->launches[l];
        json_open_object(json, NULL);
        json_string(json, "symbol", launch->symbol);
        triple_add_json(json, "grid", launch->grid);
        triple_add_json(json, "block", launch->block);
        json_unsigned(json, "shared", launch->shared);
        json_open_array(json, "arguments"); // [buffer, or -1; bytes; value]
        for (int a = 0; a < launch->argument_count; a++) {
            char value[32]; // as text: JSON readers do not keep 64 bits
            snprintf(value, sizeof value, "%" PRIu64, launch->arguments[a].value);
            json_open_array(json, NULL);
            json_integer(json, NULL, launch->arguments[a].buffer);
            json_unsigned(json, NULL, launch->arguments[a].bytes);
            json_string(json, NULL, value);
            json_close_array(json);
        }
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
}

static void add_findings(JsonWriter *json, const RunReply *reply) {
    json_open_array(json, "findings");
    for (int i = 0; reply->end == RUN_REPLIED && i < reply->header->finding_count; i++) {
        json_open_object(json, NULL);
        finding_add_json(json, &reply->findings[i]);
        json_close_object(json);
    }
    json_close_array(json);
}

static int run_case(Runner *runner, const Image *image, const Case *one, const char *folder) {
    static TaskShape shape;
    static Request request;
    static PreparedCache cache;
    static CaseReport report;
    const Task *task = &chapter.tasks[one->task];
    CaseLayout layout;
    RunReply reply;
    char why[512];
    JsonWriter json = {0};
    json_open_object(&json, NULL);
    report.settings = *one;
    if (!ask_shape(runner, 0, task, one->task, image->kernels[one->task], one->size, &shape) ||
        shape.verdict != VERDICT_PASS) {
        json_string(&json, "verdict", verdict_word(shape.verdict));
    } else if (!case_layout(task, &shape.shape, arena_bytes, &layout, why, sizeof why)) {
        json_string(&json, "verdict", verdict_word(VERDICT_LAUNCH));
    } else {
        Prepared *prepared = prepared_take(&cache, task, one, &shape.shape, layout.counts, SEED);
        if (!prepared) return complain("out of memory for the inputs");
        case_request(task, one, &shape.shape, &layout, prepared, image->kernels[one->task],
                     runner_arena(runner), &request);
        request.rounds = 1;
        if (folder && !write_inputs(folder, &request.program, runner_arena(runner))) return EXIT_MACHINE;
        runner_run(runner, &request, case_seconds(false, one->size.n), &reply);
        case_judge(task, &shape.shape, &layout, prepared, &reply, runner_arena(runner), false, &report);
        json_string(&json, "verdict", verdict_word(report.verdict));
        add_findings(&json, &reply);
        add_program(&json, &request.program);
        prepared_release(prepared);
    }
    json_close_object(&json);
    if (!json_finish(&json)) return complain("out of memory");
    fwrite(text_chars(&json.text), 1, json.text.bytes, stdout);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--runner") == 0) return runner_main();
    static Builds builds;
    Case one = {0};
    if (count < 11 || !read_case(arguments + 2, &one)) {
        complain("KERNEL.ptx TASK N ROWS COLUMNS DEPTH FAMILY MISALIGNMENT STAGGERED SCHEDULE [FOLDER]");
        return EXIT_USAGE;
    }
    char folder[512];
    if (!workbook_chapter(chapter.name, folder, sizeof folder))
        return complain("run it in the workbook's root");
    const BuildPlan plan = {.of = &chapter, .tree = "", .folder = folder, .kernel_file = arguments[1]};
    if (!builds_open(&plan, &builds)) return complain(builds.message);
    RunnerPlan wanted = {.kind = GPU_EMULATOR, .arena_bytes = arena_bytes};
    runner_plan_add(&wanted, &builds.subjects.kernel->text, builds.subjects.kernel->name);
    RunReply reply;
    Runner *runner = runner_start(&wanted, &reply);
    if (!runner) return complain(reply.words);
    const int status = run_case(runner, builds.subjects.kernel, &one, count > 11 ? arguments[11] : NULL);
    runner_stop(runner);
    return status;
}
