// The compiler's messages as they are shown, stored and read again:
//
//   chapters/ch07_float4/kernel.cu:23:13: error: no operator "+=" matches these operands
//         sum += v;
//             ^
//     operand types are: float += float4
//     help: write sum += v.x + v.y + v.z + v.w: ...
#pragma once

#include "driver/build/compiler_messages.h"

// Adds the errors of a readable log, each with its line of kernel.cu. `shown` is kernel.cu's name in the log,
// `source` its text, `whole` where the rest is if there are too many. False, with nothing added, if there is
// none.
bool compiler_add_errors(Text *into, const char *log, const char *shown, const char *source,
                         const char *whole);
// Adds the warnings about lines of kernel.cu.
void compiler_add_warnings(Text *into, const char *log, const char *shown, const char *source);

// One message, read again from a text that the above made.
typedef struct {
    char file[640];
    int line, column;
    char kind[16]; // "error", "warning"
    char words[1200];
    char help[1200]; // "" if there is none
} ReportedMessage;

// The next one; moves `at` behind it. False when there is none left.
bool compiler_next_reported(const char **at, ReportedMessage *message);
