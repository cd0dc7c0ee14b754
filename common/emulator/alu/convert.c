// cvt between integers, and between integers and floats (ISA, cvt).
//
// An integer operand may lie in a register wider than its type: a source is cut to its type first, a
// result extended by its type's sign. Each conversion that compilers emit has its own handler. All others
// go step by step through 64-bit lanes, by a few handlers that read Instruction.form.
#include "emulator/alu/convert.h"

static bool is_integer(PtxType type) { return type >= PTX_U8 && type <= PTX_S64; }
static bool is_signed(PtxType type) { return type >= PTX_S8 && type <= PTX_S64; }

unsigned convert_lane_bytes(const PtxOperand *operand, PtxType type) {
    const PtxType held = operand->kind == PTX_OPERAND_REGISTER && operand->reg ? operand->reg->type : type;
    const unsigned bytes = ptx_type_bytes(held);
    return bytes == 1 ? 2 : bytes;
}

// ---- Integers step by step --------------------------------------------------------------------------------

// An integer type in a lane of 2, 4 or 8 bytes, as a number below 32: two bits are the lane's.
typedef enum { KIND_U8, KIND_U16, KIND_U32, KIND_U64, KIND_S8, KIND_S16, KIND_S32, KIND_S64 } IntegerKind;
#define SLOT_BITS 5
#define SLOT_KIND(slot) ((IntegerKind)((slot) >> 2 & 7u))
#define SLOT_BYTES(slot) (1u << ((slot)&3u))
#define SLOT_SIGNED(slot) (SLOT_KIND(slot) >= KIND_S8)

static unsigned slot_of(PtxType type, unsigned bytes) {
    static const uint8_t kinds[ALU_TYPES] = {
        [PTX_U8] = KIND_U8, [PTX_U16] = KIND_U16, [PTX_U32] = KIND_U32, [PTX_U64] = KIND_U64,
        [PTX_S8] = KIND_S8, [PTX_S16] = KIND_S16, [PTX_S32] = KIND_S32, [PTX_S64] = KIND_S64};
    return (unsigned)kinds[type] << 2 | (bytes == 2 ? 1u : bytes == 4 ? 2u : 3u);
}

// Whether the type has a slot of so many bytes.
static bool fits(PtxType type, unsigned bytes) { return bytes >= ptx_type_bytes(type) && bytes <= 8; }

static bool choose_form(Selection *s, const AluForm *f, AluHandler *handler, unsigned form) {
    if (!CHOOSE(s, handler, f->type, f->from)) return false;
    s->form = (uint16_t)form;
    return true;
}

// Cuts every value to its type and extends it again, by the type's sign.
#define CUT(T)                                                                                               \
    EACH_LANE x[lane] = (int64_t)(T)x[lane];                                                                 \
    return;
static void cut(int64_t x[WARP_SIZE], IntegerKind kind) {
    switch (kind) {
    case KIND_U8: CUT(uint8_t)
    case KIND_U16: CUT(uint16_t)
    case KIND_U32: CUT(uint32_t)
    case KIND_S8: CUT(int8_t)
    case KIND_S16: CUT(int16_t)
    case KIND_S32: CUT(int32_t)
    default: return;
    }
}

// The lanes of source 0, which lies in `slot`; an unsigned 64-bit value keeps its bits.
#define READ_LANES(T)                                                                                        \
    {                                                                                                        \
        const T *from = source(registers, in, 0);                                                            \
        EACH_LANE x[lane] = (int64_t)from[lane];                                                             \
        break;                                                                                               \
    }
static void read_integers(int64_t x[WARP_SIZE], const unsigned char *registers, const Instruction *in,
                          unsigned slot) {
    switch (SLOT_BYTES(slot)) {
    case 2: READ_LANES(uint16_t)
    case 4: READ_LANES(uint32_t)
    default: READ_LANES(uint64_t)
    }
    cut(x, SLOT_KIND(slot));
}

// Writes the lanes in `mask` of destination 0, cut to 2, 4 or 8 bytes.
#define WRITE_LANES(T)                                                                                       \
    {                                                                                                        \
        ALU_LANES_RARE(T, (void)0, x[lane])                                                                  \
        return;                                                                                              \
    }
static void write_lanes(unsigned char *registers, const Instruction *in, uint32_t mask, unsigned bytes,
                        const int64_t x[WARP_SIZE]) {
    switch (bytes) {
    case 2: WRITE_LANES(uint16_t)
    case 4: WRITE_LANES(uint32_t)
    default: WRITE_LANES(uint64_t)
    }
}

// ---- Integer to integer -----------------------------------------------------------------------------------

// One extension does it all: of the narrower of the two types. M is that type, FROM and TO are lane bits.
#define EXTEND(TYPE, M, FROM, TO) ALU_1(extend_##TYPE##_##FROM##_##TO, uint##TO##_t, uint##FROM##_t, (M)a)
#define EXTEND_FROM_2(TYPE, M, FROM) EXTEND(TYPE, M, FROM, 32) EXTEND(TYPE, M, FROM, 64)
#define EXTEND_FROM_3(TYPE, M, FROM) EXTEND(TYPE, M, FROM, 16) EXTEND_FROM_2(TYPE, M, FROM)
#define EXTEND_NARROW(TYPE, M)                                                                               \
    EXTEND_FROM_3(TYPE, M, 16)                                                                               \
    EXTEND_FROM_3(TYPE, M, 32)                                                                               \
    EXTEND_FROM_3(TYPE, M, 64)
#define EXTEND_WORD(TYPE, M) EXTEND_FROM_2(TYPE, M, 32) EXTEND_FROM_2(TYPE, M, 64)
EXTEND_NARROW(u8, uint8_t)
EXTEND_NARROW(s8, int8_t)
EXTEND_NARROW(u16, uint16_t)
EXTEND_NARROW(s16, int16_t)
EXTEND_WORD(u32, uint32_t)
EXTEND_WORD(s32, int32_t)
EXTEND(u64, uint64_t, 64, 64)
#define EXTEND_NARROW_ROW(TYPE)                                                                              \
    {                                                                                                        \
        {extend_##TYPE##_16_16, extend_##TYPE##_16_32, extend_##TYPE##_16_64},                               \
            {extend_##TYPE##_32_16, extend_##TYPE##_32_32, extend_##TYPE##_32_64},                           \
            {extend_##TYPE##_64_16, extend_##TYPE##_64_32, extend_##TYPE##_64_64},                           \
    }
#define EXTEND_WORD_ROW(TYPE)                                                                                \
    {                                                                                                        \
        [1] = {[1] = extend_##TYPE##_32_32, [2] = extend_##TYPE##_32_64},                                    \
        [2] = {[1] = extend_##TYPE##_64_32, [2] = extend_##TYPE##_64_64},                                    \
    }
// By type, and by lane width (16, 32, 64) of source and destination.
static AluHandler *const extend[ALU_TYPES][3][3] = {[PTX_U8] = EXTEND_NARROW_ROW(u8),
                                                    [PTX_S8] = EXTEND_NARROW_ROW(s8),
                                                    [PTX_U16] = EXTEND_NARROW_ROW(u16),
                                                    [PTX_S16] = EXTEND_NARROW_ROW(s16),
                                                    [PTX_U32] = EXTEND_WORD_ROW(u32),
                                                    [PTX_S32] = EXTEND_WORD_ROW(s32),
                                                    [PTX_U64] = {[2] = {[2] = extend_u64_64_64}},
                                                    [PTX_S64] = {[2] = {[2] = extend_u64_64_64}}};

// .sat: the source's value clamped to the range of the destination's type.
static const struct {
    int64_t least;
    uint64_t greatest;
} ranges[] = {[KIND_U8] = {0, UINT8_MAX},          [KIND_U16] = {0, UINT16_MAX},
              [KIND_U32] = {0, UINT32_MAX},        [KIND_U64] = {0, UINT64_MAX},
              [KIND_S8] = {INT8_MIN, INT8_MAX},    [KIND_S16] = {INT16_MIN, INT16_MAX},
              [KIND_S32] = {INT32_MIN, INT32_MAX}, [KIND_S64] = {INT64_MIN, INT64_MAX}};
static void clamp(int64_t x[WARP_SIZE], bool from_signed, IntegerKind to) {
    const int64_t least = ranges[to].least;
    const uint64_t greatest = ranges[to].greatest;
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
        const bool negative = from_signed && x[lane] < 0;
        if (negative ? x[lane] < least : (uint64_t)x[lane] > greatest)
            x[lane] = negative ? least : (int64_t)greatest;
    }
}

// form: the destination's slot, the source's slot above it, and above that whether to saturate.
#define SATURATES (1u << 2 * SLOT_BITS)
ALU_HANDLER(integer_from_integer) {
    const unsigned to = in->form & 31u, from = in->form >> SLOT_BITS & 31u;
    int64_t x[WARP_SIZE];
    read_integers(x, registers, in, from);
    if (in->form & SATURATES) clamp(x, SLOT_SIGNED(from), SLOT_KIND(to));
    cut(x, SLOT_KIND(to));
    write_lanes(registers, in, mask, SLOT_BYTES(to), x);
}

static int lane_index(unsigned bytes) { return bytes == 2 ? 0 : bytes == 4 ? 1 : 2; }

static bool integer_to_integer(const AluForm *f, Selection *s, unsigned from_bytes, unsigned to_bytes) {
    const unsigned from_size = ptx_type_bytes(f->from), to_size = ptx_type_bytes(f->type);
    if (f->words & ~W(sat) || !fits(f->from, from_bytes) || !fits(f->type, to_bytes)) return false;
    // A negative source of a narrow type, in an unsigned wider type, in a still wider register (cvt.u16.s8
    // into 32 bits), is extended twice: by sign to the type, by zeros from there.
    const bool twice = from_size < to_size && is_signed(f->from) && !is_signed(f->type) && to_bytes > to_size;
    if (f->words & W(sat) || twice) {
        const unsigned form = slot_of(f->type, to_bytes) | slot_of(f->from, from_bytes) << SLOT_BITS;
        return choose_form(s, f, integer_from_integer, form | (f->words & W(sat) ? SATURATES : 0));
    }
    return CHOOSE(
        s, extend[from_size < to_size ? f->from : f->type][lane_index(from_bytes)][lane_index(to_bytes)],
        f->type, f->from);
}

// ---- Integer to float -------------------------------------------------------------------------------------

// To nearest the host converts as the device does, and the common cases vectorise.
#define NEAREST(M, TYPE, T, BITS)                                                                            \
    M(nearest_f32_##TYPE, float, uint##BITS##_t, (T)a)                                                       \
    M(nearest_f64_##TYPE, double, uint##BITS##_t, (T)a)
NEAREST(RARE_1, u8, uint8_t, 16)
NEAREST(RARE_1, s8, int8_t, 16)
NEAREST(RARE_1, u16, uint16_t, 16)
NEAREST(RARE_1, s16, int16_t, 16)
NEAREST(ALU_1, u32, uint32_t, 32)
NEAREST(ALU_1, s32, int32_t, 32)
NEAREST(ALU_1, u64, uint64_t, 64)
NEAREST(ALU_1, s64, int64_t, 64)
#define BY_INTEGER(PREFIX)                                                                                   \
    {                                                                                                        \
        [PTX_U8] = PREFIX##_u8, [PTX_S8] = PREFIX##_s8, [PTX_U16] = PREFIX##_u16, [PTX_S16] = PREFIX##_s16,  \
        [PTX_U32] = PREFIX##_u32, [PTX_S32] = PREFIX##_s32, [PTX_U64] = PREFIX##_u64,                        \
        [PTX_S64] = PREFIX##_s64,                                                                            \
    }

// The rest goes through exact integers. form: the source's slot, the Rounding above it (ROUND_MODES is .sat,
// by which an integer is 0 or 1), and above that the format.
static const FloatFormat formats[] = {FORMAT_F64, FORMAT_F32, FORMAT_F16, FORMAT_BF16};
static const uint64_t ones[] = {UINT64_C(0x3ff0000000000000), 0x3f800000u, 0x3c00u, 0x3f80u};
static const uint8_t format_bytes[] = {8, 4, 2, 2};
ALU_HANDLER(float_from_integer) {
    const unsigned from = in->form & 31u, rounding = in->form >> SLOT_BITS & 7u,
                   to = in->form >> (SLOT_BITS + 3);
    int64_t x[WARP_SIZE];
    read_integers(x, registers, in, from);
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const bool negative = SLOT_SIGNED(from) && x[lane] < 0;
        const uint64_t magnitude = negative ? 0 - (uint64_t)x[lane] : (uint64_t)x[lane];
        if (!magnitude) continue; // +0
        if (rounding == ROUND_MODES)
            x[lane] = negative ? 0 : (int64_t)ones[to];
        else
            x[lane] = (int64_t)rounded_bits(negative, magnitude, 0, formats[to], (Rounding)rounding);
    }
    write_lanes(registers, in, mask, format_bytes[to], x);
}

static bool integer_to_float(const AluForm *f, Selection *s, unsigned from_bytes, unsigned to_bytes) {
    static AluHandler *const nearest_f32[ALU_TYPES] = BY_INTEGER(nearest_f32);
    static AluHandler *const nearest_f64[ALU_TYPES] = BY_INTEGER(nearest_f64);
    Rounding rounding;
    if (f->words & ~(ROUNDINGS | W(ftz) | W(sat)) || !alu_rounding(f, &rounding)) return false;
    if (f->words & W(ftz) && f->type != PTX_F32) return false;
    const unsigned from_size = ptx_type_bytes(f->from);
    if (!fits(f->from, from_bytes) || to_bytes != ptx_type_bytes(f->type)) return false;
    const int format = f->type == PTX_F64    ? 0
                       : f->type == PTX_F32  ? 1
                       : f->type == PTX_F16  ? 2
                       : f->type == PTX_BF16 ? 3
                                             : -1;
    if (format < 0) return false;
    if (f->words & W(sat)) rounding = ROUND_MODES;
    const bool snug = from_bytes == (from_size == 1 ? 2 : from_size);
    if (rounding == ROUND_NEAREST && format < 2 && snug)
        return CHOOSE(s, (format == 0 ? nearest_f64 : nearest_f32)[f->from], f->type, f->from);
    return choose_form(s, f, float_from_integer,
                       slot_of(f->from, from_bytes) | (unsigned)rounding << SLOT_BITS |
                           (unsigned)format << (SLOT_BITS + 3));
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

// What compilers emit: single and double precision, to types as wide as their lanes.
#define DIRECT(NAME, TYPE, T, BITS, A, MODE, WIDE)                                                           \
    ALU_1(NAME##_##MODE##_##TYPE, uint##BITS##_t, A, TO_INTEGER(TYPE, T, (double)a, MODE, WIDE))
#define DIRECT_TYPES(NAME, A, MODE, WIDE)                                                                    \
    DIRECT(NAME, u32, uint32_t, 32, A, MODE, WIDE)                                                           \
    DIRECT(NAME, s32, int32_t, 32, A, MODE, WIDE)                                                            \
    DIRECT(NAME, u64, uint64_t, 64, A, MODE, WIDE)                                                           \
    DIRECT(NAME, s64, int64_t, 64, A, MODE, WIDE)
#define DIRECT_MODES(NAME, A, WIDE)                                                                          \
    DIRECT_TYPES(NAME, A, nearest, WIDE)                                                                     \
    DIRECT_TYPES(NAME, A, zero, WIDE)                                                                        \
    DIRECT_TYPES(NAME, A, down, WIDE)                                                                        \
    DIRECT_TYPES(NAME, A, up, WIDE)
DIRECT_MODES(from_f64, double, true)
DIRECT_MODES(from_f32, float, false)
#define DIRECT_ROW(NAME)                                                                                     \
    { [PTX_U32] = NAME##_u32, [PTX_S32] = NAME##_s32, [PTX_U64] = NAME##_u64, [PTX_S64] = NAME##_s64 }
#define DIRECT_ROWS(NAME)                                                                                    \
    {                                                                                                        \
        [ROUND_NEAREST] = DIRECT_ROW(NAME##_nearest), [ROUND_ZERO] = DIRECT_ROW(NAME##_zero),                \
        [ROUND_DOWN] = DIRECT_ROW(NAME##_down), [ROUND_UP] = DIRECT_ROW(NAME##_up)                           \
    }

// The rest, step by step. form: the destination's slot, the Rounding above it, and above that the source.
typedef enum { SOURCE_F64, SOURCE_F32, SOURCE_F32_FTZ, SOURCE_F16, SOURCE_BF16 } FloatSource;
#define READ_FLOATS(T, READ)                                                                                 \
    {                                                                                                        \
        const T *from = source(registers, in, 0);                                                            \
        EACH_LANE x[lane] = (double)READ(from[lane]);                                                        \
        return;                                                                                              \
    }
static void read_floats(double x[WARP_SIZE], const unsigned char *registers, const Instruction *in,
                        FloatSource from) {
    switch (from) {
    case SOURCE_F64: READ_FLOATS(double, )
    case SOURCE_F32: READ_FLOATS(float, )
    case SOURCE_F32_FTZ: READ_FLOATS(float, flush)
    case SOURCE_F16: READ_FLOATS(uint16_t, f16_float)
    default: READ_FLOATS(uint16_t, bf16_float)
    }
}
static double integral(double x, Rounding rounding) {
    switch (rounding) {
    case ROUND_NEAREST: return integral_nearest(x);
    case ROUND_ZERO: return integral_zero(x);
    case ROUND_DOWN: return integral_down(x);
    default: return integral_up(x);
    }
}
// x, not NaN, clamped to the type.
static int64_t clamped(double x, IntegerKind kind) {
    switch (kind) {
    case KIND_U8: return to_u8(x);
    case KIND_U16: return to_u16(x);
    case KIND_U32: return to_u32(x);
    case KIND_U64: return (int64_t)to_u64(x);
    case KIND_S8: return to_s8(x);
    case KIND_S16: return to_s16(x);
    case KIND_S32: return to_s32(x);
    default: return to_s64(x);
    }
}
// What NaN becomes, extended by the type's sign.
static int64_t nan_result(IntegerKind kind, bool wide) {
    switch (kind) {
#define KIND_NAN(KIND, T)                                                                                    \
    case KIND: return (int64_t)NAN_RESULT(T, wide);
        KIND_NAN(KIND_U8, uint8_t)
        KIND_NAN(KIND_U16, uint16_t)
        KIND_NAN(KIND_U32, uint32_t)
        KIND_NAN(KIND_U64, uint64_t)
        KIND_NAN(KIND_S8, int8_t)
        KIND_NAN(KIND_S16, int16_t)
        KIND_NAN(KIND_S32, int32_t)
        KIND_NAN(KIND_S64, int64_t)
    }
    return 0;
}
ALU_HANDLER(integer_from_float) {
    const unsigned to = in->form & 31u, rounding = in->form >> SLOT_BITS & 7u;
    const FloatSource from = (FloatSource)(in->form >> (SLOT_BITS + 3));
    const int64_t nan = nan_result(SLOT_KIND(to), from == SOURCE_F64);
    double values[WARP_SIZE];
    int64_t x[WARP_SIZE] = {0};
    read_floats(values, registers, in, from);
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const double value = values[lane];
        x[lane] = value != value ? nan : clamped(integral(value, (Rounding)rounding), SLOT_KIND(to));
    }
    write_lanes(registers, in, mask, SLOT_BYTES(to), x);
}

static bool float_to_integer(const AluForm *f, Selection *s, unsigned from_bytes, unsigned to_bytes) {
    static AluHandler *const from_f64[ROUND_MODES][ALU_TYPES] = DIRECT_ROWS(from_f64);
    static AluHandler *const from_f32[ROUND_MODES][ALU_TYPES] = DIRECT_ROWS(from_f32);
    Rounding rounding;
    // .sat is allowed and says nothing: these conversions always clamp.
    if (f->words & ~(INTEGER_ROUNDINGS | W(ftz) | W(sat)) || !alu_integral_rounding(f, &rounding))
        return false;
    const bool ftz = f->words & W(ftz);
    if (ftz && f->from != PTX_F32) return false;
    const unsigned to_size = ptx_type_bytes(f->type);
    if (!fits(f->type, to_bytes) || from_bytes != ptx_type_bytes(f->from)) return false;
    const int from = f->from == PTX_F64    ? SOURCE_F64
                     : f->from == PTX_F32  ? ftz ? SOURCE_F32_FTZ : SOURCE_F32
                     : f->from == PTX_F16  ? SOURCE_F16
                     : f->from == PTX_BF16 ? SOURCE_BF16
                                           : -1;
    if (from < 0) return false;
    AluHandler *handler = NULL;
    if (to_bytes == to_size && from == SOURCE_F64) handler = from_f64[rounding][f->type];
    if (to_bytes == to_size && from == SOURCE_F32) handler = from_f32[rounding][f->type];
    if (handler) return CHOOSE(s, handler, f->type, f->from);
    return choose_form(s, f, integer_from_float,
                       slot_of(f->type, to_bytes) | (unsigned)rounding << SLOT_BITS |
                           (unsigned)from << (SLOT_BITS + 3));
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
