// The module: its directives, and ptx_parse().
#include <stdio.h>
#include <string.h>

#include "emulator/ptx/parser.h"

// ---- Directives of the module -----------------------------------------------------------------------------

// Up to three digits from *at on; -1 where there are none.
static int small_number(const char **at) {
    int value = -1;
    for (int i = 0; i < 3 && **at >= '0' && **at <= '9'; i++, ++*at)
        value = (value < 0 ? 0 : value) * 10 + (**at - '0');
    return value;
}

// "9.0" is a decimal to the lexer; its text is what counts.
static bool parse_version(Parser *p) {
    const char *at = p->token.start, *end = at + p->token.length;
    int major = -1, minor = -1;
    if (p->token.kind == TOKEN_FLOAT64) {
        major = small_number(&at);
        if (*at == '.') at++, minor = small_number(&at);
    }
    if (minor < 0 || at != end) return parser_expected(p, "the version of PTX, as in .version 8.0");
    p->module->version_major = major;
    p->module->version_minor = minor;
    parser_advance(p);
    return true;
}

// "sm_80", "sm_90a, debug"
static bool parse_target(Parser *p) {
    do {
        if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a target such as sm_80");
        const Name *name = p->token.name;
        if (strncmp(name->text, "sm_", 3) == 0 || !p->module->target) p->module->target = name->text;
        parser_advance(p);
    } while (parser_accept(p, ','));
    return true;
}

static bool parse_address_size(Parser *p) {
    Token at = p->token;
    if (!parser_number(p, &p->module->address_size, "64 after .address_size")) return false;
    if (p->module->address_size == 64) return true;
    return parser_unsupported(p, &at, "addresses of %d bits are not supported", p->module->address_size);
}

// .section .debug_str { ... }: debugging data, all of it.
static bool skip_section(Parser *p) {
    if (p->token.kind != TOKEN_DOTTED && p->token.kind != TOKEN_NAME)
        return parser_expected(p, "the name of a .section");
    parser_advance(p);
    Token open = p->token;
    if (!parser_expect(p, '{', "after the name of a .section")) return false;
    for (int depth = 1; depth > 0;) {
        if (p->token.kind == TOKEN_END) return parser_fail(p, &open, "this section has no closing brace");
        if (p->token.kind == TOKEN_ERROR) return false;
        if (parser_at(p, '{')) depth++;
        if (parser_at(p, '}')) depth--;
        parser_advance(p);
    }
    return true;
}

// .alias f, g;
static bool parse_alias(Parser *p) {
    PtxFunction *functions[2];
    for (int i = 0; i < 2; i++) {
        if (p->token.kind != TOKEN_NAME) return parser_expected(p, "the name of a function");
        const Binding *binding = p->token.name->binding;
        if (!binding || binding->kind != BINDING_FUNCTION)
            return parser_fail(p, &p->token, "'%.100s' is not a declared function", p->token.name->text);
        functions[i] = binding->function;
        parser_advance(p);
        if (i == 0 && !parser_expect(p, ',', "after the alias")) return false;
    }
    PtxAlias *alias = parser_append(p, &p->aliases, sizeof *alias);
    if (!alias) return false;
    *alias = (PtxAlias){functions[0], functions[1]};
    return parser_expect(p, ';', "after .alias");
}

static bool parse_pragma(Parser *p) {
    while (p->token.kind == TOKEN_STRING || parser_at(p, ',')) parser_advance(p);
    return parser_expect(p, ';', "after .pragma");
}

// .extern, .visible, .weak, .common, then a variable or a function.
static bool parse_declared(Parser *p) {
    Linkage linkage = {0};
    for (;; parser_advance(p)) {
        if (parser_at_dotted(p, "extern"))
            linkage.is_extern = true;
        else if (parser_at_dotted(p, "visible"))
            linkage.is_visible = true;
        else if (parser_at_dotted(p, "weak") || parser_at_dotted(p, "common"))
            linkage.is_visible = linkage.is_weak = true;
        else
            break;
    }
    static const struct {
        const char *word;
        PtxSpace space;
    } spaces[] = {{"global", PTX_SPACE_GLOBAL},
                  {"const", PTX_SPACE_CONST},
                  {"shared", PTX_SPACE_SHARED},
                  {"local", PTX_SPACE_LOCAL}};
    if (p->token.kind != TOKEN_DOTTED) return parser_expected(p, "a variable or a function");
    Token at = p->token;
    const char *word = at.name->text;
    parser_advance(p);
    if (strcmp(word, "entry") == 0) return parse_function(p, true, linkage);
    if (strcmp(word, "func") == 0) return parse_function(p, false, linkage);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(word, spaces[i].word) == 0) return parse_variables(p, spaces[i].space, linkage);
    return parser_unsupported(p, &at, "'.%.100s' is not a known directive", word);
}

static bool parse_directive(Parser *p) {
    static const struct {
        const char *word;
        bool (*parse)(Parser *p);
    } directives[] = {
        {"file", parse_file},       {"loc", parse_loc},
        {"section", skip_section},  {"pragma", parse_pragma},
        {"alias", parse_alias},     {"target", parse_target},
        {"version", parse_version}, {"address_size", parse_address_size},
    };
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (parser_at_dotted(p, directives[i].word)) {
            parser_advance(p);
            return directives[i].parse(p);
        }
    return parse_declared(p);
}

// ---- The whole text ---------------------------------------------------------------------------------------

static bool intern_known_names(Parser *p) {
    static const char *const special[] = {
        "tid",
        "ntid",
        "laneid",
        "warpid",
        "nwarpid",
        "ctaid",
        "nctaid",
        "smid",
        "nsmid",
        "gridid",
        "clusterid",
        "nclusterid",
        "cluster_ctaid",
        "cluster_nctaid",
        "cluster_ctarank",
        "cluster_nctarank",
        "is_explicit_cluster",
        "lanemask_eq",
        "lanemask_le",
        "lanemask_lt",
        "lanemask_ge",
        "lanemask_gt",
        "clock",
        "clock_hi",
        "clock64",
        "globaltimer",
        "globaltimer_lo",
        "globaltimer_hi",
        "total_smem_size",
        "aggr_smem_size",
        "dynamic_smem_size",
        "current_graph_exec",
        "reserved_smem_offset_begin",
        "reserved_smem_offset_end",
        "reserved_smem_offset_cap",
        "reserved_smem_offset_0",
        "reserved_smem_offset_1",
    };
    static const struct {
        const char *prefix;
        int count;
    } numbered[] = {{"envreg", 32}, {"pm", 8}};
    char text[64];
    p->sink = names_intern(p->names, "_", 1);
    p->warp_size = names_intern(p->names, "WARP_SZ", 7);
    if (!p->sink || !p->warp_size) return parser_no_memory(p);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        int length = snprintf(text, sizeof text, "%%%s", special[i]);
        Name *name = names_intern(p->names, text, (size_t)length);
        if (!name) return parser_no_memory(p);
        name->is_special = true;
    }
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
        for (int k = 0; k < numbered[i].count; k++) {
            int length = snprintf(text, sizeof text, "%%%s%d", numbered[i].prefix, k);
            Name *name = names_intern(p->names, text, (size_t)length);
            if (!name) return parser_no_memory(p);
            name->is_special = true;
        }
    return true;
}

static PtxFunction *behind_alias(PtxFunction **real, const PtxFunction *function) {
    return function ? real[function->index] : NULL;
}

static void replace_in_operands(PtxOperand *operands, int count, PtxFunction **real) {
    for (int i = 0; i < count; i++) {
        operands[i].function = behind_alias(real, operands[i].function);
        replace_in_operands(operands[i].elements, operands[i].element_count, real);
    }
}

// An alias is the function that it names: every use of it becomes a use of that.
static bool resolve_aliases(Parser *p) {
    PtxModule *module = p->module;
    if (!p->aliases.count) return true;
    PtxFunction **real = parser_alloc(p, (size_t)module->function_count, sizeof *real);
    if (!real) return false;
    for (int i = 0; i < module->function_count; i++) real[i] = module->functions[i];
    const PtxAlias *aliases = p->aliases.items;
    for (size_t i = 0; i < p->aliases.count; i++)
        real[aliases[i].alias->index] = real[aliases[i].function->index];
    for (int f = 0; f < module->function_count; f++)
        for (int i = 0; i < module->functions[f]->instruction_count; i++) {
            PtxInstruction *in = &module->functions[f]->instructions[i];
            replace_in_operands(in->operands, in->operand_count, real);
        }
    for (int v = 0; v < module->variable_count; v++)
        for (int i = 0; i < module->variables[v]->relocation_count; i++) {
            PtxRelocation *relocation = &module->variables[v]->relocations[i];
            relocation->function = behind_alias(real, relocation->function);
        }
    for (size_t i = 0; i < p->aliases.count; i++) {
        aliases[i].alias->is_extern = behind_alias(real, aliases[i].alias)->is_extern;
        Name *name = names_find(p->names, aliases[i].alias->name, strlen(aliases[i].alias->name));
        if (name->binding) name->binding->function = behind_alias(real, aliases[i].alias);
    }
    return true;
}

// A directive that failed: what it declares is missing, and a function that it began cannot be run.
static bool refuse_directive(Parser *p, const StatementStart *start) {
    const char *reason = p->module->address_size == 64 ? refuse_statement(p, start) : NULL;
    if (!reason) return false;
    PtxVariable **variables = p->variables.items;
    for (size_t i = start->variables; i < p->variables.count; i++) variables[i]->refused = reason;
    PtxFunction **functions = p->functions.items;
    for (size_t i = start->functions; i < p->functions.count; i++) functions[i]->refused = reason;
    if (p->function) p->function->refused = reason;
    p->function = NULL;
    return true;
}

// Takes the names that other texts must not see out of force.
static void forget_local_names(Parser *p) {
    for (Binding *b = p->scopes[0].bindings; b; b = b->next_in_scope) {
        bool is_shared = b->kind == BINDING_FUNCTION   ? b->function->is_visible || !b->function->has_body
                         : b->kind == BINDING_VARIABLE ? b->variable->is_visible || b->variable->is_extern
                                                       : true;
        if (!is_shared) b->name->binding = NULL;
    }
}

static bool parse_text(Parser *p, const EmulatorText *text) {
    char *copy = arena_string(p->arena, text->text, text->bytes);
    if (!copy) return parser_no_memory(p);
    p->name = text->name ? text->name : "PTX";
    p->module->text = copy;
    p->module->text_bytes = text->bytes;
    lexer_open(&p->lexer, p->names, copy, text->bytes);
    parser_advance(p);
    if (!p->failed && !parser_at_dotted(p, "version"))
        return parser_expected(p, ".version, with which PTX text begins");
    while (p->token.kind != TOKEN_END) {
        if (p->failed) return false;
        const StatementStart start = statement_start(p);
        if (!parse_directive(p) && !refuse_directive(p, &start)) return false;
    }
    if (!finish_locations(p)) return false;
    forget_local_names(p);
    return true;
}

static bool finish_module(Parser *p) {
    PtxModule *module = p->module;
    module->variables = p->variables.items;
    module->variable_count = (int)p->variables.count;
    module->functions = p->functions.items;
    module->function_count = (int)p->functions.count;
    for (int i = 0; i < module->function_count; i++)
        module->functions[i]->is_extern = !module->functions[i]->has_body;
    place_locations(p);
    return resolve_aliases(p);
}

static PtxModule *parse_texts(const EmulatorText *texts, int count, bool refuses_late, EmulatorError *error) {
    Arena arena;
    EmulatorError ignored;
    if (!error) error = &ignored;
    *error = (EmulatorError){0};
    arena_open(&arena, MAX_PARSER_MEMORY);
    PtxStorage *storage = arena_alloc(&arena, sizeof *storage);
    PtxModule *module = storage ? arena_alloc(&arena, sizeof *module) : NULL;
    if (!module) {
        arena_close(&arena);
        ptx_error_at(error, EMULATOR_NO_MEMORY, NULL, texts[0].name, 0, 0, "no memory for %zu bytes of PTX",
                     texts[0].bytes);
        return NULL;
    }
    storage->arena = arena; // from here on the arena is the one in `storage`
    *module = (PtxModule){.address_size = 64, .storage = storage};
    Parser p = {.module = module,
                .storage = storage,
                .arena = &storage->arena,
                .names = &storage->names,
                .error = error,
                .refuses_late = refuses_late,
                .location = -1};
    bool parsed = names_open(p.names, p.arena) || parser_no_memory(&p);
    parsed = parsed && intern_known_names(&p);
    for (int i = 0; parsed && i < count; i++) parsed = parse_text(&p, &texts[i]);
    if (parsed && finish_module(&p)) return module;
    ptx_free(module);
    return NULL;
}

PtxModule *ptx_parse(const char *text, size_t bytes, const char *name, EmulatorError *error) {
    return parse_texts(&(EmulatorText){text, bytes, name}, 1, false, error);
}

PtxModule *ptx_parse_to_run(const EmulatorText *texts, int count, EmulatorError *error) {
    return parse_texts(texts, count, true, error);
}
