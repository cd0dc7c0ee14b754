// Mathematical functions: what C's <math.h> names, and CUDA's fast ones. None comes from libdevice. tests/test_clang_math.py
// measures their errors: none is larger than what the CUDA C++ Programming Guide ("Mathematical Functions") promises for
// nvcc. Polynomials are minimax fits of the named function (Remez's exchange, weighted for the relative error).
#pragma once

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_LN2 0.69314718055994530942

// ---- Exact functions, which are instructions ---------------------------------------------------------------------

WARPBOOK_DEVICE float fabsf(float a) { return __builtin_fabsf(a); }
WARPBOOK_DEVICE double fabs(double a) { return __builtin_fabs(a); }
WARPBOOK_DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
WARPBOOK_DEVICE double fmax(double a, double b) { return __builtin_fmax(a, b); }
WARPBOOK_DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
WARPBOOK_DEVICE double fmin(double a, double b) { return __builtin_fmin(a, b); }
WARPBOOK_DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WARPBOOK_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WARPBOOK_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
WARPBOOK_DEVICE double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
WARPBOOK_DEVICE float floorf(float a) { return __builtin_floorf(a); }
WARPBOOK_DEVICE double floor(double a) { return __builtin_floor(a); }
WARPBOOK_DEVICE float ceilf(float a) { return __builtin_ceilf(a); }
WARPBOOK_DEVICE double ceil(double a) { return __builtin_ceil(a); }
WARPBOOK_DEVICE float truncf(float a) { return __builtin_truncf(a); }
WARPBOOK_DEVICE double trunc(double a) { return __builtin_trunc(a); }
WARPBOOK_DEVICE float rintf(float a) { return __builtin_rintf(a); }
WARPBOOK_DEVICE double rint(double a) { return __builtin_rint(a); }
WARPBOOK_DEVICE float nearbyintf(float a) { return __builtin_rintf(a); }
WARPBOOK_DEVICE double nearbyint(double a) { return __builtin_rint(a); }
WARPBOOK_DEVICE float roundf(float a) { return __builtin_roundf(a); }
WARPBOOK_DEVICE double round(double a) { return __builtin_round(a); }
WARPBOOK_DEVICE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
WARPBOOK_DEVICE double copysign(double a, double b) { return __builtin_copysign(a, b); }
WARPBOOK_DEVICE float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
WARPBOOK_DEVICE float fdividef(float a, float b) { return a / b; }
WARPBOOK_DEVICE long lrintf(float a) { return __float2ll_rn(a); }
WARPBOOK_DEVICE long lrint(double a) { return __double2ll_rn(a); }
WARPBOOK_DEVICE long lroundf(float a) { return (long)roundf(a); }
WARPBOOK_DEVICE long lround(double a) { return (long)round(a); }
WARPBOOK_DEVICE bool isnan(float a) { return a != a; }
WARPBOOK_DEVICE bool isnan(double a) { return a != a; }
WARPBOOK_DEVICE bool isinf(float a) { return fabsf(a) == INFINITY; }
WARPBOOK_DEVICE bool isinf(double a) { return fabs(a) == __builtin_inf(); }
WARPBOOK_DEVICE bool isfinite(float a) { return fabsf(a) < INFINITY; }
WARPBOOK_DEVICE bool isfinite(double a) { return fabs(a) < __builtin_inf(); }
WARPBOOK_DEVICE bool signbit(float a) { return __float_as_int(a) < 0; }
WARPBOOK_DEVICE bool signbit(double a) { return __double_as_longlong(a) < 0; }
WARPBOOK_DEVICE float nanf(const char *) { return NAN; }

// ---- Fast functions: one or two instructions, with the error of the instruction (PTX ISA) -------------------------

WARPBOOK_DEVICE float __exp2f(float a) { return __nvvm_ex2_approx_f(a); }
WARPBOOK_DEVICE float __expf(float a) { return __nvvm_ex2_approx_f(a * 1.442695041f); }
WARPBOOK_DEVICE float __exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.321928095f); }
WARPBOOK_DEVICE float __log2f(float a) { return __nvvm_lg2_approx_f(a); }
WARPBOOK_DEVICE float __logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147181f; }
WARPBOOK_DEVICE float __log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.301029996f; }
WARPBOOK_DEVICE float __powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
WARPBOOK_DEVICE float __sinf(float a) { return __nvvm_sin_approx_f(a); }
WARPBOOK_DEVICE float __cosf(float a) { return __nvvm_cos_approx_f(a); }
WARPBOOK_DEVICE float __tanf(float a) { return __nvvm_div_approx_f(__sinf(a), __cosf(a)); }
WARPBOOK_DEVICE void __sincosf(float a, float *sine, float *cosine) {
    *sine = __sinf(a);
    *cosine = __cosf(a);
}
WARPBOOK_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
WARPBOOK_DEVICE float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
WARPBOOK_DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
WARPBOOK_DEVICE float __tanhf(float a) {
    float r;
    asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

// ---- float ----------------------------------------------------------------------------------------------------------

WARPBOOK_DEVICE float exp2f(float a) { return __nvvm_ex2_approx_f(a); }

// 2^n * e^r with n the integer next to a / ln 2 that has a normal power; the rest of a very small or large `a` is in r.
WARPBOOK_DEVICE float expf(float a) {
    const float n = fminf(fmaxf(rintf(a * 1.442695041f), -126.0f), 127.0f);
    const float r = fmaf(n, -1.428606765e-06f, fmaf(n, -6.931457520e-01f, a));
    const float power = __int_as_float(((int)n + 127) << 23);
    return __nvvm_ex2_approx_f(r * 1.442695041f) * power;
}
WARPBOOK_DEVICE float exp10f(float a) {
    const float n = fminf(fmaxf(rintf(a * 3.321928024f), -126.0f), 127.0f);
    const float r = fmaf(a, 7.059536955e-08f, fmaf(a, 3.321928024f, -n));
    return __nvvm_ex2_approx_f(r) * __int_as_float(((int)n + 127) << 23);
}

// a = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). Returns log(1 + f) - f.
WARPBOOK_DEVICE float warpbook_log_parts(float a, float *e, float *f) {
    const bool is_subnormal = a < 1.175494351e-38f;
    const int bits = __float_as_int(is_subnormal ? a * 8388608.0f : a);
    const int exponent = (bits - 0x3f3504f3) >> 23;
    *e = (float)(exponent - (is_subnormal ? 23 : 0));
    *f = __int_as_float(bits - (exponent << 23)) - 1.0f;
    float p = 6.746651232e-02f;
    p = fmaf(p, *f, -1.167565435e-01f);
    p = fmaf(p, *f, 1.188815907e-01f);
    p = fmaf(p, *f, -1.240558848e-01f);
    p = fmaf(p, *f, 1.421955228e-01f);
    p = fmaf(p, *f, -1.666799635e-01f);
    p = fmaf(p, *f, 2.000211924e-01f);
    p = fmaf(p, *f, -2.500000894e-01f);
    p = fmaf(p, *f, 3.333331347e-01f);
    return fmaf(*f * *f, p * *f, *f * *f * -0.5f);
}
// The logarithm of 0, infinity, NaN and negative numbers, else `log`.
WARPBOOK_DEVICE float warpbook_log_of(float a, float log) {
    if (a > 0.0f && a < INFINITY) return log;
    return a == 0.0f ? -INFINITY : a > 0.0f ? a : NAN;
}
WARPBOOK_DEVICE float logf(float a) {
    float e, f;
    const float rest = warpbook_log_parts(a, &e, &f);
    return warpbook_log_of(a, fmaf(e, 6.931457520e-01f, fmaf(e, 1.428606765e-06f, rest) + f));
}
WARPBOOK_DEVICE float log2f(float a) {
    float e, f;
    const float rest = warpbook_log_parts(a, &e, &f);
    const float low = fmaf(rest, 1.442695022f, fmaf(f, 1.925963034e-08f, rest * 1.925963034e-08f));
    return warpbook_log_of(a, e + fmaf(f, 1.442695022f, low));
}
WARPBOOK_DEVICE float log10f(float a) {
    float e, f;
    const float rest = warpbook_log_parts(a, &e, &f);
    const float low = fmaf(rest, 4.342944920e-01f, f * -1.010304995e-08f);
    return warpbook_log_of(a, fmaf(e, 3.010299957e-01f, fmaf(f, 4.342944920e-01f, low)));
}
WARPBOOK_DEVICE float log1pf(float a) {
    const float u = 1.0f + a;
    if (fabsf(a) < 1e-4f) return fmaf(a * a, fmaf(a, 0.333333333f, -0.5f), a);
    return u > 0.0f && u < INFINITY ? logf(u) + (a - (u - 1.0f)) / u : logf(u);
}
WARPBOOK_DEVICE float tanhf(float a) {
    const float x = fabsf(a), z = a * a;
    if (x >= 0.6f) return copysignf(1.0f - 2.0f / (expf(2.0f * fminf(x, 20.0f)) + 1.0f), a) + (a != a ? a : 0.0f);
    float p = -5.905867554e-03f;
    p = fmaf(p, z, 2.080538310e-02f);
    p = fmaf(p, z, -5.378668383e-02f);
    p = fmaf(p, z, 1.333195865e-01f);
    p = fmaf(p, z, -3.333329856e-01f);
    return fmaf(a * z, p, a);
}
// Up to 1, a times a polynomial of a * a; from there, 1 - 2^q with a polynomial q for the logarithm of 1 - erf.
WARPBOOK_DEVICE float erff(float a) {
    const float x = fabsf(a), z = a * a;
    if (x < 1.0f) {
        float p = 7.889122935e-05f;
        p = fmaf(p, z, -8.020842215e-04f);
        p = fmaf(p, z, 5.189535674e-03f);
        p = fmaf(p, z, -2.685444430e-02f);
        p = fmaf(p, z, 1.128360033e-01f);
        p = fmaf(p, z, -3.761262596e-01f);
        return fmaf(a, fmaf(p, z, 1.283791661e-01f), a);
    }
    const float y = fminf(x, 4.0f);
    float q = -3.128735261e-05f;
    q = fmaf(q, y, 6.367118331e-04f);
    q = fmaf(q, y, -6.065890193e-03f);
    q = fmaf(q, y, 3.636779636e-02f);
    q = fmaf(q, y, -1.564148962e-01f);
    q = fmaf(q, y, -9.135432243e-01f);
    q = fmaf(q, y, -1.629637122e+00f);
    q = fmaf(q, y, 2.712788410e-04f);
    return a != a ? a : copysignf(1.0f - __nvvm_ex2_approx_f(q), a);
}

// ---- Angles -----------------------------------------------------------------------------------------------------------

// a = quadrant * pi / 2 + the result, for a of at least 2^16: the mantissa times those 192 bits of 2 / pi that neither
// make multiples of 4 nor are too small to matter (the method of Payne and Hanek).
WARPBOOK_DEVICE double warpbook_large_angle(double a, int *quadrant) {
    constexpr unsigned long long two_over_pi[21] = {
        0, // before the point
        0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
        0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
        0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
        0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
        0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};
    const long long bits = __double_as_longlong(a);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1075; // a = mantissa * 2^exponent
    *quadrant = 0;
    if (exponent > 971) return NAN;
    const unsigned long long mantissa = ((unsigned long long)bits & 0xfffffffffffffull) | 0x10000000000000ull;
    const int first = exponent + 62, word = first / 64, shift = first % 64;
    unsigned long long w[3];
#pragma unroll
    for (int i = 0; i < 3; i++)
        w[i] = two_over_pi[word + i] << shift | (shift ? two_over_pi[word + i + 1] >> (64 - shift) : 0);
    // The product modulo 2^192; its two highest bits are whole quarters of the circle.
    const unsigned long long low = mantissa * w[2], middle_part = mantissa * w[1];
    const unsigned long long middle = middle_part + __umul64hi(mantissa, w[2]);
    const unsigned long long high = mantissa * w[0] + __umul64hi(mantissa, w[1]) + (middle < middle_part);
    // A fraction of one half or more is negative as a signed number, and belongs to the next quarter.
    const long long fraction = (long long)(high << 2 | middle >> 62);
    const unsigned long long rest = middle << 2 | low >> 62;
    const int q = (int)(high >> 62) + (fraction < 0);
    const double unit = 5.421010862427522e-20; // 2^-64
    const double r = ((double)fraction + (double)rest * unit) * unit * 1.5707963267948966;
    *quadrant = bits < 0 ? -q : q;
    return bits < 0 ? -r : r;
}
WARPBOOK_DEVICE double warpbook_angle(double a, int *quadrant) {
    if (!(fabs(a) < 1e8)) return warpbook_large_angle(a, quadrant);
    const double n = rint(a * 0.63661977236758134);
    *quadrant = (int)n;
    return fma(n, 1.49738490485916983e-33, fma(n, -6.12323399573676604e-17, fma(n, -1.57079632679489656e+00, a)));
}
WARPBOOK_DEVICE float warpbook_angle(float a, int *quadrant) {
    if (!(fabsf(a) < 100000.0f)) {
        *quadrant = 0;
        return (float)warpbook_large_angle((double)a, quadrant);
    }
    const float n = rintf(a * 0.636619772f);
    *quadrant = (int)n;
    return fmaf(n, 1.715124510e-15f, fmaf(n, 4.371138829e-08f, fmaf(n, -1.570796371e+00f, a)));
}
WARPBOOK_DEVICE float warpbook_sine(float r) {
    const float z = r * r;
    const float p = fmaf(fmaf(-1.951083977e-04f, z, 8.332131431e-03f), z, -1.666665375e-01f);
    return fmaf(r * z, p, r);
}
WARPBOOK_DEVICE float warpbook_cosine(float r) {
    const float z = r * r;
    const float p = fmaf(fmaf(2.443120502e-05f, z, -1.388730598e-03f), z, 4.166664556e-02f);
    return fmaf(z, fmaf(z, p, -0.5f), 1.0f);
}
// Series of Taylor, which is enough below pi / 4.
WARPBOOK_DEVICE double warpbook_sine(double r) {
    const double z = r * r;
    double p = -7.6471637318198165e-13;
    p = fma(p, z, 1.6059043836821613e-10);
    p = fma(p, z, -2.5052108385441720e-08);
    p = fma(p, z, 2.7557319223985893e-06);
    p = fma(p, z, -1.9841269841269841e-04);
    p = fma(p, z, 8.3333333333333332e-03);
    p = fma(p, z, -1.6666666666666666e-01);
    return fma(r * z, p, r);
}
WARPBOOK_DEVICE double warpbook_cosine(double r) {
    const double z = r * r;
    double p = 4.7794773323873853e-14;
    p = fma(p, z, -1.1470745597729725e-11);
    p = fma(p, z, 2.0876756987868099e-09);
    p = fma(p, z, -2.7557319223985888e-07);
    p = fma(p, z, 2.4801587301587302e-05);
    p = fma(p, z, -1.3888888888888889e-03);
    p = fma(p, z, 4.1666666666666664e-02);
    return fma(z, fma(z, p, -0.5), 1.0);
}
#define WARPBOOK_ANGLES(type, sine, cosine, both, tangent)                                                        \
    WARPBOOK_DEVICE void both(type a, type *s, type *c) {                                                         \
        int quadrant = 0;                                                                                         \
        const type r = warpbook_angle(a, &quadrant), x = warpbook_sine(r), y = warpbook_cosine(r);                \
        const type swapped_s = quadrant & 1 ? y : x, swapped_c = quadrant & 1 ? x : y;                            \
        *s = quadrant & 2 ? -swapped_s : swapped_s;                                                               \
        *c = (quadrant + 1) & 2 ? -swapped_c : swapped_c;                                                         \
    }                                                                                                             \
    WARPBOOK_DEVICE type sine(type a) {                                                                           \
        type s, c;                                                                                                \
        both(a, &s, &c);                                                                                          \
        return s;                                                                                                 \
    }                                                                                                             \
    WARPBOOK_DEVICE type cosine(type a) {                                                                         \
        type s, c;                                                                                                \
        both(a, &s, &c);                                                                                          \
        return c;                                                                                                 \
    }                                                                                                             \
    WARPBOOK_DEVICE type tangent(type a) {                                                                        \
        type s, c;                                                                                                \
        both(a, &s, &c);                                                                                          \
        return s / c;                                                                                             \
    }
WARPBOOK_ANGLES(float, sinf, cosf, sincosf, tanf)
WARPBOOK_ANGLES(double, sin, cos, sincos, tan)
#undef WARPBOOK_ANGLES

// ---- double -----------------------------------------------------------------------------------------------------------

WARPBOOK_DEVICE double warpbook_scaled(double a, int n) { // a * 2^n, in two steps: the first has a normal power
    const int half = n / 2;
    return a * __longlong_as_double((long long)(half + 1023) << 52) *
           __longlong_as_double((long long)(n - half + 1023) << 52);
}
// e^(a + low), with low much smaller than a.
WARPBOOK_DEVICE double warpbook_exp(double a, double low) {
    if (!(fabs(a) < 750.0)) return a != a ? a : a > 0 ? __builtin_inf() : 0.0;
    const double n = rint(a * 1.4426950408889634);
    const double r = fma(n, -7.44061711001239685e-11, fma(n, -6.93147180485539138e-01, a)) + low;
    double p = 1.6059043836821613e-10;
    p = fma(p, r, 2.0876756987868099e-09);
    p = fma(p, r, 2.5052108385441720e-08);
    p = fma(p, r, 2.7557319223985888e-07);
    p = fma(p, r, 2.7557319223985893e-06);
    p = fma(p, r, 2.4801587301587302e-05);
    p = fma(p, r, 1.9841269841269841e-04);
    p = fma(p, r, 1.3888888888888889e-03);
    p = fma(p, r, 8.3333333333333332e-03);
    p = fma(p, r, 4.1666666666666664e-02);
    p = fma(p, r, 1.6666666666666666e-01);
    p = fma(p, r, 0.5);
    return warpbook_scaled(fma(fma(p, r, 1.0), r, 1.0), (int)n);
}
// log(a) as a sum: log(1 + f) = 2 atanh(f / (2 + f)), whose series in the square of the quotient is short.
WARPBOOK_DEVICE double warpbook_log(double a, double *low) {
    const bool is_subnormal = a < 2.2250738585072014e-308;
    const long long bits = __double_as_longlong(is_subnormal ? a * 18014398509481984.0 : a);
    const int exponent = (int)((bits - 0x3fe6a09e667f3bcdll) >> 52);
    const double e = exponent - (is_subnormal ? 54 : 0);
    const double m = __longlong_as_double(bits - ((long long)exponent << 52)), f = m - 1.0;
    const double s = f / (m + 1.0), sum = m + 1.0, sum_low = 1.0 - (sum - m);
    const double s_low = (fma(-s, sum, f) - s * sum_low) / sum, z = s * s;
    double p = 2.0 / 23;
    p = fma(p, z, 2.0 / 21);
    p = fma(p, z, 2.0 / 19);
    p = fma(p, z, 2.0 / 17);
    p = fma(p, z, 2.0 / 15);
    p = fma(p, z, 2.0 / 13);
    p = fma(p, z, 2.0 / 11);
    p = fma(p, z, 2.0 / 9);
    p = fma(p, z, 2.0 / 7);
    p = fma(p, z, 2.0 / 5);
    p = fma(p, z, 2.0 / 3);
    const double tail = fma(s * z, p, 2.0 * s_low), high = e * 6.93147180485539138e-01, first = high + 2.0 * s;
    const double lost = e == 0.0 ? 0.0 : 2.0 * s - (first - high), rest = tail + fma(e, 7.44061711001239685e-11, lost);
    const double whole = first + rest;
    *low = rest - (whole - first);
    return whole;
}
WARPBOOK_DEVICE double warpbook_log_of(double a, double log) {
    if (a > 0.0 && a < __builtin_inf()) return log;
    return a == 0.0 ? -__builtin_inf() : a > 0.0 ? a : __builtin_nan("");
}
WARPBOOK_DEVICE double exp(double a) { return warpbook_exp(a, 0.0); }
WARPBOOK_DEVICE double exp2(double a) {
    if (!(fabs(a) < 1100.0)) return a != a ? a : a > 0 ? __builtin_inf() : 0.0;
    const double n = rint(a), r = a - n;
    return warpbook_scaled(warpbook_exp(r * 0.69314718055994531, fma(r, 0.69314718055994531, -(r * 0.69314718055994531))),
                           (int)n);
}
WARPBOOK_DEVICE double log(double a) {
    double low;
    return warpbook_log_of(a, warpbook_log(a, &low));
}
WARPBOOK_DEVICE double log2(double a) {
    double low;
    const double high = warpbook_log(a, &low);
    return warpbook_log_of(a, fma(high, 1.4426950408889634, fma(high, 2.0355273740931033e-17, low * 1.4426950408889634)));
}
WARPBOOK_DEVICE double log10(double a) {
    double low;
    const double high = warpbook_log(a, &low);
    return warpbook_log_of(a, fma(high, 0.43429448190325182, fma(high, 1.0983196502167651e-17, low * 0.43429448190325182)));
}
WARPBOOK_DEVICE double rsqrt(double a) { return 1.0 / sqrt(a); }
WARPBOOK_DEVICE double tanh(double a) {
    const double x = fabs(a);
    if (x < 1e-4) return a - a * a * a * (1.0 / 3);
    return copysign(1.0 - 2.0 / (exp(2.0 * fmin(x, 40.0)) + 1.0), a) + (a != a ? a : 0.0);
}

// a^b for a finite and positive, from the logarithm in twice the precision.
WARPBOOK_DEVICE double warpbook_power(double a, double b) {
    double low;
    const double high = warpbook_log(a, &low), product = high * b;
    return warpbook_exp(product, fma(high, b, -product) + low * b);
}
// The cases of C's standard (annex F), in its order.
WARPBOOK_DEVICE double pow(double a, double b) {
    if (b == 0.0 || a == 1.0) return 1.0;
    if (a != a || b != b) return a + b;
    const double x = fabs(a);
    const bool is_integer = rint(b) == b, is_odd = is_integer && fabs(b) < 9007199254740992.0 && rint(b * 0.5) != b * 0.5;
    if (fabs(b) == __builtin_inf()) return x == 1.0 ? 1.0 : (x > 1.0) == (b > 0.0) ? __builtin_inf() : 0.0;
    const bool is_negative = signbit(a) && is_odd;
    if (x == 0.0 || x == __builtin_inf()) {
        const double size = (x == 0.0) == (b > 0.0) ? 0.0 : __builtin_inf();
        return is_negative ? -size : size;
    }
    if (a < 0.0 && !is_integer) return __builtin_nan("");
    const double size = warpbook_power(x, b);
    return is_negative ? -size : size;
}
WARPBOOK_DEVICE float powf(float a, float b) { return (float)pow((double)a, (double)b); }

// ---- Rare ones: of float through double -------------------------------------------------------------------------------

WARPBOOK_DEVICE double atan(double a) {
    const double x = fabs(a), inverse = x > 1.0 ? 1.0 / x : x;
    const bool is_turned = inverse > 0.26794919243112270; // tan(pi / 12)
    const double y = is_turned ? (inverse * 1.7320508075688772 - 1.0) / (inverse + 1.7320508075688772) : inverse;
    const double z = y * y;
    double p = 0.0;
#pragma unroll
    for (int k = 27; k >= 3; k -= 2) p = fma(p, z, (k / 2) % 2 ? -1.0 / k : 1.0 / k);
    double r = fma(y * z, p, y) + (is_turned ? 0.52359877559829887 : 0.0);
    if (x > 1.0) r = 1.5707963267948966 - r;
    return copysign(r, a);
}
WARPBOOK_DEVICE double atan2(double y, double x) {
    if (x != x || y != y) return x + y;
    const double a = fabs(x), b = fabs(y);
    double r = a == 0.0 && b == 0.0 ? 0.0 : a == __builtin_inf() && b == a ? 0.78539816339744831 : atan(b / a);
    if (signbit(x)) r = 3.1415926535897931 - r;
    return copysign(r, y);
}
WARPBOOK_DEVICE double asin(double a) { return atan2(a, sqrt((1.0 - a) * (1.0 + a))); }
WARPBOOK_DEVICE double acos(double a) { return atan2(sqrt((1.0 - a) * (1.0 + a)), a); }
WARPBOOK_DEVICE double hypot(double a, double b) {
    const double x = fmax(fabs(a), fabs(b)), y = fmin(fabs(a), fabs(b));
    if (x == __builtin_inf() || x == 0.0) return x;
    const double q = y / x;
    return x * sqrt(fma(q, q, 1.0));
}
WARPBOOK_DEVICE double cbrt(double a) {
    if (a == 0.0 || !isfinite(a)) return a;
    const double x = fabs(a), r = warpbook_power(x, 1.0 / 3), s = r - (r * r * r - x) / (3.0 * r * r);
    return copysign(s, a);
}
WARPBOOK_DEVICE float atanf(float a) { return (float)atan((double)a); }
WARPBOOK_DEVICE float atan2f(float y, float x) { return (float)atan2((double)y, (double)x); }
WARPBOOK_DEVICE float asinf(float a) { return (float)asin((double)a); }
WARPBOOK_DEVICE float acosf(float a) { return (float)acos((double)a); }
WARPBOOK_DEVICE float cbrtf(float a) { return (float)cbrt((double)a); }
WARPBOOK_DEVICE float hypotf(float a, float b) { return (float)sqrt((double)a * a + (double)b * b); }
WARPBOOK_DEVICE float expm1f(float a) {
    if (fabsf(a) < 1e-3f) return fmaf(a * a, fmaf(a, 0.166666667f, 0.5f), a);
    return (float)(exp((double)a) - 1.0);
}
WARPBOOK_DEVICE float sinhf(float a) {
    if (fabsf(a) < 1e-2f) return fmaf(a * a * a, fmaf(a * a, 0.00833333333f, 0.166666667f), a);
    return (float)(0.5 * (exp((double)a) - exp(-(double)a)));
}
WARPBOOK_DEVICE float coshf(float a) { return (float)(0.5 * (exp((double)a) + exp(-(double)a))); }
WARPBOOK_DEVICE float ldexpf(float a, int n) { return (float)warpbook_scaled((double)a, max(-600, min(600, n))); }
WARPBOOK_DEVICE double ldexp(double a, int n) { return warpbook_scaled(a, max(-2040, min(2040, n))); }

// The remainder of the magnitudes, exactly: the mantissa of `a` is divided step by step.
WARPBOOK_DEVICE float fmodf(float a, float b) {
    const unsigned int bits_a = __float_as_uint(a) & 0x7fffffff, bits_b = __float_as_uint(b) & 0x7fffffff;
    if (bits_a >= 0x7f800000 || bits_b > 0x7f800000 || bits_b == 0) return NAN;
    if (bits_a < bits_b) return a;
    const int exponent_a = max((int)(bits_a >> 23), 1), exponent_b = max((int)(bits_b >> 23), 1);
    const unsigned long long m = (bits_b & 0x7fffff) | (bits_b >> 23 ? 0x800000 : 0);
    unsigned long long r = ((bits_a & 0x7fffff) | (bits_a >> 23 ? 0x800000 : 0));
    if (bits_b == 0x7f800000) return a;
    for (int left = exponent_a - exponent_b;;) {
        const int step = min(left, 40);
        r = (r << step) % m;
        left -= step;
        if (left <= 0) break;
    }
    return copysignf((float)warpbook_scaled((double)r, exponent_b - 150), a);
}

// ---- C++: one name for float, double and integers, also in namespace std -----------------------------------------------

#define WARPBOOK_OVERLOAD(name)                                                                                   \
    WARPBOOK_DEVICE float name(float a) { return name##f(a); }                                                    \
    template <typename Integer> WARPBOOK_DEVICE auto name(Integer a)->__warpbook_double_of<Integer> {             \
        return name((double)a);                                                                                   \
    }                                                                                                             \
    namespace std { using ::name; }
template <typename Type, bool IsInteger = __is_integral(Type)> struct WarpbookDoubleOf;
template <typename Type> struct WarpbookDoubleOf<Type, true> {
    using type = double;
};
template <typename Type> using __warpbook_double_of = typename WarpbookDoubleOf<Type>::type;

WARPBOOK_OVERLOAD(fabs)
WARPBOOK_OVERLOAD(sqrt)
WARPBOOK_OVERLOAD(floor)
WARPBOOK_OVERLOAD(ceil)
WARPBOOK_OVERLOAD(trunc)
WARPBOOK_OVERLOAD(rint)
WARPBOOK_OVERLOAD(round)
WARPBOOK_OVERLOAD(exp)
WARPBOOK_OVERLOAD(exp2)
WARPBOOK_OVERLOAD(log)
WARPBOOK_OVERLOAD(log2)
WARPBOOK_OVERLOAD(log10)
WARPBOOK_OVERLOAD(sin)
WARPBOOK_OVERLOAD(cos)
WARPBOOK_OVERLOAD(tan)
WARPBOOK_OVERLOAD(tanh)
WARPBOOK_OVERLOAD(atan)
WARPBOOK_OVERLOAD(asin)
WARPBOOK_OVERLOAD(acos)
WARPBOOK_OVERLOAD(cbrt)
#undef WARPBOOK_OVERLOAD
WARPBOOK_DEVICE float rsqrt(float a) { return rsqrtf(a); }
WARPBOOK_DEVICE float fmax(float a, float b) { return fmaxf(a, b); }
WARPBOOK_DEVICE float fmin(float a, float b) { return fminf(a, b); }
WARPBOOK_DEVICE float fma(float a, float b, float c) { return fmaf(a, b, c); }
WARPBOOK_DEVICE float pow(float a, float b) { return powf(a, b); }
WARPBOOK_DEVICE double pow(double a, int b) { return pow(a, (double)b); }
WARPBOOK_DEVICE float pow(float a, int b) { return powf(a, (float)b); }
WARPBOOK_DEVICE float fmod(float a, float b) { return fmodf(a, b); }
WARPBOOK_DEVICE float abs(float a) { return fabsf(a); }
WARPBOOK_DEVICE double abs(double a) { return fabs(a); }
WARPBOOK_DEVICE float max(float a, float b) { return fmaxf(a, b); }
WARPBOOK_DEVICE float min(float a, float b) { return fminf(a, b); }
WARPBOOK_DEVICE double max(double a, double b) { return fmax(a, b); }
WARPBOOK_DEVICE double min(double a, double b) { return fmin(a, b); }
WARPBOOK_DEVICE double max(float a, double b) { return fmax((double)a, b); }
WARPBOOK_DEVICE double max(double a, float b) { return fmax(a, (double)b); }
WARPBOOK_DEVICE double min(float a, double b) { return fmin((double)a, b); }
WARPBOOK_DEVICE double min(double a, float b) { return fmin(a, (double)b); }
namespace std {
using ::abs;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::pow;
} // namespace std
