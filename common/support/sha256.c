#include "support/sha256.h"

#include <stdint.h>
#include <string.h>

typedef struct {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} Sha256;

// FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int by) { return word >> by | word << (32 - by); }

// Section 6.2.2.
static void add_block(Sha256 *hash, const unsigned char block[64]) {
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++) {
        const unsigned char *b = block + 4 * t;
        w[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int t = 16; t < 64; t++) {
        uint32_t low = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t high = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = high + w[t - 7] + low + w[t - 16];
    }
    memcpy(s, hash->state, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t first = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                         round_constants[t] + w[t];
        uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++) hash->state[i] += s[i];
}

static void begin(Sha256 *hash) {
    *hash = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                               0x1f83d9ab, 0x5be0cd19}}; // section 5.3.3
}

static void add(Sha256 *hash, const void *bytes, size_t count) {
    const unsigned char *from = bytes;
    while (count > 0) {
        size_t held = (size_t)(hash->bytes % 64), take = 64 - held;
        if (take > count) take = count;
        memcpy(hash->block + held, from, take);
        hash->bytes += take;
        from += take;
        count -= take;
        if (held + take == 64) add_block(hash, hash->block);
    }
}

static void end(Sha256 *hash, char hex[65]) {
    uint64_t bits = hash->bytes * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    add(hash, "\x80", 1); // section 5.1.1: a one bit, zeros, the length in 64 bits
    while (hash->bytes % 64 != 56) add(hash, "", 1);
    add(hash, length, sizeof length);
    for (int i = 0; i < 64; i++) hex[i] = "0123456789abcdef"[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = '\0';
}

void sha256_hex(const void *bytes, size_t count, char hex[65]) {
    Sha256 hash;
    begin(&hash);
    add(&hash, bytes, count);
    end(&hash, hex);
}
