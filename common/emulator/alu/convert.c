// cvt between integers, and between integers and floats (ISA, cvt).
//
// An integer operand may lie in a register wider than its type: a source is cut to its type first, a
// result extended by its type's sign. So a handler is made for each pair of type and lane width, a "slot".
#include "emulator/alu/convert.h"

// Slots: 8 types by 3 lane widths, of which 18 exist. M gets the type's name, its C type, the lane bits.
// clang-format off
#define EACH_SLOT(M, ...)                                                                                 \
    M(u8, uint8_t, 16, __VA_ARGS__) M(u8, uint8_t, 32, __VA_ARGS__) M(u8, uint8_t, 64, __VA_ARGS__)       \
    M(s8, int8_t, 16, __VA_ARGS__) M(s8, int8_t, 32, __VA_ARGS__) M(s8, int8_t, 64, __VA_ARGS__)          \
    M(u16, uint16_t, 16, __VA_ARGS__) M(u16, uint16_t, 32, __VA_ARGS__) M(u16, uint16_t, 64, __VA_ARGS__) \
    M(s16, int16_t, 16, __VA_ARGS__) M(s16, int16_t, 32, __VA_ARGS__) M(s16, int16_t, 64, __VA_ARGS__)    \
    M(u32, uint32_t, 32, __VA_ARGS__) M(u32, uint32_t, 64, __VA_ARGS__)                                   \
    M(s32, int32_t, 32, __VA_ARGS__) M(s32, int32_t, 64, __VA_ARGS__)                                     \
    M(u64, uint64_t, 64, __VA_ARGS__)                                                                     \
    M(s64, int64_t, 64, __VA_ARGS__)
// The slots whose lanes are as wide as the type allows, which is nearly all that compilers emit, and the rest.
#define EACH_SNUG_SLOT(M, ...)                                                                       \
    M(u8, uint8_t, 16, __VA_ARGS__)                                                                  \
    M(s8, int8_t, 16, __VA_ARGS__)                                                                   \
    M(u16, uint16_t, 16, __VA_ARGS__)                                                                \
    M(s16, int16_t, 16, __VA_ARGS__)                                                                 \
    M(u32, uint32_t, 32, __VA_ARGS__)                                                                \
    M(s32, int32_t, 32, __VA_ARGS__)                                                                 \
    M(u64, uint64_t, 64, __VA_ARGS__)                                                                \
    M(s64, int64_t, 64, __VA_ARGS__)
#define EACH_WIDE_SLOT(M, ...)                                                                       \
    M(u8, uint8_t, 32, __VA_ARGS__) M(u8, uint8_t, 64, __VA_ARGS__)                                  \
    M(s8, int8_t, 32, __VA_ARGS__) M(s8, int8_t, 64, __VA_ARGS__)                                    \
    M(u16, uint16_t, 32, __VA_ARGS__) M(u16, uint16_t, 64, __VA_ARGS__)                              \
    M(s16, int16_t, 32, __VA_ARGS__) M(s16, int16_t, 64, __VA_ARGS__)                                \
    M(u32, uint32_t, 64, __VA_ARGS__)                                                                \
    M(s32, int32_t, 64, __VA_ARGS__)
// The first again without more arguments: a macro may not expand itself, and one pair of loops is needed.
#define EACH_SOURCE(M)                                                                               \
    M(u8, uint8_t, 16) M(u8, uint8_t, 32) M(u8, uint8_t, 64)                                         \
    M(s8, int8_t, 16) M(s8, int8_t, 32) M(s8, int8_t, 64)                                            \
    M(u16, uint16_t, 16) M(u16, uint16_t, 32) M(u16, uint16_t, 64)                                   \
    M(s16, int16_t, 16) M(s16, int16_t, 32) M(s16, int16_t, 64)                                      \
    M(u32, uint32_t, 32) M(u32, uint32_t, 64)                                                        \
    M(s32, int32_t, 32) M(s32, int32_t, 64)                                                          \
    M(u64, uint64_t, 64)                                                                             \
    M(s64, int64_t, 64)
// clang-format on

#define SLOT_NAME(TYPE, T, BITS, ...) SLOT_##TYPE##_##BITS,
enum { EACH_SLOT(SLOT_NAME) SLOTS };

static int slot_of(PtxType type, unsigned bytes) {
    static const struct {
        PtxType type;
        int first;      // slot of the narrowest lane
        unsigned bytes; // of that lane
    } types[] = {{PTX_U8, SLOT_u8_16, 2},   {PTX_S8, SLOT_s8_16, 2},   {PTX_U16, SLOT_u16_16, 2},
                 {PTX_S16, SLOT_s16_16, 2}, {PTX_U32, SLOT_u32_32, 4}, {PTX_S32, SLOT_s32_32, 4},
                 {PTX_U64, SLOT_u64_64, 8}, {PTX_S64, SLOT_s64_64, 8}};
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type != type) continue;
        int slot = types[i].first;
        for (unsigned b = types[i].bytes; b <= 8; b *= 2, slot++)
            if (b == bytes) return slot;
    }
    return -1;
}

static bool is_integer(PtxType type) { return type >= PTX_U8 && type <= PTX_S64; }
static bool is_signed(PtxType type) { return type >= PTX_S8 && type <= PTX_S64; }

unsigned convert_lane_bytes(const PtxOperand *operand, PtxType type) {
    const PtxType held = operand->kind == PTX_OPERAND_REGISTER && operand->reg ? operand->reg->type : type;
    const unsigned bytes = ptx_type_bytes(held);
    return bytes == 1 ? 2 : bytes;
}

// ---- Integer to integer -----------------------------------------------------------------------------------

// One extension does it all: of the narrower of the two types. M is that type, FROM and TO are lane bits.
#define EXTEND(TYPE, M, FROM, TO) ALU_1(extend_##TYPE##_##FROM##_##TO, uint##TO##_t, uint##FROM##_t, (M)a)
#define EXTEND_FROM(TYPE, M, FROM)                                                                           \
    EXTEND(TYPE, M, FROM, 16) EXTEND(TYPE, M, FROM, 32) EXTEND(TYPE, M, FROM, 64)
#define EXTEND_TYPE(TYPE, M) EXTEND_FROM(TYPE, M, 16) EXTEND_FROM(TYPE, M, 32) EXTEND_FROM(TYPE, M, 64)
EXTEND_TYPE(u8, uint8_t)
EXTEND_TYPE(s8, int8_t)
EXTEND_TYPE(u16, uint16_t)
EXTEND_TYPE(s16, int16_t)
EXTEND_TYPE(u32, uint32_t)
EXTEND_TYPE(s32, int32_t)
EXTEND_TYPE(u64, uint64_t)
EXTEND_TYPE(s64, int64_t)
#define EXTEND_ROW(TYPE)                                                                                     \
    {                                                                                                        \
        {extend_##TYPE##_16_16, extend_##TYPE##_16_32, extend_##TYPE##_16_64},                               \
            {extend_##TYPE##_32_16, extend_##TYPE##_32_32, extend_##TYPE##_32_64},                           \
            {extend_##TYPE##_64_16, extend_##TYPE##_64_32, extend_##TYPE##_64_64},                           \
    }
// By type, and by lane width (16, 32, 64) of source and destination.
static AluHandler *const extend[ALU_TYPES][3][3] = {
    [PTX_U8] = EXTEND_ROW(u8),   [PTX_S8] = EXTEND_ROW(s8),   [PTX_U16] = EXTEND_ROW(u16),
    [PTX_S16] = EXTEND_ROW(s16), [PTX_U32] = EXTEND_ROW(u32), [PTX_S32] = EXTEND_ROW(s32),
    [PTX_U64] = EXTEND_ROW(u64), [PTX_S64] = EXTEND_ROW(s64)};

// The exception: a negative source of a narrow type, in an unsigned wider type, in a still wider register
// (cvt.u16.s8 into 32 bits): extended by sign to the type, by zeros from there.
#define EXTEND_TWICE(TYPE, S, D, FROM, TO)                                                                   \
    ALU_1(twice_##TYPE##_##FROM##_##TO, uint##TO##_t, uint##FROM##_t, (D)(S)a)
#define TWICE_FROM(TYPE, S, D, TO)                                                                           \
    EXTEND_TWICE(TYPE, S, D, 16, TO) EXTEND_TWICE(TYPE, S, D, 32, TO) EXTEND_TWICE(TYPE, S, D, 64, TO)
TWICE_FROM(s8_u16, int8_t, uint16_t, 32)
TWICE_FROM(s8_u16, int8_t, uint16_t, 64)
TWICE_FROM(s8_u32, int8_t, uint32_t, 64)
TWICE_FROM(s16_u32, int16_t, uint32_t, 64)
#define TWICE_ROW(TYPE, TO)                                                                                  \
    { twice_##TYPE##_16_##TO, twice_##TYPE##_32_##TO, twice_##TYPE##_64_##TO }

static AluHandler *extended_twice(PtxType from, PtxType to, int from_lane, int to_lane) {
    static AluHandler *const s8_u16_32[3] = TWICE_ROW(s8_u16, 32), *const s8_u16_64[3] =
                                                                       TWICE_ROW(s8_u16, 64);
    static AluHandler *const s8_u32_64[3] = TWICE_ROW(s8_u32, 64), *const s16_u32_64[3] =
                                                                       TWICE_ROW(s16_u32, 64);
    if (from == PTX_S8 && to == PTX_U16) return (to_lane == 1 ? s8_u16_32 : s8_u16_64)[from_lane];
    return (from == PTX_S8 ? s8_u32_64 : s16_u32_64)[from_lane];
}

// .sat: the source's value clamped to the range of the destination's type.
static inline bool above_u64(uint64_t x, uint64_t limit) { return x > limit; }
static inline bool above_s64(int64_t x, uint64_t limit) { return x >= 0 && (uint64_t)x > limit; }
static inline bool below_u64(uint64_t x, int64_t limit) { return (void)x, (void)limit, false; }
static inline bool below_s64(int64_t x, int64_t limit) { return x < limit; }
#define IS_SIGNED(T) ((T)-1 < (T)1)
#define MAX_OF(T) (UINT64_MAX >> (64 - 8 * sizeof(T) + IS_SIGNED(T)))
#define MIN_OF(T) (IS_SIGNED(T) ? -(int64_t)MAX_OF(T) - 1 : 0)
#define ABOVE(S, x, limit) (IS_SIGNED(S) ? above_s64((int64_t)(x), limit) : above_u64((uint64_t)(x), limit))
#define BELOW(S, x, limit) (IS_SIGNED(S) ? below_s64((int64_t)(x), limit) : below_u64((uint64_t)(x), limit))
#define CLAMP(S, D, x)                                                                                       \
    (ABOVE(S, x, MAX_OF(D)) ? (D)MAX_OF(D) : BELOW(S, x, MIN_OF(D)) ? (D)MIN_OF(D) : (D)(x))
#define SATURATE(TYPE, D, TO, S_TYPE, S, FROM)                                                               \
    ALU_SLOW_1(saturate_##S_TYPE##_##FROM##_##TYPE##_##TO, uint##TO##_t, uint##FROM##_t, CLAMP(S, D, (S)a))
#define SATURATE_ENTRY(TYPE, D, TO, S_TYPE, S, FROM)                                                         \
    [SLOT_##TYPE##_##TO] = saturate_##S_TYPE##_##FROM##_##TYPE##_##TO,
#define SATURATE_SOURCE(TYPE, S, FROM) EACH_SLOT(SATURATE, TYPE, S, FROM)
EACH_SOURCE(SATURATE_SOURCE)
#define SATURATE_ROW(TYPE, S, FROM) [SLOT_##TYPE##_##FROM] = {EACH_SLOT(SATURATE_ENTRY, TYPE, S, FROM)},
static AluHandler *const saturate[SLOTS][SLOTS] = {EACH_SOURCE(SATURATE_ROW)};

static int lane_index(unsigned bytes) { return bytes == 2 ? 0 : bytes == 4 ? 1 : 2; }

static bool integer_to_integer(const AluForm *f, Selection *s, unsigned from_bytes, unsigned to_bytes) {
    if (f->words & ~W(sat)) return false;
    const int from = slot_of(f->from, from_bytes), to = slot_of(f->type, to_bytes);
    if (from < 0 || to < 0) return false;
    if (f->words & W(sat)) return CHOOSE(s, saturate[from][to], f->type, f->from);
    const unsigned from_size = ptx_type_bytes(f->from), to_size = ptx_type_bytes(f->type);
    const int from_lane = lane_index(from_bytes), to_lane = lane_index(to_bytes);
    if (from_size < to_size && is_signed(f->from) && !is_signed(f->type) && to_bytes > to_size)
        return CHOOSE(s, extended_twice(f->from, f->type, from_lane, to_lane), f->type, f->from);
    return CHOOSE(s, extend[from_size < to_size ? f->from : f->type][from_lane][to_lane], f->type, f->from);
}

// ---- Integer to float -------------------------------------------------------------------------------------

// To nearest the host converts as the device does, and the common cases vectorise.
#define NEAREST(TYPE, T, BITS, ...)                                                                          \
    ALU_1(nearest_f32_##TYPE##_##BITS, float, uint##BITS##_t, (T)a)                                          \
    ALU_1(nearest_f64_##TYPE##_##BITS, double, uint##BITS##_t, (T)a)
#define NEAREST_F32_ENTRY(TYPE, T, BITS, ...) [SLOT_##TYPE##_##BITS] = nearest_f32_##TYPE##_##BITS,
#define NEAREST_F64_ENTRY(TYPE, T, BITS, ...) [SLOT_##TYPE##_##BITS] = nearest_f64_##TYPE##_##BITS,
EACH_SLOT(NEAREST)
static AluHandler *const nearest_f32[SLOTS] = {EACH_SLOT(NEAREST_F32_ENTRY)};
static AluHandler *const nearest_f64[SLOTS] = {EACH_SLOT(NEAREST_F64_ENTRY)};

// The rest goes through exact integers.
static uint64_t rounded_unsigned(uint64_t x, FloatFormat format, Rounding rounding) {
    return x ? rounded_bits(false, x, 0, format, rounding) : 0;
}
static uint64_t rounded_signed(int64_t x, FloatFormat format, Rounding rounding) {
    if (x >= 0) return rounded_unsigned((uint64_t)x, format, rounding);
    return rounded_bits(true, 0 - (uint64_t)x, 0, format, rounding);
}
#define ROUNDED_INTEGER(T, x, FORMAT, ROUNDING)                                                              \
    (IS_SIGNED(T) ? rounded_signed((int64_t)(x), FORMAT, ROUNDING)                                           \
                  : rounded_unsigned((uint64_t)(x), FORMAT, ROUNDING))
#define DIRECTED(TYPE, T, BITS, NAME, D, FORMAT, ROUNDING)                                                   \
    ALU_SLOW_1(NAME##_##TYPE##_##BITS, D, uint##BITS##_t, ROUNDED_INTEGER(T, (T)a, FORMAT, ROUNDING))
#define DIRECTED_ENTRY(TYPE, T, BITS, NAME) [SLOT_##TYPE##_##BITS] = NAME##_##TYPE##_##BITS,
#define DIRECTED_TABLE(NAME, D, FORMAT, ROUNDING)                                                            \
    EACH_SLOT(DIRECTED, NAME, D, FORMAT, ROUNDING)                                                           \
    static AluHandler *const NAME[SLOTS] = {EACH_SLOT(DIRECTED_ENTRY, NAME)};
#define DIRECTED_TABLES(NAME, D, FORMAT)                                                                     \
    DIRECTED_TABLE(NAME##_rz, D, FORMAT, ROUND_ZERO)                                                         \
    DIRECTED_TABLE(NAME##_rm, D, FORMAT, ROUND_DOWN)                                                         \
    DIRECTED_TABLE(NAME##_rp, D, FORMAT, ROUND_UP)
DIRECTED_TABLES(f64, uint64_t, FORMAT_F64)
DIRECTED_TABLES(f32, uint32_t, FORMAT_F32)
DIRECTED_TABLES(f16, uint16_t, FORMAT_F16)
DIRECTED_TABLES(bf16, uint16_t, FORMAT_BF16)
DIRECTED_TABLE(nearest_f16, uint16_t, FORMAT_F16, ROUND_NEAREST)
DIRECTED_TABLE(nearest_bf16, uint16_t, FORMAT_BF16, ROUND_NEAREST)

// .sat: an integer in [0, 1] is 0 or 1.
#define UNIT(TYPE, T, BITS, NAME, D, ONE)                                                                    \
    ALU_SLOW_1(NAME##_##TYPE##_##BITS, D, uint##BITS##_t, (T)a > 0 ? (ONE) : 0)
#define UNIT_TABLE(NAME, D, ONE)                                                                             \
    EACH_SLOT(UNIT, NAME, D, ONE)                                                                            \
    static AluHandler *const NAME[SLOTS] = {EACH_SLOT(DIRECTED_ENTRY, NAME)};
UNIT_TABLE(unit_f64, uint64_t, UINT64_C(0x3ff0000000000000))
UNIT_TABLE(unit_f32, uint32_t, 0x3f800000u)
UNIT_TABLE(unit_f16, uint16_t, 0x3c00u)
UNIT_TABLE(unit_bf16, uint16_t, 0x3f80u)

static bool integer_to_float(const AluForm *f, Selection *s, unsigned from_bytes, unsigned to_bytes) {
    static AluHandler *const *const tables[4][ROUND_MODES + 1] = {
        {nearest_f64, f64_rz, f64_rm, f64_rp, unit_f64},
        {nearest_f32, f32_rz, f32_rm, f32_rp, unit_f32},
        {nearest_f16, f16_rz, f16_rm, f16_rp, unit_f16},
        {nearest_bf16, bf16_rz, bf16_rm, bf16_rp, unit_bf16},
    };
    Rounding rounding;
    if (f->words & ~(ROUNDINGS | W(ftz) | W(sat)) || !alu_rounding(f, &rounding)) return false;
    if (f->words & W(ftz) && f->type != PTX_F32) return false;
    const int slot = slot_of(f->from, from_bytes);
    if (slot < 0 || to_bytes != ptx_type_bytes(f->type)) return false;
    const int format = f->type == PTX_F64    ? 0
                       : f->type == PTX_F32  ? 1
                       : f->type == PTX_F16  ? 2
                       : f->type == PTX_BF16 ? 3
                                             : -1;
    if (format < 0) return false;
    return CHOOSE(s, tables[format][f->words & W(sat) ? ROUND_MODES : rounding][slot], f->type, f->from);
}

// ---- Float to integer -------------------------------------------------------------------------------------

// All floats are doubles exactly, so one clamp serves them. NAN_RESULT: see below.
static inline int64_t clamped_64(double x, double low, double high) {
    const double y = x < low ? low : x > high ? high : x;
    return (int64_t)(y == y ? y : 0.0);
}
static inline int32_t clamped_32(double x, double low, double high) {
    const double y = x < low ? low : x > high ? high : x;
    return (int32_t)(y == y ? y : 0.0);
}
static inline uint8_t to_u8(double x) { return (uint8_t)clamped_32(x, 0, UINT8_MAX); }
static inline int8_t to_s8(double x) { return (int8_t)clamped_32(x, INT8_MIN, INT8_MAX); }
static inline uint16_t to_u16(double x) { return (uint16_t)clamped_32(x, 0, UINT16_MAX); }
static inline int16_t to_s16(double x) { return (int16_t)clamped_32(x, INT16_MIN, INT16_MAX); }
static inline uint32_t to_u32(double x) { return (uint32_t)clamped_64(x, 0, UINT32_MAX); }
static inline int32_t to_s32(double x) { return clamped_32(x, INT32_MIN, INT32_MAX); }
// No double equals the end of a 64-bit range, so values beyond it are handled separately.
static inline int64_t to_s64(double x) {
    const bool fits = x > -0x1p63 && x < 0x1p63;
    const int64_t inside = (int64_t)(fits ? x : 0.0);
    return fits ? inside : x > 0 ? INT64_MAX : INT64_MIN;
}
static inline uint64_t to_u64(double x) {
    const bool fits = x > 0 && x < 0x1p64, upper = fits && x >= 0x1p63;
    const uint64_t inside = (uint64_t)(int64_t)(upper ? x - 0x1p63 : fits ? x : 0.0) ^ (uint64_t)upper << 63;
    return fits ? inside : x > 0 ? UINT64_MAX : 0;
}

// NaN gives 0, but the top bit alone when the source or the destination has 64 bits (ISA, cvt).
#define TOP_BIT(T) (T)(UINT64_C(1) << (8 * sizeof(T) - 1))
#define NAN_RESULT(T, WIDE) ((WIDE) || sizeof(T) == 8 ? TOP_BIT(T) : (T)0)
#define TO_INTEGER(TYPE, T, x, MODE, WIDE) ((x) != (x) ? NAN_RESULT(T, WIDE) : to_##TYPE(integral_##MODE(x)))

#define SNUG(TYPE, T, BITS, NAME, A, READ, MODE, WIDE)                                                       \
    ALU_HANDLER(NAME##_##TYPE##_##BITS) {                                                                    \
        const A *pa = source(registers, in, 0);                                                              \
        ALU_LANES(uint##BITS##_t, const double x = READ(pa[lane]), TO_INTEGER(TYPE, T, x, MODE, WIDE))       \
    }
#define WIDE_SLOT(TYPE, T, BITS, NAME, A, READ, MODE, WIDE)                                                  \
    ALU_SLOW_1(NAME##_##TYPE##_##BITS, uint##BITS##_t, A, TO_INTEGER(TYPE, T, (double)READ(a), MODE, WIDE))
#define INTEGER_TABLE(NAME, A, READ, MODE, WIDE)                                                             \
    EACH_SNUG_SLOT(SNUG, NAME, A, READ, MODE, WIDE)                                                          \
    EACH_WIDE_SLOT(WIDE_SLOT, NAME, A, READ, MODE, WIDE)                                                     \
    static AluHandler *const NAME[SLOTS] = {EACH_SLOT(DIRECTED_ENTRY, NAME)};
#define INTEGER_TABLES(NAME, A, READ, WIDE)                                                                  \
    INTEGER_TABLE(NAME##_rni, A, READ, nearest, WIDE)                                                        \
    INTEGER_TABLE(NAME##_rzi, A, READ, zero, WIDE)                                                           \
    INTEGER_TABLE(NAME##_rmi, A, READ, down, WIDE)                                                           \
    INTEGER_TABLE(NAME##_rpi, A, READ, up, WIDE)
INTEGER_TABLES(from_f64, double, , true)
INTEGER_TABLES(from_f32, float, , false)
INTEGER_TABLES(from_f32_ftz, float, flush, false)
INTEGER_TABLES(from_f16, uint16_t, f16_float, false)
INTEGER_TABLES(from_bf16, uint16_t, bf16_float, false)

#define MODES(NAME)                                                                                          \
    { NAME##_rni, NAME##_rzi, NAME##_rmi, NAME##_rpi }

static bool float_to_integer(const AluForm *f, Selection *s, unsigned from_bytes, unsigned to_bytes) {
    static AluHandler *const *const tables[5][ROUND_MODES] = {
        MODES(from_f64), MODES(from_f32), MODES(from_f32_ftz), MODES(from_f16), MODES(from_bf16)};
    Rounding rounding;
    // .sat is allowed and says nothing: these conversions always clamp.
    if (f->words & ~(INTEGER_ROUNDINGS | W(ftz) | W(sat)) || !alu_integral_rounding(f, &rounding))
        return false;
    const bool ftz = f->words & W(ftz);
    if (ftz && f->from != PTX_F32) return false;
    const int slot = slot_of(f->type, to_bytes);
    if (slot < 0 || from_bytes != ptx_type_bytes(f->from)) return false;
    const int source_kind = f->from == PTX_F64    ? 0
                            : f->from == PTX_F32  ? 1 + ftz
                            : f->from == PTX_F16  ? 3
                            : f->from == PTX_BF16 ? 4
                                                  : -1;
    return source_kind >= 0 && CHOOSE(s, tables[source_kind][rounding][slot], f->type, f->from);
}

// ---- The selector -----------------------------------------------------------------------------------------

bool convert_cvt(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, CVT_WORDS, &f)) return false;
    if (convert_packed(&f, s)) return true;
    if (f.words & (W(pack) | W(rna) | W(e4m3x2) | W(e5m2x2)) || in->operand_count != 2) return false;
    if (f.from == PTX_NO_TYPE || f.third != PTX_NO_TYPE) return false;
    const unsigned to_bytes = convert_lane_bytes(&in->operands[0], f.type);
    const unsigned from_bytes = convert_lane_bytes(&in->operands[1], f.from);
    bool known;
    if (is_integer(f.type) && is_integer(f.from))
        known = integer_to_integer(&f, s, from_bytes, to_bytes);
    else if (is_integer(f.from))
        known = integer_to_float(&f, s, from_bytes, to_bytes);
    else if (is_integer(f.type))
        known = float_to_integer(&f, s, from_bytes, to_bytes);
    else // no room for a float in a wider register
        return convert_float_to_float(&f, s);
    if (known) s->wide_ok = true;
    return known;
}
