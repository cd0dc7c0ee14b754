// common/gpu/ for the tests: runs the words of its command line one after the other and prints a line each.
// On failure a line is "no KIND [lost] [machine]: MESSAGE" where KIND is the finding's number.
//   open [auto|emulator|gpu]  close  info  present  limits P S  held
//   allocate BYTES MISALIGNMENT  free  write TEXT  read  fill PATTERN  guards
//   load TEXT  beside TEXT  reset  clocks  architecture  fill_async PATTERN  find NAME  parameters  launch
//   GRID BLOCK SHARED  async  time
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/profiles.h"

static Gpu *gpu;
static GpuBuffer buffer;
static GpuImage *image;
static GpuKernel *kernel;
static GpuError error;

static void say(bool good, const char *words) {
    if (good) {
        printf("ok%s%s\n", words[0] ? " " : "", words);
    } else {
        printf("no %d%s%s: %s\n", (int)error.finding, error.is_context_lost ? " lost" : "",
               error.is_machines_fault ? " machine" : "", error.message);
    }
}

static GpuLaunch launch_of(const char *grid, const char *block, const char *shared, const void *arguments) {
    GpuLaunch launch = {.grid = {(uint32_t)strtoul(grid, NULL, 10), 1, 1},
                        .block = {(uint32_t)strtoul(block, NULL, 10), 1, 1},
                        .dynamic_shared = (uint32_t)strtoul(shared, NULL, 10),
                        .arguments = arguments,
                        .argument_bytes = 16,
                        .max_steps = 100000,
                        .checks = CHECK_ALL};
    return launch;
}

static void held(void) {
    int counts[5];
    size_t limits[2];
    void *library = dlopen(getenv("WARPBOOK_LIBCUDA"), RTLD_NOW);
    void (*ask)(int *, size_t *) = NULL;
    *(void **)&ask = library ? dlsym(library, "fake_held") : NULL;
    if (!ask) return;
    ask(counts, limits);
    printf("ok allocations %d modules %d streams %d events %d contexts %d printf %zu stack %zu\n", counts[0],
           counts[1], counts[2], counts[3], counts[4], limits[0], limits[1]);
    dlclose(library);
}

int main(int argc, char **argv) {
    char words[1024];
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i], *a = i + 1 < argc ? argv[i + 1] : "",
                   *b = i + 2 < argc ? argv[i + 2] : "";
        const char *c = i + 3 < argc ? argv[i + 3] : "";
        struct {
            uint64_t address;
            int64_t bytes;
        } arguments = {buffer.address, (int64_t)buffer.bytes};
        words[0] = '\0';
        if (strcmp(what, "open") == 0) {
            GpuKind kind = strcmp(a, "gpu") == 0        ? GPU_NVIDIA
                           : strcmp(a, "emulator") == 0 ? GPU_EMULATOR
                                                        : GPU_AUTO;
            gpu = gpu_open(kind, getenv("PROFILE"), &error);
            if (gpu) snprintf(words, sizeof words, "%d %s", (int)gpu_info(gpu)->kind, gpu_info(gpu)->name);
            say(gpu != NULL, words);
            i++;
        } else if (strcmp(what, "present") == 0) {
            bool is_there = gpu_nvidia_present(words, sizeof words);
            printf("%s %s\n", is_there ? "ok" : "no", words);
        } else if (strcmp(what, "close") == 0) {
            gpu_close(gpu);
            gpu = NULL;
            image = NULL;
            buffer = (GpuBuffer){0};
            say(true, "");
        } else if (strcmp(what, "info") == 0) {
            const GpuInfo *info = gpu_info(gpu);
            printf("ok %d.%d sm %d block %u grid %u,%u peak %.1f memory %zu\n", info->compute_major,
                   info->compute_minor, info->sm_count, info->max_block[0], info->max_grid[0],
                   info->max_grid[1], info->peak_gb_per_s, info->memory_bytes);
        } else if (strcmp(what, "held") == 0) {
            held();
        } else if (strcmp(what, "limits") == 0) {
            say(gpu_set_limits(gpu, strtoul(a, NULL, 10), strtoul(b, NULL, 10), &error), "");
            i += 2;
        } else if (strcmp(what, "allocate") == 0) {
            bool good = gpu_allocate(gpu, strtoul(a, NULL, 10), (unsigned)atoi(b), "data", &buffer, &error);
            snprintf(words, sizeof words, "past %d", (int)(buffer.address % 256));
            say(good, words);
            i += 2;
        } else if (strcmp(what, "free") == 0) {
            say(gpu_free(gpu, &buffer, &error), "");
        } else if (strcmp(what, "write") == 0) {
            say(gpu_write(gpu, &buffer, 0, a, strlen(a), &error), "");
            i++;
        } else if (strcmp(what, "read") == 0) {
            unsigned char bytes[32] = {0};
            size_t count = buffer.bytes < sizeof bytes ? buffer.bytes : sizeof bytes;
            bool good = gpu_read(gpu, bytes, &buffer, buffer.bytes - count, count, &error);
            for (size_t j = 0; j < count; j++) snprintf(words + 2 * j, 3, "%02x", bytes[j]);
            say(good, words);
        } else if (strcmp(what, "read_outside") == 0) {
            say(gpu_read(gpu, words, &buffer, buffer.bytes, 1, &error), "");
        } else if (strcmp(what, "fill") == 0) {
            say(gpu_fill(gpu, &buffer, (uint32_t)strtoul(a, NULL, 16), true, &error), "");
            i++;
        } else if (strcmp(what, "guards") == 0) {
            int64_t index;
            bool good = gpu_guards_intact(gpu, &buffer, &index, &error);
            if (!good) printf("at %" PRId64 " ", index);
            say(good, "");
        } else if (strcmp(what, "load") == 0) {
            gpu_unload(image);
            image = gpu_load(gpu, a, strlen(a), "kernel.ptx", &error);
            say(image != NULL, "");
            i++;
        } else if (strcmp(what, "beside") == 0) {
            say(gpu_load(gpu, a, strlen(a), "beside.ptx", &error) != NULL, "");
            i++;
        } else if (strcmp(what, "fill_async") == 0) {
            say(gpu_fill_async(gpu, &buffer, (uint32_t)strtoul(a, NULL, 16), &error) &&
                    gpu_synchronize(gpu, &error),
                "");
            i++;
        } else if (strcmp(what, "clocks") == 0) {
            static const char *const kinds[] = {"free", "held", "unknown"};
            const GpuClocks clocks = gpu_clocks(gpu, words, sizeof words);
            printf("%s%s%s\n", kinds[clocks], words[0] ? " " : "", words);
        } else if (strcmp(what, "architecture") == 0) {
            const int architecture = gpu_nvidia_architecture(words, sizeof words);
            printf("%d%s%s\n", architecture, words[0] ? " " : "", words);
        } else if (strcmp(what, "reset") == 0) {
            say(gpu_reset_variables(image, &error), "");
        } else if (strcmp(what, "find") == 0) {
            kernel = image ? gpu_find_kernel(image, a, &error) : NULL;
            if (kernel) snprintf(words, sizeof words, "%d registers", gpu_kernel_registers(kernel));
            say(kernel != NULL, words);
            i++;
        } else if (strcmp(what, "parameters") == 0) {
            int count;
            size_t offsets[64], sizes[64];
            bool good = gpu_kernel_parameters(kernel, &count, offsets, sizes);
            for (int j = 0; j < count; j++) {
                snprintf(words + strlen(words), sizeof words - strlen(words), " %zu+%zu", offsets[j],
                         sizes[j]);
            }
            printf("%s%s\n", good ? "ok" : "unknown", words);
        } else if (strcmp(what, "launch") == 0) {
            GpuLaunch launch = launch_of(a, b, c, &arguments);
            EmulatorResult result;
            bool good = gpu_launch(gpu, kernel, &launch, &result, &error);
            if (good != result.completed) printf("(completed %d) ", (int)result.completed);
            say(good, "");
            emulator_result_free(&result);
            i += 3;
        } else if (strcmp(what, "time") == 0) {
            GpuTimer *timer = NULL;
            GpuLaunch launch = launch_of("1", "32", "0", &arguments);
            double seconds = 0;
            bool good = gpu_timer_create(gpu, &timer, &error) && gpu_timer_start(gpu, timer, &error) &&
                        gpu_launch_async(gpu, kernel, &launch, &error) &&
                        gpu_timer_stop(gpu, timer, &error) && gpu_synchronize(gpu, &error) &&
                        gpu_timer_seconds(gpu, timer, &seconds, &error);
            snprintf(words, sizeof words, "%.6f s", seconds);
            say(good, words);
            gpu_timer_free(gpu, timer);
        } else {
            return 2;
        }
    }
    gpu_close(gpu);
    return 0;
}
