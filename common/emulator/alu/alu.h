// What the arithmetic files share: reading an instruction's dotted words, and the loops over lanes.
//
// A handler computes one form of one opcode ("add.rn.ftz.f32") for 32 lanes; a selector, called once at
// decode time, picks the handler. So nothing is decided per lane, and the loops below vectorise.
// "ISA" in comments is NVIDIA's "Parallel Thread Execution ISA", version 9.0.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "emulator/alu/instruction.h"

// ---- Forms: the dotted words of an instruction ------------------------------------------------------------

// Every dotted word that an arithmetic instruction may carry, other than PtxTypes.
// clang-format off
#define ALU_WORDS(X)                                                                                        \
    X(rn) X(rz) X(rm) X(rp) X(rni) X(rzi) X(rmi) X(rpi) X(rna)                                              \
    X(ftz) X(sat) X(satfinite) X(relu) X(NaN) X(xorsign) X(abs) X(approx) X(full)                           \
    X(cc) X(lo) X(hi) X(wide) X(clamp) X(wrap) X(shiftamt) X(l) X(r) X(pack) X(and) X(or) X(xor)            \
    X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(ls) X(hs) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu) X(num) X(nan) \
    X(f4e) X(b4e) X(rc8) X(ecl) X(ecr) X(rc16)                                                              \
    X(finite) X(infinite) X(number) X(notanumber) X(normal) X(subnormal)                                    \
    X(u16x2) X(s16x2) X(e4m3x2) X(e5m2x2)
// clang-format on

enum {
#define X(word) WORD_##word,
    ALU_WORDS(X)
#undef X
        WORD_COUNT
};
_Static_assert(WORD_COUNT <= 64, "the words of a form are one bit each of a uint64_t");
#define W(word) (UINT64_C(1) << WORD_##word)
#define ROUNDINGS (W(rn) | W(rz) | W(rm) | W(rp))
#define INTEGER_ROUNDINGS (W(rni) | W(rzi) | W(rmi) | W(rpi))

typedef enum { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_MODES } Rounding;

typedef struct {
    uint64_t words; // W(ftz) | W(rn) ...
    PtxType type;   // the first type, that of the destination; PTX_NO_TYPE when there is none
    PtxType from;   // the second type, or `type` when there is but one
    PtxType third;  // the third type, or PTX_NO_TYPE
} AluForm;

// Reads the dotted words of `in`. False when one of them is neither a type nor in `allowed`, so that an
// unknown modifier is never skipped.
bool alu_form(const PtxInstruction *in, uint64_t allowed, AluForm *form);
// The rounding that the words ask for; to nearest even when they ask for none. False when they ask for two.
bool alu_rounding(const AluForm *form, Rounding *rounding);
// The rounding to an integral value that they ask for (.rni is ROUND_NEAREST). False when they ask for none
// or two.
bool alu_integral_rounding(const AluForm *form, Rounding *rounding);

#define ALU_TYPES (PTX_TF32 + 1) // length of a table of handlers by PtxType

// Fills `selection` with a handler, the type of one destination (PTX_NO_TYPE: the caller sets them) and
// those of the sources, a list ended by PTX_NO_TYPE. False when `handler` is NULL: no such form.
bool alu_choose(Selection *selection, AluHandler *handler, PtxType destination, const PtxType *sources);
#define CHOOSE(selection, handler, destination, ...)                                                         \
    alu_choose(selection, handler, destination, (const PtxType[]){__VA_ARGS__, PTX_NO_TYPE})

// ---- Lanes ------------------------------------------------------------------------------------------------

// A destination may be one of the sources, never a part of one: iterations do not depend on each other.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" // a loop that calls libm stays scalar, and may
#define SAME_LANE _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SAME_LANE _Pragma("GCC ivdep")
#else
#define SAME_LANE
#endif

#define EACH_LANE SAME_LANE for (unsigned lane = 0; lane < WARP_SIZE; lane++)

// One destination of type D from EXPR over a, b, c, which LOADS declares. With a partial mask all lanes
// are computed too (no expression traps) and blended, which is faster than a loop over set bits.
#define ALU_LANES(D, LOADS, EXPR)                                                                            \
    D *d = destination(registers, in, 0);                                                                    \
    if (mask == FULL_MASK) {                                                                                 \
        EACH_LANE {                                                                                          \
            LOADS;                                                                                           \
            d[lane] = (D)(EXPR);                                                                             \
        }                                                                                                    \
    } else {                                                                                                 \
        EACH_LANE {                                                                                          \
            LOADS;                                                                                           \
            const D result = (D)(EXPR);                                                                      \
            d[lane] = (D)(mask >> lane & 1u ? result : d[lane]);                                             \
        }                                                                                                    \
    }
// The same for what kernels hardly ever do: one loop, which a compiler translates in half the time.
#define ALU_LANES_RARE(D, LOADS, EXPR)                                                                       \
    D *d = destination(registers, in, 0);                                                                    \
    EACH_LANE {                                                                                              \
        LOADS;                                                                                               \
        const D rare_result = (D)(EXPR);                                                                     \
        d[lane] = (D)(mask >> lane & 1u ? rare_result : d[lane]);                                            \
    }
#define ALU_HANDLER(NAME) static void NAME(unsigned char *registers, const Instruction *in, uint32_t mask)

// Handlers of one, two and three sources: EXPR is over a, b and c of types A, B and C. RARE_ is for forms
// that kernels hardly ever use.
#define HANDLER_1(LANES, NAME, D, A, EXPR)                                                                   \
    ALU_HANDLER(NAME) {                                                                                      \
        const A *pa = source(registers, in, 0);                                                              \
        LANES(D, const A a = pa[lane], EXPR)                                                                 \
    }
#define HANDLER_2(LANES, NAME, D, A, B, EXPR)                                                                \
    ALU_HANDLER(NAME) {                                                                                      \
        const A *pa = source(registers, in, 0);                                                              \
        const B *pb = source(registers, in, 1);                                                              \
        LANES(D, const A a = pa[lane]; const B b = pb[lane], EXPR)                                           \
    }
#define HANDLER_3(LANES, NAME, D, A, B, C, EXPR)                                                             \
    ALU_HANDLER(NAME) {                                                                                      \
        const A *pa = source(registers, in, 0);                                                              \
        const B *pb = source(registers, in, 1);                                                              \
        const C *pc = source(registers, in, 2);                                                              \
        LANES(D, const A a = pa[lane]; const B b = pb[lane]; const C c = pc[lane], EXPR)                     \
    }
#define ALU_1(NAME, ...) HANDLER_1(ALU_LANES, NAME, __VA_ARGS__)
#define ALU_2(NAME, ...) HANDLER_2(ALU_LANES, NAME, __VA_ARGS__)
#define ALU_3(NAME, ...) HANDLER_3(ALU_LANES, NAME, __VA_ARGS__)
#define RARE_1(NAME, ...) HANDLER_1(ALU_LANES_RARE, NAME, __VA_ARGS__)
#define RARE_2(NAME, ...) HANDLER_2(ALU_LANES_RARE, NAME, __VA_ARGS__)
#define RARE_3(NAME, ...) HANDLER_3(ALU_LANES_RARE, NAME, __VA_ARGS__)
// One source and an expression so slow (libm) that only the lanes of the mask should pay for it.
#define ALU_SLOW_1(NAME, D, A, EXPR)                                                                         \
    ALU_HANDLER(NAME) {                                                                                      \
        const A *pa = source(registers, in, 0);                                                              \
        D *d = destination(registers, in, 0);                                                                \
        for (uint32_t left = mask; left; left &= left - 1) {                                                 \
            const unsigned lane = (unsigned)__builtin_ctz(left);                                             \
            const A a = pa[lane];                                                                            \
            d[lane] = (D)(EXPR);                                                                             \
        }                                                                                                    \
    }

// Writes the lanes in `mask` of destination predicate k, unless it is absent.
static inline void write_predicate(unsigned char *registers, const Instruction *in, int k, uint32_t value,
                                   uint32_t mask) {
    if (k >= in->dst_count || in->dst[k] < 0) return;
    uint32_t *p = destination(registers, in, k);
    *p = (*p & ~mask) | (value & mask);
}

static inline uint32_t read_predicate(const unsigned char *registers, const Instruction *in, int k) {
    return *(const uint32_t *)source(registers, in, k);
}

// ---- Selectors, by file -----------------------------------------------------------------------------------

// integer.c
Selector integer_add, integer_sub, integer_mul, integer_mad, integer_mul24, integer_mad24, integer_sad,
    integer_div, integer_rem, integer_abs, integer_neg, integer_min, integer_max, integer_dp4a, integer_dp2a;
// carry.c
Selector carry_add, carry_addc, carry_sub, carry_subc, carry_mad, carry_madc;
// bits.c
Selector bits_and, bits_or, bits_xor, bits_not, bits_cnot, bits_lop3, bits_shl, bits_shr, bits_shf, bits_popc,
    bits_clz, bits_bfind, bits_fns, bits_brev, bits_bfe, bits_bfi, bits_bmsk, bits_szext, bits_prmt;
// float.c
Selector float_add, float_sub, float_mul, float_fma, float_div, float_rcp, float_sqrt, float_abs, float_neg,
    float_min, float_max, float_copysign, float_testp;
// approx.c
Selector approx_div, approx_rcp, approx_sqrt, approx_rsqrt, approx_sin, approx_cos, approx_lg2, approx_ex2,
    approx_tanh;
// half.c
Selector half_add, half_sub, half_mul, half_fma, half_abs, half_neg, half_min, half_max, half_ex2, half_tanh;
// compare.c
Selector compare_setp, compare_set, compare_selp, compare_slct;
// move.c
Selector move_mov, move_createpolicy;
// convert.c and convert_float.c
Selector convert_cvt;
