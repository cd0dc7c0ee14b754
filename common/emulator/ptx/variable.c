// Variables: their declarations, parameters, and initialisers.
#include <limits.h>
#include <string.h>

#include "emulator/ptx/parser.h"

// What comes between the word of the space and the names.
typedef struct {
    PtxType type;
    unsigned elements; // 2 or 4 after .v2 or .v4
    unsigned align;    // 0 where absent
    bool is_managed, is_texture;
} Declaration;

static const uint64_t largest_variable = 1ull << 46; // bytes; keeps every sum of sizes within 64 bits

// ---- The words before the names ---------------------------------------------------------------------------

bool parse_attribute(Parser *p, bool *managed) {
    Token open = p->token;
    if (!parser_expect(p, '(', "after .attribute")) return false;
    for (int depth = 1; depth > 0;) {
        if (p->token.kind == TOKEN_END) return parser_fail(p, &open, "this parenthesis is never closed");
        if (p->token.kind == TOKEN_ERROR) return false;
        if (parser_at_dotted(p, "managed")) *managed = true;
        if (parser_at(p, '(')) depth++;
        if (parser_at(p, ')')) depth--;
        parser_advance(p);
    }
    return true;
}

static bool parse_align(Parser *p, unsigned *align) {
    Token at = p->token;
    int value;
    if (!parser_number(p, &value, "the bytes of .align")) return false;
    if (value <= 0 || (value & (value - 1))) return parser_fail(p, &at, ".align takes a power of two");
    *align = (unsigned)value;
    return true;
}

// .ptr .global .align 16: what the compiler knows of a pointer parameter. Nothing depends on it.
static bool parse_pointer_words(Parser *p) {
    unsigned unused;
    for (;;) {
        if (parser_at_dotted(p, "align")) {
            parser_advance(p);
            if (!parse_align(p, &unused)) return false;
        } else if (parser_at_dotted(p, "global") || parser_at_dotted(p, "shared") ||
                   parser_at_dotted(p, "local") || parser_at_dotted(p, "const") ||
                   parser_at_dotted(p, "param")) {
            parser_advance(p);
        } else {
            return true;
        }
    }
}

static bool is_opaque_type(const char *word) {
    return strcmp(word, "texref") == 0 || strcmp(word, "surfref") == 0;
}

static bool parse_declaration(Parser *p, Declaration *declaration) {
    *declaration = (Declaration){.elements = 1};
    while (p->token.kind == TOKEN_DOTTED) {
        Token at = p->token;
        const char *word = at.name->text;
        parser_advance(p);
        if (strcmp(word, "align") == 0) {
            if (!parse_align(p, &declaration->align)) return false;
        } else if (strcmp(word, "attribute") == 0) {
            if (!parse_attribute(p, &declaration->is_managed)) return false;
        } else if (strcmp(word, "ptr") == 0) {
            if (!parse_pointer_words(p)) return false;
        } else if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0 || strcmp(word, "v8") == 0) {
            declaration->elements = (unsigned)(word[1] - '0');
        } else if (is_opaque_type(word)) {
            declaration->type = PTX_B64;
            declaration->is_texture = true;
        } else if (strcmp(word, "samplerref") == 0) {
            return parser_unsupported(p, &at, "samplers apart from textures (.%s) are not supported", word);
        } else {
            PtxType type = ptx_type_named(word);
            if (type == PTX_NO_TYPE || type == PTX_TF32)
                return parser_fail(p, &at, "'.%.100s' is not a variable type", word);
            if (type == PTX_PRED)
                return parser_fail(p, &at, "a predicate must be a register: declare it with .reg .pred");
            if (declaration->type != PTX_NO_TYPE)
                return parser_fail(p, &at, "a second type in one declaration");
            declaration->type = type;
        }
    }
    return declaration->type != PTX_NO_TYPE || parser_expected(p, "a type such as .b32");
}

// ---- Initialisers -----------------------------------------------------------------------------------------

// An initialiser being filled in; `data` grows where the array's size is left to it.
typedef struct {
    PtxType type;
    uint64_t dimensions[MAX_DIMENSIONS];
    int dimension_count;
    bool is_open;     // declared with []: the initialiser decides on dimensions[0]
    unsigned element; // bytes
    List data;        // of bytes
    List relocations;
} Initialiser;

static void store(unsigned char *to, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes && i < 8; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t float_bits(double value, unsigned bytes) {
    uint64_t bits = 0;
    float narrow = (float)value;
    if (bytes == 8)
        memcpy(&bits, &value, 8);
    else
        memcpy(&bits, &narrow, 4);
    return bits;
}

// The bits that a constant has as an element of that type; false where a float has none.
static bool element_bits(const Constant *constant, PtxType type, uint64_t *element) {
    bool is_float = type == PTX_F32 || type == PTX_F64;
    unsigned bytes = ptx_type_bytes(type);
    *element = constant->value;
    if (constant->kind == CONSTANT_INTEGER) {
        double value = constant->is_unsigned ? (double)constant->value : (double)(int64_t)constant->value;
        if (is_float) *element = float_bits(value, bytes);
        return true;
    }
    // The bits as they are written, where they fit: they may be a NaN that a conversion would change.
    bool single = constant->kind == CONSTANT_FLOAT32;
    if (bytes == (single ? 4 : 8)) return true;
    if (!is_float) return false;
    double value;
    float narrow;
    if (single) {
        uint32_t bits = (uint32_t)constant->value;
        memcpy(&narrow, &bits, 4);
        value = (double)narrow;
    } else {
        memcpy(&value, &constant->value, 8);
    }
    *element = float_bits(value, bytes);
    return true;
}

static bool same_address(const PtxRelocation *a, const Constant *b) {
    return a->variable == b->variable && a->function == b->function && a->addend == (int64_t)b->value &&
           a->generic == b->is_generic;
}

static bool add_relocation(Parser *p, Initialiser *to, const Token *at, uint64_t offset,
                           const Constant *constant) {
    unsigned bytes = to->element;
    if (constant->mask) {
        // nvcc spreads an address in a packed struct over bytes: 0xFF(x), 0xFF00(x) ... in order. They
        // become one relocation again.
        unsigned byte = 0;
        while (byte < 8 && constant->mask != 0xffull << 8 * byte) byte++;
        if (byte == 8 || to->element != 1)
            return parser_unsupported(p, at, "a mask other than one byte of an address is not supported");
        PtxRelocation *last =
            to->relocations.count ? (PtxRelocation *)to->relocations.items + to->relocations.count - 1 : NULL;
        if (byte > 0) {
            if (!last || last->bytes != byte || last->offset + byte != offset ||
                !same_address(last, constant))
                return parser_unsupported(p, at,
                                          "a byte of an address without the bytes below it is not supported");
            last->bytes++;
            return true;
        }
        bytes = 1;
    } else if (bytes != 4 && bytes != 8) {
        return parser_fail(p, at, "an address needs 8 bytes, and an element here has %u", bytes);
    }
    PtxRelocation *fresh = parser_append(p, &to->relocations, sizeof *fresh);
    if (!fresh) return false;
    *fresh = (PtxRelocation){.offset = (size_t)offset,
                             .variable = constant->variable,
                             .function = constant->function,
                             .addend = (int64_t)constant->value,
                             .bytes = bytes,
                             .generic = constant->is_generic};
    return true;
}

// One value at element `position`.
static bool parse_element(Parser *p, Initialiser *to, uint64_t position) {
    Token at = p->token;
    Constant constant;
    if (!parse_constant(p, &constant, true)) return false;
    uint64_t offset = position * to->element;
    if (offset + to->element > to->data.count) {
        size_t needed = (size_t)offset + to->element;
        void *grown = arena_grow(p->arena, to->data.items, &to->data.capacity, needed, 1);
        if (!grown) return parser_no_memory(p);
        to->data.items = grown;
        to->data.count = needed;
    }
    if (constant.kind == CONSTANT_ADDRESS) return add_relocation(p, to, &at, offset, &constant);
    uint64_t bits;
    if (!element_bits(&constant, to->type, &bits))
        return parser_unsupported(p, &at, "a floating-point constant as a .%s is not supported",
                                  ptx_type_name(to->type));
    store((unsigned char *)to->data.items + offset, bits, to->element);
    return true;
}

// { ... } of dimension `level`, whose first element is `position`; sub-braces are sub-arrays, and what
// is left out is zero.
static bool parse_braces(Parser *p, Initialiser *to, int level, uint64_t position) {
    Token brace = p->token;
    uint64_t step = 1, count = 0;
    for (int i = level + 1; i < to->dimension_count; i++) step *= to->dimensions[i];
    bool open_ended = level == 0 && to->is_open;
    bool flat = false; // values without sub-braces fill the array in order
    parser_advance(p);
    while (!parser_at(p, '}')) {
        Token at = p->token;
        bool nested = parser_at(p, '{');
        if (p->token.kind == TOKEN_END)
            return parser_fail(p, &brace, "this initialiser has no closing brace");
        if (nested && level + 1 >= to->dimension_count)
            return parser_fail(p, &at, "more braces than the array has dimensions");
        if (count && nested == flat)
            return parser_fail(p, &at, "values and braces are mixed in one level of an initialiser");
        flat = !nested;
        if (open_ended ? step == 0 : count >= to->dimensions[level] * (flat ? step : 1))
            return parser_fail(p, &at, "more values than the array has elements");
        if (nested ? !parse_braces(p, to, level + 1, position + count * step)
                   : !parse_element(p, to, position + count))
            return false;
        count++;
        if (!parser_accept(p, ',')) break;
    }
    if (!parser_expect(p, '}', "after the values of an initialiser")) return false;
    if (open_ended) to->dimensions[0] = flat && step ? (count + step - 1) / step : count;
    return true;
}

static bool finish_initialiser(Parser *p, const Initialiser *from, PtxVariable *variable, const Token *at) {
    unsigned char *data = parser_alloc(p, variable->bytes, 1);
    if (!data) return false;
    if (from->data.count) memcpy(data, from->data.items, from->data.count);
    variable->data = data;
    variable->relocations = from->relocations.items;
    variable->relocation_count = (int)from->relocations.count;
    for (int i = 0; i < variable->relocation_count; i++)
        if (variable->relocations[i].bytes != 4 && variable->relocations[i].bytes != 8)
            return parser_unsupported(p, at, "a part of an address in an initialiser is not supported");
    return true;
}

// ---- Names and dimensions ---------------------------------------------------------------------------------

// "[4][5]" and "[]", which only the first may be. *elements is the product of the sizes that are given.
static bool parse_dimensions(Parser *p, Initialiser *shape, uint64_t *elements) {
    *elements = 1;
    while (parser_at(p, '[')) {
        Token at = p->token;
        Constant size = {.kind = CONSTANT_INTEGER};
        parser_advance(p);
        bool empty = parser_at(p, ']');
        if (empty && shape->dimension_count > 0)
            return parser_fail(p, &at, "only the first dimension may be left out");
        if (!empty && !parse_constant(p, &size, false)) return false;
        if (!parser_expect(p, ']', "after the size of an array")) return false;
        if (size.kind != CONSTANT_INTEGER)
            return parser_fail(p, &at, "the size of an array must be an integer");
        if (shape->dimension_count == MAX_DIMENSIONS)
            return parser_fail(p, &at, "an array of more than %d dimensions", MAX_DIMENSIONS);
        if (size.value > largest_variable / (*elements ? *elements : 1))
            return parser_fail(p, &at, "an array of more than 2^46 elements");
        shape->dimensions[shape->dimension_count++] = size.value;
        if (empty)
            shape->is_open = true;
        else
            *elements *= size.value;
    }
    return true;
}

static void describe(PtxVariable *variable, const Declaration *declaration, const Initialiser *shape,
                     uint64_t elements, bool unsized) {
    variable->type = declaration->type;
    unsigned element = ptx_type_bytes(declaration->type) * declaration->elements;
    variable->align = declaration->align ? declaration->align : element;
    variable->bytes = unsized ? 0 : (size_t)(elements * element);
    variable->is_array = shape->dimension_count > 0 || declaration->elements > 1;
    variable->is_unsized = unsized;
    variable->is_managed = declaration->is_managed;
    variable->is_texture = declaration->is_texture;
}

// The variable of that name in this scope: a new one, or the one that `.extern` announced before.
static PtxVariable *variable_for(Parser *p, const Token *at, PtxSpace space, Linkage linkage,
                                 bool *announced) {
    Binding *binding = at->name->binding;
    *announced = binding && binding->depth == 0 && p->depth == 0 && binding->kind == BINDING_VARIABLE &&
                 (binding->variable->is_extern || linkage.is_extern || linkage.is_weak);
    if (*announced) return binding->variable;
    PtxVariable *variable = parser_alloc(p, 1, sizeof *variable);
    List *list = p->function ? &p->body_variables : &p->variables;
    binding = variable ? scope_bind(p, at, at->name, BINDING_VARIABLE) : NULL;
    PtxVariable **place = binding ? parser_append(p, list, sizeof(PtxVariable *)) : NULL;
    if (!place) return NULL;
    *place = binding->variable = variable;
    *variable = (PtxVariable){.name = at->name->text,
                              .space = space,
                              .line = at->line,
                              .owner = p->function,
                              .parameter = -1,
                              .index = (int)list->count - 1};
    return variable;
}

static bool check_announced(Parser *p, const Token *at, const PtxVariable *old, const PtxVariable *now) {
    if (old->space == now->space && old->type == now->type &&
        (old->bytes == now->bytes || old->is_unsized || now->is_unsized))
        return true;
    return parser_fail(p, at, "'%.100s' differs from its declaration on line %d", old->name, old->line);
}

// Counts a variable of constant memory, which is as large on every device (CUDA C++ Programming Guide,
// technical specifications); ptxas refuses more. `old`: what stood for it until now, and is counted already.
static bool fits_constant_memory(Parser *p, const Token *at, const PtxVariable *variable,
                                 const PtxVariable *old) {
    if (variable->space != PTX_SPACE_CONST || variable->is_extern) return true;
    p->constant_bytes += variable->bytes;
    if (!old->is_extern) p->constant_bytes -= old->bytes;
    if (p->constant_bytes <= CONSTANT_MEMORY) return true;
    return parser_fail_at(p, EMULATOR_TOO_LARGE, at->line, at->column,
                          "the constant variables up to %.100s take %llu bytes; constant memory has %d",
                          variable->name, (unsigned long long)p->constant_bytes, CONSTANT_MEMORY);
}

static bool parse_variable(Parser *p, PtxSpace space, Linkage linkage, const Declaration *declaration) {
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "the name of a variable");
    Token at = p->token;
    bool announced;
    parser_advance(p);
    PtxVariable *variable = variable_for(p, &at, space, linkage, &announced);
    if (!variable) return false;

    Initialiser shape = {.type = declaration->type, .element = ptx_type_bytes(declaration->type)};
    uint64_t elements;
    if (!parse_dimensions(p, &shape, &elements)) return false;
    if (declaration->elements > 1) { // a vector is a last dimension
        if (shape.dimension_count == MAX_DIMENSIONS) return parser_fail(p, &at, "too many dimensions");
        shape.dimensions[shape.dimension_count++] = declaration->elements;
    }
    bool unsized = shape.is_open;
    PtxVariable fresh = *variable;
    describe(&fresh, declaration, &shape, elements, unsized);
    fresh.is_extern = linkage.is_extern;
    fresh.is_visible = linkage.is_visible;
    fresh.space = space;
    if (!fits_constant_memory(p, &at, &fresh, variable)) return false;

    if (parser_at(p, '=')) {
        Token equals = p->token;
        if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
            return parser_fail(p, &equals, "only .global and .const variables can have an initial value");
        if (linkage.is_extern)
            return parser_fail(p, &equals, "an .extern variable cannot have an initial value");
        parser_advance(p);
        if (parser_at(p, '{')) {
            if (shape.dimension_count == 0) { // a single value may be in braces, as in C
                shape.dimension_count = 1;
                shape.dimensions[0] = 1;
            }
            if (!parse_braces(p, &shape, 0, 0)) return false;
            if (unsized) {
                if (elements && shape.dimensions[0] > largest_variable / elements)
                    return parser_fail(p, &at, "an array of more than 2^46 elements");
                describe(&fresh, declaration, &shape, elements * shape.dimensions[0], false);
                unsized = false;
                if (!fits_constant_memory(p, &at, &fresh, variable)) return false;
            }
        } else if (shape.dimension_count) {
            return parser_expected(p, "'{' before the values of an array");
        } else if (!parse_element(p, &shape, 0)) {
            return false;
        }
        if (!finish_initialiser(p, &shape, &fresh, &equals)) return false;
    }
    if (unsized && !linkage.is_extern && space != PTX_SPACE_PARAM)
        return parser_fail(p, &at, "an array without a size must be .extern or have an initial value");
    if (!announced) {
        *variable = fresh;
        return true;
    }
    if (!check_announced(p, &at, variable, &fresh)) return false;
    bool was_visible = variable->is_visible;
    if (!linkage.is_extern) {
        fresh.line = at.line;
        *variable = fresh;
    }
    variable->is_visible |= was_visible;
    return true;
}

bool parse_variables(Parser *p, PtxSpace space, Linkage linkage) {
    Declaration declaration;
    if (space == PTX_SPACE_CONST && parser_at(p, '['))
        return parser_unsupported(p, &p->token, "constant banks are not supported");
    if (!parse_declaration(p, &declaration)) return false;
    do
        if (!parse_variable(p, space, linkage, &declaration)) return false;
    while (parser_accept(p, ','));
    return parser_expect(p, ';', "after a declaration");
}

bool parse_parameter(Parser *p, List *list) {
    Declaration declaration;
    if (parser_at_dotted(p, "reg"))
        return parser_unsupported(p, &p->token,
                                  "parameters in registers are not supported; nvcc writes .param");
    if (!parser_at_dotted(p, "param")) return parser_expected(p, "a parameter, as in .param .b32 name");
    parser_advance(p);
    if (!parse_declaration(p, &declaration)) return false;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "the name of a parameter");
    Token at = p->token;
    parser_advance(p);
    Initialiser shape = {.type = declaration.type};
    uint64_t elements;
    if (!parse_dimensions(p, &shape, &elements)) return false;
    PtxVariable *variable = parser_alloc(p, 1, sizeof *variable);
    PtxVariable **place = variable ? parser_append(p, list, sizeof(PtxVariable *)) : NULL;
    if (!place) return false;
    *variable = (PtxVariable){.name = at.name->text,
                              .space = PTX_SPACE_PARAM,
                              .line = at.line,
                              .owner = p->function,
                              .parameter = -1,
                              .index = (int)list->count - 1};
    describe(variable, &declaration, &shape, elements, shape.is_open);
    *place = variable;
    if (at.name == p->sink) return true;
    Binding *binding = scope_bind(p, &at, at.name, BINDING_VARIABLE);
    if (!binding) return false;
    binding->variable = variable;
    return true;
}
