// SHA-256 (FIPS 180-4), to tell whether a file is still the one that was built.
#pragma once

#include <stddef.h>

// Writes the hash as 64 lower-case hexadecimal digits and a NUL.
void sha256_hex(const void *bytes, size_t count, char hex[65]);
