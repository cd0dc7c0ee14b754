// Decodes what moves fragments to and from memory, and between lanes.
//
// wmma.load and wmma.store become ordinary accesses, one for each part of a fragment that is contiguous in
// memory: lanes access what they hold. ldmatrix and stmatrix access rows of 16 bytes and exchange them.
#include <string.h>

#include "emulator/alu/alu.h"
#include "emulator/program/lowering/matrix.h"

// ---- wmma -------------------------------------------------------------------------------------------------

// A fragment in memory.
typedef struct {
    const PtxInstruction *in;
    MatrixFragment fragment;
    int inner;       // elements of a row of the packed matrix
    bool is_natural; // memory has the packed matrix's rows; else its columns
    bool is_load;
    Operand pointer, stride;
    bool is_narrow; // the pointer has 32 bits
    int64_t offset;
    PtxSpace space;
} InMemory;

// Element `e` of register `r`, of a lane.
static void place_element(const InMemory *w, int r, int e, int lane, uint16_t *major, uint16_t *minor) {
    const int element = w->fragment.first[r][lane] + e * w->fragment.step;
    const int outer = element / w->inner, inner = element % w->inner;
    *major = (uint16_t)(w->is_natural ? outer : inner);
    *minor = (uint16_t)(w->is_natural ? inner : outer);
}

// Whether element `e` of register `r` follows directly behind element 0 of register `first`.
static bool is_behind(const InMemory *w, int first, int r, int e, int distance) {
    uint16_t major[2], minor[2];
    for (int lane = 0; lane < (int)WARP_SIZE; lane++) {
        place_element(w, first, 0, lane, &major[0], &minor[0]);
        place_element(w, r, e, lane, &major[1], &minor[1]);
        if (major[0] != major[1] || minor[1] != minor[0] + distance) return false;
    }
    return true;
}

static void place_elements(const InMemory *w, int r, int e, MatrixPlaces *places) {
    for (int lane = 0; lane < (int)WARP_SIZE; lane++)
        place_element(w, r, e, lane, &places->major[lane], &places->minor[lane]);
}

// An access by all lanes to `places`: their addresses are computed, the rest is the caller's.
static bool begin_access(Lowering *l, const InMemory *w, const MatrixPlaces *places, Instruction *access) {
    MatrixPlaces *kept = arena_alloc(l->arena, sizeof *kept);
    if (!kept) return lower_no_memory(l);
    *kept = *places;
    kept->bits = w->fragment.bits;
    kept->is_narrow = w->is_narrow;
    Instruction address = blank(KIND_ALU);
    address.alu = matrix_address;
    address.detail = kept;
    address.src[0] = w->pointer;
    address.src[1] = w->stride;
    address.src_count = 2;
    address.dst[0] = new_register(l, 8);
    address.dst_count = 1;
    *access = blank(w->is_load ? KIND_LOAD : KIND_STORE);
    access->space = (uint8_t)w->space;
    access->offset = w->offset;
    access->src[0].offset = address.dst[0];
    return emit(l, w->in, &address);
}

// What each lane moves: `count` elements of `width` bytes, in registers of `register_bytes`.
static void set_elements(const InMemory *w, PtxType type, unsigned width, unsigned register_bytes, int count,
                         Instruction *access) {
    access->type = (uint8_t)type;
    access->width = (uint8_t)width;
    access->elements = (uint8_t)count;
    access->literal[1] = register_bytes;
    access->dst_count = (uint8_t)(w->is_load ? count : 0);
    access->src_count = (uint8_t)(w->is_load ? 1 : 1 + count);
}

// One element of each lane, between `places` and a register.
static bool access_single(Lowering *l, const InMemory *w, const MatrixPlaces *places, PtxType type,
                          unsigned width, unsigned register_bytes, int32_t register_) {
    Instruction access;
    if (!begin_access(l, w, places, &access)) return false;
    set_elements(w, type, width, register_bytes, 1, &access);
    if (w->is_load)
        access.dst[0] = register_;
    else
        access.src[1].offset = register_;
    return emit(l, w->in, &access);
}

// The handler of mov between a .b32 register and a vector of `count` elements, or another register.
static AluHandler *vector_move(bool is_load, int count) {
    const char *words[] = {"b32"};
    PtxOperand operands[2] = {{.kind = PTX_OPERAND_REGISTER}, {.kind = PTX_OPERAND_REGISTER}};
    if (count > 1)
        operands[is_load ? 1 : 0] = (PtxOperand){.kind = PTX_OPERAND_VECTOR, .element_count = count};
    const PtxInstruction alike = {
        .modifiers = words, .modifier_count = 1, .operands = operands, .operand_count = 2};
    Selection selection = {0};
    return move_mov(&alike, &selection) ? selection.handler : NULL;
}

// A register whose bytes lie apart: each is an access, and mov joins or parts them.
static bool move_elements(Lowering *l, const InMemory *w, int r, const PtxOperand *register_) {
    const int count = w->fragment.per_register;
    Instruction move = blank(KIND_ALU);
    move.alu = vector_move(w->is_load, count);
    move.operation = VALUE_MOVED;
    move.width = w->fragment.bits / 8;
    int32_t parts[4];
    for (int e = 0; e < count; e++) parts[e] = new_register(l, 2);
    if (!w->is_load) {
        for (int e = 0; e < count; e++) move.dst[e] = parts[e];
        move.dst_count = (uint8_t)count;
        move.src_count = 1;
        if (!lower_source(l, w->in, register_, PTX_B32, false, &move.src[0]) || !emit(l, w->in, &move))
            return false;
    }
    for (int e = 0; e < count; e++) {
        MatrixPlaces places;
        place_elements(w, r, e, &places);
        if (!access_single(l, w, &places, PTX_B8, 1, 2, parts[e])) return false;
        move.src[e].offset = w->is_load ? parts[e] : move.src[e].offset;
    }
    if (!w->is_load) return true;
    move.dst_count = 1;
    move.src_count = (uint8_t)count;
    return lower_destination(l, w->in, register_, PTX_B32, false, &move.dst[0]) && emit(l, w->in, &move);
}

// `count` registers from `r` on, which are contiguous in memory.
static bool move_registers(Lowering *l, const InMemory *w, int r, int count, const PtxOperand *registers) {
    const PtxType type = w->fragment.width == 8 ? PTX_B64 : PTX_B32;
    Instruction access;
    MatrixPlaces places;
    place_elements(w, r, 0, &places);
    if (!begin_access(l, w, &places, &access)) return false;
    set_elements(w, type, (unsigned)w->fragment.width, (unsigned)w->fragment.width, count, &access);
    for (int i = 0; i < count; i++)
        if (w->is_load ? !lower_destination(l, w->in, &registers[r + i], type, false, &access.dst[i])
                       : !lower_source(l, w->in, &registers[r + i], type, false, &access.src[1 + i]))
            return false;
    return emit(l, w->in, &access);
}

// One register of a fragment of 8 x 8 halves becomes that of the transposed matrix.
static bool transpose(Lowering *l, const InMemory *w, Operand from, int32_t to) {
    Instruction move = blank(KIND_MATRIX_MOVE);
    MoreOperands *more = more_operands(l, 1, 1);
    if (!more) return false;
    more->dst[0] = to;
    more->src[0] = from;
    move.more = more;
    move.operation = MOVE_FRAGMENT;
    move.flags = IS_TRANSPOSED;
    move.elements = 1;
    move.src_count = 1;
    return lower_all_lanes(l, w->in, &move.src[0]) && emit(l, w->in, &move);
}

// Halves whose neighbours lie apart: a GPU accesses pairs of the transposed matrix, and transposes its
// registers (ptxas makes MOVM of it).
static bool move_transposed(Lowering *l, const InMemory *w, int r, const PtxOperand *register_) {
    MatrixPlaces places;
    place_elements(w, r, 0, &places);
    const int major = places.major[0], minor = places.minor[0];
    for (int lane = 0; lane < (int)WARP_SIZE; lane++) {
        places.major[lane] = (uint16_t)(major + lane / 4);
        places.minor[lane] = (uint16_t)(minor + lane % 4 * 2);
    }
    const int32_t turned = new_register(l, 4);
    Operand from = {.offset = turned};
    int32_t to = turned;
    if (w->is_load ? !lower_destination(l, w->in, register_, PTX_B32, false, &to)
                   : !lower_source(l, w->in, register_, PTX_B32, false, &from))
        return false;
    if (!w->is_load && !transpose(l, w, from, to)) return false;
    return access_single(l, w, &places, PTX_B32, 4, 4, turned) && (!w->is_load || transpose(l, w, from, to));
}

// A register with the same elements as one that has been loaded.
static bool copy_register(Lowering *l, const InMemory *w, const PtxOperand *from, const PtxOperand *to) {
    Instruction copy = blank(KIND_ALU);
    copy.alu = vector_move(true, 1);
    copy.operation = VALUE_MOVED;
    copy.width = 4;
    copy.dst_count = copy.src_count = 1;
    return lower_source(l, w->in, from, PTX_B32, false, &copy.src[0]) &&
           lower_destination(l, w->in, to, PTX_B32, false, &copy.dst[0]) &&
           (copy.dst[0] < 0 || emit(l, w->in, &copy));
}

static bool move_fragment(Lowering *l, const InMemory *w, const PtxOperand *registers) {
    const int per = w->fragment.per_register;
    for (int r = 0; r < w->fragment.registers;) {
        const int same = r - w->fragment.distinct;
        if (w->is_load && same >= 0 && registers[same].kind == PTX_OPERAND_REGISTER) {
            if (!copy_register(l, w, &registers[same], &registers[r])) return false;
            r++;
            continue;
        }
        if (per > 1 && !is_behind(w, r, r, per - 1, per - 1)) {
            if (w->fragment.bits == 16 ? !move_transposed(l, w, r, &registers[r])
                                       : !move_elements(l, w, r, &registers[r]))
                return false;
            r++;
            continue;
        }
        const int count = r + 1 < w->fragment.distinct && is_behind(w, r, r + 1, 0, per) ? 2 : 1;
        if (!move_registers(l, w, r, count, registers)) return false;
        r += count;
    }
    return true;
}

bool lower_wmma_memory(Lowering *l, const PtxInstruction *in, bool is_load) {
    const char *which = in->modifier_count > 1 ? in->modifiers[1] : "";
    const bool is_sum = !strcmp(which, is_load ? "c" : "d");
    if (!is_sum && (!is_load || (strcmp(which, "a") && strcmp(which, "b"))))
        return unsupported_form(l, in, which);
    const MatrixRole role = is_sum ? MATRIX_C : which[0] == 'a' ? MATRIX_A : MATRIX_B;
    MatrixWords words;
    if (!matrix_words(l, in, 2, &words)) return false;
    words.shape.is_wmma = true;
    const MatrixType type = words.type[0];
    // A sum's type does not say that of the factors: any whose shape it is.
    bool is_known = words.types == 1 && words.layouts == 1;
    if (is_sum) {
        const MatrixType factors[] = {MATRIX_F16, MATRIX_TF32, MATRIX_F64, MATRIX_S8, MATRIX_S4, MATRIX_B1};
        bool fits = false;
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
            fits |= matrix_shape_known(factors[i], &words.shape);
        is_known = is_known && fits &&
                   (type == MATRIX_F16 || type == MATRIX_F32 || type == MATRIX_F64 || type == MATRIX_S32);
    } else
        is_known = is_known && matrix_shape_known(type, &words.shape);
    const bool is_natural = words.is_column[0] == (role == MATRIX_B);
    // Elements of less than a byte must be contiguous.
    is_known = is_known && (is_sum || is_natural || matrix_type_bits(type) >= 8);
    if (!is_known) return unsupported_form(l, in, in->modifiers[in->modifier_count - 1]);
    InMemory w = {.in = in, .is_load = is_load, .space = words.space};
    matrix_fragment(&w.fragment, &words.shape, role, type, words.is_column[0]);
    w.inner = role == MATRIX_C ? words.shape.n : words.shape.k;
    w.is_natural = is_natural;
    const PtxOperand *fragment = &in->operands[is_load ? 0 : 1], *pointer = &in->operands[is_load ? 1 : 0];
    if (in->operand_count < 2 || in->operand_count > 3)
        return wrong_operands(l, in, "a fragment, an address and a stride");
    const PtxOperand *registers = matrix_registers(l, in, fragment, w.fragment.registers);
    Instruction address = blank(KIND_LOAD);
    if (!registers || !lower_address(l, in, pointer, &address, 0)) return false;
    w.pointer = address.src[0];
    w.offset = address.offset;
    w.is_narrow = address.flags & ADDRESS_32;
    const int outer = role == MATRIX_C ? words.shape.m : role == MATRIX_A ? words.shape.m : words.shape.n;
    const PtxOperand packed = {.kind = PTX_OPERAND_INTEGER,
                               .integer = (uint64_t)(w.is_natural ? w.inner : outer)};
    return lower_source(l, in, in->operand_count > 2 ? &in->operands[2] : &packed, PTX_B32, false,
                        &w.stride) &&
           move_fragment(l, &w, registers);
}

// ---- Matrices of 8 x 8 halves -----------------------------------------------------------------------------

// The words of ldmatrix and stmatrix: the number of matrices, and whether they are transposed.
static bool row_words(Lowering *l, const PtxInstruction *in, Instruction *move, PtxSpace *space) {
    bool is_sync = false, has_type = false, has_shape = false;
    move->elements = 0;
    for (int i = 0; i < in->modifier_count; i++) {
        const char *word = in->modifiers[i];
        if (!strcmp(word, "sync"))
            is_sync = true;
        else if (!strcmp(word, "m8n8"))
            has_shape = true;
        else if (!strcmp(word, "b16"))
            has_type = true;
        else if (!strcmp(word, "trans"))
            move->flags = IS_TRANSPOSED;
        else if (!strcmp(word, "x1") || !strcmp(word, "x2") || !strcmp(word, "x4"))
            move->elements = (uint8_t)(word[1] - '0');
        else if (!strcmp(word, "shared") || !strcmp(word, "shared::cta"))
            *space = PTX_SPACE_SHARED;
        else if (strcmp(word, "aligned"))
            return unsupported_form(l, in, word);
    }
    if (is_sync && has_type && has_shape) return true;
    return lower_fail(l, EMULATOR_BAD_PTX, in, "%s wants .sync.aligned.m8n8 and .b16", in->opcode);
}

// The access to rows: lanes 0 to 7 have the addresses of the first matrix's rows, and so on.
static Instruction row_access(InstructionKind kind, const Instruction *address, int matrices, PtxSpace space,
                              const int32_t rows[4]) {
    Instruction access = *address;
    access.kind = (uint8_t)kind;
    access.space = (uint8_t)space;
    access.type = PTX_B32;
    access.width = 4;
    access.elements = 4;
    access.literal[0] = matrices == 4 ? FULL_MASK : (1u << 8 * matrices) - 1; // the lanes that take part
    access.literal[1] = 4;
    for (int k = 0; k < 4; k++) {
        if (kind == KIND_ROW_LOAD)
            access.dst[k] = rows[k];
        else
            access.src[1 + k].offset = rows[k];
    }
    access.dst_count = kind == KIND_ROW_LOAD ? 4 : 0;
    access.src_count = kind == KIND_ROW_LOAD ? 1 : 5;
    return access;
}

static bool lower_rows(Lowering *l, const PtxInstruction *in, bool is_load) {
    Instruction move = blank(KIND_MATRIX_MOVE), address = blank(KIND_ROW_LOAD);
    PtxSpace space = PTX_SPACE_NONE;
    if (!row_words(l, in, &move, &space) || !operands_fit(l, in, in->operand_count)) return false;
    if (!move.elements) return wrong_operands(l, in, ".x1, .x2 or .x4");
    const PtxOperand *registers = matrix_registers(l, in, &in->operands[is_load ? 0 : 1], move.elements);
    if (!registers || !lower_address(l, in, &in->operands[is_load ? 1 : 0], &address, 0)) return false;
    int32_t rows[4];
    for (int k = 0; k < 4; k++) rows[k] = new_register(l, 4);
    move.operation = is_load ? MOVE_ROWS_TO_FRAGMENT : MOVE_FRAGMENT_TO_ROWS;
    MoreOperands *more = more_operands(l, is_load ? move.elements : 4, is_load ? 4 : move.elements);
    if (!more) return false;
    for (int k = 0; k < 4; k++) *(is_load ? &more->src[k].offset : &more->dst[k]) = rows[k];
    for (int k = 0; k < move.elements; k++)
        if (is_load ? !lower_destination(l, in, &registers[k], PTX_B32, false, &more->dst[k])
                    : !lower_source(l, in, &registers[k], PTX_B32, false, &more->src[k]))
            return false;
    move.more = more;
    move.src_count = 1;
    if (!lower_all_lanes(l, in, &move.src[0])) return false;
    const Instruction access =
        row_access(is_load ? KIND_ROW_LOAD : KIND_ROW_STORE, &address, move.elements, space, rows);
    return emit(l, in, is_load ? &access : &move) && emit(l, in, is_load ? &move : &access);
}

bool lower_ldmatrix(Lowering *l, const PtxInstruction *in) { return lower_rows(l, in, true); }
bool lower_stmatrix(Lowering *l, const PtxInstruction *in) { return lower_rows(l, in, false); }

bool lower_movmatrix(Lowering *l, const PtxInstruction *in) {
    Instruction move = blank(KIND_MATRIX_MOVE);
    PtxSpace space = PTX_SPACE_NONE;
    if (!row_words(l, in, &move, &space) || !operands_fit(l, in, in->operand_count)) return false;
    if (!(move.flags & IS_TRANSPOSED) || move.elements || space) return unsupported_form(l, in, "b16");
    move.elements = 1;
    move.operation = MOVE_FRAGMENT;
    MoreOperands *more = more_operands(l, 1, 1);
    if (!more) return false;
    move.more = more;
    move.src_count = 1;
    return lower_destination(l, in, &in->operands[0], PTX_B32, false, &more->dst[0]) &&
           lower_source(l, in, &in->operands[1], PTX_B32, false, &more->src[0]) &&
           lower_all_lanes(l, in, &move.src[0]) && emit(l, in, &move);
}
