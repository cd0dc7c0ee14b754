// f32 and f64 arithmetic with a directed rounding: .rz, .rm and .rp of add, sub, mul, fma, div, rcp, sqrt.
//
// The host's rounding mode is set around each loop. The compiler knows nothing of it, but may not move the
// loads before the first call of fesetround() nor the stores after the second, and all arithmetic lies
// between a load and a store; so this file is right with or without -frounding-math.
#include <fenv.h>

#include "emulator/alu/float_lanes.h"

static inline int host_mode(Rounding rounding) {
    return rounding == ROUND_ZERO ? FE_TOWARDZERO : rounding == ROUND_DOWN ? FE_DOWNWARD : FE_UPWARD;
}

#define ROUNDED(NAME, MODE, T, SOURCES, LOADS, EXPR)                                                         \
    ALU_HANDLER(NAME) {                                                                                      \
        SOURCES;                                                                                             \
        const Rounding rounding = MODE;                                                                      \
        const int before = fegetround();                                                                     \
        fesetround(host_mode(rounding));                                                                     \
        ALU_LANES_RARE(T, LOADS, EXPR)                                                                       \
        fesetround(before);                                                                                  \
    }

#define SOURCES_1(T) const T *pa = source(registers, in, 0)
#define SOURCES_2(T)                                                                                         \
    SOURCES_1(T);                                                                                            \
    const T *pb = source(registers, in, 1)
#define SOURCES_3(T)                                                                                         \
    SOURCES_2(T);                                                                                            \
    const T *pc = source(registers, in, 2)
#define LOADS_1(T, IN) const T a = IN(pa[lane])
#define LOADS_2(T, IN)                                                                                       \
    LOADS_1(T, IN);                                                                                          \
    const T b = IN(pb[lane])
#define LOADS_3(T, IN)                                                                                       \
    LOADS_2(T, IN);                                                                                          \
    const T c = IN(pc[lane])
#define KEEP(x) (x)

// The four single precision forms and the double precision one, for one mode. EXPR is over a, b, c, and
// FLUSHED too, whose operands are flushed already.
#define FORMS(OP, N, SUFFIX, MODE, EXPR, FLUSHED, EXPR64)                                                    \
    ROUNDED(OP##_##SUFFIX##_f32, MODE, float, SOURCES_##N(float), LOADS_##N(float, KEEP), canonical(EXPR))   \
    ROUNDED(OP##_##SUFFIX##_ftz_f32, MODE, float, SOURCES_##N(float), LOADS_##N(float, flush),               \
            canonical(FLUSHED))                                                                              \
    ROUNDED(OP##_##SUFFIX##_sat_f32, MODE, float, SOURCES_##N(float), LOADS_##N(float, KEEP),                \
            saturated(EXPR))                                                                                 \
    ROUNDED(OP##_##SUFFIX##_ftz_sat_f32, MODE, float, SOURCES_##N(float), LOADS_##N(float, flush),           \
            saturated(FLUSHED))                                                                              \
    ROUNDED(OP##_##SUFFIX##_f64, MODE, double, SOURCES_##N(double), LOADS_##N(double, KEEP), EXPR64)
#define EACH_MODE(OP, N, EXPR, FLUSHED, EXPR64)                                                              \
    FORMS(OP, N, rz, ROUND_ZERO, EXPR, FLUSHED, EXPR64)                                                      \
    FORMS(OP, N, rm, ROUND_DOWN, EXPR, FLUSHED, EXPR64)                                                      \
    FORMS(OP, N, rp, ROUND_UP, EXPR, FLUSHED, EXPR64)

static inline float flushed(float rounded, double exact, Rounding rounding) {
    return tiny_f32(exact, rounding) ? zero_of_sign(rounded) : rounded;
}
EACH_MODE(add, 2, a + b, flush(a + b), with_nan_of(a + b, a, b, b))
EACH_MODE(sub, 2, a - b, flush(a - b), with_nan_of(a - b, a, b, b))
EACH_MODE(mul, 2, a *b, flushed(a *b, (double)a *b, rounding), with_nan_of(a *b, a, b, b))
EACH_MODE(fma, 3, fmaf(a, b, c), flushed(fmaf(a, b, c), (double)a *b + c, rounding),
          with_nan_of(fma(a, b, c), a, b, c))
EACH_MODE(div, 2, a / b, flush(a / b), with_nan_of(a / b, b, a, a))
EACH_MODE(rcp, 1, 1.0f / a, flush(1.0f / a), with_nan_of(1.0 / a, a, a, a))
EACH_MODE(sqrt, 1, sqrtf(a), flush(sqrtf(a)), with_nan_of(sqrt(a), a, a, a))

#define ROW(OP, SUFFIX)                                                                                      \
    {                                                                                                        \
        {OP##_##SUFFIX##_f32, OP##_##SUFFIX##_sat_f32, OP##_##SUFFIX##_ftz_f32,                              \
         OP##_##SUFFIX##_ftz_sat_f32},                                                                       \
            OP##_##SUFFIX##_f64                                                                              \
    }
#define ROWS(OP)                                                                                             \
    { [ROUND_ZERO] = ROW(OP, rz), [ROUND_DOWN] = ROW(OP, rm), [ROUND_UP] = ROW(OP, rp) }
const RoundedForms rounded_forms[ROUNDED_OPERATIONS][ROUND_MODES] = {
    [ROUNDED_ADD] = ROWS(add),   [ROUNDED_SUB] = ROWS(sub), [ROUNDED_MUL] = ROWS(mul),
    [ROUNDED_FMA] = ROWS(fma),   [ROUNDED_DIV] = ROWS(div), [ROUNDED_RCP] = ROWS(rcp),
    [ROUNDED_SQRT] = ROWS(sqrt),
};
