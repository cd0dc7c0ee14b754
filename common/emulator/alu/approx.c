// The approximations of f32 and f64 (ISA: div.approx and .full, rcp, sqrt, rsqrt, sin, cos, lg2, ex2,
// tanh). The ISA bounds their error. Those of f32 by div, rcp, sqrt, rsqrt, lg2 and ex2 have an H200's bits.
// Each of the others is the exact value rounded to nearest, so that results may differ from a GPU's by the
// ISA's bound; what the ISA fixes (zeros, infinities, NaNs, flushing) is kept.
#include "emulator/alu/special_function.h"

// Without .ftz the machine code brings an operand that the special function unit would take for zero, or
// whose result it would flush, to another scale, and the result back.
#define LEAST 0x1p-126f
static inline bool is_small(float x) { return fabsf(x) < LEAST; }

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

// The product with a reciprocal, which is flushed to zero for |b| above 2^126 (ISA, div); div.full scales
// such.
static inline float divided(float a, float b) {
    const float scale = is_small(b) ? 0x1p24f : 1.0f;
    return canonical(a * scale * special_rcp(b * scale));
}
static inline float divided_ftz(float a, float b) {
    const double exact = (double)flush(a) * special_rcp(b);
    const float quotient = (float)exact;
    return canonical(tiny_f32(exact, ROUND_NEAREST) ? zero_of_sign(quotient) : quotient);
}
static inline float scale_of_large(float b) { return fabsf(b) > 0x1p126f ? 0.25f : 1.0f; }
ALU_2(div_approx, float, float, float, divided(a, b))
ALU_2(div_approx_ftz, float, float, float, divided_ftz(a, b))
ALU_2(div_full, float, float, float, divided(a *scale_of_large(b), b *scale_of_large(b)))
ALU_2(div_full_ftz, float, float, float, divided_ftz(flush(a) * scale_of_large(b), b *scale_of_large(b)))

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

static inline float reciprocal(float x) {
    const float scale = is_small(x) ? 0x1p24f : fabsf(x) > 0x1p126f ? 0.25f : 1.0f;
    return special_rcp(x * scale) * scale;
}
static inline float reciprocal_root(float x) {
    const float scale = is_small(x) ? 0x1p24f : 1.0f, back = is_small(x) ? 0x1p12f : 1.0f;
    return special_rsqrt(x * scale) * back;
}
static inline float square_root(float x) {
    const float scale = is_small(x) ? 0x1p24f : 1.0f, back = is_small(x) ? 0x1p-12f : 1.0f;
    return special_sqrt(x * scale) * back;
}
ALU_1(rcp, float, float, reciprocal(a))
ALU_1(rcp_ftz, float, float, special_rcp(a))
ALU_1(root, float, float, square_root(a))
ALU_1(root_ftz, float, float, special_sqrt(a))
ALU_1(rsqrt, float, float, reciprocal_root(a))
ALU_1(rsqrt_ftz, float, float, special_rsqrt(a))

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

static inline float logarithm(float x) {
    const float scale = is_small(x) ? 0x1p24f : 1.0f, exponent = is_small(x) ? 24.0f : 0.0f;
    return special_lg2(x * scale) - exponent;
}
static inline float power(float x) {
    const bool below = x < -126.0f;
    const float result = special_ex2(below ? x * 0.5f : x);
    return below ? result * result : result;
}
ALU_1(lg2_f32, float, float, canonical(logarithm(a)))
ALU_1(lg2_f32_ftz, float, float, special_lg2(a))
ALU_1(ex2_f32, float, float, canonical(power(a)))
ALU_1(ex2_f32_ftz, float, float, special_ex2(a))

// In double precision and rounded once, which is right except for ties that no precision settles.
static inline float sine(float x) { return (float)sin((double)x); }
static inline float cosine(float x) { return (float)cos((double)x); }
static inline float hyperbolic(float x) { return (float)tanh((double)x); }
TWO_FORMS_1(sin_f32, sine)
TWO_FORMS_1(cos_f32, cosine)
ALU_SLOW_1(tanh_f32, float, float, canonical(hyperbolic(a)))

bool approx_sin(const PtxInstruction *in, Selection *s) { return select_unary(in, s, sin_f32, sin_f32_ftz); }
bool approx_cos(const PtxInstruction *in, Selection *s) { return select_unary(in, s, cos_f32, cos_f32_ftz); }
bool approx_lg2(const PtxInstruction *in, Selection *s) { return select_unary(in, s, lg2_f32, lg2_f32_ftz); }
bool approx_ex2(const PtxInstruction *in, Selection *s) { return select_unary(in, s, ex2_f32, ex2_f32_ftz); }
bool approx_tanh(const PtxInstruction *in, Selection *s) { return select_unary(in, s, tanh_f32, NULL); }
