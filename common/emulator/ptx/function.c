// The headers of functions: parameters, launch limits, declarations and definitions made one.
#include <string.h>

#include "emulator/ptx/parser.h"

// ---- Parameters -------------------------------------------------------------------------------------------

static bool parse_parameters(Parser *p, List *list, const char *what) {
    if (!parser_accept(p, '(')) return true;
    if (parser_accept(p, ')')) return true;
    do
        if (!parse_parameter(p, list)) return false;
    while (parser_accept(p, ','));
    return parser_expect(p, ')', what);
}

static bool same_sizes(const List *fresh, PtxVariable *const *old, int old_count) {
    if (fresh->count != (size_t)old_count) return false;
    PtxVariable *const *now = fresh->items;
    for (int i = 0; i < old_count; i++)
        if (now[i]->bytes != old[i]->bytes) return false;
    return true;
}

// ---- Launch limits and other words after the parameters ---------------------------------------------------

// Up to three numbers, "128, 1, 1"; those left out are 1.
static bool parse_dimensions(Parser *p, int dimensions[3], const char *what) {
    dimensions[0] = dimensions[1] = dimensions[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!parser_number(p, &dimensions[i], what)) return false;
        if (i < 2 && !parser_accept(p, ',')) break;
    }
    return true;
}

static bool parse_strings(Parser *p) {
    do {
        if (p->token.kind != TOKEN_STRING) return parser_expected(p, "a string after .pragma");
        parser_advance(p);
    } while (parser_accept(p, ','));
    return true;
}

// After a word that is not known: to the next word, or to the body. Nothing of the function can be run.
static bool refuse_header_word(Parser *p, PtxFunction *function, const StatementStart *start) {
    const EmulatorError error = *p->error;
    if (!p->refuses_late) return false;
    function->refused = arena_string(p->arena, p->message, strlen(p->message));
    if (!function->refused) return false;
    p->lexer = start->lexer;
    p->token = start->token;
    p->failed = false;
    do parser_advance(p);
    while (!parser_at(p, '{') && !parser_at(p, ';') && p->token.kind != TOKEN_DOTTED &&
           p->token.kind != TOKEN_NAME && p->token.kind != TOKEN_END && p->token.kind != TOKEN_ERROR);
    if (p->failed)
        *p->error = error;
    else
        *p->error = (EmulatorError){0};
    return !p->failed;
}

static bool parse_function_word(Parser *p, PtxFunction *function) {
    static const char *const plain[] = {"noreturn", "explicitcluster", "blocksareclusters"};
    static const char *const counted[] = {"maxnreg", "maxnctapersm", "maxclusterrank", "abi_preserve",
                                          "abi_preserve_control"};
    Token at = p->token;
    const StatementStart start = statement_start(p);
    const char *word = at.name->text;
    int unused;
    bool managed;
    parser_advance(p);
    if (strcmp(word, "maxntid") == 0)
        return parse_dimensions(p, function->max_threads, "the threads of .maxntid");
    if (strcmp(word, "reqntid") == 0)
        return parse_dimensions(p, function->required_threads, "the threads of .reqntid");
    if (strcmp(word, "reqnctapercluster") == 0)
        return parse_dimensions(p, function->cluster, "the blocks of .reqnctapercluster");
    if (strcmp(word, "minnctapersm") == 0)
        return parser_number(p, &function->min_blocks, "the blocks of .minnctapersm");
    if (strcmp(word, "attribute") == 0) return parse_attribute(p, &managed);
    if (strcmp(word, "pragma") == 0) return parse_strings(p) && parser_expect(p, ';', "after .pragma");
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(word, plain[i]) == 0) return true;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strcmp(word, counted[i]) == 0) return parser_number(p, &unused, "a number after this word");
    parser_unsupported(p, &at, "'.%.100s' is not a known word of a function's header", word);
    return refuse_header_word(p, function, &start);
}

static bool parse_function_words(Parser *p, PtxFunction *function) {
    while (p->token.kind == TOKEN_DOTTED)
        if (!parse_function_word(p, function)) return false;
    return true;
}

// ---- The function -----------------------------------------------------------------------------------------

static PtxFunction *new_function(Parser *p, const Token *at, bool is_entry) {
    PtxFunction *function = parser_alloc(p, 1, sizeof *function);
    PtxFunction **place = function ? parser_append(p, &p->functions, sizeof(PtxFunction *)) : NULL;
    if (!place) return NULL;
    *place = function;
    *function = (PtxFunction){
        .name = at->name->text, .is_entry = is_entry, .line = at->line, .index = (int)p->functions.count - 1};
    return function;
}

static PtxFunction *function_for(Parser *p, const Token *at, bool is_entry, bool *is_new) {
    Binding *binding = at->name->binding;
    *is_new = false;
    if (binding && binding->kind == BINDING_FUNCTION) {
        if (binding->function->is_entry == is_entry) return binding->function;
        parser_fail(p, at, "'%.100s' is declared as %s on line %d", at->name->text,
                    is_entry ? "a .func" : "an .entry", binding->line);
        return NULL;
    }
    if (binding && binding->depth > p->depth) {
        parser_fail(p, at, "'%.100s' is the name of the function and of its return parameter",
                    at->name->text);
        return NULL;
    }
    binding = scope_bind(p, at, at->name, BINDING_FUNCTION);
    PtxFunction *function = binding ? new_function(p, at, is_entry) : NULL;
    if (!function) return NULL;
    *is_new = true;
    return binding->function = function;
}

// The header from the return parameters on. The scope of the parameters is open.
static PtxFunction *parse_header(Parser *p, bool is_entry, Linkage linkage) {
    List returns = {0}, parameters = {0};
    PtxFunction words = {0};
    if (!parse_function_words(p, &words)) return NULL;
    if (!is_entry && !parse_parameters(p, &returns, "after the return parameter")) return NULL;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "the name of a function"), NULL;
    Token at = p->token;
    parser_advance(p);

    // The function itself belongs to the module, while its parameters go to the scope that is open.
    Scope inner = p->scopes[p->depth--];
    bool first;
    PtxFunction *found = function_for(p, &at, is_entry, &first);
    p->scopes[++p->depth] = inner;
    if (!found) return NULL;

    if (!parse_parameters(p, &parameters, "after the parameters") || !parse_function_words(p, &words))
        return NULL;
    for (size_t i = 0; i < parameters.count; i++) {
        PtxVariable *variable = ((PtxVariable **)parameters.items)[i];
        variable->owner = found;
        variable->parameter = (int)i;
    }
    for (size_t i = 0; i < returns.count; i++) ((PtxVariable **)returns.items)[i]->owner = found;

    bool defines = parser_at(p, '{');
    if (defines && found->has_body && linkage.is_weak) { // another text has it too: the first one counts
        if (!(found = new_function(p, &at, is_entry))) return NULL;
        first = true;
        found->is_second = true;
        for (size_t i = 0; i < parameters.count; i++) ((PtxVariable **)parameters.items)[i]->owner = found;
        for (size_t i = 0; i < returns.count; i++) ((PtxVariable **)returns.items)[i]->owner = found;
    }
    if (defines && found->has_body) {
        parser_fail(p, &at, "'%.100s' is defined twice; its other body is that of line %d", found->name,
                    found->line);
        return NULL;
    }
    if (!first && (!same_sizes(&returns, found->returns, found->return_count) ||
                   !same_sizes(&parameters, found->parameters, found->parameter_count))) {
        parser_fail(p, &at, "the parameters of '%.100s' differ from those on line %d", found->name,
                    found->line);
        return NULL;
    }
    if (first || defines) {
        found->returns = returns.items;
        found->return_count = (int)returns.count;
        found->parameters = parameters.items;
        found->parameter_count = (int)parameters.count;
        found->line = at.line;
    }
    if (words.max_threads[0]) memcpy(found->max_threads, words.max_threads, sizeof words.max_threads);
    if (words.cluster[0]) memcpy(found->cluster, words.cluster, sizeof words.cluster);
    if (words.required_threads[0])
        memcpy(found->required_threads, words.required_threads, sizeof words.required_threads);
    if (words.min_blocks) found->min_blocks = words.min_blocks;
    if (words.refused) found->refused = words.refused;
    return found;
}

bool parse_function(Parser *p, bool is_entry, Linkage linkage) {
    if (!scope_open(p, &p->token)) return false;
    PtxFunction *function = parse_header(p, is_entry, linkage);
    if (!function) return false;
    function->is_visible |= linkage.is_visible;
    if (parser_at(p, '{')) {
        function->has_body = true;
        p->function = function;
        if (!parse_body(p)) return false;
        p->function = NULL;
        parser_accept(p, ';');
    } else if (!parser_accept(p, ';')) {
        return parser_expected(p, "'{' or ';' after the header of a function");
    }
    return scope_close(p, true);
}
