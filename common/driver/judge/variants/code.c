#include "driver/judge/variants/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char qualifiers[] =
    "const static volatile register extern constexpr __shared__ __restrict__ __align__ alignas inline "
    "__forceinline__ __noinline__ typename struct";
static const char basic_types[] =
    "void bool char short int long unsigned signed float double auto size_t half "
    "__half __nv_bfloat16 uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t "
    "int64_t float2 float4 int2 int4 uint2 uint4 double2 dim3 half2 __half2";

// ---- Lists -----------------------------------------------------------------------------------------------

static void *add(Code *code, void **all, int *count, int *room, size_t each) {
    if (*count == *room) {
        const int more = *room ? 2 * *room : 64;
        void *grown = realloc(*all, (size_t)more * each);
        if (!grown) {
            code->failed = true;
            return NULL;
        }
        *all = grown;
        *room = more;
    }
    void *added = (char *)*all + (size_t)(*count)++ * each;
    memset(added, 0, each);
    return added;
}

static int add_statement(Code *code, StatementKind kind, int first, int parent, bool in_block) {
    Statement *added =
        add(code, (void **)&code->statements, &code->statement_count, &code->statement_room, sizeof *added);
    if (!added) return -1;
    *added = (Statement){.kind = kind,
                         .first = first,
                         .last = first,
                         .parent = parent,
                         .in_block = in_block,
                         .function = code->function_count - 1};
    return code->statement_count - 1;
}

// ---- Tokens ----------------------------------------------------------------------------------------------

static bool is(const Code *code, int at, const char *text) { return token_is(&code->tokens, at, text); }

static bool is_name(const Code *code, int at) {
    return at >= 0 && at < code->tokens.count && code->tokens.all[at].kind == TOKEN_NAME;
}

// Behind a bracket that opens at `at`, or the next token.
static int behind(const Code *code, int at) {
    const int partner = at < code->tokens.count ? code->tokens.all[at].partner : -1;
    return (partner > at ? partner : at) + 1;
}

// The place of the next of these signs at the same depth, or `end`. Those of a template's arguments are none.
static int find(const Code *code, int at, int end, const char *signs) {
    while (at < end && (code->tokens.all[at].is_type || !token_is_one_of(&code->tokens, at, signs)))
        at = behind(code, at);
    return at < end ? at : end;
}

static void open_expression(Code *code, int from, int to) {
    for (int i = from; i < to; i++) code->is_open[i] = !code->tokens.all[i].is_type;
}

// Behind the template arguments that begin at `at`, if there are any.
static int behind_template(const Code *code, int at) {
    if (!is(code, at, "<") || !code->tokens.all[at].is_type) return at;
    while (at < code->tokens.count && code->tokens.all[at].is_type) at++;
    return at;
}

// ---- Declarations ----------------------------------------------------------------------------------------

// Behind the type that begins at `at`, without the signs of a pointer; `at`: there is none.
static int behind_type(const Code *code, int at) {
    const int first = at;
    bool has_basic = false;
    for (;;) {
        if (token_is_one_of(&code->tokens, at, qualifiers)) {
            at++;
            if (is(code, at, "(")) at = behind(code, at); // __align__(16)
        } else if (has_basic && is(code, at, "half")) {
            break; // the name of a variable
        } else if (token_is_one_of(&code->tokens, at, basic_types)) {
            has_basic = true;
            at++;
        } else {
            break;
        }
    }
    if (has_basic) return at;
    if (!is_name(code, at)) return first;
    at = behind_template(code, at + 1);
    while (is(code, at, "::") && is_name(code, at + 1)) at = behind_template(code, at + 2);
    if (is(code, at, "const")) at++;
    return at;
}

static int behind_pointer(const Code *code, int at) {
    while (token_is_one_of(&code->tokens, at, "* & const volatile __restrict__ __restrict")) at++;
    return at;
}

static bool is_declaration(const Code *code, int at) {
    if (token_is_one_of(&code->tokens, at, qualifiers)) return true;
    const bool is_basic = token_is_one_of(&code->tokens, at, basic_types);
    const int type = behind_type(code, at), name = behind_pointer(code, type);
    if (type == at || !is_name(code, name)) return false;
    return is_basic || token_is_one_of(&code->tokens, name + 1, "= ; [ , ( { :");
}

static void describe_type(const Code *code, int from, int to, Variable *variable) {
    size_t used = strlen(variable->type);
    for (int i = from; i < to; i++) {
        const Token *token = &code->tokens.all[i];
        if (token_is_one_of(&code->tokens, i, "const constexpr")) variable->is_const |= true;
        if (token_is_one_of(&code->tokens, i, qualifiers) || is(code, i, "__restrict")) continue;
        const int written =
            snprintf(variable->type + used, sizeof variable->type - used, "%s%.*s", used ? " " : "",
                     token->to - token->from, code->tokens.source + token->from);
        used += written > 0 ? (size_t)written : 0;
        if (used >= sizeof variable->type) used = sizeof variable->type - 1;
    }
}

// `declarator`: what belongs to this name alone, as the * of a pointer.
static Variable *add_variable(Code *code, int type, int type_end, int declarator, int name, int scope_end) {
    Variable *added =
        add(code, (void **)&code->variables, &code->variable_count, &code->variable_room, sizeof *added);
    if (!added) return NULL;
    *added =
        (Variable){.name = name, .from = name + 1, .to = scope_end, .function = code->function_count - 1};
    describe_type(code, type, type_end, added);
    describe_type(code, declarator, name, added);
    for (int at = name + 1; is(code, at, "["); at = behind(code, at)) added->dimensions++;
    return added;
}

// Whether an expression may be one of the compiler's: it has no variable of the kernel and calls nothing.
static bool is_constant(const Code *code, int from, int to) {
    for (int i = from; i < to; i++) {
        const Variable *variable = code_variable(code, i);
        if (variable ? !variable->is_fixed
                     : token_is_one_of(&code->tokens, i, "threadIdx blockIdx blockDim gridDim"))
            return false;
        if (is(code, i, "(") && is_name(code, i - 1) && !is(code, i - 1, "sizeof")) return false;
    }
    return true;
}

// Whether a template gets it as an argument, which may be no choice that is made when the kernel runs.
static bool is_template_argument(const Code *code, int name, int scope_end) {
    for (int i = name + 1; i < scope_end; i++)
        if (code->tokens.all[i].is_type && tokens_are_same(&code->tokens, i, name)) return true;
    return false;
}

// The declarators from `type` to `end`, where the ; is. `scope_end`: where they are forgotten.
static void read_declaration(Code *code, int type, int end, int scope_end) {
    bool is_fixed = false; // what it starts from is calculated by the compiler
    const int names = behind_type(code, type);
    for (int i = type; i < names; i++)
        is_fixed |= token_is_one_of(&code->tokens, i, "constexpr static __shared__ extern");
    for (int at = names; at < end;) {
        const int name = behind_pointer(code, at), next = find(code, name, end, ",");
        if (!is_name(code, name)) return;
        Variable *variable = add_variable(code, type, names, at, name, scope_end);
        if (variable) variable->from = next; // not in what it starts from itself
        const int start = find(code, name, next, "= ( {");
        if (variable && variable->is_const && start < next)
            variable->is_fixed =
                is_constant(code, start + 1, next) || is_template_argument(code, name, scope_end);
        if (variable && !is_fixed && !variable->is_fixed && start < next)
            open_expression(code, start + 1, is(code, start, "=") ? next : behind(code, start) - 1);
        at = next + 1;
    }
}

// ---- Statements ------------------------------------------------------------------------------------------

static int read_statement(Code *code, int at, int parent, bool in_block);

static void end_statement(Code *code, int which, int last) {
    if (which >= 0) code->statements[which].last = last;
}

// The end of the block around a statement, or of its function.
static int scope_end_of(const Code *code, int parent) {
    return parent >= 0 ? behind(code, code->statements[parent].first) - 1 : code->tokens.count;
}

static int read_block(Code *code, int at, int parent, bool in_block) {
    const int block = add_statement(code, STATEMENT_BLOCK, at, parent, in_block), end = behind(code, at) - 1;
    for (int next = at + 1; next < end && !code->failed;) next = read_statement(code, next, block, true);
    end_statement(code, block, end);
    return end + 1;
}

static int read_if(Code *code, int at, int parent, bool in_block) {
    const int which = add_statement(code, STATEMENT_IF, at, parent, in_block);
    const bool is_fixed = is(code, at + 1, "constexpr");
    const int open = at + 1 + is_fixed, close = behind(code, open) - 1;
    if (!is_fixed) open_expression(code, open + 1, close);
    int next = read_statement(code, close + 1, which, false);
    if (is(code, next, "else")) next = read_statement(code, next + 1, which, false);
    end_statement(code, which, next - 1);
    return next;
}

static int read_for(Code *code, int at, int parent, bool in_block) {
    const int which = add_statement(code, STATEMENT_LOOP, at, parent, in_block);
    const int open = at + 1, close = behind(code, open) - 1, first = find(code, open + 1, close, ";"),
              second = find(code, first + 1, close, ";"), declared = code->variable_count;
    if (is_declaration(code, open + 1))
        read_declaration(code, open + 1, first, code->tokens.count);
    else
        open_expression(code, open + 1, first);
    if (first < close) open_expression(code, first + 1, second);
    if (second < close) open_expression(code, second + 1, close);
    const int next = read_statement(code, close + 1, which, false);
    end_statement(code, which, next - 1);
    for (int v = declared; v < code->variable_count; v++)
        if (code->variables[v].name < close) code->variables[v].to = next - 1;
    return next;
}

static int read_while(Code *code, int at, int parent, bool in_block) {
    const int which = add_statement(code, STATEMENT_LOOP, at, parent, in_block),
              close = behind(code, at + 1) - 1;
    open_expression(code, at + 2, close);
    const int next = read_statement(code, close + 1, which, false);
    end_statement(code, which, next - 1);
    return next;
}

static int read_do(Code *code, int at, int parent, bool in_block) {
    const int which = add_statement(code, STATEMENT_LOOP, at, parent, in_block);
    const int next = read_statement(code, at + 1, which, false), close = behind(code, next + 1) - 1;
    open_expression(code, next + 2, close);
    end_statement(code, which, close + 1);
    return close + 2;
}

static int read_switch(Code *code, int at, int parent, bool in_block) {
    const int which = add_statement(code, STATEMENT_OTHER, at, parent, in_block),
              close = behind(code, at + 1) - 1;
    open_expression(code, at + 2, close);
    const int next = read_statement(code, close + 1, which, false);
    end_statement(code, which, next - 1);
    return next;
}

static int read_simple(Code *code, int at, int parent, bool in_block) {
    const int end = find(code, at, code->tokens.count, "; }");
    StatementKind kind = STATEMENT_EXPRESSION;
    if (token_is_one_of(&code->tokens, at,
                        "asm __asm__ static_assert using typedef struct union class enum goto ;"))
        kind = STATEMENT_OTHER;
    else if (is(code, at, "return"))
        kind = STATEMENT_RETURN;
    else if (token_is_one_of(&code->tokens, at, "break continue"))
        kind = STATEMENT_LEAVE;
    else if (is_declaration(code, at))
        kind = STATEMENT_DECLARATION;
    const int which = add_statement(code, kind, at, parent, in_block);
    if (kind == STATEMENT_DECLARATION) read_declaration(code, at, end, scope_end_of(code, parent));
    if (kind == STATEMENT_EXPRESSION) open_expression(code, at, end);
    if (kind == STATEMENT_RETURN) open_expression(code, at + 1, end);
    end_statement(code, which, end);
    return end + 1;
}

static int read_one(Code *code, int at, int parent, bool in_block) {
    if (is(code, at, "{")) return read_block(code, at, parent, in_block);
    if (is(code, at, "if")) return read_if(code, at, parent, in_block);
    if (is(code, at, "for")) return read_for(code, at, parent, in_block);
    if (is(code, at, "while")) return read_while(code, at, parent, in_block);
    if (is(code, at, "do")) return read_do(code, at, parent, in_block);
    if (is(code, at, "switch")) return read_switch(code, at, parent, in_block);
    if (token_is_one_of(&code->tokens, at, "case default"))
        return find(code, at, code->tokens.count, ":") + 1;
    return read_simple(code, at, parent, in_block);
}

// The place behind it.
static int read_statement(Code *code, int at, int parent, bool in_block) {
    enum { DEEPEST = 100 };
    if (at >= code->tokens.count || code->failed) return code->tokens.count;
    if (code->depth == DEEPEST) {
        code->failed = true;
        return code->tokens.count;
    }
    code->depth++;
    const int behind_it = read_one(code, at, parent, in_block);
    code->depth--;
    return behind_it;
}

// ---- Functions -------------------------------------------------------------------------------------------

// The numbers among the arguments of a template: `template <int SIDE>`.
static void read_template(Code *code, int head, int scope_end) {
    if (!is(code, head, "template")) return;
    for (int at = head + 1; at < scope_end && !is(code, at, ">"); at++) {
        if (!token_is_one_of(&code->tokens, at, "< ,") ||
            !token_is_one_of(&code->tokens, at + 1, basic_types))
            continue;
        const int name = behind_type(code, at + 1);
        if (!is_name(code, name) || !token_is_one_of(&code->tokens, name + 1, ", > =")) continue;
        Variable *variable = add_variable(code, at + 1, name, name, name, scope_end);
        if (variable) variable->is_const = variable->is_fixed = true;
    }
}

static void read_function(Code *code, int head, int open, int body) {
    Function *function =
        add(code, (void **)&code->functions, &code->function_count, &code->function_room, sizeof *function);
    if (!function) return;
    *function = (Function){.name = open - 1, .first = body, .last = behind(code, body) - 1};
    for (int i = head; i < open; i++) function->is_kernel |= is(code, i, "__global__");
    const int last = function->last, close = behind(code, open) - 1;
    read_template(code, head, last);
    for (int at = open + 1; at < close;) {
        const int next = find(code, at, close, ","), type = behind_type(code, at),
                  name = behind_pointer(code, type);
        if (is_name(code, name) && name < next) add_variable(code, at, type, type, name, last);
        at = next + 1;
    }
    read_block(code, body, -1, false);
}

// Behind "template <typename T, int K = 4>", if it is there.
static int behind_template_head(const Code *code, int at) {
    if (!is(code, at, "template")) return at;
    int depth = 0;
    do {
        at++;
        depth += is(code, at, "<") - is(code, at, ">") - 2 * is(code, at, ">>");
    } while (depth > 0 && at < code->tokens.count);
    return at + 1;
}

// Blocks that hold functions, as namespaces, are entered; types and what runs on the host are passed by.
static void read_file(Code *code) {
    int head = 0; // the first token of what is being declared
    for (int at = 0; at < code->tokens.count && !code->failed;) {
        if (is(code, at, ";") || is(code, at, "}")) {
            head = ++at;
        } else if (is(code, at, "{")) {
            bool is_device = false, is_type = false, is_space = false;
            int open = -1;
            for (int i = behind_template_head(code, head); i < at; i = behind(code, i)) {
                is_device |= token_is_one_of(&code->tokens, i, "__global__ __device__");
                is_type |= token_is_one_of(&code->tokens, i, "struct class union enum =");
                is_space |= token_is_one_of(&code->tokens, i, "namespace extern");
                if (is(code, i, "(") && is_name(code, i - 1) && !is(code, i - 1, "__launch_bounds__"))
                    open = i;
            }
            if (is_device && !is_type && open > head) read_function(code, head, open, at);
            at = is_space && open < 0 ? at + 1 : behind(code, at);
            head = at;
        } else {
            at = behind(code, at);
        }
    }
}

bool code_make(const char *source, Code *code) {
    *code = (Code){0};
    if (!tokens_make(source, &code->tokens)) return false;
    code->is_open = calloc((size_t)code->tokens.count + 1, sizeof *code->is_open);
    if (!code->is_open) return false;
    read_file(code);
    return !code->failed;
}

void code_free(Code *code) {
    tokens_free(&code->tokens);
    free(code->is_open);
    free(code->functions);
    free(code->statements);
    free(code->variables);
    *code = (Code){0};
}

// The variable that the name of this token stands for at `place`; NULL: none.
static const Variable *variable_at(const Code *code, int token, int place) {
    const Variable *found = NULL;
    for (int v = 0; v < code->variable_count; v++) {
        const Variable *one = &code->variables[v];
        if (one->from <= place && place < one->to && tokens_are_same(&code->tokens, one->name, token))
            found = one;
    }
    return found;
}

bool code_declares(const Code *code, const Function *function, const char *word) {
    for (int i = function->name; i >= 0 && !token_is_one_of(&code->tokens, i, "; }"); i--)
        if (token_is(&code->tokens, i, word)) return true;
    return false;
}

const Variable *code_variable(const Code *code, int token) {
    return token_is_one_of(&code->tokens, token - 1, ". -> ::") ? NULL : variable_at(code, token, token);
}

bool code_knows(const Code *code, int first, int last, int place) {
    for (int i = first; i <= last; i++) {
        const Variable *variable = code_variable(code, i);
        const Variable *there = variable ? variable_at(code, i, place) : NULL;
        if (variable && (!there || strcmp(there->type, variable->type) != 0)) return false;
    }
    return true;
}

bool code_says(const Code *code, int first, int last, int from, int to) {
    for (int i = from; i + last - first <= to; i++) {
        bool is_same = true;
        for (int k = first; k <= last && is_same; k++)
            is_same = tokens_are_same(&code->tokens, i + k - first, k);
        if (is_same) return true;
    }
    return false;
}
