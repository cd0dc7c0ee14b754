#include "driver/plan/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sha256.h"
#include "support/text.h"

enum { DIGITS = 13 }; // of 4 bits each

static uint64_t hash_of(const Seeds *seeds, const char *words) {
    char text[256], hex[65];
    const int length = snprintf(text, sizeof text, "%s %s", seeds->key, words);
    sha256_hex(text, (size_t)length, hex);
    hex[DIGITS] = '\0';
    return strtoull(hex, NULL, 16);
}

void seeds_make(const Options *options, const char *source_sha256, Seeds *seeds) {
    Text text = {0};
    *seeds = (Seeds){
        .is_given = options->has_seed, .given = options->seed, .has_secret = options->secret[0] != '\0'};
    // With --seed, nothing but that number counts.
    if (!options->has_seed) text_printf(&text, "%s %s", source_sha256, options->secret);
    sha256_hex(text_chars(&text), text.bytes, seeds->key);
    text_free(&text);
}

uint64_t seed_of_inputs(const Seeds *seeds, const CaseSize *size, Family family) {
    char words[160];
    if (seeds->is_given) return seeds->given;
    const int used = snprintf(words, sizeof words, "inputs %lld %lld %lld %s", size->n, size->rows,
                              size->columns, family_name(family));
    if (size->depth > 0) snprintf(words + used, sizeof words - (size_t)used, " %lld", size->depth);
    return hash_of(seeds, words);
}

uint64_t first_schedule(const Seeds *seeds) {
    return seeds->has_secret ? hash_of(seeds, "schedules") % 1000000 * 1000 : 0;
}

long long seeds_choose(const Seeds *seeds, const char *purpose, int index, long long least, long long most) {
    char words[160];
    snprintf(words, sizeof words, "%.100s %d", purpose, index);
    return least + (long long)(hash_of(seeds, words) % (uint64_t)(most - least + 1));
}
