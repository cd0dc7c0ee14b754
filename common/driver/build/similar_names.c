#include "driver/build/similar_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 127 };

static bool is_part(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The next name at or after `at`, outside comments and texts, with its length; NULL: none. `line` counts.
static const char *next_name(const char *at, size_t *length, int *line) {
    while (*at) {
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            for (at += 2; *at && !(at[0] == '*' && at[1] == '/'); at++) *line += *at == '\n';
            at += *at ? 2 : 0;
        } else if (*at == '"') {
            for (at++; *at && *at != '"' && *at != '\n'; at++) at += *at == '\\' && at[1] && at[1] != '\n';
            at += *at == '"';
        } else if (isdigit((unsigned char)*at)) {
            while (is_part(*at) || *at == '.') at++;
        } else if (is_part(*at)) {
            for (*length = 1; is_part(at[*length]);) ++*length;
            return at;
        } else {
            *line += *at++ == '\n';
        }
    }
    return NULL;
}

// The last word of a type: float4, uint32_t, or one of the list.
static bool is_type(const char *word, size_t length) {
    static const char *const types[] = {"void",     "bool",         "char",         "short",  "int",  "long",
                                        "unsigned", "signed",       "float",        "double", "auto", "half",
                                        "dim3",     "__restrict__", "const",        "__half", "T",    "class",
                                        "typename", "int3",         "__nv_bfloat16"};
    const bool is_vector = length > 3 && word[length - 1] >= '2' && word[length - 1] <= '4';
    if (is_vector || (length > 2 && strncmp(word + length - 2, "_t", 2) == 0)) return true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i]) == length && strncmp(types[i], word, length) == 0) return true;
    return false;
}

// `line` is that of the name; NULL: nothing declares it.
static const char *find_declaration(const char *source, const char *name, int *line) {
    const size_t wanted = strlen(name);
    const char *before = NULL;
    size_t length = 0, before_length = 0;
    *line = 1;
    for (const char *at = source; (at = next_name(at, &length, line)); at += length) {
        bool is_declared =
            before && length == wanted && strncmp(at, name, length) == 0 && is_type(before, before_length);
        for (const char *between = is_declared ? before + before_length : at; between < at; between++)
            is_declared = is_declared && strchr(" \t*&", *between);
        if (is_declared) return at;
        before = at;
        before_length = length;
    }
    return NULL;
}

int name_declaration(const char *source, const char *name) {
    int line;
    return find_declaration(source, name, &line) ? line : 0;
}

long name_declared_at(const char *source, const char *name) {
    int line;
    const char *at = find_declaration(source, name, &line);
    return at ? (long)(at - source) : -1;
}

// ---- Similar names ---------------------------------------------------------------------------------------

static int least(int a, int b) { return a < b ? a : b; }

// Letters to insert, remove, change or swap (the restricted Damerau-Levenshtein distance).
static int distance(const char *a, const char *b) {
    int rows[3][LONGEST + 2];
    const int wide = (int)strlen(b);
    for (int j = 0; j <= wide; j++) rows[0][j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int *now = rows[i % 3], *last = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= wide; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], older[j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][wide];
}

static void without_case(const char *name, char plain[LONGEST + 1]) {
    size_t used = 0;
    for (; *name && used < LONGEST; name++)
        if (*name != '_') plain[used++] = (char)tolower((unsigned char)*name);
    plain[used] = '\0';
}

// 0 if they differ in case and underscores only; else the letters that differ; a large number if too many do.
static int difference(const char *name, const char *other) {
    char a[LONGEST + 1], b[LONGEST + 1];
    without_case(name, a);
    without_case(other, b);
    const int letters = (int)strlen(a);
    const int apart = letters > 0 && strlen(b) > 0 ? distance(a, b) : letters;
    return apart == 0 || (letters > 2 && apart <= (letters > 5 ? 2 : 1)) ? apart : LONGEST;
}

// Nobody calls a kernel from a kernel by mistake.
static bool is_kernel(const char *source, const char *name) {
    char head[LONGEST + 32];
    snprintf(head, sizeof head, "__global__ void %s(", name);
    return strstr(source, head) != NULL;
}

bool name_similar(const char *source, const char *name, char similar[128]) {
    static const char *const cudas[] = {"threadIdx",
                                        "blockIdx",
                                        "blockDim",
                                        "gridDim",
                                        "warpSize",
                                        "__syncthreads",
                                        "__syncwarp",
                                        "__shfl_sync",
                                        "__shfl_down_sync",
                                        "__shfl_up_sync",
                                        "__shfl_xor_sync",
                                        "__ballot_sync",
                                        "__any_sync",
                                        "__all_sync",
                                        "__activemask",
                                        "__threadfence",
                                        "__threadfence_block",
                                        "__popc",
                                        "__ffs",
                                        "__ldg",
                                        "__float_as_int",
                                        "__int_as_float",
                                        "__restrict__",
                                        "__shared__",
                                        "__device__",
                                        "__global__",
                                        "__constant__",
                                        "__launch_bounds__",
                                        "__hadd",
                                        "__hadd2",
                                        "__hmul",
                                        "__hmul2",
                                        "__hfma",
                                        "__hfma2",
                                        "__half2float",
                                        "__float2half",
                                        "__bfloat162float",
                                        "__float2bfloat16",
                                        "atomicAdd",
                                        "atomicMax",
                                        "atomicMin",
                                        "atomicCAS",
                                        "atomicExch",
                                        "float",
                                        "float2",
                                        "float4",
                                        "double",
                                        "unsigned",
                                        "const",
                                        "make_float2",
                                        "make_float4",
                                        "reinterpret_cast",
                                        "ceil_div",
                                        "LAUNCH",
                                        "printf",
                                        "return",
                                        "fmaxf",
                                        "fminf",
                                        "sqrtf",
                                        "rsqrtf",
                                        "expf",
                                        "logf",
                                        "fmaf"};
    int best = LONGEST;
    for (size_t i = 0; i < sizeof cudas / sizeof cudas[0]; i++) {
        const int apart = difference(name, cudas[i]);
        const bool is_longer = apart == best && best < LONGEST && strlen(cudas[i]) > strlen(similar);
        if (apart < best || is_longer) snprintf(similar, 128, "%s", cudas[i]);
        best = least(best, apart);
    }
    // Words that no other name is taken for: only their case can be wrong.
    static const char *const keywords[] = {"for", "if", "else", "while", "int", "long", "void", "struct"};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0] && best > 0; i++) {
        if (strcasecmp(name, keywords[i]) != 0) continue;
        snprintf(similar, 128, "%s", keywords[i]);
        best = 0;
    }
    size_t length = 0;
    int line = 1;
    bool is_own = false; // a name of the source that differs in case only, which comes before CUDA's
    for (const char *at = source; (at = next_name(at, &length, &line)); at += length) {
        char other[LONGEST + 1];
        snprintf(other, sizeof other, "%.*s", (int)length, at);
        const int apart =
            strcmp(name, other) == 0 || is_kernel(source, other) ? LONGEST : difference(name, other);
        // What no type declares may be an enumerator or a macro: then only its case can be wrong.
        if (apart > 0 && name_declaration(source, other) == 0) continue;
        if (apart < best || (apart == 0 && !is_own)) snprintf(similar, 128, "%s", other);
        is_own |= apart == 0;
        best = least(best, apart);
    }
    return best < LONGEST;
}

int name_last_line_with_code(const char *source, int line) {
    int number = 1, found = 0;
    for (const char *at = source; *at && number < line; at += *at == '\n', number++) {
        const size_t blanks = strspn(at, " \t\r");
        if (at[blanks] != '\n' && at[blanks] != '#' && strncmp(at + blanks, "//", 2) != 0) found = number;
        at += strcspn(at, "\n");
    }
    return found;
}
