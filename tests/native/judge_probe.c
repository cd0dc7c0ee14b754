// The judge, the page and the JSON over kernels that are C functions (fake_gpu.c): a sum with one partial a
// warp, as in chapter 4, that goes wrong in the way that PROBE names in the environment.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/judge/judge.h"
#include "driver/judge/launch_shape.h"
#include "driver/page/page.h"
#include "driver/result/result.h"
#include "driver/run/runner.h"
#include "driver/run/runner_child.h"
#include "fake_gpu.h"

const Chapter chapter = {
    .number = 4,
    .name = "ch04",
    .title = "Warp shuffle",
    .points = 10,
    .tasks = {{
        .name = "sum_shuffle",
        .buffers = {{.name = "in", .role = INPUT, .misaligned = true},
                    {.name = "partial", .role = OUTPUT, .count = PER_WARP}},
        .launches = {{.kernel = "sum_shuffle", .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)}}},
        .expect = EXPECT_SUM,
        .chain = CHAIN_WARP,
        .is_bit_identical = true,
        .max_n_gpu = 1 << 20,
    }},
    .goals = {{.words = "sectors per load request",
               .measure = "global_ld_sectors / global_ld_requests",
               .bound = AT_MOST,
               .limit = 4,
               .points = 3,
               .why = "Every sector costs the same, used or not."},
              {.words = "shuffles per warp",
               .measure = "shuffles / warps",
               .bound = AT_MOST,
               .limit = 5,
               .points = 2},
              {.words = "of the reference's bandwidth",
               .measure = "bandwidth_ratio",
               .bound = AT_LEAST,
               .limit = 0.95,
               .points = 1}},
    .remarks = {{"RACE", NULL, "Only one lane of a warp should write."}},
};

static bool probe(const char *name) {
    const char *wanted = getenv("PROBE");
    return wanted && strcmp(wanted, name) == 0;
}

// ---- Kernels ----------------------------------------------------------------------------------------------

static void launch_sum(const GpuLaunch *launch, EmulatorResult *result, Finding *finding) {
    (void)result, (void)finding;
    LaunchShapeImage *shape;
    long long n;
    memcpy(&shape, launch->arguments, sizeof shape);
    memcpy(&n, (const char *)launch->arguments + 16, sizeof n);
    if (probe("launch_unset")) return;
    if (probe("launch_too_many")) n = 1LL << 50;
    long long blocks = (n + 255) / 256;
    if (blocks > 1056 && !probe("launch_too_many")) blocks = 1056;
    shape->grid[0] = blocks;
    shape->block[0] = probe("launch_big_block") ? 2048 : 256;
    shape->grid[1] = shape->grid[2] = shape->block[1] = shape->block[2] = 1;
    if (probe("launch_crash")) raise(SIGKILL);
}

static void garble_reply(void) {
    char rubbish[8192];
    memset(rubbish, 0x5a, sizeof rubbish);
    for (int i = 0; i < 16; i++)
        if (write(RUNNER_SOCKET, rubbish, sizeof rubbish) < 0) break;
}

// Warp w of W adds elements w, w + W, ...: right in exact arithmetic, and wrong in one way at a time.
static void sum(const GpuLaunch *launch, EmulatorResult *result, Finding *finding) {
    const float *in;
    float *partial;
    int n;
    memcpy(&in, launch->arguments, sizeof in);
    memcpy(&partial, (const char *)launch->arguments + 8, sizeof partial);
    memcpy(&n, (const char *)launch->arguments + 16, sizeof n);
    int warps = (int)(launch->grid[0] * (launch->block[0] / 32)), count = n;
    if (probe("drops_last")) count = n - 1;
    if (probe("drops_tail") && n >= 4) count = n / 4 * 4;
    for (int warp = 0; warp < warps; warp++) {
        float total = 0;
        for (int i = warp; i < count; i += warps) total += in[i];
        if (probe("twice")) total *= 2;
        if (probe("zero")) total = 0;
        if (probe("unwritten") && warp == warps - 1) continue;
        if (probe("by_schedule") && warp == 0 && total != floorf(total))
            total = nextafterf(total, launch->schedule % 2 ? INFINITY : -INFINITY);
        partial[warp] = total;
    }
    if (probe("no_nan"))
        for (int warp = 0; warp < warps; warp++)
            if (isnan(partial[warp])) partial[warp] = 0;
    if (probe("overrun") && n == 33) partial[warps] = 1;
    if (probe("writes_input") && n == 33) *(float *)(uintptr_t)&in[7] = 3;
    if (probe("crash") && n == 33) raise(SIGKILL);
    if (probe("always_crash")) raise(SIGKILL);
    // O_EXCL: of several workers that reach this size together exactly one makes the file, and only that one
    // ends.
    if (probe("crash_once") && n == 33 && open("crashed", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
        raise(SIGKILL);
    if (probe("exit")) exit(0);
    static int runs; // in this runner
    runs++;
    if (probe("spoilt_by_many") && runs > 60) partial[0] += 1;
    if (probe("crash_when_timed") && runs > 60) raise(SIGKILL);
    if (probe("wrong_on_gpu") && is_fake_gpu) partial[0] += 1;
    if (probe("crash_on_emulator") && !is_fake_gpu) raise(SIGKILL);
    if (probe("hang") && n == 33)
        for (;;) pause();
    if (probe("garbage") && n == 33) garble_reply();
    if (probe("prints")) {
        printf("hello \033[31m from n = %d\n", n);
        if (n == 33)
            for (int i = 0; i < 20000; i++) printf("line %d\n", i);
    }
    if (probe("unsupported_on_emulator") && !is_fake_gpu) {
        *finding = (Finding){.kind = FINDING_UNSUPPORTED, .fatal = true, .warp = -1, .lane = -1, .count = 1};
        snprintf(finding->message, sizeof finding->message, "the opcode tex.2d is not known");
    }
    if ((probe("race") || (probe("race_on_emulator") && !is_fake_gpu)) && n >= 64) {
        *finding = (Finding){.kind = FINDING_RACE,
                             .place = {.file = "kernel.cu", .line = 7, .column = 5},
                             .other_place = {.file = "kernel.cu", .line = 7},
                             .warp = 1,
                             .lane = 3,
                             .count = 2,
                             .address = 0x1000,
                             .bytes = 4,
                             .is_store = true,
                             .object = "partial",
                             .object_bytes = 32};
        snprintf(finding->message, sizeof finding->message,
                 "threads (0,0,0) and (1,0,0) both write partial[0]");
    }
    if (probe("partial_barrier") && n >= 64) {
        *finding = (Finding){.kind = FINDING_PARTIAL_BARRIER,
                             .place = {.file = "kernel.cu", .line = 9},
                             .warp = 0,
                             .count = 1};
        snprintf(finding->message, sizeof finding->message,
                 "thread (0,0,0) waits at a barrier that 31 of the block's 32 threads never execute");
    }
    if (probe("fault") && n == 257) {
        *finding =
            (Finding){.kind = FINDING_OUT_OF_BOUNDS, .fatal = true, .warp = -1, .lane = -1, .count = 1};
        snprintf(finding->message, sizeof finding->message, "reads 4 bytes at in + 1028");
    }
    if (launch->count) {
        result->counters.global_ld_requests = 1000;
        result->counters.global_ld_sectors = probe("slow") ? 32000 : 4000;
        result->counters.shuffles = 5 * (uint64_t)warps;
        result->line_count = 1;
        result->lines = calloc(1, sizeof *result->lines);
        if (result->lines) {
            snprintf(result->lines[0].place.file, sizeof result->lines[0].place.file, "kernel.cu");
            result->lines[0].place.line = 7;
            result->lines[0].counters = result->counters;
        }
    }
}

// The workbook's own, which cleans the cache: there is none here.
static void read_all(const GpuLaunch *launch, EmulatorResult *result, Finding *finding) {
    (void)launch, (void)result, (void)finding;
}

const FakeKernel fake_kernels[] = {{"launch_sum_shuffle", "pplll", launch_sum},
                                   {"sum_shuffle", "ppi", sum},
                                   {"read_all", "plp", read_all},
                                   {0}};

// ---- The run ----------------------------------------------------------------------------------------------

// A runner that hangs is stopped after its time, and another takes its place.
static int time_out(void) {
    static Request request;
    RunProgram *const program = &request.program;
    const RunnerPlan plan = {.kind = GPU_EMULATOR,
                             .images = {{.image = "x", .bytes = 1}},
                             .image_count = 1,
                             .arena_bytes = 1 << 20};
    RunReply reply;
    Runner *runner = runner_start(&plan, &reply);
    if (!runner) return 3;
    program->buffer_count = 2;
    program->buffers[0] = (RunBuffer){.name = "in", .bytes = 33 * 4, .fill = FILL_DATA};
    program->buffers[1] =
        (RunBuffer){.name = "partial", .bytes = 4, .arena_offset = 1024, .fill = FILL_POISON};
    program->launch_count = 1;
    program->launches[0] = (RunLaunch){.symbol = "sum_shuffle",
                                       .grid = {1, 1, 1},
                                       .block = {32, 1, 1},
                                       .argument_count = 3,
                                       .arguments = {{0, 8, 0}, {1, 8, 0}, {-1, 4, 33}}};
    runner_begin(runner, &request, 0.2);
    Runner *const runners[1] = {runner};
    runners_wait(runners, 1, &reply);
    printf("%s", reply.end == RUN_TIMED_OUT ? "timed out, " : "answered, ");
    program->launches[0].arguments[2].value = 31; // this one ends
    if (!runner_restart(runner, &reply)) return 3;
    runner_begin(runner, &request, 10);
    runners_wait(runners, 1, &reply);
    printf("%s\n",
           reply.end == RUN_REPLIED && reply.header->status == REPLY_DONE ? "then answered" : "then failed");
    program->buffers[0].arena_offset = 1u << 30; // outside the arena: refused, not followed
    runner_begin(runner, &request, 10);
    runners_wait(runners, 1, &reply);
    printf("%s\n", reply.end == RUN_REPLIED ? reply.header->message : reply.words);
    runner_stop(runner);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--runner") == 0) return runner_main();
    signal(SIGPIPE, SIG_IGN);
    static Options options;
    static Image image;
    static Judgement judgement;
    char why[256];
    if (!options_parse(count, arguments, &options, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 2;
    }
    if (options.is_help) {
        options_print_help("ch04");
        return 0;
    }
    if (options.has_schedule && options.schedule == 999) return time_out();
    text_add(&image.text, "an image");
    image.is_ptx = true;
    image.verdict = VERDICT_PASS;
    image.kernels[0][0] =
        (ImageKernel){.symbol = "sum_shuffle", .launch_symbol = "launch_sum_shuffle", .registers = 12};
    const bool has_reference = getenv("FAKE_NO_REFERENCE") == NULL;
    const Subjects subjects = {.kernel = &image,
                               .emulated = probe("no_ptx") ? NULL : &image,
                               .reference = has_reference ? &image : NULL,
                               .reference_name = "solutions/kernel.cu",
                               .no_reference = "no reference: there is none"};
    judge(&chapter, &subjects, &options, NULL, &judgement);
    static Diagnosis diagnosis, second;
    diagnose(&chapter, NULL, &judgement, &diagnosis);
    const Report report = {.of = &chapter,
                           .options = &options,
                           .image = &image,
                           .judgement = &judgement,
                           .diagnosis = &diagnosis,
                           .second = &second,
                           .source = "kernel.cu",
                           .next_chapter = "ch05"};
    Text page = {0};
    Terminal terminal = terminal_of_stdout();
    page_add(&page, &terminal, &report);
    if (options.is_profile) profile_add(&page, &terminal, &report);
    terminal_write(&terminal, &page);
    text_free(&page);
    FileError error;
    if (options.json_file && !result_write(options.json_file, &report, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 3;
    }
    int status = verdict_exit_status(judgement.verdict);
    judgement_free(&judgement);
    image_free(&image);
    return status;
}
