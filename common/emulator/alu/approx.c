// The approximations of f32 and f64 (ISA: div.approx and .full, rcp, sqrt, rsqrt, sin, cos, lg2, ex2,
// tanh). The ISA bounds their error; here each is the exact value rounded to nearest, so that results may
// differ from a GPU's by that bound. What the ISA fixes (zeros, infinities, NaNs, flushing) is kept.
#include "emulator/alu/float_lanes.h"

#define TWO_FORMS_1(NAME, EXPR)                                                                              \
    ALU_SLOW_1(NAME, float, float, canonical(EXPR(a)))                                                       \
    ALU_SLOW_1(NAME##_ftz, float, float, canonical(flush(EXPR(flush(a)))))

static bool select_unary(const PtxInstruction *in, Selection *s, AluHandler *plain, AluHandler *ftz) {
    AluForm f;
    if (!alu_form(in, W(approx) | W(ftz), &f) || !(f.words & W(approx)) || f.type != PTX_F32) return false;
    if (!CHOOSE(s, f.words & W(ftz) ? ftz : plain, f.type, f.type)) return false;
    s->float_ops = 1;
    return true;
}

// ---- Division ---------------------------------------------------------------------------------------------

// div.approx is a * (1 / b), whose reciprocal is flushed to zero for |b| above 2^126 (ISA, div).
static inline float divided(float a, float b) {
    const float quotient = fabsf(b) > 0x1p126f ? a * copysignf(0.0f, b) : a / b;
    return canonical(quotient);
}
ALU_2(div_approx, float, float, float, divided(a, b))
ALU_2(div_approx_ftz, float, float, float, flush(divided(flush(a), flush(b))))
ALU_2(div_full, float, float, float, canonical(a / b))
ALU_2(div_full_ftz, float, float, float, canonical(flush(flush(a) / flush(b))))

bool approx_div(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(approx) | W(full) | W(ftz), &f) || f.type != PTX_F32) return false;
    const bool ftz = f.words & W(ftz);
    AluHandler *handler = NULL;
    if ((f.words & ~W(ftz)) == W(approx)) handler = ftz ? div_approx_ftz : div_approx;
    if ((f.words & ~W(ftz)) == W(full)) handler = ftz ? div_full_ftz : div_full;
    if (!CHOOSE(s, handler, f.type, f.type, f.type)) return false;
    s->float_ops = 1;
    return true;
}

// ---- Reciprocals and roots --------------------------------------------------------------------------------

static inline float reciprocal(float x) { return 1.0f / x; }
static inline float reciprocal_root(float x) { return (float)(1.0 / sqrt((double)x)); }
ALU_1(rcp, float, float, canonical(reciprocal(a)))
ALU_1(rcp_ftz, float, float, canonical(flush(reciprocal(flush(a)))))
ALU_1(root, float, float, canonical(sqrtf(a)))
ALU_1(root_ftz, float, float, canonical(flush(sqrtf(flush(a)))))
ALU_1(rsqrt, float, float, canonical(reciprocal_root(a)))
ALU_1(rsqrt_ftz, float, float, canonical(flush(reciprocal_root(flush(a)))))

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits of their operand and give the upper
// 32 bits of the result (ISA, sections of those names); they are seeds for Newton's iteration.
static inline double upper_word(double x) {
    return bits_double(double_bits(x) & UINT64_C(0xffffffff00000000));
}
static inline double flush_double(double x) {
    const uint64_t bits = double_bits(x);
    return bits_double(bits & UINT64_C(0x7ff0000000000000) ? bits : bits & UINT64_C(0x8000000000000000));
}
#define NAN_SEED UINT64_C(0x7fffffff00000000)
static inline double seed(double x) { return x != x ? bits_double(NAN_SEED) : upper_word(flush_double(x)); }
ALU_1(rcp_seed, double, double, seed(1.0 / upper_word(flush_double(a))))
ALU_1(rsqrt_seed, double, double, seed(1.0 / sqrt(upper_word(flush_double(a)))))
ALU_1(rsqrt_f64, double, double, 1.0 / sqrt(a))

bool approx_rcp(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(approx) | W(ftz), &f)) return false;
    if (f.type == PTX_F64) return f.words == (W(approx) | W(ftz)) && CHOOSE(s, rcp_seed, f.type, f.type);
    return select_unary(in, s, rcp, rcp_ftz);
}

bool approx_sqrt(const PtxInstruction *in, Selection *s) { return select_unary(in, s, root, root_ftz); }

bool approx_rsqrt(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(approx) | W(ftz), &f) || !(f.words & W(approx))) return false;
    if (f.type == PTX_F64) return CHOOSE(s, f.words & W(ftz) ? rsqrt_seed : rsqrt_f64, f.type, f.type);
    return select_unary(in, s, rsqrt, rsqrt_ftz);
}

// ---- Transcendental functions -----------------------------------------------------------------------------

// In double precision and rounded once, which is right except for ties that no precision settles.
static inline float sine(float x) { return (float)sin((double)x); }
static inline float cosine(float x) { return (float)cos((double)x); }
static inline float logarithm(float x) { return (float)log2((double)x); }
static inline float power(float x) { return (float)exp2((double)x); }
static inline float hyperbolic(float x) { return (float)tanh((double)x); }
TWO_FORMS_1(sin_f32, sine)
TWO_FORMS_1(cos_f32, cosine)
TWO_FORMS_1(lg2_f32, logarithm)
TWO_FORMS_1(ex2_f32, power)
ALU_SLOW_1(tanh_f32, float, float, canonical(hyperbolic(a)))

bool approx_sin(const PtxInstruction *in, Selection *s) { return select_unary(in, s, sin_f32, sin_f32_ftz); }
bool approx_cos(const PtxInstruction *in, Selection *s) { return select_unary(in, s, cos_f32, cos_f32_ftz); }
bool approx_lg2(const PtxInstruction *in, Selection *s) { return select_unary(in, s, lg2_f32, lg2_f32_ftz); }
bool approx_ex2(const PtxInstruction *in, Selection *s) { return select_unary(in, s, ex2_f32, ex2_f32_ftz); }
bool approx_tanh(const PtxInstruction *in, Selection *s) { return select_unary(in, s, tanh_f32, NULL); }
