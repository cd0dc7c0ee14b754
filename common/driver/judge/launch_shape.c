#include "driver/judge/launch_shape.h"

#include <stdio.h>
#include <string.h>

#include "driver/plan/shape.h"

static void fail_shape(TaskShape *shape, Verdict verdict, const char *words) {
    shape->verdict = verdict;
    snprintf(shape->words, sizeof shape->words, "%.511s", words);
}

static bool ask_launch(Runner *runner, int image, const Launch *launch, const ImageKernel *kernel,
                       long long n, const CaseSize *size, LaunchShapeImage *answer, TaskShape *shape) {
    static Request request;
    GpuFiguresImage figures;
    gpu_figures(runner_info(runner), &figures);
    memset(&request, 0, sizeof request);
    RunProgram *program = &request.program;
    program->image = image;
    program->buffer_count = 2;
    program->buffers[0] =
        (RunBuffer){.name = "launch", .bytes = sizeof *answer, .fill = FILL_ZERO, .is_read_back = 1};
    program->buffers[1] = (RunBuffer){
        .name = "gpu", .bytes = sizeof figures, .arena_offset = 256, .fill = FILL_DATA, .is_read_only = 1};
    memcpy(runner_arena(runner) + 256, &figures, sizeof figures);
    program->launch_count = 1;
    program->launches[0] =
        (RunLaunch){.grid = {1, 1, 1},
                    .block = {1, 1, 1},
                    .argument_count = 5,
                    .max_steps = case_step_limit(0, 1),
                    .arguments = {{.buffer = 0, .bytes = 8},
                                  {.buffer = 1, .bytes = 8},
                                  {.buffer = -1, .bytes = 8, .value = (uint64_t)n},
                                  {.buffer = -1, .bytes = 8, .value = (uint64_t)size->rows},
                                  {.buffer = -1, .bytes = 8, .value = (uint64_t)size->columns}}};
    memcpy(program->launches[0].symbol, kernel->launch_symbol, sizeof program->launches[0].symbol);
    request.checks = CHECK_ALL;

    snprintf(shape->kernel, sizeof shape->kernel, "%s", launch->kernel);
    RunReply reply;
    Runner *const alone[1] = {runner};
    const bool is_gpu = runner_info(runner)->kind == GPU_NVIDIA;
    runner_begin(runner, &request, case_seconds(is_gpu, 0));
    runners_wait(alone, 1, &reply);
    if (reply.end != RUN_REPLIED) {
        fail_shape(shape, reply.end == RUN_TIMED_OUT && is_gpu ? VERDICT_TIMEOUT : VERDICT_INFRA,
                   reply.words);
        return false;
    }
    int count;
    const Finding *finding = worst_finding(&reply, &shape->verdict, &count);
    if (finding) {
        shape->has_finding = true;
        shape->finding = *finding;
        return reply.header->context_lost == 0;
    }
    if (reply.header->status != REPLY_DONE) {
        fail_shape(shape, VERDICT_INFRA, reply.header->message);
        return reply.header->context_lost == 0;
    }
    memcpy(answer, runner_arena(runner), sizeof *answer);
    return true;
}

bool ask_shape(Runner *runner, int image, const Task *task, int index, const ImageKernel kernels[],
               CaseSize size, TaskShape *shape) {
    memset(shape, 0, sizeof *shape);
    shape->task = index;
    shape->size = size;
    shape->verdict = VERDICT_PASS;
    shape->shape.size = size;
    shape->shape.launch_count = task_launch_count(task);
    for (int l = 0; l < shape->shape.launch_count; l++) {
        const Launch *launch = &task->launches[l];
        long long n = quantity_value(task, &launch->n, &shape->shape);
        LaunchShapeImage answer = {0};
        if (n < 0) {
            fail_shape(shape, VERDICT_INFRA,
                       "the chapter's number of elements for this launch makes no sense");
            return true;
        }
        if (!ask_launch(runner, image, launch, &kernels[l], n, &size, &answer, shape)) return false;
        if (shape->verdict != VERDICT_PASS) return true;
        char why[512];
        if (!shape_from_image(&answer, launch, n, runner_info(runner), &shape->shape.launches[l], why,
                              sizeof why)) {
            fail_shape(shape, VERDICT_LAUNCH, why);
            return true;
        }
    }
    return true;
}
