// What the inputs of a run are drawn from: the kernel's own text and a secret. The inputs of one case reveal
// neither those of another kernel.cu nor, under a secret, those of another case.
#pragma once

#include "driver/plan/options.h"
#include "driver/plan/inputs.h"

typedef struct {
    bool is_given; // --seed: every case draws from `given`
    bool has_secret;
    uint64_t given;
    char key[65]; // SHA-256 of the secret and the kernel's text, in hexadecimal
} Seeds;

// `source_sha256` is the kernel's, in hexadecimal.
void seeds_make(const Options *options, const char *source_sha256, Seeds *seeds);

// What the inputs of that size and family are drawn from; `--seed` with it draws the same. Below 2^52, so
// that JSON readers keep every digit.
uint64_t seed_of_inputs(const Seeds *seeds, const CaseSize *size, Family family);

// The schedules 1, 2, ... of a run are this number further. 0 without a secret.
uint64_t first_schedule(const Seeds *seeds);

// From `least` to `most`: a choice of the run that no submission can foresee. `purpose` and `index` name it.
long long seeds_choose(const Seeds *seeds, const char *purpose, int index, long long least, long long most);
