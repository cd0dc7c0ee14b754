// Chapter 6: occupancy. A table of questions that a learner's formulas must answer exactly, and a launch that
// fills the GPU.
//
// The answers are those of NVIDIA's occupancy calculator, cuda_occupancy.h of the CUDA toolkit;
// tests/test_occupancy_table.py compares every line of TABLE with it.
#include <limits.h>
#include <stdio.h>

#include "driver/plan/chapter.h"

// What the GPUs have: SMs, threads per SM and per block, blocks per SM, registers per SM and per block,
// shared memory per SM and (opted in to) per block, reserved for the system per block, and allocation unit.
// Sources: CUDA C++ Programming Guide, "Compute Capabilities", for all but the number of SMs, which NVIDIA's
// data sheets give.
#define Jetson_TX2 2, 2048, 1024, 32, 65536, 32768, 65536, 49152, 0, 256
#define V100 80, 2048, 1024, 32, 65536, 65536, 98304, 98304, 0, 256
#define T4 40, 1024, 1024, 16, 65536, 65536, 65536, 65536, 0, 256
#define A100 108, 2048, 1024, 32, 65536, 65536, 167936, 166912, 1024, 128
#define RTX_3090 82, 1536, 1024, 16, 65536, 65536, 102400, 101376, 1024, 128
#define L4 58, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define RTX_4090 128, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define H100 132, 2048, 1024, 32, 65536, 65536, 233472, 232448, 1024, 128
#define H200 132, 2048, 1024, 32, 65536, 65536, 233472, 232448, 1024, 128
#define B200 148, 2048, 1024, 32, 65536, 65536, 233472, 232448, 1024, 128
#define RTX_5060 30, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define RTX_5070_Ti 70, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128
#define RTX_5090 170, 1536, 1024, 24, 65536, 65536, 102400, 101376, 1024, 128

#define NO_LIMIT INT_MAX

// GPU; threads per block, registers per thread, bytes of shared memory per block; blocks per SM limited by
// threads, registers, shared memory and blocks; blocks and warps per SM, per cent, blocks on the GPU.
#define TABLE(ROW)                                                                                           \
    ROW(Jetson_TX2, 256, 12, 32, 8, 16, 256, 32, 8, 64, 100, 16)                                             \
    ROW(Jetson_TX2, 1024, 32, 4096, 2, 2, 16, 32, 2, 64, 100, 4)                                             \
    ROW(Jetson_TX2, 32, 16, 0, 64, 128, NO_LIMIT, 32, 32, 32, 50, 64)                                        \
    ROW(Jetson_TX2, 1000, 65, 0, 2, 0, NO_LIMIT, 32, 0, 0, 0, 0)                                             \
    ROW(Jetson_TX2, 192, 88, 1000, 10, 3, 64, 32, 3, 18, 28, 6)                                              \
    ROW(Jetson_TX2, 256, 40, 49152, 8, 6, 1, 32, 1, 8, 12, 2)                                                \
    ROW(Jetson_TX2, 96, 88, 500, 21, 6, 128, 32, 6, 18, 28, 12)                                              \
    ROW(Jetson_TX2, 512, 64, 0, 4, 2, NO_LIMIT, 32, 2, 32, 50, 4)                                            \
    ROW(Jetson_TX2, 544, 64, 0, 3, 0, NO_LIMIT, 32, 0, 0, 0, 0)                                              \
    ROW(Jetson_TX2, 416, 72, 2000, 4, 0, 32, 32, 0, 0, 0, 0)                                                 \
    ROW(Jetson_TX2, 64, 24, 49153, 32, 42, 0, 32, 0, 0, 0, 0)                                                \
    ROW(Jetson_TX2, 160, 128, 257, 12, 3, 128, 32, 3, 15, 23, 6)                                             \
    ROW(V100, 256, 12, 32, 8, 16, 384, 32, 8, 64, 100, 640)                                                  \
    ROW(V100, 1024, 32, 4096, 2, 2, 24, 32, 2, 64, 100, 160)                                                 \
    ROW(V100, 32, 16, 0, 64, 128, NO_LIMIT, 32, 32, 32, 50, 2560)                                            \
    ROW(V100, 1000, 65, 0, 2, 0, NO_LIMIT, 32, 0, 0, 0, 0)                                                   \
    ROW(V100, 192, 88, 1000, 10, 3, 96, 32, 3, 18, 28, 240)                                                  \
    ROW(V100, 256, 40, 49152, 8, 6, 2, 32, 2, 16, 25, 160)                                                   \
    ROW(V100, 96, 88, 500, 21, 6, 192, 32, 6, 18, 28, 480)                                                   \
    ROW(V100, 128, 32, 0, 16, 16, NO_LIMIT, 32, 16, 64, 100, 1280)                                           \
    ROW(V100, 96, 72, 12000, 21, 9, 8, 32, 8, 24, 37, 640)                                                   \
    ROW(V100, 1024, 64, 98304, 2, 1, 1, 32, 1, 32, 50, 80)                                                   \
    ROW(V100, 64, 24, 98305, 32, 42, 0, 32, 0, 0, 0, 0)                                                      \
    ROW(V100, 160, 255, 6144, 12, 1, 16, 32, 1, 5, 7, 80)                                                    \
    ROW(T4, 256, 12, 32, 4, 16, 256, 16, 4, 32, 100, 160)                                                    \
    ROW(T4, 1024, 32, 4096, 1, 2, 16, 16, 1, 32, 100, 40)                                                    \
    ROW(T4, 32, 16, 0, 32, 128, NO_LIMIT, 16, 16, 16, 50, 640)                                               \
    ROW(T4, 1000, 65, 0, 1, 0, NO_LIMIT, 16, 0, 0, 0, 0)                                                     \
    ROW(T4, 192, 88, 1000, 5, 3, 64, 16, 3, 18, 56, 120)                                                     \
    ROW(T4, 256, 40, 49152, 4, 6, 1, 16, 1, 8, 25, 40)                                                       \
    ROW(T4, 96, 88, 500, 10, 6, 128, 16, 6, 18, 56, 240)                                                     \
    ROW(T4, 64, 32, 0, 16, 32, NO_LIMIT, 16, 16, 32, 100, 640)                                               \
    ROW(T4, 512, 64, 32768, 2, 2, 2, 16, 2, 32, 100, 80)                                                     \
    ROW(T4, 1024, 65, 0, 1, 0, NO_LIMIT, 16, 0, 0, 0, 0)                                                     \
    ROW(T4, 1, 1, 0, 32, 256, NO_LIMIT, 16, 16, 16, 50, 640)                                                 \
    ROW(T4, 33, 40, 4000, 16, 24, 16, 16, 16, 32, 100, 640)                                                  \
    ROW(A100, 256, 12, 32, 8, 16, 145, 32, 8, 64, 100, 864)                                                  \
    ROW(A100, 1024, 32, 4096, 2, 2, 32, 32, 2, 64, 100, 216)                                                 \
    ROW(A100, 32, 16, 0, 64, 128, 164, 32, 32, 32, 50, 3456)                                                 \
    ROW(A100, 1000, 65, 0, 2, 0, 164, 32, 0, 0, 0, 0)                                                        \
    ROW(A100, 192, 88, 1000, 10, 3, 82, 32, 3, 18, 28, 324)                                                  \
    ROW(A100, 256, 40, 49152, 8, 6, 3, 32, 3, 24, 37, 324)                                                   \
    ROW(A100, 96, 88, 500, 21, 6, 109, 32, 6, 18, 28, 648)                                                   \
    ROW(A100, 1024, 33, 0, 2, 1, 164, 32, 1, 32, 50, 108)                                                    \
    ROW(A100, 128, 128, 83000, 16, 4, 1, 32, 1, 4, 6, 108)                                                   \
    ROW(A100, 512, 40, 166912, 4, 3, 1, 32, 1, 16, 25, 108)                                                  \
    ROW(A100, 64, 32, 166913, 32, 32, 0, 32, 0, 0, 0, 0)                                                     \
    ROW(A100, 224, 48, 5000, 9, 5, 27, 32, 5, 35, 54, 540)                                                   \
    ROW(RTX_3090, 256, 12, 32, 6, 16, 88, 16, 6, 48, 100, 492)                                               \
    ROW(RTX_3090, 1024, 32, 4096, 1, 2, 20, 16, 1, 32, 66, 82)                                               \
    ROW(RTX_3090, 32, 16, 0, 48, 128, 100, 16, 16, 16, 33, 1312)                                             \
    ROW(RTX_3090, 1000, 65, 0, 1, 0, 100, 16, 0, 0, 0, 0)                                                    \
    ROW(RTX_3090, 192, 88, 1000, 8, 3, 50, 16, 3, 18, 37, 246)                                               \
    ROW(RTX_3090, 256, 40, 49152, 6, 6, 2, 16, 2, 16, 33, 164)                                               \
    ROW(RTX_3090, 96, 88, 500, 16, 6, 66, 16, 6, 18, 37, 492)                                                \
    ROW(RTX_3090, 64, 24, 1, 24, 42, 88, 16, 16, 32, 66, 1312)                                               \
    ROW(RTX_3090, 384, 40, 20000, 4, 4, 4, 16, 4, 48, 100, 328)                                              \
    ROW(RTX_3090, 1025, 16, 0, 0, 3, 100, 16, 0, 0, 0, 0)                                                    \
    ROW(RTX_3090, 768, 43, 1024, 2, 1, 50, 16, 1, 24, 50, 82)                                                \
    ROW(L4, 256, 12, 32, 6, 16, 88, 24, 6, 48, 100, 348)                                                     \
    ROW(L4, 1024, 32, 4096, 1, 2, 20, 24, 1, 32, 66, 58)                                                     \
    ROW(L4, 32, 16, 0, 48, 128, 100, 24, 24, 24, 50, 1392)                                                   \
    ROW(L4, 1000, 65, 0, 1, 0, 100, 24, 0, 0, 0, 0)                                                          \
    ROW(L4, 192, 88, 1000, 8, 3, 50, 24, 3, 18, 37, 174)                                                     \
    ROW(L4, 256, 40, 49152, 6, 6, 2, 24, 2, 16, 33, 116)                                                     \
    ROW(L4, 96, 88, 500, 16, 6, 66, 24, 6, 18, 37, 348)                                                      \
    ROW(L4, 256, 40, 0, 6, 6, 100, 24, 6, 48, 100, 348)                                                      \
    ROW(L4, 1024, 16, 32, 1, 4, 88, 24, 1, 32, 66, 58)                                                       \
    ROW(L4, 64, 12, 3072, 24, 64, 25, 24, 24, 48, 100, 1392)                                                 \
    ROW(L4, 512, 42, 8192, 3, 2, 11, 24, 2, 32, 66, 116)                                                     \
    ROW(L4, 96, 104, 101376, 16, 5, 1, 24, 1, 3, 6, 58)                                                      \
    ROW(L4, 128, 32, 101377, 12, 16, 0, 24, 0, 0, 0, 0)                                                      \
    ROW(RTX_4090, 256, 12, 32, 6, 16, 88, 24, 6, 48, 100, 768)                                               \
    ROW(RTX_4090, 1024, 32, 4096, 1, 2, 20, 24, 1, 32, 66, 128)                                              \
    ROW(RTX_4090, 32, 16, 0, 48, 128, 100, 24, 24, 24, 50, 3072)                                             \
    ROW(RTX_4090, 1000, 65, 0, 1, 0, 100, 24, 0, 0, 0, 0)                                                    \
    ROW(RTX_4090, 192, 88, 1000, 8, 3, 50, 24, 3, 18, 37, 384)                                               \
    ROW(RTX_4090, 256, 40, 49152, 6, 6, 2, 24, 2, 16, 33, 256)                                               \
    ROW(RTX_4090, 96, 88, 500, 16, 6, 66, 24, 6, 18, 37, 768)                                                \
    ROW(RTX_4090, 64, 33, 3073, 24, 24, 24, 24, 24, 48, 100, 3072)                                           \
    ROW(RTX_4090, 736, 24, 2048, 2, 3, 33, 24, 2, 46, 95, 256)                                               \
    ROW(RTX_4090, 320, 56, 11000, 4, 3, 8, 24, 3, 30, 62, 384)                                               \
    ROW(RTX_4090, 31, 255, 0, 48, 8, 100, 24, 8, 8, 16, 1024)                                                \
    ROW(H100, 256, 12, 32, 8, 16, 202, 32, 8, 64, 100, 1056)                                                 \
    ROW(H100, 1024, 32, 4096, 2, 2, 45, 32, 2, 64, 100, 264)                                                 \
    ROW(H100, 32, 16, 0, 64, 128, 228, 32, 32, 32, 50, 4224)                                                 \
    ROW(H100, 1000, 65, 0, 2, 0, 228, 32, 0, 0, 0, 0)                                                        \
    ROW(H100, 192, 88, 1000, 10, 3, 114, 32, 3, 18, 28, 396)                                                 \
    ROW(H100, 256, 40, 49152, 8, 6, 4, 32, 4, 32, 50, 528)                                                   \
    ROW(H100, 96, 88, 500, 21, 6, 152, 32, 6, 18, 28, 792)                                                   \
    ROW(H100, 128, 168, 232448, 16, 3, 1, 32, 1, 4, 6, 132)                                                  \
    ROW(H100, 384, 168, 100000, 5, 1, 2, 32, 1, 12, 18, 132)                                                 \
    ROW(H100, 64, 16, 6144, 32, 64, 32, 32, 32, 64, 100, 4224)                                               \
    ROW(H100, 1024, 64, 32768, 2, 1, 6, 32, 1, 32, 50, 132)                                                  \
    ROW(H100, 288, 96, 127, 7, 2, 202, 32, 2, 18, 28, 264)                                                   \
    ROW(H200, 256, 12, 32, 8, 16, 202, 32, 8, 64, 100, 1056)                                                 \
    ROW(H200, 1024, 32, 4096, 2, 2, 45, 32, 2, 64, 100, 264)                                                 \
    ROW(H200, 32, 16, 0, 64, 128, 228, 32, 32, 32, 50, 4224)                                                 \
    ROW(H200, 1000, 65, 0, 2, 0, 228, 32, 0, 0, 0, 0)                                                        \
    ROW(H200, 192, 88, 1000, 10, 3, 114, 32, 3, 18, 28, 396)                                                 \
    ROW(H200, 256, 40, 49152, 8, 6, 4, 32, 4, 32, 50, 528)                                                   \
    ROW(H200, 96, 88, 500, 21, 6, 152, 32, 6, 18, 28, 792)                                                   \
    ROW(H200, 256, 33, 128, 8, 6, 202, 32, 6, 48, 75, 792)                                                   \
    ROW(H200, 512, 128, 1024, 4, 1, 114, 32, 1, 16, 25, 132)                                                 \
    ROW(H200, 32, 128, 7105, 64, 16, 28, 32, 16, 16, 25, 2112)                                               \
    ROW(H200, 640, 48, 40000, 3, 2, 5, 32, 2, 40, 62, 264)                                                   \
    ROW(B200, 256, 12, 32, 8, 16, 202, 32, 8, 64, 100, 1184)                                                 \
    ROW(B200, 1024, 32, 4096, 2, 2, 45, 32, 2, 64, 100, 296)                                                 \
    ROW(B200, 32, 16, 0, 64, 128, 228, 32, 32, 32, 50, 4736)                                                 \
    ROW(B200, 1000, 65, 0, 2, 0, 228, 32, 0, 0, 0, 0)                                                        \
    ROW(B200, 192, 88, 1000, 10, 3, 114, 32, 3, 18, 28, 444)                                                 \
    ROW(B200, 256, 40, 49152, 8, 6, 4, 32, 4, 32, 50, 592)                                                   \
    ROW(B200, 96, 88, 500, 21, 6, 152, 32, 6, 18, 28, 888)                                                   \
    ROW(B200, 128, 255, 116224, 16, 2, 1, 32, 1, 4, 6, 148)                                                  \
    ROW(B200, 192, 128, 232449, 10, 2, 0, 32, 0, 0, 0, 0)                                                    \
    ROW(B200, 1024, 48, 65536, 2, 1, 3, 32, 1, 32, 50, 148)                                                  \
    ROW(B200, 65, 20, 896, 21, 28, 121, 32, 21, 63, 98, 3108)                                                \
    ROW(RTX_5060, 256, 12, 32, 6, 16, 88, 24, 6, 48, 100, 180)                                               \
    ROW(RTX_5060, 1024, 32, 4096, 1, 2, 20, 24, 1, 32, 66, 30)                                               \
    ROW(RTX_5060, 32, 16, 0, 48, 128, 100, 24, 24, 24, 50, 720)                                              \
    ROW(RTX_5060, 1000, 65, 0, 1, 0, 100, 24, 0, 0, 0, 0)                                                    \
    ROW(RTX_5060, 192, 88, 1000, 8, 3, 50, 24, 3, 18, 37, 90)                                                \
    ROW(RTX_5060, 256, 40, 49152, 6, 6, 2, 24, 2, 16, 33, 60)                                                \
    ROW(RTX_5060, 96, 88, 500, 16, 6, 66, 24, 6, 18, 37, 180)                                                \
    ROW(RTX_5060, 64, 20, 0, 24, 42, 100, 24, 24, 48, 100, 720)                                              \
    ROW(RTX_5060, 192, 32, 15000, 8, 10, 6, 24, 6, 36, 75, 180)                                              \
    ROW(RTX_5060, 1024, 64, 0, 1, 1, 100, 24, 1, 32, 66, 30)                                                 \
    ROW(RTX_5060, 480, 80, 33000, 3, 1, 3, 24, 1, 15, 31, 30)                                                \
    ROW(RTX_5070_Ti, 256, 12, 32, 6, 16, 88, 24, 6, 48, 100, 420)                                            \
    ROW(RTX_5070_Ti, 1024, 32, 4096, 1, 2, 20, 24, 1, 32, 66, 70)                                            \
    ROW(RTX_5070_Ti, 32, 16, 0, 48, 128, 100, 24, 24, 24, 50, 1680)                                          \
    ROW(RTX_5070_Ti, 1000, 65, 0, 1, 0, 100, 24, 0, 0, 0, 0)                                                 \
    ROW(RTX_5070_Ti, 192, 88, 1000, 8, 3, 50, 24, 3, 18, 37, 210)                                            \
    ROW(RTX_5070_Ti, 256, 40, 49152, 6, 6, 2, 24, 2, 16, 33, 140)                                            \
    ROW(RTX_5070_Ti, 96, 88, 500, 16, 6, 66, 24, 6, 18, 37, 420)                                             \
    ROW(RTX_5070_Ti, 128, 80, 24000, 12, 6, 4, 24, 4, 16, 33, 280)                                           \
    ROW(RTX_5070_Ti, 672, 40, 512, 2, 2, 66, 24, 2, 42, 87, 140)                                             \
    ROW(RTX_5070_Ti, 96, 168, 9000, 16, 4, 10, 24, 4, 12, 25, 280)                                           \
    ROW(RTX_5090, 256, 12, 32, 6, 16, 88, 24, 6, 48, 100, 1020)                                              \
    ROW(RTX_5090, 1024, 32, 4096, 1, 2, 20, 24, 1, 32, 66, 170)                                              \
    ROW(RTX_5090, 32, 16, 0, 48, 128, 100, 24, 24, 24, 50, 4080)                                             \
    ROW(RTX_5090, 1000, 65, 0, 1, 0, 100, 24, 0, 0, 0, 0)                                                    \
    ROW(RTX_5090, 192, 88, 1000, 8, 3, 50, 24, 3, 18, 37, 510)                                               \
    ROW(RTX_5090, 256, 40, 49152, 6, 6, 2, 24, 2, 16, 33, 340)                                               \
    ROW(RTX_5090, 96, 88, 500, 16, 6, 66, 24, 6, 18, 37, 1020)                                               \
    ROW(RTX_5090, 256, 65, 16000, 6, 3, 6, 24, 3, 24, 50, 510)                                               \
    ROW(RTX_5090, 1024, 33, 50000, 1, 1, 2, 24, 1, 32, 66, 170)                                              \
    ROW(RTX_5090, 16, 24, 4097, 48, 84, 19, 24, 19, 19, 39, 3230)                                            \
    ROW(RTX_5090, 544, 72, 0, 2, 1, 100, 24, 1, 17, 35, 170)

enum { QUESTION_INTS = 13, ANSWER_INTS = 8 };

#define QUESTION(gpu, threads, registers, shared, ...) {gpu, threads, registers, shared},
#define ANSWER(gpu, threads, registers, shared, ...) {__VA_ARGS__},
#define NAME(gpu, ...) #gpu,
static const int questions[][QUESTION_INTS] = {TABLE(QUESTION)};
static const int answers[][ANSWER_INTS] = {TABLE(ANSWER)};
static const char *const gpu_names[] = {TABLE(NAME)};

enum { ROWS = sizeof questions / sizeof questions[0] };

static void describe_row(long long row, char *text, size_t bytes) {
    const int *kernel = &questions[row][QUESTION_INTS - 3];
    size_t used = 0;
    for (const char *c = gpu_names[row]; *c && used + 1 < bytes; c++) text[used++] = *c == '_' ? ' ' : *c;
    snprintf(text + used, bytes - used, ", %d threads, %d registers, %d bytes shared", kernel[0], kernel[1],
             kernel[2]);
}

static void describe_answer(long long index, char *text, size_t bytes) {
    static const char *const fields[ANSWER_INTS] = {"by_threads", "by_registers", "by_shared", "by_blocks",
                                                    "blocks",     "warps",        "percent",   "grid"};
    int used = snprintf(text, bytes, "%s of ", fields[index % ANSWER_INTS]);
    if (used >= 0 && (size_t)used < bytes) {
        describe_row(index / ANSWER_INTS, text + used, bytes - (size_t)used);
    }
}

const Chapter chapter = {
    .number = 6,
    .name = "ch06",
    .title = "Occupancy",
    .points = 10,
    .tasks =
        {
            {
                .name = "table",
                .buffers = {{.name = "question",
                             .role = INPUT,
                             .type = I32,
                             .count = COUNT_FIXED(ROWS * QUESTION_INTS),
                             .data = questions},
                            {.name = "answer",
                             .role = OUTPUT,
                             .type = I32,
                             .count = COUNT_FIXED(ROWS * ANSWER_INTS),
                             .data = answers,
                             .describe = describe_answer}},
                .launches = {{
                    .kernel = "occupancy",
                    .arguments = {BUFFER("question"), BUFFER("answer"), INT(COUNT_N)},
                }},
                .expect = EXPECT_TABLE,
                .counted = {.n = ROWS},
            },
            {
                .name = "launch",
                .buffers = {{.name = "in", .role = INPUT},
                            {.name = "partial", .role = OUTPUT, .count = PER_BLOCK}},
                .launches = {{
                    .kernel = "sum_full",
                    .arguments = {BUFFER("in"), BUFFER("partial"), INT(COUNT_N)},
                    .block_multiple_of = 32,
                }},
                .expect = EXPECT_SUM,
                .chain = CHAIN_BLOCK,
                .max_n_gpu = 1 << 30,
            },
        },
    .goals =
        {
            {
                .words = "% of the places for warps taken",
                .measure = "100 * occupancy",
                .bound = AT_LEAST,
                .limit = 100,
                .points = 2,
                .task = "launch",
                .why = "With fewer warps, an SM has fewer loads in flight while it waits for memory.",
            },
            {
                .words = "waves of blocks",
                .measure = "waves",
                .bound = EXACTLY,
                .limit = 1,
                .points = 2,
                .task = "launch",
                .why = "Below one wave, some SMs have free places; a partial second wave leaves most of the "
                       "GPU idle while it runs.",
            },
        },
    .remarks =
        {
            {"WRONG", "table",
             "The answers are those of NVIDIA's occupancy calculator: check what is rounded up, and to what "
             "unit."},
            {"LAUNCH", "launch",
             "Launch at least one block, of whole warps, with no more threads than a block may have."},
        },
};
