// The limits are those of the machine code that ptxas makes for sm_90. For FCHK, the instruction that looks
// at the operands of a division of f32, an H200 was timed with every pair of exponents; the limits of the
// others were confirmed likewise.
#include "emulator/alu/slow_path.h"

#include <math.h>

#include "emulator/alu/alu.h"

SlowPath slow_path_of(const PtxInstruction *in) {
    static const struct {
        const char *opcode;
        SlowPath f32, f64;
    } paths[] = {{"div", SLOW_DIV_F32, SLOW_DIV_F64},
                 {"rcp", SLOW_RCP_F32, SLOW_RCP_F64},
                 {"sqrt", SLOW_SQRT_F32, SLOW_SQRT_F64}};
    AluForm form;
    if (!alu_form(in, W(rn), &form) || form.words != W(rn)) return NO_SLOW_PATH;
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
        if (!strcmp(in->opcode, paths[k].opcode))
            return form.type == PTX_F32 ? paths[k].f32 : form.type == PTX_F64 ? paths[k].f64 : NO_SLOW_PATH;
    return NO_SLOW_PATH;
}

static bool is_slow_div(uint32_t a, uint32_t b) {
    const int of_a = (int)(a >> 23 & 255), of_b = (int)(b >> 23 & 255), apart = of_a - of_b;
    return of_a < 25 || of_a == 255 || of_b < 2 || of_b > 251 || apart < -124 || apart > 126;
}

static bool is_slow_rcp(uint32_t a) { return ((a + 0x1800000u) & 0x7f800000u) <= 0x1ffffffu; }

static bool is_slow_sqrt(uint32_t a) { return a - 0xd000000u > 0x727fffffu; }

static float upper(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t word = (uint32_t)(bits >> 32);
    float as_float;
    memcpy(&as_float, &word, sizeof as_float);
    return as_float;
}

// The upper words of the operands and of the quotient are looked at as if they were numbers of f32.
static bool is_slow_div_f64(double a, double b) {
    const bool is_small = fabsf(upper(a)) < 0x1.cp-121f;
    return is_small || !(fabsf(0.0f * upper(b) + upper(a / b)) > 0x1p-129f);
}

static bool is_slow_rcp_f64(uint64_t a) {
    const uint32_t shifted = (uint32_t)(a >> 32) + 0x300402u;
    return (shifted & 0x7fffffffu) < 0x400402u;
}

static bool is_slow_sqrt_f64(uint64_t a) { return (uint32_t)(a >> 32) - 0x3500000u >= 0x7ca00000u; }

static bool is_slow(SlowPath path, const void *a, const void *b, unsigned lane) {
    switch (path) {
    case SLOW_DIV_F32: return is_slow_div(((const uint32_t *)a)[lane], ((const uint32_t *)b)[lane]);
    case SLOW_RCP_F32: return is_slow_rcp(((const uint32_t *)a)[lane]);
    case SLOW_SQRT_F32: return is_slow_sqrt(((const uint32_t *)a)[lane]);
    case SLOW_DIV_F64: return is_slow_div_f64(((const double *)a)[lane], ((const double *)b)[lane]);
    case SLOW_RCP_F64: return is_slow_rcp_f64(((const uint64_t *)a)[lane]);
    case SLOW_SQRT_F64: return is_slow_sqrt_f64(((const uint64_t *)a)[lane]);
    default: return false;
    }
}

uint32_t slow_lanes(const unsigned char *registers, const Instruction *in, uint32_t mask) {
    const void *a = source(registers, in, 0);
    const void *b = in->src_count > 1 ? source(registers, in, 1) : NULL;
    uint32_t slow = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        if (is_slow((SlowPath)in->slow_path, a, b, lane)) slow |= 1u << lane;
    }
    return slow;
}
