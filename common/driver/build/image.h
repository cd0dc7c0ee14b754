// The image that a run launches: read from a file, parsed and audited, its kernels' names resolved.
#pragma once

#include "support/text.h"
#include "driver/plan/chapter.h"
#include "driver/build/compile.h"
#include "driver/plan/verdict.h"

enum { MAX_IMAGE_BYTES = 32 * 1024 * 1024 };

typedef struct {
    char symbol[256], launch_symbol[256]; // names in the image of the kernel and of its LAUNCH
    int registers, static_shared;         // of the kernel, from ptxas; 0 unknown
    bool registers_are_estimated;         // there was no ptxas
    bool has_no_stack;                    // ptxas keeps all arrays of its threads in registers
    int least_blocks;                     // that __launch_bounds__ asks for on an SM; 0: not said
    int spilled;                          // bytes of stores for which ptxas had no register; 0 unknown
} ImageKernel;

typedef struct {
    Text text;          // the file
    char name[1024];    // its path
    bool is_ptx;        // else a cubin
    Verdict verdict;    // PASS: may be run; REJECT, INFRA, UNSUPPORTED
    bool is_usage;      // the file named on the command line cannot be one: exit status 2
    char message[1200]; // why not
    char file[256];     // the learner's file and line that it is about, or ""
    int line;
    ImageKernel kernels[MAX_TASKS][MAX_LAUNCHES];
} Image;

// Reads and audits an image for the chapter. `build` may be NULL (nothing known of registers). `source` is
// kernel.cu as shown to people and `source_text` its content, or NULL. Release with image_free() in any case.
bool image_open(const char *path, const Chapter *of, const CompileResult *build, const char *source,
                const char *source_text, Image *image);
// What ptxas reported of the kernels, where that was not known yet.
void image_add_resources(Image *image, const Chapter *of, const CompileResult *build);
void image_free(Image *image);
