// SHA-256 (FIPS 180-4), to tell whether a file is still the one that was built.
#ifndef WARPBOOK_SHA256_H
#define WARPBOOK_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} Sha256;

void sha256_begin(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *bytes, size_t count);
// Ends the hash and writes it as 64 lower-case hexadecimal digits and a NUL.
void sha256_end(Sha256 *hash, char hex[65]);
void sha256_hex(const void *bytes, size_t count, char hex[65]);

#endif
