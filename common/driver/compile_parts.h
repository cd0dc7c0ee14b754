// What the files of the compile step share: compile.c (the flow), toolchain.c (finding the compiler),
// compile_log.c (making its output readable) and compile_record.c (build.json).
#ifndef WARPBOOK_COMPILE_PARTS_H
#define WARPBOOK_COMPILE_PARTS_H

#include "../support/text.h"
#include "compile.h"

// ---- toolchain.c ----------------------------------------------------------------------------------------

typedef struct {
    char nvcc[1024];
    char ptxas[1024];
    char host_compiler[1024]; // for nvcc's -ccbin; "" where its own choice, gcc, is there
    char identity[1400];      // changes when nvcc does: its path, size and time
} Toolchain;

// False when something is missing, with what to do about it in `why`.
bool find_toolchain(Toolchain *toolchain, char *why, size_t why_bytes);
// "13.0.88", or "" when nvcc does not tell.
void read_nvcc_version(const Toolchain *toolchain, const char *const *environment, char version[64]);

// ---- compile_log.c --------------------------------------------------------------------------------------

// Adds the compiler's output as people shall see it: safe on a terminal, the learner's file under the
// name `shown`, and without remarks that help nobody.
void add_readable_log(Text *into, const char *output, size_t bytes, const char *shown);
// Adds at most `lines` lines of the text and says how many more there are.
void add_first_lines(Text *into, const char *text, int lines);
// Adds the errors of a readable log, `lines` lines at most, and of the notes to each at most `notes` lines.
// What is left out is counted, and looked for in `whole`.
void add_errors(Text *into, const char *log, int lines, int notes, const char *whole);
// True when a line of the output speaks of a place in the learner's file.
bool log_names_source(const char *output);
// Reads what `ptxas -v` printed into result->kernels. False when memory runs out.
bool read_ptxas_log(const char *output, CompileResult *result);
// A sentence for each kernel that ptxas found to need too much; false when it complained of no such thing.
bool explain_resources(const char *output, const CompileResult *result, Text *into);
// Rewrites the `.file` directives of PTX to the names shown to people (which must hold no quote and no
// backslash: PTX has no escapes for them), and finds the line of each kernel.
bool relabel_ptx(const char *ptx, const char *folder, const char *shown, const char *shown_header,
                 Text *into);
int kernel_line_in_ptx(const char *ptx, const char *kernel, const char *shown);

// ---- compile_record.c -----------------------------------------------------------------------------------

// build.json: everything in CompileResult, and what tells whether it is still true.
typedef struct {
    char options[256];   // that shape the output, as text
    char compiler[1400]; // Toolchain.identity
    char ptx_sha256[65]; // of kernel.ptx; "" when there is none
    char cubin_sha256[65];
    bool is_self_contained; // the source includes nothing that may change unseen
} CompileKey;

bool write_record(const CompileResult *result, const CompileKey *key, char *why, size_t why_bytes);
// Fills `result` and `key` from OUTPUT_DIRECTORY/build.json. False, with nothing to release, when there is
// none.
bool read_record(const char *output_directory, CompileResult *result, CompileKey *key);
// True when kernel.ptx and kernel.cubin are the ones that the record speaks of.
bool record_files_intact(const CompileResult *result, const CompileKey *key);

#endif
