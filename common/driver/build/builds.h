// The images of a run: kernel.cu and the reference, compiled for the current device if they have changed, or
// the files that the command line names.
#pragma once

#include <signal.h>

#include "driver/build/image.h"

// The sources of the images. Paths are absolute or relative to the workbook's root, which is the working
// folder.
typedef struct {
    const Chapter *of;
    const char *folder;       // "chapters/ch04_warp_shuffle"
    const char *tree;         // where solutions/ and common/include are; "": in the working folder
    const char *kernel_file;  // another kernel.cu or image; NULL: the folder's
    const char *against_file; // the same for the reference; NULL: the chapter's solution
    int architecture;         // of the GPU, 90 for sm_90; 0: the emulator's
    bool wants_reference;     // something to be as fast as
    bool assembles_beside;    // ptxas may work on after builds_open(), until builds_finish()
    const volatile sig_atomic_t *cancel;
} BuildPlan;

typedef struct Builds Builds;

// What is judged. Every image has been opened for the chapter.
typedef struct {
    Builds *of;              // builds_finish() comes before registers are read; NULL: they are known
    const Image *kernel;     // the one that is judged, for the device
    char source_sha256[65];  // of its kernel.cu, or of the image where that is not known
    const char *source_text; // the text of kernel.cu; NULL: not known
    // Where other texts of kernel.cu may be compiled, with what it was compiled with. "": nowhere.
    char variants_folder[640], include_folder[640];
    int ptx_arch;
    const Image *emulated;    // beside a GPU: the same for the emulator; NULL: none, the GPU judges alone
    const Image *reference;   // for the device, to be as fast as; NULL: none
    char reference_name[160]; // as shown to people
    bool is_solution;         // the chapter's own, which the workbook has judged before
    char no_reference[320];   // why there is none
    char recorded[256];       // the file with the modelled times of one that is not here; "": none
} Subjects;

struct Builds {
    const Chapter *of;
    Subjects subjects; // what judge() takes, once builds_open() is content
    char source[640];  // kernel.cu as shown to people: relative to the root
    Text source_text;  // its content, once builds_source_text() was asked for it
    bool has_build;    // `build` holds
    CompileResult build;
    bool has_image; // `kernel` was opened, whether or not it may be run
    Image kernel;
    // Why there is nothing to judge
    Verdict verdict;
    bool is_usage; // a file of the command line is to blame
    char message[1200];

    Image emulated, reference;
    bool has_emulated, has_reference;
};

// True if there is an image to judge; a missing reference does not prevent judging. Release with
// builds_free() in any case.
bool builds_open(const BuildPlan *plan, Builds *builds);
// Waits for ptxas where it works on. False if it refuses the kernel: that is the verdict, and the image is
// gone.
bool builds_finish(Builds *builds);
void builds_free(Builds *builds);

// The content of kernel.cu, whether or not it could be built; NULL where it cannot be read.
const char *builds_source_text(Builds *builds);
