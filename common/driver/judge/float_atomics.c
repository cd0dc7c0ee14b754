#include "driver/judge/float_atomics.h"

#include "driver/judge/repair_trial.h"

static bool adds_floats_atomically(const PtxLine *line) {
    PtxInstruction in;
    return !line->is_left_out && ptx_instruction(line, &in) &&
           (opcode_is(&in, "atom") || opcode_is(&in, "red")) && opcode_has(&in, "add") &&
           (opcode_has(&in, "f32") || opcode_has(&in, "f64"));
}

int line_of_float_atomics(Judge *judge, int task) {
    const Image *image = judge_image(judge, false);
    TaskPtx ptx;
    if (!image->is_ptx) return 0;
    int found = 0;
    bool is_only = true;
    if (task_ptx_make(judge, image, task, "kernel.cu", &ptx))
        for (int i = 0; i < ptx.lines.count; i++) {
            const PtxLine *line = &ptx.lines.lines[i];
            if (!adds_floats_atomically(line)) continue;
            is_only &= line->source > 0 && (found == 0 || found == line->source);
            found = line->source;
        }
    task_ptx_free(&ptx);
    return is_only ? found : 0;
}
