// What the driver's printf accesses.
#include "patterns.h"
#include <stdio.h>

K(print_nothing)      { if (I == 0) printf(""); out[I] = 1; }
K(print_line)         { if (I == 0) printf("\n"); out[I] = 1; }
K(print_text_4)       { if (I == 0) printf("abc\n"); out[I] = 1; }
K(print_text_5)       { if (I == 0) printf("abcd\n"); out[I] = 1; }
K(print_text_12)      { if (I == 0) printf("abcdefghijk\n"); out[I] = 1; }
K(print_text_20)      { if (I == 0) printf("abcdefghijklmnopqrs\n"); out[I] = 1; }
K(print_text_40)      { if (I == 0) printf("abcdefghijklmnopqrsabcdefghijklmnopqrst\n"); out[I] = 1; }
K(print_int)          { if (I == 0) printf("%d\n", T); out[I] = 1; }
K(print_text_int)     { if (I == 0) printf("value = %d\n", T); out[I] = 1; }
K(print_int_text)     { if (I == 0) printf("%d is one\n", T); out[I] = 1; }
K(print_2_ints)       { if (I == 0) printf("%d %d\n", T, L); out[I] = 1; }
K(print_3_ints)       { if (I == 0) printf("%d %d %d\n", T, L, n); out[I] = 1; }
K(print_6_ints)       { if (I == 0) printf("%d %d %d %d %d %d\n", T, L, n, T, L, n); out[I] = 1; }
K(print_float)        { if (I == 0) printf("%f\n", in[I]); out[I] = 1; }
K(print_2_floats)     { if (I == 0) printf("%f %f\n", in[I], in[I + 1]); out[I] = 1; }
K(print_int_float)    { if (I == 0) printf("%d %f\n", T, in[I]); out[I] = 1; }
K(print_float_int)    { if (I == 0) printf("%f %d\n", in[I], T); out[I] = 1; }
K(print_long)         { if (I == 0) printf("%lld\n", (long long)n); out[I] = 1; }
K(print_pointer)      { if (I == 0) printf("%p\n", in); out[I] = 1; }
K(print_char)         { if (I == 0) printf("%c\n", 'a' + T); out[I] = 1; }
K(print_width)        { if (I == 0) printf("%5d %-8.3f\n", T, in[I]); out[I] = 1; }
K(print_percent)      { if (I == 0) printf("100%%\n"); out[I] = 1; }
K(print_string_1)     { if (I == 0) printf("%s\n", "x"); out[I] = 1; }
K(print_string_5)     { if (I == 0) printf("%s\n", "hello"); out[I] = 1; }
K(print_string_20)    { if (I == 0) printf("%s\n", "hello hello hello he"); out[I] = 1; }
K(print_string_int)   { if (I == 0) printf("%s %d\n", "hello", T); out[I] = 1; }
K(print_8_lanes)      { if (I < 8) printf("%d\n", T); out[I] = 1; }
K(print_32_lanes)     { if (I < 32) printf("%d\n", T); out[I] = 1; }
K(print_4_lanes_apart){ if (I < 32 && I % 8 == 0) printf("%d\n", T); out[I] = 1; }
K(print_2_warps)      { if (I < 64) printf("%d\n", T); out[I] = 1; }
K(print_a_lane_each)  { if (T % 32 == 0) printf("%d\n", T); out[I] = 1; }
K(print_twice)        { if (I == 0) { printf("%d\n", T); printf("%d\n", L); } out[I] = 1; }
