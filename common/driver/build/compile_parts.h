// What the files of the compile step share: compile.c (the flow), source_check.c (checking the source),
// toolchain.c (finding the compiler), compilers.c (running it), log.c (making its output readable),
// relabel.c (what is done with PTX) and record.c (build.json).
#ifndef WARPBOOK_COMPILE_PARTS_H
#define WARPBOOK_COMPILE_PARTS_H

#include <limits.h>

#include "support/file.h"
#include "support/process.h"
#include "support/text.h"
#include "driver/build/compile.h"

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

// ---- log.c --------------------------------------------------------------------------------------

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

// ---- relabel.c -------------------------------------------------------------------------------------

// Rewrites the `.file` directives of PTX to the names shown to people (which must hold no quote and no
// backslash: PTX has no escapes for them), those of other files to names that are printable and without
// `folder`, which is another every time; and finds the line of each kernel.
bool relabel_ptx(const char *ptx, const char *folder, const char *shown, const char *shown_header,
                 Text *into);
int kernel_line_in_ptx(const char *ptx, const char *kernel, const char *shown);
// nvcc hands inline asm on unread, so mistakes in it are ptxas's to find. Adds at most `lines` lines of its
// output, with the learner's places before them.
void explain_assembly(const char *output, const char *ptx, const char *label, const CompileResult *result,
                      int lines, Text *into);

// ---- record.c -----------------------------------------------------------------------------------

// build.json: everything in CompileResult, and what tells whether it is still true.
typedef struct {
    char options[256];   // that shape the output, as text
    char compiler[1400]; // Toolchain.identity
    char ptx_sha256[65]; // of kernel.ptx; "" when there is none
    char cubin_sha256[65];
    bool is_self_contained; // the source includes nothing that may change unseen
} CompileKey;

bool write_record(const CompileResult *result, const CompileKey *key, FileError *error);
// Fills `result` and `key` from OUTPUT_DIRECTORY/build.json. False, with nothing to release, when there is
// none.
bool read_record(const char *output_directory, CompileResult *result, CompileKey *key);
// True when kernel.ptx and kernel.cubin are the ones that the record speaks of.
bool record_files_intact(const CompileResult *result, const CompileKey *key);

// ---- compile.c -----------------------------------------------------------------------------------------

enum { COMPILE_DEFAULT_SECONDS = 30 };

// What one call of compile_kernel() works with.
typedef struct {
    const CompileRequest *request;
    CompileResult *result;
    CompileKey key;
    double began, deadline;
    Text source, header, ptx, cubin;
    char label[512]; // result->source as PTX can hold it
    char header_label[PATH_MAX];
    char folder[PATH_MAX + 32]; // private, absolute; "" before it is made
    int lock;
    Toolchain toolchain;
    const char *environment[8];
    char environment_text[4][8192];
} Build;

// End with a message, which the first takes over. Always false.
bool compile_end_with(Build *build, CompileStatus status, Text *message);
bool compile_end(Build *build, CompileStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool compile_end_without_memory(Build *build);
// Writes a file into the private folder. False after an end.
bool compile_put(Build *build, const char *name, const Text *content);

// ---- source_check.c ------------------------------------------------------------------------------------

// The path as people see it: relative to the working folder where the file is below it.
void compile_show_path(const char *path, char *shown, size_t bytes);
// Strings in PTX have no escapes: what would need one becomes '?'.
void compile_make_label(char *path);
// Both read, check and hash their file. False after an end.
bool compile_read_source(Build *build);
bool compile_read_header(Build *build);
// True when the source is the only thing that can change what comes out, besides warpbook.cuh and the
// toolkit.
bool is_self_contained(const char *text);

// ---- compilers.c ---------------------------------------------------------------------------------------

// What the compilers find in their environment.
void compile_make_environment(Build *build);
// nvcc, then ptxas where it is wanted. False after an end.
bool compile_make_ptx(Build *build);
bool compile_assemble(Build *build);

#endif
