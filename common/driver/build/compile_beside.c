#include "driver/build/compile_beside.h"

#include <unistd.h>

#include "driver/build/process_beside.h"

pid_t compile_begin(const CompileRequest *request) {
    CompileRequest here = *request;
    const pid_t process = process_beside(&here.cancel);
    if (process != 0) return process > 0 ? process : 0;
    CompileResult result;
    compile_kernel(&here, &result);
    _exit(0);
}

void compile_stop(pid_t process) { process_beside_stop(process); }
