// The table of all opcodes, in alphabetical order: one row an opcode, whose name is the word before the
// first dot. What is not here is not supported, and lowering says so by name.
//
// An opcode such as add stands for instructions on integers, floats and halves; a chain of selectors asks
// each kind in turn, and each refuses the types that are not its own.
#include "emulator/alu/alu.h"

#define EITHER_2(NAME, A, B)                                                                                 \
    static bool NAME(const PtxInstruction *in, Selection *s) { return A(in, s) || B(in, s); }
#define EITHER_3(NAME, A, B, C)                                                                              \
    static bool NAME(const PtxInstruction *in, Selection *s) { return A(in, s) || B(in, s) || C(in, s); }
#define EITHER_4(NAME, A, B, C, D)                                                                           \
    static bool NAME(const PtxInstruction *in, Selection *s) {                                               \
        return A(in, s) || B(in, s) || C(in, s) || D(in, s);                                                 \
    }
EITHER_3(select_abs, integer_abs, float_abs, half_abs)
EITHER_4(select_add, integer_add, float_add, half_add, carry_add)
EITHER_3(select_div, integer_div, float_div, approx_div)
EITHER_2(select_ex2, approx_ex2, half_ex2)
EITHER_2(select_fma, float_fma, half_fma)
EITHER_3(select_mad, integer_mad, float_fma, carry_mad)
EITHER_3(select_max, integer_max, float_max, half_max)
EITHER_3(select_min, integer_min, float_min, half_min)
EITHER_3(select_mul, integer_mul, float_mul, half_mul)
EITHER_3(select_neg, integer_neg, float_neg, half_neg)
EITHER_2(select_rcp, float_rcp, approx_rcp)
EITHER_2(select_sqrt, float_sqrt, approx_sqrt)
EITHER_4(select_sub, integer_sub, float_sub, half_sub, carry_sub)
EITHER_2(select_tanh, approx_tanh, half_tanh)

const Opcode opcode_table[] = {
    {"abs", KIND_ALU, select_abs},
    {"activemask", KIND_ACTIVEMASK, NULL},
    {"add", KIND_ALU, select_add},
    {"addc", KIND_ALU, carry_addc},
    {"alloca", KIND_ALLOCA, NULL},
    {"and", KIND_ALU, bits_and},
    {"applypriority", KIND_PREFETCH, NULL},
    {"atom", KIND_ATOMIC, NULL},
    {"bar", KIND_BARRIER, NULL}, // bar.warp.sync is KIND_WARP_BARRIER
    {"barrier", KIND_BARRIER, NULL},
    {"bfe", KIND_ALU, bits_bfe},
    {"bfi", KIND_ALU, bits_bfi},
    {"bfind", KIND_ALU, bits_bfind},
    {"bmsk", KIND_ALU, bits_bmsk},
    {"bra", KIND_BRANCH, NULL},
    {"brev", KIND_ALU, bits_brev},
    {"brkpt", KIND_BREAKPOINT, NULL},
    {"brx", KIND_BRANCH_TABLE, NULL},
    {"call", KIND_CALL, NULL},
    {"clz", KIND_ALU, bits_clz},
    {"cnot", KIND_ALU, bits_cnot},
    {"copysign", KIND_ALU, float_copysign},
    {"cos", KIND_ALU, approx_cos},
    {"cp", KIND_CP_ASYNC, NULL}, // cp.async.wait_group and wait_all are KIND_CP_ASYNC_WAIT
    {"createpolicy", KIND_ALU, move_createpolicy},
    {"cvt", KIND_ALU, convert_cvt},
    {"cvta", KIND_CVTA, NULL},
    {"discard", KIND_PREFETCH, NULL},
    {"div", KIND_ALU, select_div},
    {"dp2a", KIND_ALU, integer_dp2a},
    {"dp4a", KIND_ALU, integer_dp4a},
    {"elect", KIND_ELECT, NULL},
    {"ex2", KIND_ALU, select_ex2},
    {"exit", KIND_EXIT, NULL},
    {"fence", KIND_FENCE, NULL},
    {"fma", KIND_ALU, select_fma},
    {"fns", KIND_ALU, bits_fns},
    {"getctarank", KIND_GETCTARANK, NULL},
    {"griddepcontrol", KIND_NOP, NULL},
    {"isspacep", KIND_ISSPACEP, NULL},
    {"ld", KIND_LOAD, NULL},
    {"ldu", KIND_LOAD, NULL},
    {"lg2", KIND_ALU, approx_lg2},
    {"lop3", KIND_ALU, bits_lop3},
    {"mad", KIND_ALU, select_mad},
    {"mad24", KIND_ALU, integer_mad24},
    {"madc", KIND_ALU, carry_madc},
    {"mapa", KIND_ALU, move_mapa},
    {"match", KIND_MATCH, NULL},
    {"max", KIND_ALU, select_max},
    {"membar", KIND_FENCE, NULL},
    {"min", KIND_ALU, select_min},
    {"mov", KIND_ALU, move_mov},
    {"mul", KIND_ALU, select_mul},
    {"mul24", KIND_ALU, integer_mul24},
    {"nanosleep", KIND_NANOSLEEP, NULL},
    {"neg", KIND_ALU, select_neg},
    {"not", KIND_ALU, bits_not},
    {"or", KIND_ALU, bits_or},
    {"pmevent", KIND_NOP, NULL},
    {"popc", KIND_ALU, bits_popc},
    {"prefetch", KIND_PREFETCH, NULL},
    {"prefetchu", KIND_PREFETCH, NULL},
    {"prmt", KIND_ALU, bits_prmt},
    {"rcp", KIND_ALU, select_rcp},
    {"red", KIND_ATOMIC, NULL},
    {"redux", KIND_REDUX, NULL},
    {"rem", KIND_ALU, integer_rem},
    {"ret", KIND_RETURN, NULL},
    {"rsqrt", KIND_ALU, approx_rsqrt},
    {"sad", KIND_ALU, integer_sad},
    {"selp", KIND_ALU, compare_selp},
    {"set", KIND_ALU, compare_set},
    {"setmaxnreg", KIND_NOP, NULL},
    {"setp", KIND_ALU, compare_setp},
    {"shf", KIND_ALU, bits_shf},
    {"shfl", KIND_SHUFFLE, NULL},
    {"shl", KIND_ALU, bits_shl},
    {"shr", KIND_ALU, bits_shr},
    {"sin", KIND_ALU, approx_sin},
    {"slct", KIND_ALU, compare_slct},
    {"sqrt", KIND_ALU, select_sqrt},
    {"st", KIND_STORE, NULL},
    {"stackrestore", KIND_ALLOCA, NULL},
    {"stacksave", KIND_ALLOCA, NULL},
    {"sub", KIND_ALU, select_sub},
    {"subc", KIND_ALU, carry_subc},
    {"szext", KIND_ALU, bits_szext},
    {"tanh", KIND_ALU, select_tanh},
    {"testp", KIND_ALU, float_testp},
    {"trap", KIND_TRAP, NULL},
    {"vote", KIND_VOTE, NULL},
    {"xor", KIND_ALU, bits_xor},
};
const int opcode_count = (int)(sizeof opcode_table / sizeof *opcode_table);

const Opcode *opcode_named(const char *name) {
    int low = 0, high = opcode_count - 1;
    while (low <= high) {
        const int middle = (low + high) / 2, order = strcmp(name, opcode_table[middle].name);
        if (order == 0) return &opcode_table[middle];
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return NULL;
}
