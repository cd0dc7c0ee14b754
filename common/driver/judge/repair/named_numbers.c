#include "driver/judge/repair/named_numbers.h"
#include "driver/judge/repair/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

bool named_number(const NamedNumbers *numbers, const char *name, int length, long *value) {
    for (int n = 0; n < numbers->count; n++) {
        if ((int)strlen(numbers->all[n].name) != length ||
            strncmp(numbers->all[n].name, name, (size_t)length) != 0)
            continue;
        *value = numbers->all[n].value;
        return true;
    }
    return false;
}

// ---- Expressions -----------------------------------------------------------------------------------------

typedef struct {
    const NamedNumbers *numbers;
    const char *at;
    bool failed;
} Reader;

static long read_sum(Reader *reader);

static long read_one(Reader *reader) {
    reader->at = skip_blanks(reader->at);
    long value = 0;
    if (*reader->at == '(') {
        reader->at++;
        value = read_sum(reader);
        reader->at = skip_blanks(reader->at);
        reader->failed |= *reader->at != ')';
        reader->at += *reader->at == ')';
    } else if (*reader->at == '-') {
        reader->at++;
        value = -read_one(reader);
    } else if (isdigit((unsigned char)*reader->at)) {
        char *end;
        value = strtol(reader->at, &end, 0);
        end += strspn(end, "uUlL");
        reader->failed |= is_word(*end) || *end == '.';
        reader->at = end;
    } else {
        int length = 0;
        while (is_word(reader->at[length])) length++;
        reader->failed |= length == 0 || !named_number(reader->numbers, reader->at, length, &value);
        reader->at += length;
    }
    return value;
}

static long read_product(Reader *reader) {
    long value = read_one(reader);
    for (;;) {
        reader->at = skip_blanks(reader->at);
        const char what = *reader->at;
        if (reader->failed || (what != '*' && what != '/' && what != '%')) return value;
        reader->at++;
        const long by = read_one(reader);
        if (what == '*') {
            value *= by;
        } else if (by == 0) {
            reader->failed = true;
        } else {
            value = what == '/' ? value / by : value % by;
        }
    }
}

static long read_difference(Reader *reader) {
    long value = read_product(reader);
    for (;;) {
        reader->at = skip_blanks(reader->at);
        const char what = *reader->at;
        if (reader->failed || (what != '+' && what != '-') || reader->at[1] == what) return value;
        reader->at++;
        const long by = read_product(reader);
        value += what == '+' ? by : -by;
    }
}

static long read_sum(Reader *reader) {
    long value = read_difference(reader);
    while (!reader->failed) {
        reader->at = skip_blanks(reader->at);
        if (strncmp(reader->at, "<<", 2) != 0) break;
        reader->at += 2;
        const long by = read_difference(reader);
        reader->failed |= by < 0 || by > 31;
        if (!reader->failed) value *= 1L << by;
    }
    return value;
}

bool named_numbers_evaluate(const NamedNumbers *numbers, const char **at, long *value) {
    Reader reader = {.numbers = numbers, .at = *at};
    *value = read_sum(&reader);
    *at = reader.at;
    return !reader.failed && *value > -(1L << 31) && *value < 1L << 31;
}

// ---- Declarations ----------------------------------------------------------------------------------------

static void add(NamedNumbers *numbers, const char *name, int length, long value, int line) {
    long other;
    if (named_number(numbers, name, length, &other) || numbers->count == NAMED_NUMBERS ||
        length >= NAMED_BYTES)
        return;
    NamedNumber *one = &numbers->all[numbers->count++];
    *one = (NamedNumber){.value = value, .line = line};
    snprintf(one->name, sizeof one->name, "%.*s", length, name);
}

// `A = 4, B = 2 * A`, or as in an enum `NOTHING, SUM`, from `at` on. The place behind it.
static const char *read_list(NamedNumbers *numbers, const char *at, bool is_enum, int line) {
    for (long next = 0;;) {
        at += strspn(at, " \t\n");
        int length = 0;
        long value = next;
        while (is_word(at[length])) length++;
        const char *name = at, *behind = skip_blanks(at + length);
        if (length == 0 || isdigit((unsigned char)*at)) return at;
        if (*behind == '=') {
            behind++;
            if (!named_numbers_evaluate(numbers, &behind, &value)) return behind;
        } else if (!is_enum) {
            return behind;
        }
        add(numbers, name, length, value, line);
        next = value + 1;
        at = skip_blanks(behind);
        if (is_enum && strncmp(at, "//", 2) == 0) at += strcspn(at, "\n");
        if (*at != ',') return at;
        at++;
        if (is_enum && strncmp(skip_blanks(at), "//", 2) == 0) at += strcspn(at, "\n");
    }
}

// What begins at `at` if it is the declaration of a constant, as "const int "; NULL: another.
static const char *behind_type(const char *at) {
    static const char *const words[] = {"static", "const", "constexpr", "unsigned", "int", "size_t"};
    bool is_constant = false, is_number = false;
    for (;;) {
        bool is_known = false;
        at = skip_blanks(at);
        for (unsigned w = 0; w < sizeof words / sizeof words[0] && !is_known; w++) {
            const size_t length = strlen(words[w]);
            if (strncmp(at, words[w], length) != 0 || is_word(at[length])) continue;
            is_known = true;
            is_constant |= w == 1 || w == 2;
            is_number |= w >= 3;
            at += length;
        }
        if (!is_known) return is_constant && is_number ? skip_blanks(at) : NULL;
    }
}

void named_numbers_find(const char *source, NamedNumbers *numbers) {
    *numbers = (NamedNumbers){0};
    int line = 1, depth = 0;
    for (const char *at = source; at && *at; line++) {
        const char *from = skip_blanks(at), *behind = behind_type(from);
        const char *end = at + strcspn(at, "\n");
        if (behind) read_list(numbers, behind, false, depth ? line : 0);
        if (strncmp(from, "#define", 7) == 0) {
            const char *name = skip_blanks(from + 7), *value_at;
            int length = 0;
            long value;
            while (is_word(name[length])) length++;
            value_at = name + length;
            if (*value_at == ' ' && named_numbers_evaluate(numbers, &value_at, &value))
                add(numbers, name, length, value, 0);
        }
        if (strncmp(from, "enum", 4) == 0 && !is_word(from[4])) {
            const char *brace = strchr(from, '{');
            if (brace) read_list(numbers, brace + 1, true, depth ? line : 0);
        }
        for (const char *c = at; c < end; c++) depth += (*c == '{') - (*c == '}');
        at = *end ? end + 1 : end;
    }
}
