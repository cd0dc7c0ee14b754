// Scopes, and what a name stands for in them.
//
// Each Name points at its innermost Binding, which points at the one that it shadows; a scope is the
// list of its bindings. Looking a name up is one step, closing a scope is one step per name.
#include "emulator/ptx/parser.h"

// ---- Scopes -----------------------------------------------------------------------------------------------

const char *binding_kind_name(BindingKind kind) {
    switch (kind) {
    case BINDING_REGISTER: return "register";
    case BINDING_VARIABLE: return "variable";
    case BINDING_FUNCTION: return "function";
    case BINDING_LABEL: return "label";
    case BINDING_TARGETS: return ".branchtargets";
    case BINDING_PROTOTYPE: return ".callprototype";
    }
    return "name";
}

bool scope_open(Parser *p, const Token *at) {
    if (p->depth + 1 >= MAX_SCOPES)
        return parser_fail(p, at, "blocks are nested more than %d deep", MAX_SCOPES - 2);
    p->scopes[++p->depth] = (Scope){.line = at->line, .column = at->column};
    return true;
}

Binding *scope_bind(Parser *p, const Token *at, Name *name, BindingKind kind) {
    Binding *outer = name->binding;
    if (outer && outer->depth == p->depth) {
        parser_fail(p, at, "'%.100s' is declared twice in one scope; line %d has it as a %s", name->text,
                    outer->line, binding_kind_name(outer->kind));
        return NULL;
    }
    Binding *binding = p->spare_bindings;
    if (binding)
        p->spare_bindings = binding->next_in_scope;
    else
        binding = parser_alloc(p, 1, sizeof *binding);
    if (!binding) return NULL;
    Scope *scope = &p->scopes[p->depth];
    *binding = (Binding){.kind = kind,
                         .depth = p->depth,
                         .line = at->line,
                         .name = name,
                         .shadowed = outer,
                         .next_in_scope = scope->bindings};
    scope->bindings = name->binding = binding;
    return binding;
}

bool scope_want_label(Parser *p, const Token *at, BindingKind kind,
                      int *index) { // NOLINT(readability-non-const-parameter): written when the label is met
    PendingLabel *pending = parser_alloc(p, 1, sizeof *pending);
    if (!pending) return false;
    *pending = (PendingLabel){
        .name = at->name, .index = index, .kind = kind, .line = at->line, .column = at->column};
    Scope *scope = &p->scopes[p->depth];
    if (scope->last_pending)
        scope->last_pending->next = pending;
    else
        scope->first_pending = pending;
    scope->last_pending = pending;
    return true;
}

static bool missing_label(Parser *p, const PendingLabel *pending) {
    const Binding *binding = pending->name->binding;
    if (binding && binding->kind != BINDING_LABEL && binding->kind != BINDING_TARGETS)
        return parser_fail_at(p, EMULATOR_BAD_PTX, pending->line, pending->column,
                              "'%.100s' is a %s, but a %s is needed here", pending->name->text,
                              binding_kind_name(binding->kind), binding_kind_name(pending->kind));
    return parser_fail_at(p, EMULATOR_BAD_PTX, pending->line, pending->column,
                          "%s '%.100s' is not defined in this function; write '%.100s:%s' before its target",
                          binding_kind_name(pending->kind), pending->name->text, pending->name->text,
                          pending->kind == BINDING_TARGETS ? " .branchtargets ..." : "");
}

bool scope_close(Parser *p, bool function_end) {
    Scope *scope = &p->scopes[p->depth];
    // A label belongs to the innermost scope that defines it, even where the definition follows the
    // branch; what this scope does not define is the next scope's to settle.
    PendingLabel *first = NULL, *last = NULL;
    for (PendingLabel *pending = scope->first_pending, *next; pending; pending = next) {
        next = pending->next;
        const Binding *binding = pending->name->binding;
        if (binding && binding->depth == p->depth && binding->kind == pending->kind) {
            *pending->index = binding->index;
        } else if (function_end || (binding && binding->depth == p->depth)) {
            return missing_label(p, pending);
        } else {
            pending->next = NULL;
            if (last)
                last->next = pending;
            else
                first = pending;
            last = pending;
        }
    }
    for (Binding *binding = scope->bindings, *next; binding; binding = next) {
        next = binding->next_in_scope;
        binding->name->binding = binding->shadowed;
        binding->next_in_scope = p->spare_bindings;
        p->spare_bindings = binding;
    }
    Scope *outer = &p->scopes[--p->depth];
    if (first) {
        if (outer->last_pending)
            outer->last_pending->next = first;
        else
            outer->first_pending = first;
        outer->last_pending = last;
    }
    return true;
}

// ---- Names that stand for nothing -------------------------------------------------------------------------

// The range whose prefix the name has, "%r" for "%r99", where this function declares one.
static const NameRange *range_for(const Parser *p, const Name *name) {
    size_t prefix = name->length;
    while (prefix > 1 && name->text[prefix - 1] >= '0' && name->text[prefix - 1] <= '9') prefix--;
    const Name *found = prefix < name->length ? names_find(p->names, name->text, prefix) : NULL;
    return found && found->range && found->range->function == p->function_serial ? found->range : NULL;
}

bool parser_undeclared(Parser *p, const Token *at) {
    const char *name = at->name->text;
    if (name[0] != '%')
        return parser_fail(
            p, at, "'%.100s' is not declared; a variable or function must be declared above its use", name);
    const NameRange *range = range_for(p, at->name);
    if (!range)
        return parser_fail(
            p, at, "register %.100s is not declared; declare it above, as in .reg .b32 %.100s;", name, name);
    size_t prefix = at->name->length;
    while (name[prefix - 1] >= '0' && name[prefix - 1] <= '9') prefix--;
    int shown = prefix > 100 ? 100 : (int)prefix;
    if (range->count == 0)
        return parser_fail(p, at,
                           "register %.100s is not declared: .reg .%s %.*s<0> on line %d declares none", name,
                           ptx_type_name(range->type), shown, name, range->line);
    return parser_fail(
        p, at,
        "register %.100s is not declared: .reg .%s %.*s<%d> on line %d declares %.*s0 to %.*s%d; raise "
        "the number there",
        name, ptx_type_name(range->type), shown, name, range->count, range->line, shown, name, shown, name,
        range->count - 1);
}
