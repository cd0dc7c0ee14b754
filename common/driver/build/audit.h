// What a submission's PTX may hold, judged before anything of it is launched: the
// chapter's kernels with the chapter's parameters, and nothing that keeps state from one launch to the
// next, calls what the driver does not provide, or comes in through inline asm.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "emulator/ptx/ptx.h"
#include "support/mangle.h" // symbol_is(), symbol_source_name()

enum { AUDIT_MAX_KERNELS = 16 };

typedef struct {
    const char *declaration; // for messages: "const float *in"
    unsigned bytes;          // 8 for pointers, 4 or 8 for integers; a struct's whole size
    bool is_float;           // a float or double, as opposed to an integer or pointer
} AuditParameter;

typedef struct {
    const char *name; // as in the source: "sum_shuffle"; plain, extern "C" or mangled in the PTX
    const AuditParameter *parameters;
    int parameter_count;
    bool needs_launch; // LAUNCH(name) must be there too; where false it is refused
} AuditKernel;

// A `__constant__` variable that the driver fills.
typedef struct {
    const char *name, *declaration; // "weights", "float weights[49]"
    size_t bytes;
} AuditConstant;

typedef struct {
    const AuditKernel *kernels;
    int kernel_count;               // at most AUDIT_MAX_KERNELS
    const AuditConstant *constants; // those that no kernel reads may be absent
    int constant_count;
    const char *source;      // kernel.cu as shown to people; NULL: "kernel.cu"
    const char *source_text; // its content, NUL terminated, to find the line of a variable; NULL: not known
} AuditRules;

typedef struct {
    bool accepted;      // false: verdict REJECT
    char message[1024]; // what is wrong and what to do about it; "" when accepted
    char file[256];     // the learner's file; "" when the place is not known
    int line;           // in that file; 0 when not known
    // When accepted, for kernel i of the rules: its entry in the module and that of LAUNCH, or NULL.
    const PtxFunction *entries[AUDIT_MAX_KERNELS];
    const PtxFunction *launches[AUDIT_MAX_KERNELS];
} AuditReport;

// True when the module may be run. The first fault found is the one reported, the learner's likeliest
// (a misspelt name, a wrong parameter) before the rest.
bool audit_module(const PtxModule *module, const AuditRules *rules, AuditReport *report);
