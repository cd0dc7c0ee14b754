#include "emulator/machine/absorbed.h"

#include <math.h>
#include <string.h>

static double number(const Instruction *in, const unsigned char *registers, int k, unsigned lane,
                     bool is_double) {
    double of_64;
    float of_32;
    const unsigned char *lanes = source(registers, in, k);
    if (is_double)
        memcpy(&of_64, lanes + lane * sizeof of_64, sizeof of_64);
    else
        memcpy(&of_32, lanes + lane * sizeof of_32, sizeof of_32);
    return is_double ? of_64 : (double)of_32;
}

AdditionEffect addition_effect(const Function *function, const Instruction *in,
                               const unsigned char *registers, unsigned lane, Absorbed *absorbed) {
    if (in->kind != KIND_ALU || in->float_ops == 0) return NO_ADDITION;
    const PtxInstruction *ptx = ptx_at_line(function->ptx, in->ptx_line);
    if (!ptx || ptx_has(ptx, "rz") || ptx_has(ptx, "rm") || ptx_has(ptx, "rp") || ptx_has(ptx, "sat"))
        return NO_ADDITION;
    const bool is_double = ptx_has(ptx, "f64"), subtracts = strcmp(ptx->opcode, "sub") == 0;
    if (!is_double && !ptx_has(ptx, "f32")) return NO_ADDITION;
    if (!subtracts && strcmp(ptx->opcode, "add") != 0) return NO_ADDITION;
    const double a = number(in, registers, 0, lane, is_double);
    const double second = number(in, registers, 1, lane, is_double), b = subtracts ? -second : second;
    if (!isfinite(a) || !isfinite(b)) return NO_ADDITION;
    // The sum of two floats rounded to a double and then to a float is their sum rounded once (Figueroa,
    // "When is double rounding innocuous?", 1995).
    const double sum = is_double ? a + b : (double)(float)(a + b);
    if (a == 0 || b == 0 || (sum != a && sum != b)) return ADDITION_CHANGES;
    *absorbed = sum == a ? (Absorbed){.kept = a, .added = b} : (Absorbed){.kept = b, .added = a};
    return ADDITION_ABSORBED;
}
