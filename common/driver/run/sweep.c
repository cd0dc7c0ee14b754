#include "driver/run/sweep.h"

#include <stdlib.h>
#include <string.h>

// read_all(const uint4 *from, uint64_t count, unsigned *sink): every thread of a block reads eight 16-byte
// groups of a tile before it uses the first, so that as many bytes are under way as the GPU can hold; blocks
// take tiles in turn. `count` is a multiple of the tile, 8 * 512 groups. What is read is folded into one word
// and stored only where that word is one that the fill pattern cannot give, so that no read is left out.
static const char reader_text[] =
    ".version 6.3\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry read_all(.param .u64 from, .param .u64 count, .param .u64 sink)\n"
    ".maxntid 512, 1, 1\n"
    "{\n"
    "    .reg .pred %p<3>;\n"
    "    .reg .b32 %r<48>;\n"
    "    .reg .b64 %d<12>;\n"
    "    ld.param.u64 %d1, [from];\n"
    "    ld.param.u64 %d2, [count];\n"
    "    ld.param.u64 %d3, [sink];\n"
    "    cvta.to.global.u64 %d1, %d1;\n"
    "    cvta.to.global.u64 %d3, %d3;\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    mov.u32 %r2, %ctaid.x;\n"
    "    mov.u32 %r3, %nctaid.x;\n"
    "    mov.u32 %r4, 0;\n"
    "    mul.wide.u32 %d4, %r2, 4096;\n" // the tile of this block, in groups
    "    mul.wide.u32 %d5, %r3, 4096;\n" // from one of its tiles to the next
    "    cvt.u64.u32 %d6, %r1;\n"
    "TILE:\n"
    "    setp.ge.u64 %p1, %d4, %d2;\n"
    "    @%p1 bra DONE;\n"
    "    add.u64 %d7, %d4, %d6;\n"
    "    shl.b64 %d7, %d7, 4;\n"
    "    add.u64 %d7, %d1, %d7;\n"
    "    ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d7];\n"
    "    ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%d7+8192];\n"
    "    ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%d7+16384];\n"
    "    ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d7+24576];\n"
    "    ld.global.v4.u32 {%r24, %r25, %r26, %r27}, [%d7+32768];\n"
    "    ld.global.v4.u32 {%r28, %r29, %r30, %r31}, [%d7+40960];\n"
    "    ld.global.v4.u32 {%r32, %r33, %r34, %r35}, [%d7+49152];\n"
    "    ld.global.v4.u32 {%r36, %r37, %r38, %r39}, [%d7+57344];\n"
#define FOLD(a, b, c, d)                                                                                     \
    "    or.b32 %r" a ", %r" a ", %r" b ";\n"                                                                \
    "    or.b32 %r" c ", %r" c ", %r" d ";\n"                                                                \
    "    or.b32 %r" a ", %r" a ", %r" c ";\n"                                                                \
    "    or.b32 %r4, %r4, %r" a ";\n"
    FOLD("8", "9", "10", "11") FOLD("12", "13", "14", "15") FOLD("16", "17", "18", "19")
        FOLD("20", "21", "22", "23") FOLD("24", "25", "26", "27") FOLD("28", "29", "30", "31")
            FOLD("32", "33", "34", "35") FOLD("36", "37", "38", "39") "    add.u64 %d4, %d4, %d5;\n"
                                                                      "    bra TILE;\n"
                                                                      "DONE:\n"
                                                                      "    setp.eq.u32 %p2, %r4, -1;\n"
                                                                      "    @%p2 st.global.u32 [%d3], %r4;\n"
                                                                      "    ret;\n"
                                                                      "}\n";

enum { BLOCK = 512, TILE_BYTES = 8 * BLOCK * 16, CACHES = 4, RUNS = 9 };
// No or of it with itself is all ones.
static const uint32_t fill_pattern = 0x5a5a5a5au;
// For a driver that does not report the size of the cache: more than any GPU has.
static const size_t unknown_cache = (size_t)128 << 20;

bool sweep_open(Gpu *gpu, Sweep *sweep, GpuError *error) {
    *sweep = (Sweep){.gpu = gpu, .rounds = 1};
    const size_t cache = gpu_info(gpu)->l2_bytes > 0 ? (size_t)gpu_info(gpu)->l2_bytes : unknown_cache;
    const size_t bytes = (CACHES * cache + TILE_BYTES - 1) / TILE_BYTES * TILE_BYTES;
    sweep->image = gpu_load(gpu, reader_text, sizeof reader_text - 1, "sweep", error);
    if (sweep->image) sweep->reader = gpu_find_kernel(sweep->image, "read_all", error);
    return sweep->reader && gpu_allocate(gpu, bytes, 0, "sweep", &sweep->room, error);
}

void sweep_close(Sweep *sweep) {
    GpuError ignored;
    if (sweep->gpu) gpu_free(sweep->gpu, &sweep->room, &ignored);
    gpu_unload(sweep->image);
    *sweep = (Sweep){0};
}

static bool queue_reads(Sweep *sweep, const GpuBuffer *from, int blocks_per_sm, GpuError *error) {
    const struct {
        uint64_t from, count, sink;
    } arguments = {from->address, from->bytes / 16, sweep->room.address};
    int sm_count = gpu_info(sweep->gpu)->sm_count;
    if (sm_count < 1) sm_count = 1;
    const GpuLaunch launch = {.grid = {(uint32_t)(blocks_per_sm * sm_count), 1, 1},
                              .block = {BLOCK, 1, 1},
                              .arguments = &arguments,
                              .argument_bytes = sizeof arguments};
    return gpu_launch_async(sweep->gpu, sweep->reader, &launch, error);
}

bool sweep_queue(Sweep *sweep, GpuError *error) {
    bool fine = gpu_fill_async(sweep->gpu, &sweep->room, fill_pattern, error);
    for (int round = 0; fine && round < sweep->rounds; round++)
        fine = queue_reads(sweep, &sweep->room, 2, error);
    return fine;
}

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static bool median_of_reads(Sweep *sweep, const GpuBuffer *from, int blocks_per_sm, GpuTimer *timer,
                            double *median, GpuError *error) {
    double seconds[RUNS];
    for (int run = 0; run < RUNS; run++)
        if (!sweep_queue(sweep, error) || !gpu_timer_start(sweep->gpu, timer, error) ||
            !queue_reads(sweep, from, blocks_per_sm, error) || !gpu_timer_stop(sweep->gpu, timer, error) ||
            !gpu_timer_seconds(sweep->gpu, timer, &seconds[run], error))
            return false;
    qsort(seconds, RUNS, sizeof seconds[0], compare);
    *median = seconds[RUNS / 2];
    return true;
}

bool sweep_read_ceiling(Sweep *sweep, size_t bytes, double *bytes_per_second, GpuError *error) {
    static const int shapes[] = {1, 2, 3, 4}; // blocks of 512 threads on an SM
    GpuBuffer memory = {0};
    GpuTimer *timer = NULL;
    *bytes_per_second = 0;
    bool has_room = false;
    for (bytes = bytes / TILE_BYTES * TILE_BYTES; !has_room && bytes >= TILE_BYTES;) {
        has_room = gpu_allocate(sweep->gpu, bytes, 0, "ceiling", &memory, error);
        if (!has_room && error->is_context_lost) return false;
        if (!has_room) bytes = bytes / 2 / TILE_BYTES * TILE_BYTES;
    }
    *error = (GpuError){0};
    if (!has_room) return true;
    bool fine = gpu_fill_async(sweep->gpu, &memory, fill_pattern, error) &&
                gpu_timer_create(sweep->gpu, &timer, error);
    for (size_t i = 0; fine && i < sizeof shapes / sizeof shapes[0]; i++) {
        double seconds = 0;
        fine = median_of_reads(sweep, &memory, shapes[i], timer, &seconds, error);
        if (fine && seconds > 0 && (double)bytes / seconds > *bytes_per_second)
            *bytes_per_second = (double)bytes / seconds;
    }
    gpu_timer_free(sweep->gpu, timer);
    GpuError ignored;
    return gpu_free(sweep->gpu, &memory, &ignored) && fine;
}
