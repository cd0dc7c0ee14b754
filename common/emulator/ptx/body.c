// Bodies of functions: blocks, registers, labels and instructions.
//
// Nested blocks are counted, not recursed into. While a body is read its parts grow in lists that all
// functions share; at its end they are copied to arrays of the right size.
#include <stdio.h>
#include <string.h>

#include "emulator/ptx/parser.h"

// ---- Registers --------------------------------------------------------------------------------------------

static bool add_register(Parser *p, const Token *at, Name *name, PtxType type, PtxRegister *reg) {
    Binding *binding = scope_bind(p, at, name, BINDING_REGISTER);
    PtxRegister **place = binding ? parser_append(p, &p->body_registers, sizeof(PtxRegister *)) : NULL;
    if (!place) return false;
    *reg = (PtxRegister){.name = name->text, .type = type, .index = (int)p->body_registers.count - 1};
    *place = binding->reg = reg;
    return true;
}

static bool count_registers(Parser *p, const Token *at, int count) {
    if (count > MAX_REGISTERS - p->register_count)
        return parser_fail(p, at, "more than %d registers in one file", MAX_REGISTERS);
    p->register_count += count;
    return true;
}

// %r<5> makes %r0 to %r4.
static bool parse_range(Parser *p, const Token *at, PtxType type) {
    int count;
    char text[300];
    parser_advance(p); // <
    Token number = p->token;
    if (!parser_number(p, &count, "the number of registers")) return false;
    if (!parser_expect(p, '>', "after the number of registers")) return false;
    if (!count_registers(p, &number, count)) return false;
    size_t prefix = at->name->length;
    if (prefix > sizeof text - 16) return parser_fail(p, at, "a register name of more than 280 characters");
    memcpy(text, at->name->text, prefix);

    NameRange *range = parser_alloc(p, 1, sizeof *range);
    PtxRegister *registers = range ? parser_alloc(p, (size_t)count, sizeof *registers) : NULL;
    if (!registers) return false;
    *range = (NameRange){.line = at->line, .count = count, .type = type, .function = p->function_serial};
    at->name->range = range;
    for (int i = 0; i < count; i++) {
        int digits = snprintf(text + prefix, sizeof text - prefix, "%d", i);
        Name *name = names_intern(p->names, text, prefix + (size_t)digits);
        if (!name) return parser_no_memory(p);
        if (!add_register(p, at, name, type, &registers[i])) return false;
    }
    return true;
}

// After .reg.
static bool parse_registers(Parser *p) {
    PtxType type = PTX_NO_TYPE;
    for (; p->token.kind == TOKEN_DOTTED; parser_advance(p)) {
        const char *word = p->token.name->text;
        if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0)
            return parser_unsupported(p, &p->token,
                                      "vector registers are not supported; nvcc names the elements");
        if (type != PTX_NO_TYPE) return parser_fail(p, &p->token, "a second type in one declaration");
        type = ptx_type_named(word);
        if (type == PTX_NO_TYPE || type == PTX_TF32)
            return parser_fail(p, &p->token, "'.%.100s' is not a register type", word);
    }
    if (type == PTX_NO_TYPE) return parser_expected(p, "the type of the registers, as in .reg .b32");
    do {
        if (p->token.kind != TOKEN_NAME) return parser_expected(p, "the name of a register");
        Token at = p->token;
        parser_advance(p);
        if (parser_at(p, '<')) {
            if (!parse_range(p, &at, type)) return false;
            continue;
        }
        PtxRegister *reg = parser_alloc(p, 1, sizeof *reg);
        if (!reg || !count_registers(p, &at, 1) || !add_register(p, &at, at.name, type, reg)) return false;
    } while (parser_accept(p, ','));
    return parser_expect(p, ';', "after the registers");
}

// ---- Labels -----------------------------------------------------------------------------------------------

static bool define_label(Parser *p, const Token *at) {
    Binding *binding = scope_bind(p, at, at->name, BINDING_LABEL);
    PtxLabel *label = binding ? parser_append(p, &p->body_labels, sizeof *label) : NULL;
    if (!label) return false;
    *label =
        (PtxLabel){.name = at->name->text, .instruction = (int)p->body_instructions.count, .line = at->line};
    binding->index = (int)p->body_labels.count - 1;
    return true;
}

// name: .branchtargets L0, L1, ... ;
static bool parse_branch_targets(Parser *p, const Token *at) {
    Binding *binding = scope_bind(p, at, at->name, BINDING_TARGETS);
    PtxBranchTargets *targets = binding ? parser_append(p, &p->body_targets, sizeof *targets) : NULL;
    if (!targets) return false;
    binding->index = (int)p->body_targets.count - 1;
    parser_advance(p);
    // The list is read twice: once to count, so that what waits for a label can point into the array.
    Lexer lexer = p->lexer;
    Token first = p->token;
    size_t count = 1;
    for (; p->token.kind == TOKEN_NAME; count++) {
        parser_advance(p);
        if (!parser_accept(p, ',')) break;
    }
    if (!parser_at(p, ';')) return parser_expected(p, "a label or ';' in .branchtargets");
    p->lexer = lexer;
    p->token = first;
    int *labels = parser_alloc(p, count, sizeof *labels);
    if (!labels) return false;
    *targets = (PtxBranchTargets){.name = at->name->text, .labels = labels};
    while (p->token.kind == TOKEN_NAME) {
        if (!scope_want_label(p, &p->token, BINDING_LABEL, &labels[targets->label_count++])) return false;
        parser_advance(p);
        if (!parser_accept(p, ',')) break;
    }
    return parser_expect(p, ';', "after the labels of .branchtargets");
}

// name: .callprototype (.param .b32 _) _ (.param .b32 _);  or  name: .calltargets f, g;
// Only the name matters: an indirect call takes its parameters from its own operands.
static bool parse_prototype(Parser *p, const Token *at) {
    if (!scope_bind(p, at, at->name, BINDING_PROTOTYPE)) return false;
    while (!parser_at(p, ';')) {
        if (p->token.kind == TOKEN_END || parser_at(p, '{') || parser_at(p, '}'))
            return parser_expected(p, "';' after a prototype");
        if (p->token.kind == TOKEN_ERROR) return false;
        parser_advance(p);
    }
    return parser_expect(p, ';', "after a prototype");
}

// ---- Statements -------------------------------------------------------------------------------------------

static bool parse_guard(Parser *p, PtxInstruction *in) {
    parser_advance(p); // @
    in->guard_negated = parser_accept(p, '!');
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a predicate after '@'");
    const Binding *binding = p->token.name->binding;
    if (!binding) return parser_undeclared(p, &p->token);
    if (binding->kind != BINDING_REGISTER || binding->reg->type != PTX_PRED)
        return parser_fail(p, &p->token, "'%.100s' is not a predicate: a guard must be declared .reg .pred",
                           p->token.name->text);
    in->guard = binding->reg;
    parser_advance(p);
    return true;
}

// From the opcode on, which is `opcode` and has been read.
static bool parse_instruction(Parser *p, PtxInstruction *in, const Token *opcode) {
    const char *words[MAX_MODIFIERS];
    size_t count = 0;
    if (opcode->name->text[0] == '%' || opcode->name->text[0] == '$')
        return parser_fail(p, opcode, "expected an instruction, found '%.100s'", opcode->name->text);
    in->opcode = opcode->name->text;
    in->line = opcode->line;
    in->column = opcode->column;
    in->location = p->location;
    for (; p->token.kind == TOKEN_DOTTED; parser_advance(p)) {
        if (count == MAX_MODIFIERS)
            return parser_fail(p, &p->token, "an instruction of more than %d dotted words", MAX_MODIFIERS);
        words[count++] = p->token.name->text;
    }
    in->modifiers = parser_copy(p, words, count, sizeof *words);
    in->modifier_count = (int)count;
    if (p->failed || !parse_operands(p, in)) return false;
    PtxInstruction *place = parser_append(p, &p->body_instructions, sizeof *place);
    if (!place) return false;
    *place = *in;
    return true;
}

// A name begins a label or an instruction.
static bool parse_named(Parser *p) {
    Token at = p->token;
    PtxInstruction in = {0};
    parser_advance(p);
    if (!parser_accept(p, ':')) return parse_instruction(p, &in, &at);
    if (parser_at_dotted(p, "branchtargets")) return parse_branch_targets(p, &at);
    if (parser_at_dotted(p, "callprototype") || parser_at_dotted(p, "calltargets"))
        return parse_prototype(p, &at);
    return define_label(p, &at);
}

static bool parse_guarded(Parser *p) {
    PtxInstruction in = {0};
    if (!parse_guard(p, &in)) return false;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "an instruction after its guard");
    Token opcode = p->token;
    parser_advance(p);
    return parse_instruction(p, &in, &opcode);
}

// .pragma "nounroll" follows the label that a loop branches back to.
static bool parse_pragma(Parser *p) {
    static const char nounroll[] = "\"nounroll\"";
    PtxLabel *labels = p->body_labels.items;
    PtxLabel *last = p->body_labels.count ? &labels[p->body_labels.count - 1] : NULL;
    for (; p->token.kind == TOKEN_STRING || parser_at(p, ','); parser_advance(p)) {
        bool is_nounroll = p->token.kind == TOKEN_STRING && p->token.length == sizeof nounroll - 1 &&
                           memcmp(p->token.start, nounroll, sizeof nounroll - 1) == 0;
        if (is_nounroll && last && (size_t)last->instruction == p->body_instructions.count)
            last->is_nounroll = true;
    }
    return parser_expect(p, ';', "after .pragma");
}

static bool parse_directive(Parser *p) {
    static const struct {
        const char *word;
        PtxSpace space;
    } spaces[] = {{"param", PTX_SPACE_PARAM},
                  {"shared", PTX_SPACE_SHARED},
                  {"local", PTX_SPACE_LOCAL},
                  {"global", PTX_SPACE_GLOBAL},
                  {"const", PTX_SPACE_CONST}};
    Linkage linkage = {0};
    if (parser_at_dotted(p, "extern")) {
        linkage.is_extern = true;
        parser_advance(p);
        if (p->token.kind != TOKEN_DOTTED) return parser_expected(p, "a space after .extern");
    }
    Token at = p->token;
    const char *word = at.name->text;
    parser_advance(p);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(word, spaces[i].word) == 0) return parse_variables(p, spaces[i].space, linkage);
    if (!linkage.is_extern) {
        if (strcmp(word, "reg") == 0) return parse_registers(p);
        if (strcmp(word, "loc") == 0) return parse_loc(p);
        if (strcmp(word, "file") == 0) return parse_file(p);
        if (strcmp(word, "pragma") == 0) return parse_pragma(p);
    }
    return parser_unsupported(p, &at, "'.%.100s' is not a known directive inside a function", word);
}

static bool finish_body(Parser *p) {
    PtxFunction *f = p->function;
    f->variable_count = (int)p->body_variables.count;
    f->register_count = (int)p->body_registers.count;
    f->label_count = (int)p->body_labels.count;
    f->target_count = (int)p->body_targets.count;
    f->instruction_count = (int)p->body_instructions.count;
    f->variables = parser_copy(p, p->body_variables.items, p->body_variables.count, sizeof(PtxVariable *));
    f->registers = parser_copy(p, p->body_registers.items, p->body_registers.count, sizeof(PtxRegister *));
    f->labels = parser_copy(p, p->body_labels.items, p->body_labels.count, sizeof(PtxLabel));
    f->targets = parser_copy(p, p->body_targets.items, p->body_targets.count, sizeof(PtxBranchTargets));
    f->instructions =
        parser_copy(p, p->body_instructions.items, p->body_instructions.count, sizeof(PtxInstruction));
    return !p->failed;
}

// A statement that the emulator cannot run, as an instruction that says so. What it declares is missing from
// then on.
static bool refuse_in_body(Parser *p, const StatementStart *start) {
    const char *reason = refuse_statement(p, start);
    PtxInstruction *place = reason ? parser_append(p, &p->body_instructions, sizeof *place) : NULL;
    if (!place) return false;
    *place = (PtxInstruction){.opcode = "(refused)",
                              .location = p->location,
                              .line = start->token.line,
                              .column = start->token.column,
                              .refused = reason};
    return true;
}

bool parse_body(Parser *p) {
    int outside = p->depth;
    p->body_variables.count = p->body_registers.count = p->body_labels.count = 0;
    p->body_targets.count = p->body_instructions.count = 0;
    p->function_serial++;
    p->location = -1;
    if (!scope_open(p, &p->token)) return false;
    parser_advance(p);
    while (p->depth > outside) {
        Token at = p->token;
        const StatementStart start = statement_start(p);
        bool good;
        if (at.kind == TOKEN_NAME) {
            good = parse_named(p);
        } else if (at.kind == TOKEN_DOTTED) {
            good = parse_directive(p);
        } else if (parser_at(p, '@')) {
            good = parse_guarded(p);
        } else if (parser_at(p, '{')) {
            good = scope_open(p, &at);
            parser_advance(p);
        } else if (parser_at(p, '}')) {
            good = scope_close(p, p->depth == outside + 1);
            parser_advance(p);
        } else if (parser_at(p, ';')) {
            good = true; // an empty statement: inline asm may leave one
            parser_advance(p);
        } else if (at.kind == TOKEN_END) {
            const Scope *scope = &p->scopes[p->depth];
            good = parser_fail_at(p, EMULATOR_BAD_PTX, scope->line, scope->column,
                                  "the text ends before the '}' of this block");
        } else {
            good = parser_expected(p, "an instruction or '}'");
        }
        if (!good && !refuse_in_body(p, &start)) return false;
    }
    return finish_body(p);
}
