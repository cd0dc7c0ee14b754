#define _GNU_SOURCE // strsep, strndup
#include "driver/listing/meanings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *mnemonic, *words;
} Meaning;

#define MEANING(mnemonic, words) {mnemonic, words},
static const Meaning ptx_meanings[] = {
#include "driver/listing/ptx_meanings.def"
};
static const Meaning machine_meanings[] = {
#include "driver/listing/machine_meanings.def"
};
#undef MEANING

enum { LONGEST_MNEMONIC = 120, MOST_WORDS = 16 };

// The mnemonic with its dotted words, without the predicate before it.
static void mnemonic_of(const char *instruction, char mnemonic[LONGEST_MNEMONIC]) {
    if (*instruction == '@') instruction += strcspn(instruction, " \t");
    instruction += strspn(instruction, " \t");
    snprintf(mnemonic, LONGEST_MNEMONIC, "%.*s", (int)strcspn(instruction, " \t;,"), instruction);
}

// The row of the longest mnemonic that is the same up to a dot.
static const char *look_up(const Meaning *rows, size_t count, const char *mnemonic) {
    size_t longest = 0;
    const char *words = NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(rows[i].mnemonic);
        const bool is_prefix = strncmp(rows[i].mnemonic, mnemonic, length) == 0 &&
                               (mnemonic[length] == '.' || mnemonic[length] == '\0');
        if (!is_prefix || length <= longest) continue;
        longest = length;
        words = rows[i].words;
    }
    return words;
}

static int split(char *mnemonic, char *words[MOST_WORDS]) {
    int count = 0;
    char *rest = mnemonic;
    for (char *word; count < MOST_WORDS && (word = strsep(&rest, "."));) words[count++] = word;
    return count;
}

static bool is_one_of(const char *word, const char *const *among) {
    for (; *among; among++)
        if (strcmp(word, *among) == 0) return true;
    return false;
}

static void add_bits(Text *words, int bits) {
    if (bits > 0) text_printf(words, ", %d bits", bits);
}

// ---- PTX --------------------------------------------------------------------------------------------------

// "f32": 32; "b8": 8; "pred" and other words: 0.
static int bits_of_type(const char *word) {
    if (!strchr("bfsu", word[0]) || word[0] == '\0') return 0;
    char *end;
    const long bits = strtol(word + 1, &end, 10);
    return end != word + 1 && *end == '\0' && bits >= 8 && bits <= 128 ? (int)bits : 0;
}

bool meaning_of_ptx(const char *instruction, Text *words) {
    static const char *const memory[] = {"ld", "st", "atom", "red", NULL};
    static const char *const spaces[] = {"global", "shared", "local", "const", "param", NULL};
    char mnemonic[LONGEST_MNEMONIC], copy[LONGEST_MNEMONIC], key[LONGEST_MNEMONIC];
    char *parts[MOST_WORDS];
    mnemonic_of(instruction, mnemonic);
    memcpy(copy, mnemonic, sizeof copy);
    const int count = split(copy, parts);
    if (count == 0) return false;
    snprintf(key, sizeof key, "%s", mnemonic);
    const bool is_memory = is_one_of(parts[0], memory);
    int bits = 0, vector = 1;
    for (int i = 1; i < count && is_memory; i++) {
        char *colons = strstr(parts[i], "::"); // shared::cta
        if (colons) *colons = '\0';
        if (is_one_of(parts[i], spaces)) snprintf(key, sizeof key, "%s.%s", parts[0], parts[i]);
        if (parts[i][0] == 'v' && strlen(parts[i]) == 2) vector = parts[i][1] - '0';
        if (bits_of_type(parts[i])) bits = bits_of_type(parts[i]);
    }
    const char *found = look_up(ptx_meanings, sizeof ptx_meanings / sizeof ptx_meanings[0], key);
    if (!found) return false;
    text_add(words, found);
    add_bits(words, bits * vector);
    return true;
}

// ---- Machine code -----------------------------------------------------------------------------------------

bool meaning_of_machine_code(const char *instruction, Text *words) {
    static const char *const memory[] = {"LDG", "STG", "LDS", "STS",    "LDL",
                                         "STL", "LD",  "ST",  "LDGSTS", NULL};
    char mnemonic[LONGEST_MNEMONIC];
    char *parts[MOST_WORDS];
    mnemonic_of(instruction, mnemonic);
    const char *found =
        look_up(machine_meanings, sizeof machine_meanings / sizeof machine_meanings[0], mnemonic);
    if (!found) return false;
    text_add(words, found);
    const int count = split(mnemonic, parts);
    if (!is_one_of(parts[0], memory)) return true;
    int bits = 32;
    for (int i = 1; i < count; i++) {
        static const char *const widths[] = {"U8", "S8", "U16", "S16", "64", "128", NULL};
        if (is_one_of(parts[i], widths)) bits = atoi(parts[i] + strcspn(parts[i], "0123456789"));
    }
    add_bits(words, bits);
    return true;
}
