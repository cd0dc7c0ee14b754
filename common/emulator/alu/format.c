// Rounding a value to any IEEE format in any direction, one at a time (IEEE 754, 4.3).
#include "emulator/alu/float_lanes.h"

uint64_t rounded_bits(bool negative, uint64_t m, int exponent, FloatFormat format, Rounding rounding) {
    const int zeros = __builtin_clzll(m);
    const int bias = (1 << (format.exponent - 1)) - 1, smallest = 1 - bias;
    const int e = exponent + 63 - zeros; // of the leading bit
    m <<= zeros;
    int drop = 63 - format.fraction + (e < smallest ? smallest - e : 0);
    uint64_t kept, rest; // the rest is a fraction of 2^64
    if (drop < 64) {
        kept = m >> drop;
        rest = m << (64 - drop);
    } else {
        kept = 0;
        rest = drop == 64 ? m : 1;
    }
    const uint64_t half = UINT64_C(1) << 63;
    bool up = false;
    switch (rounding) {
    case ROUND_NEAREST: up = rest > half || (rest == half && kept & 1); break;
    case ROUND_DOWN: up = negative && rest; break;
    case ROUND_UP: up = !negative && rest; break;
    default: break;
    }
    kept += up;
    // A normal number's leading bit adds one to the exponent field, and so does a carry out of the fraction.
    const int field = (e < smallest ? smallest : e) + bias - 1;
    const uint64_t infinity = ((UINT64_C(1) << format.exponent) - 1) << format.fraction;
    uint64_t bits = ((uint64_t)field << format.fraction) + kept;
    if (bits >= infinity) {
        const bool away = rounding == ROUND_NEAREST || rounding == (negative ? ROUND_DOWN : ROUND_UP);
        bits = away ? infinity : infinity - 1;
    }
    return bits | (uint64_t)negative << (format.fraction + format.exponent);
}

uint64_t rounded_double(double x, FloatFormat format, Rounding rounding, uint64_t nan) {
    const uint64_t bits = double_bits(x), magnitude = bits & INT64_MAX;
    const bool negative = bits >> 63;
    const uint64_t sign = (uint64_t)negative << (format.fraction + format.exponent);
    if (magnitude > UINT64_C(0x7ff0000000000000)) return nan;
    if (magnitude == UINT64_C(0x7ff0000000000000))
        return sign | ((UINT64_C(1) << format.exponent) - 1) << format.fraction;
    if (magnitude == 0) return sign;
    const int field = (int)(magnitude >> 52);
    const uint64_t fraction = magnitude & ((UINT64_C(1) << 52) - 1);
    const uint64_t m = field ? fraction | UINT64_C(1) << 52 : fraction;
    return rounded_bits(negative, m, (field ? field : 1) - 1075, format, rounding);
}
